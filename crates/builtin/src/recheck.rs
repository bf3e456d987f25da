//! Answers re-check requests to `builtin:rules`. A finding is resolved if its rule no longer matches at the
//! finding's location.
//!
//! A change does not resolve a finding if the change adds syntax errors or only moves the problem.

use std::path::Path;

use super::answer::Body;
use crate::code::line_map::LineMap;
use crate::rules::catalog::{Catalog, CatalogError};
use crate::rules::scan::{self, RuleScan};
use glee_model::domain::Recheck;
use glee_protocol::calls::recheck::Change;
use glee_protocol::request::SourceFile;

/// Without a diff, the re-check searches this number of lines before and after the finding.
const NEAR: u32 = 3;

pub(crate) fn recheck(
    changes: &[Change],
    files: &[SourceFile],
    root: &Path,
) -> Result<Body, CatalogError> {
    let paths = files.iter().map(|file| file.path.as_str());
    let rules = changes
        .iter()
        .filter_map(|change| change.finding.raw.rule.as_deref());
    let catalog = Catalog::for_rules(root, paths, rules)?;
    let checks = changes.iter().map(|change| {
        let (resolved, reason) = check(&catalog, change, files);
        Recheck {
            finding: change.finding.id,
            resolved,
            reason: reason.into(),
        }
    });
    Ok(Body::Recheck {
        checks: checks.collect(),
    })
}

fn check(catalog: &Catalog, change: &Change, files: &[SourceFile]) -> (bool, String) {
    let raw = &change.finding.raw;
    let (Some(rule), Some(path)) = (&raw.rule, &raw.file) else {
        return (
            false,
            "the finding has no rule that can be re-checked".to_owned(),
        );
    };
    let Some(file) = files.iter().find(|file| file.path == *path) else {
        return (true, format!("`{path}` no longer exists"));
    };
    if catalog.info(rule).is_none() {
        return (false, format!("no rule `{rule}` applies to `{path}`"));
    }
    let matches = |text: &str| catalog.scan(path, text, Some(rule));
    let difference = LineMap::of(&change.diff, path);
    let before = difference.reversed(&file.text);
    if mistakes(path, &file.text) > mistakes(path, &before) {
        return (false, format!("the change adds syntax errors to `{path}`"));
    }
    let RuleScan {
        hits: after,
        unread,
    } = matches(&file.text);
    if let Some(why) = unread {
        return (false, format!("`{path}` {why}"));
    }
    let here = raw.line.and_then(|line| {
        let (first, last) = match change.diff.is_empty() {
            true => (
                line.saturating_sub(NEAR),
                raw.end_line.unwrap_or(line).saturating_add(NEAR),
            ),
            false => difference.moved(line, raw.end_line.unwrap_or(line)),
        };
        after
            .iter()
            .find(|hit| first <= hit.lines.1 && hit.lines.0 <= last)
    });
    if let Some(hit) = here {
        return (
            false,
            format!("`{rule}` still matches at {path}:{}", hit.lines.0),
        );
    }
    match after.first() {
        Some(hit) if change.diff.is_empty() || after.len() >= matches(&before).hits.len() => (
            false,
            format!(
                "`{rule}` matches at least as often as before, now at {path}:{}",
                hit.lines.0
            ),
        ),
        _ => (true, format!("`{rule}` no longer matches at this location")),
    }
}

pub(crate) fn mistakes(path: &str, text: &str) -> usize {
    scan::tree(path, text)
        .as_ref()
        .map_or(0, |tree: &scan::SyntaxTree| {
            tree.root()
                .dfs()
                .filter(|node| node.is_error() || node.is_missing())
                .count()
        })
}
