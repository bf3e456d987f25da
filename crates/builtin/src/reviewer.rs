//! Answers review requests to `builtin:rules`. Finds matches of the rules in the lines under review, and reports
//! each match as a finding.

use std::ops::Range;
use std::path::Path;

use super::answer::Body;
use super::code::language;
use crate::demonstration;
use crate::rules::catalog::{Catalog, CatalogError};
use crate::rules::scan::{self, Hit, RuleEdit, RuleScan, folded};
use crate::rules::waiver::waiver;
use glee_model::domain::{CodeRead, Demonstration, RawFinding, Severity, Untrusted};
use glee_protocol::calls::parts::OfferedRunner;
use glee_protocol::request::SourceFile;

pub(crate) fn review(
    files: &[SourceFile],
    runners: &[OfferedRunner],
    root: &Path,
) -> Result<Body, CatalogError> {
    let catalog = Catalog::for_paths(root, files.iter().map(|file| file.path.as_str()))?;
    let mut findings = Vec::new();
    let mut unread = Vec::new();
    for file in files {
        let RuleScan {
            mut hits,
            unread: why,
        } = catalog.scan(&file.path, &file.text, None);
        unread.extend(why.map(|why| format!("{} {why}", file.path)));
        hits.retain(|hit| is_under_review(hit, file));
        findings.extend(folded(hits).into_iter().map(|hit| RawFinding {
            demonstration: demonstrated(file, &hit, runners, root).map(Box::new),
            ..finding(&catalog, file, hit)
        }));
    }
    let read = if unread.is_empty() {
        files
            .iter()
            .all(|file| language::without_rules(&file.path).is_none())
            .then_some(CodeRead::All)
    } else {
        Some(CodeRead::Part)
    };
    Ok(Body::Review {
        findings,
        read,
        summary: (!unread.is_empty()).then(|| format!("not reviewed: {}", unread.join(", "))),
    })
}

fn is_under_review(hit: &Hit, file: &SourceFile) -> bool {
    let (first, last) = hit.lines;
    file.changed.is_empty()
        || file
            .changed
            .iter()
            .any(|&(start, end)| start <= last && first <= end)
}

fn finding(catalog: &Catalog, file: &SourceFile, hit: Hit) -> RawFinding {
    let info = catalog.info(&hit.rule);
    let note = info.and_then(|info| info.note.clone());
    let suggestion = suggestion(&file.text, &hit);
    let replacement = replacement(&file.text, &hit);
    RawFinding {
        severity: Severity::known(hit.tag),
        file: Some(file.path.clone()),
        line: Some(hit.lines.0),
        end_line: Some(hit.lines.1).filter(|end| *end > hit.lines.0),
        title: hit.message.into(),
        body: note.unwrap_or_default().into(),
        suggestion: suggestion.map(Untrusted::from),
        replacement: replacement.map(Untrusted::from),
        category: Some(hit.category),
        cwe: info.and_then(|info| info.cwe),
        rule: Some(hit.rule),
        ..RawFinding::default()
    }
}

/// The test of a finding that the coder fixes. Where a waiver objects to the rule, the dispute is not about what the code does.
fn demonstrated(
    file: &SourceFile,
    hit: &Hit,
    runners: &[OfferedRunner],
    root: &Path,
) -> Option<Demonstration> {
    let tree = scan::tree(&file.path, &file.text).filter(|_| !runners.is_empty())?;
    let edit = hit.edit.as_ref().filter(|_| waiver(&tree, hit).is_none())?;
    let lines = whole_lines(&file.text, &edit.range)?;
    let fix = fixed(&file.text, edit, &lines)?;
    demonstration::of_call(&file.path, &file.text, hit, &fix, runners, root)
}

fn suggestion(text: &str, hit: &Hit) -> Option<String> {
    const MOST_LINES: usize = 6;
    let edit = hit.edit.as_ref()?;
    let lines = fixed(text, edit, &whole_lines(text, &edit.range)?)?;
    (lines.lines().count() <= MOST_LINES)
        .then(|| lines.trim().to_owned())
        .filter(|lines| !lines.is_empty())
}

/// Returns all lines of a match as text, with the rule's fix applied. Returns `None` if the rule has no fix, or if
/// the fix also changes lines outside the match.
fn replacement(text: &str, hit: &Hit) -> Option<String> {
    let edit = hit.edit.as_ref()?;
    let matched = text.get(hit.range.clone())?.trim_end_matches('\n');
    let lines = whole_lines(text, &(hit.range.start..hit.range.start + matched.len()))?;
    let is_inside = lines.start <= edit.range.start && edit.range.end <= lines.end;
    fixed(text, edit, &lines).filter(|_| is_inside)
}

/// Extends a byte range to whole lines, without the last line break.
fn whole_lines(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let start = text.get(..range.start)?.rfind('\n').map_or(0, |at| at + 1);
    let end = text
        .get(range.end..)?
        .find('\n')
        .map_or(text.len(), |at| range.end + at);
    Some(start..end)
}

/// Returns the text of the byte range `lines` after `edit` is applied. The byte range `lines` must contain the
/// range of the edit.
fn fixed(text: &str, edit: &RuleEdit, lines: &Range<usize>) -> Option<String> {
    let before = text.get(lines.start..edit.range.start)?;
    let after = text.get(edit.range.end..lines.end)?;
    Some(format!("{before}{}{after}", edit.text))
}
