//! `builtin:rules` at a review: every match of every rule in the lines under review.

use std::path::Path;

use super::answer::{Body, BuiltinFinding};
use crate::agents::builtin::rules::catalog::{Catalog, CatalogError};
use crate::agents::builtin::rules::scan::{Hit, folded};
use crate::protocol::request::SourceFile;

pub(crate) fn review(files: &[SourceFile], root: &Path) -> Result<Body, CatalogError> {
    let catalog = Catalog::for_paths(root, files.iter().map(|file| file.path.as_str()))?;
    let findings = files.iter().flat_map(|file| {
        let hits = catalog
            .scan(&file.path, &file.text, None)
            .into_iter()
            .filter(|hit| is_under_review(hit, file))
            .collect();
        folded(hits).into_iter().map(|hit| finding(&catalog, file, hit)).collect::<Vec<_>>()
    });
    Ok(Body::Review { findings: findings.collect() })
}

fn is_under_review(hit: &Hit, file: &SourceFile) -> bool {
    let (first, last) = hit.lines;
    file.changed.is_empty() || file.changed.iter().any(|&(start, end)| start <= last && first <= end)
}

fn finding(catalog: &Catalog, file: &SourceFile, hit: Hit) -> BuiltinFinding {
    let note = catalog.info(&hit.rule).and_then(|info| info.note.clone());
    let suggestion = suggestion(&file.text, &hit);
    BuiltinFinding {
        severity: hit.tag,
        file: file.path.clone(),
        line: hit.lines.0,
        end_line: Some(hit.lines.1).filter(|end| *end > hit.lines.0),
        title: hit.message,
        description: note.unwrap_or_default(),
        suggestion,
        category: hit.category,
        rule: hit.rule,
    }
}

/// The lines as the rule's fix would leave them, if they are few.
fn suggestion(text: &str, hit: &Hit) -> Option<String> {
    const MOST_LINES: usize = 6;
    let edit = hit.edit.as_ref()?;
    let start = text.get(..edit.range.start)?.rfind('\n').map_or(0, |at| at + 1);
    let end = text.get(edit.range.end..)?.find('\n').map_or(text.len(), |at| edit.range.end + at);
    let lines = format!("{}{}{}", text.get(start..edit.range.start)?, edit.text, text.get(edit.range.end..end)?);
    (lines.lines().count() <= MOST_LINES).then(|| lines.trim().to_owned()).filter(|lines| !lines.is_empty())
}
