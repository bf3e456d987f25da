//! `builtin:fixer` applies the fixes that rules define. If a comment in the code waives the rule, the fixer objects
//! to the finding.
//!
//! The fixer replaces each file once and atomically. The file keeps its mode, its line ends and all bytes outside
//! the fixes. The fixer does not apply a fix that adds syntax errors.

use std::collections::BTreeMap;
use std::path::Path;

use super::answer::Body;
use super::demonstration;
use super::recheck::mistakes;
use super::referee::{Cited, cited};
use crate::code::source::{self, SourceText};
use crate::rules::catalog::{Catalog, CatalogError};
use crate::rules::scan::{self, Hit, RuleEdit};
use crate::rules::waiver::{Waiver, waiver};
use glee_model::domain::{Answer, Demonstration, FindingId, Response, Untrusted};
use glee_protocol::calls::parts::OfferedRunner;
use glee_protocol::calls::respond::Item;

/// For each finding, the fixer fixes at most this number of matches on one line.
const MOST_ON_A_LINE: usize = 16;

enum Fix {
    Applied(String),
    Waived(String, Vec<Untrusted>, Option<Demonstration>),
    Impossible(String),
}

pub(crate) fn respond(
    items: &[Item],
    runners: &[OfferedRunner],
    root: &Path,
) -> Result<Body, CatalogError> {
    let files = items
        .iter()
        .filter_map(|item| item.finding.raw.file.as_deref());
    let rules = items
        .iter()
        .filter_map(|item| item.finding.raw.rule.as_deref());
    let catalog = Catalog::for_rules(root, files, rules)?;
    let mut by_file: BTreeMap<&str, Vec<&Item>> = BTreeMap::new();
    let mut done: BTreeMap<FindingId, Fix> = BTreeMap::new();
    for item in items {
        let raw = &item.finding.raw;
        let why = match (&raw.file, &raw.rule) {
            (Some(file), Some(rule)) if catalog.info(rule).is_some() => {
                by_file.entry(file).or_default().push(item);
                continue;
            }
            (_, Some(rule)) => format!("unknown rule `{rule}`"),
            (_, None) => "no rule raised the finding, so there is no fix".to_owned(),
        };
        done.insert(item.finding.id, Fix::Impossible(why));
    }
    for (file, items) in by_file {
        done.extend(fix_file(&catalog, runners, root, file, items));
    }
    Ok(answer(items, &mut done))
}

fn answer(items: &[Item], done: &mut BTreeMap<FindingId, Fix>) -> Body {
    let mut answers = Vec::new();
    let mut notes = Vec::new();
    for item in items {
        let id = item.finding.id;
        let mandatory = item.finding.mandatory || item.enforced.is_some();
        let (answer, text, evidence, demonstration) = match done.remove(&id) {
            Some(Fix::Applied(text)) => (Answer::Implemented, text, Vec::new(), None),
            Some(Fix::Waived(text, evidence, demonstration)) => (
                if mandatory {
                    Answer::Disagree
                } else {
                    Answer::Discarded
                },
                text,
                evidence,
                demonstration,
            ),
            Some(Fix::Impossible(why)) if mandatory => {
                notes.push(format!("{id} cannot be fixed: {why}"));
                continue;
            }
            Some(Fix::Impossible(why)) => (Answer::Discarded, why, Vec::new(), None),
            None => continue,
        };
        answers.push(Response {
            finding: id,
            answer,
            text: text.into(),
            evidence,
            demonstration,
        });
    }
    Body::Response {
        answers,
        notes: (!notes.is_empty()).then(|| notes.join("\n")),
    }
}

/// Applies the fixes of a file from bottom to top, so that a fix does not move the lines of the remaining fixes.
fn fix_file(
    catalog: &Catalog,
    runners: &[OfferedRunner],
    root: &Path,
    path: &str,
    mut items: Vec<&Item>,
) -> Vec<(FindingId, Fix)> {
    let mut source = match SourceText::read(root, path) {
        Ok(source) => source,
        Err(error) => return all_impossible(&items, error),
    };
    items.sort_by_key(|item| std::cmp::Reverse((item.finding.raw.line, item.finding.id)));
    let original = source.text.clone();
    let mut fixing = Fixing {
        catalog,
        runners,
        root,
        path,
        text: original.clone(),
        fixed: Vec::new(),
    };
    let done: Vec<_> = items
        .iter()
        .map(|item| (item.finding.id, fixing.item(item)))
        .collect();
    if fixing.text != original {
        source.text = fixing.text;
        if let Err(error) = source::write(root, path, &source) {
            return all_impossible(&items, error);
        }
    }
    done
}

fn all_impossible(items: &[&Item], why: String) -> Vec<(FindingId, Fix)> {
    items
        .iter()
        .map(|item| (item.finding.id, Fix::Impossible(why.clone())))
        .collect()
}

struct Fixing<'a> {
    catalog: &'a Catalog,
    runners: &'a [OfferedRunner],
    root: &'a Path,
    path: &'a str,
    text: String,
    /// The fixed findings, each with its first and last line in the old text.
    fixed: Vec<(FindingId, (u32, u32))>,
}

impl Fixing<'_> {
    fn item(&mut self, item: &Item) -> Fix {
        let raw = &item.finding.raw;
        let rule = raw.rule.clone().unwrap_or_default();
        let line = raw.line.unwrap_or(1);
        let Some(hit) = self.nearest(&rule, line) else {
            return self.gone(&rule, line);
        };
        let waiver = scan::tree(self.path, &self.text).and_then(|tree| waiver(&tree, &hit));
        if let Some(Waiver { reason, .. }) = &waiver
            && !reason.is_empty()
            && item.enforced.is_none()
        {
            let all = cited(reason);
            let evidence = all.iter().map(|cited| cited.to_string().into());
            let demonstration = all.iter().find_map(|cited| match cited {
                Cited::Code(test) => {
                    demonstration::of_cited(test, self.path, self.runners, self.root)
                }
                Cited::Elsewhere(_) => None,
            });
            return Fix::Waived(reason.clone(), evidence.collect(), demonstration);
        }
        if hit.edit.is_none() {
            return Fix::Impossible(format!(
                "rule `{rule}` has no fix for {}:{}",
                self.path, hit.lines.0
            ));
        }
        let Some(fixed) = self.fixed_text(&rule, &hit, waiver.as_ref()) else {
            return Fix::Impossible(format!(
                "the fix of `{rule}` changes nothing or adds syntax errors at {}:{}",
                self.path, hit.lines.0
            ));
        };
        self.text = fixed;
        self.fixed
            .push((item.finding.id, (line, raw.end_line.unwrap_or(line))));
        let unwaived = if waiver.is_some() {
            " and removed the waiver"
        } else {
            ""
        };
        Fix::Applied(format!(
            "applied the fix of `{rule}` at {}:{}{unwaived}",
            self.path, hit.lines.0
        ))
    }

    /// Called if a finding's rule no longer matches. If another fix replaced the finding's line, the finding is
    /// reported as fixed.
    fn gone(&self, rule: &str, line: u32) -> Fix {
        match self
            .fixed
            .iter()
            .find(|(_, (first, last))| (*first..=*last).contains(&line))
        {
            Some((id, _)) => Fix::Applied(format!("the fix for {id} covers this finding")),
            None => Fix::Impossible(format!("`{rule}` no longer matches in {}", self.path)),
        }
    }

    fn matches(&self, rule: &str, text: &str) -> Vec<Hit> {
        self.catalog.scan(self.path, text, Some(rule)).hits
    }

    fn nearest(&self, rule: &str, line: u32) -> Option<Hit> {
        self.matches(rule, &self.text)
            .into_iter()
            .min_by_key(|hit| hit.lines.0.abs_diff(line))
    }

    fn fixed_text(&self, rule: &str, hit: &Hit, waiver: Option<&Waiver>) -> Option<String> {
        let mut text = self.text.clone();
        let mut line = hit.lines.0;
        if let Some(Waiver { bytes, .. }) = waiver {
            let above = bytes.start < hit.range.start;
            let lines = text.get(bytes.clone())?.matches('\n').count();
            text.replace_range(bytes.clone(), "");
            line -= if above { u32::try_from(lines).ok()? } else { 0 };
        }
        let mut left = usize::MAX;
        for _ in 0..MOST_ON_A_LINE {
            let mut here: Vec<Hit> = self
                .matches(rule, &text)
                .into_iter()
                .filter(|other| other.lines.0 == line)
                .collect();
            if here.len() >= left {
                break;
            }
            left = here.len();
            let Some(RuleEdit { range, text: new }) = here.pop().and_then(|hit| hit.edit) else {
                break;
            };
            text.replace_range(range, &new);
        }
        let readable = mistakes(self.path, &text) <= mistakes(self.path, &self.text);
        (left != usize::MAX && text != self.text && readable).then_some(text)
    }
}
