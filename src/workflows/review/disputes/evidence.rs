//! What counts as evidence in a dispute: what was in the tree before the coder's first byte.
//!
//! A file or a line that the coder wrote in this run proves nothing by itself, since the coder is a party to the dispute. A
//! judge is told which lines these are, and a dismissal that rests on them is escalated unless the judge says why they
//! count.

use std::collections::BTreeSet;

use crate::domain::Finding;
use crate::protocol::request::{CoderWritten, SourceFile};
use crate::workflows::review::code::trees;
use crate::workflows::review::disputes::references::{Reference, Support};
use crate::workflows::review::requests::RequestBuilder;
use crate::workspace::code::citation::inserted;

impl RequestBuilder<'_> {
    /// How far the tree supports a citation in the dispute about `finding`.
    ///
    /// Where the coder changed the file, the cited lines must be unchanged both in the version that the judge was shown
    /// and in the present one: a judge may have read either.
    pub(crate) fn support(&self, finding: &Finding, cited: &Reference) -> Support {
        let path = cited.path.as_str();
        let before = self.original_text(path);
        let versions = if self.is_changed(path) { self.versions(finding.round, path) } else { Vec::new() };
        let lines_of = |text: &str| text.lines().count();
        let has = |text: &str| {
            cited.lines.is_none_or(|(_, last)| usize::try_from(last).is_ok_and(|last| last <= lines_of(text)))
        };
        let Some(before) = before else {
            return if versions.is_empty() { Support::Missing } else { Support::Written };
        };
        if !has(&before) && !versions.iter().any(|text| has(text)) {
            return Support::Missing;
        }
        let base = self.text_before(path).unwrap_or(before);
        let is_written = |text: &String| {
            let written = inserted(&base, text);
            match cited.lines {
                None => *text != base,
                Some((first, last)) => written.iter().any(|(from, to)| *from <= last && first <= *to),
            }
        };
        let gained = |text: &String| !has(&base) && has(text);
        if versions.iter().any(|text| is_written(text) || gained(text)) {
            Support::Written
        } else {
            Support::Exists
        }
    }

    pub(crate) fn shown_text(&self, round: u32, path: &str) -> Option<String> {
        if round <= 1 || !self.is_changed(path) {
            return self.original_text(path);
        }
        let reviewed = self.sources.file(round, path).map(|source| source.text.clone());
        reviewed.or_else(|| self.text_at(self.tree_of(round)?, path))
    }

    /// What the coder wrote in this run: of the files that a judge is shown the lines, of others the paths.
    pub(crate) fn written(&self, shown: &[SourceFile]) -> Vec<CoderWritten> {
        let changed = self.state.tree_changes.iter().flat_map(|change| &change.changes);
        let paths: BTreeSet<&str> = changed.map(|change| change.file.as_str()).collect();
        let written = |path: &str| {
            let Some(file) = shown.iter().find(|file| file.path == path) else {
                return Some(CoderWritten { path: path.to_owned(), lines: Vec::new() });
            };
            let Some(base) = self.text_before(path) else {
                return Some(CoderWritten { path: path.to_owned(), lines: Vec::new() });
            };
            let lines = inserted(&base, &file.text);
            (!lines.is_empty()).then(|| CoderWritten { path: path.to_owned(), lines })
        };
        paths.into_iter().filter_map(written).collect()
    }

    fn is_changed(&self, path: &str) -> bool {
        self.state.tree_changes.iter().flat_map(|change| &change.changes).any(|change| change.file == path)
    }

    /// The versions of a changed file that a judge may have read: the one it was shown, and the present one.
    fn versions(&self, round: u32, path: &str) -> Vec<String> {
        let shown = if round > 1 { self.shown_text(round, path) } else { None };
        let last = trees::last_tree(self.state).and_then(|tree| self.text_at(tree, path));
        shown.into_iter().chain(last).collect()
    }

    /// A file of the tree as it was before the coder's first byte.
    fn text_before(&self, path: &str) -> Option<String> {
        let (_, tree) = self.state.before.as_ref()?;
        self.text_at(tree, path)
    }

    fn tree_of(&self, round: u32) -> Option<&String> {
        let earlier = self.state.tree_changes.iter().rev().find(|change| change.call.purpose.round() < Some(round));
        earlier.map(|change| &change.tree).or(self.state.before.as_ref().map(|(_, tree)| tree))
    }

    pub(crate) fn text_at(&self, tree: &str, path: &str) -> Option<String> {
        let bytes = self.trees.read_at(tree, path)?;
        (!bytes.contains(&0)).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }
}
