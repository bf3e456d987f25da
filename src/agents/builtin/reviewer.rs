//! Answers review requests to `builtin:rules`. Reports rule matches in the lines under review as findings.

use std::ops::{Range, RangeInclusive};
use std::path::Path;

use super::answer::Body;
use crate::agents::builtin::rules::catalog::{Catalog, CatalogError};
use crate::agents::builtin::rules::scan::{Hit, RuleEdit, folded};
use crate::domain::{RawFinding, Severity, Untrusted};
use crate::protocol::request::SourceFile;

pub(crate) fn review(files: &[SourceFile], root: &Path) -> Result<Body, CatalogError> {
    let catalog = Catalog::for_paths(root, files.iter().map(|file| file.path.as_str()))?;
    let mut findings = Vec::new();
    for file in files {
        let mut hits = catalog.scan(&file.path, &file.text, None);
        hits.retain(|hit| is_under_review(hit, file));
        findings.extend(folded(hits).into_iter().map(|hit| finding(&catalog, file, hit)));
    }
    Ok(Body::Review { findings })
}

fn is_under_review(hit: &Hit, file: &SourceFile) -> bool {
    let (first, last) = hit.lines;
    file.changed.is_empty() || file.changed.iter().any(|&(start, end)| start <= last && first <= end)
}

fn finding(catalog: &Catalog, file: &SourceFile, hit: Hit) -> RawFinding {
    let note = catalog.info(&hit.rule).and_then(|info| info.note.clone());
    let suggestion = suggestion(&file.text, &hit);
    RawFinding {
        severity: Severity::known(hit.tag),
        file: Some(file.path.clone()),
        line: Some(hit.lines.0),
        end_line: Some(hit.lines.1).filter(|end| *end > hit.lines.0),
        title: hit.message.into(),
        body: note.unwrap_or_default().into(),
        suggestion: suggestion.map(Untrusted::from),
        category: Some(hit.category),
        rule: Some(hit.rule),
        ..RawFinding::default()
    }
}

fn suggestion(text: &str, hit: &Hit) -> Option<String> {
    const MOST_LINES: usize = 6;
    let (_, lines) = edited_lines(text, hit.edit.as_ref()?)?;
    (lines.lines().count() <= MOST_LINES).then(|| lines.trim().to_owned()).filter(|lines| !lines.is_empty())
}

/// Returns the range of bytes of the lines that an edit changes, and the new text of these lines. The range and
/// the text exclude the line break after the last line.
fn edited_lines(text: &str, edit: &RuleEdit) -> Option<(Range<usize>, String)> {
    let start = text.get(..edit.range.start)?.rfind('\n').map_or(0, |at| at + 1);
    let end = text.get(edit.range.end..)?.find('\n').map_or(text.len(), |at| edit.range.end + at);
    let lines = format!("{}{}{}", text.get(start..edit.range.start)?, edit.text, text.get(edit.range.end..end)?);
    Some((start..end, lines))
}

/// Returns the lines of `text` that the fix of a packaged rule replaces, and the text that replaces these lines.
/// Returns `None` if the suggestion of the finding differs from the fix of the rule.
pub(crate) fn exact_fix(path: &str, text: &str, finding: &RawFinding) -> Option<(RangeInclusive<u32>, String)> {
    let (rule, suggested) = (finding.rule.as_deref()?, finding.suggestion.as_ref()?);
    let catalog = Catalog::of_packaged_rule(path, rule).ok()?;
    let is_it = |hit: &Hit| {
        Some(hit.lines.0) == finding.line && suggestion(text, hit).is_some_and(|fix| *suggested == *fix)
    };
    let hit = catalog.scan(path, text, Some(rule)).into_iter().find(is_it)?;
    let (bytes, lines) = edited_lines(text, hit.edit.as_ref()?)?;
    let number = |end: usize| u32::try_from(text.get(..end)?.matches('\n').count() + 1).ok();
    Some((number(bytes.start)?..=number(bytes.end)?, lines))
}
