//! Selects the files of a unified diff, and applies the diff to these files in memory.
//!
//! The diff is untrusted. The paths in the diff can refer only to files inside the tree. Large line numbers in the
//! diff cannot exhaust memory, because Glee skips a file whose text would exceed the size limit. A diff cannot
//! exclude its own files from the review by marking the files as generated, or by changing `.gleeignore` or
//! `.gitattributes`.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::text_files;
use crate::diff::parse::{self, Broken, Patch, Side};
use crate::diff::{metadata_changes, unified};
use crate::git::path_bytes;
use crate::root::Workspace;
use crate::select::filter::{self, Before, Selected};
use crate::select::ignores::{self, Ignores};
use crate::select::notebook;
use crate::select::selection::{SelectOptions, Selection};
use crate::{Result, WorkspaceError};
use glee_model::domain::SkipReason;
use glee_protocol::request::SourceFile;

struct Located {
    path: String,
    text: String,
    /// The text of the file before the diff was applied, if this text is known.
    before: Option<String>,
}

impl Workspace {
    pub(crate) fn select_diff(
        &self,
        name: &str,
        text: &[u8],
        options: &SelectOptions,
    ) -> Result<Selection> {
        let name = || name.to_owned();
        let diff = parse::parse(text);
        match diff.broken {
            Some(Broken::Combined) => return Err(WorkspaceError::CombinedDiff(name())),
            Some(Broken::Hunk(line)) => {
                return Err(WorkspaceError::BrokenDiff { name: name(), line });
            }
            None => {}
        }
        // `git diff` prints nothing if there is no difference.
        if text.trim_ascii().is_empty() {
            return Ok(Selection::default());
        }
        if diff.patches.is_empty() && diff.not_shown.is_empty() {
            return Err(WorkspaceError::NotADiff(name()));
        }
        let named: Vec<Vec<u8>> = diff
            .patches
            .iter()
            .filter_map(|patch| patch.new.clone())
            .collect();
        // If the diff changes a `.gleeignore` file, Glee applies no ignore rules, because the rules before this
        // change are unknown.
        let mut ignores = (!edits(&named, ignores::GLEE))
            .then(|| Ignores::glee(&self.root, self.recorded_ignores.as_ref()));
        let marks = self.attributes(
            named
                .iter()
                .filter(|path| self.clean(&filter::path_text(path)).is_some()),
        )?;
        let counts = !edits(&named, ".gitattributes");
        let mut selection = Selection::default();
        diff.not_shown
            .iter()
            .for_each(|path| selection.skip(path, SkipReason::Unreadable));
        let mut files: BTreeMap<String, SourceFile> = BTreeMap::new();
        // Several patches of one diff can change the same file in sequence.
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        for patch in &diff.patches {
            let Some(path) = patch.new.as_ref() else {
                let path = patch.old.as_deref().unwrap_or_default();
                match self.clean(&filter::path_text(path)) {
                    // If a patch deletes a file, a later patch of the diff can create the file again.
                    Some(path) => drop(files.insert(path.clone(), deleted(patch, path))),
                    None => selection.skip(path, SkipReason::Deleted),
                }
                continue;
            };
            if ignores
                .as_mut()
                .is_some_and(|ignores| ignores.is_ignored(path))
            {
                selection.skip(path, SkipReason::Ignored);
                continue;
            }
            let now = marks.generated(path);
            let then = if counts { now } else { None };
            match self.patched(patch, path, (now, then), &mut texts, options) {
                Ok(file) => match files.get_mut(&file.path) {
                    Some(known) => add(known, file),
                    None => drop(files.insert(file.path.clone(), file)),
                },
                Err(reason) => selection.skip(path, reason),
            }
        }
        files
            .into_values()
            .for_each(|file| selection.add(file, options.max_file));
        Ok(selection)
    }

    fn patched(
        &self,
        patch: &Patch,
        path: &[u8],
        generated: (Option<bool>, Option<bool>),
        texts: &mut BTreeMap<String, String>,
        options: &SelectOptions,
    ) -> Result<SourceFile, SkipReason> {
        if patch.is_binary {
            return Err(SkipReason::Binary);
        }
        let Located { path, text, before } = self.locate(patch, path, texts, options)?;
        let known = before.clone();
        let before = before.as_ref().filter(|_| patch.old == patch.new);
        let before = before.map_or(Before::Unknown, |before| Before::Was(before.as_bytes()));
        let text = filter::text(
            &path,
            text.into_bytes(),
            Selected::ByWalk,
            generated,
            before,
        )?;
        texts.insert(path.clone(), text.clone());
        if let Some(known) = known.filter(|_| notebook::is_cells(&path, &text)) {
            let old = filter::reviewed(&path, known);
            let found = unified::between(
                (Some(path.as_bytes()), &old),
                (Some(path.as_bytes()), &text),
            );
            return match found.added + found.removed {
                0 => Err(SkipReason::NotebookOutputs),
                _ => Ok(SourceFile {
                    path,
                    text,
                    changed: found.changed,
                    diff: Some(found.text),
                }),
            };
        }
        let last = text_files::lines(&text);
        let mut changed = Vec::new();
        for hunk in &patch.hunks {
            let start = hunk.new_start.max(1);
            for (first, end) in hunk.marked() {
                let [first, end] = [first, end].map(|line| {
                    let shifted = start.saturating_add(line).saturating_sub(1);
                    shifted.clamp(1, last.max(1))
                });
                unified::push(&mut changed, (first, end));
            }
        }
        Ok(SourceFile {
            path,
            text,
            changed,
            diff: Some(patch.text.clone()),
        })
    }

    /// Returns the text at a path after the earlier patches of the diff, whose results are in `texts`.
    fn text_before(
        &self,
        path: &str,
        texts: &BTreeMap<String, String>,
        options: &SelectOptions,
    ) -> Result<String, SkipReason> {
        match texts.get(path) {
            Some(text) => Ok(text.clone()),
            None => self.text_in_tree(options, path),
        }
    }

    /// Finds the file that a patch changes, and the text of the file after the patch. The paths in the diff can
    /// have an unknown prefix. If the file at `path` does not contain the lines of the hunks, the function tries
    /// other paths.
    fn locate(
        &self,
        patch: &Patch,
        path: &[u8],
        texts: &BTreeMap<String, String>,
        options: &SelectOptions,
    ) -> Result<Located, SkipReason> {
        // A path outside the tree or inside `.git` is an error.
        let primary = self
            .clean(&filter::path_text(path))
            .ok_or(SkipReason::Unreadable)?;
        match self
            .text_before(&primary, texts, options)
            .map(|text| located(patch, &primary, text))
        {
            Ok(Some(found)) => return Ok(found),
            Err(reason @ (SkipReason::Oversized | SkipReason::Binary)) => return Err(reason),
            Ok(None) | Err(_) => {}
        }
        // If the patch renames a file that still has its old name in the tree, Glee reads the content at the old
        // path.
        let old = patch
            .old
            .as_ref()
            .filter(|old| patch.new.as_ref() != Some(*old));
        let old = old.and_then(|old| self.clean(&filter::path_text(old)));
        if let Some(old) = &old {
            // If an earlier patch of the diff changed the old file, Glee tries the changed text first, and then
            // the original text.
            let sources = [
                self.text_before(old, texts, options),
                self.text_in_tree(options, old),
            ]
            .into_iter()
            .filter_map(Result::ok);
            if let Some(text) = { sources }.find(|text| patch.matches(text, Side::Old)) {
                let replaced = patch.replaced(&text, Side::Old);
                return Ok(Located {
                    path: primary,
                    text: replaced,
                    before: Some(text),
                });
            }
        }
        for other in self
            .others(patch, path)
            .into_iter()
            .filter(|other| *other != primary && old.as_ref() != Some(other))
        {
            if let Some(found) = self
                .text_before(&other, texts, options)
                .ok()
                .and_then(|text| located(patch, &other, text))
            {
                return Ok(found);
            }
        }
        if patch.hunks.is_empty() && patch.old.is_some() {
            return Err(SkipReason::Unreadable);
        }
        let sketch = patch
            .sketch(options.max_file)
            .ok_or(SkipReason::Oversized)?;
        Ok(Located {
            path: primary,
            text: sketch,
            before: None,
        })
    }

    fn text_in_tree(&self, options: &SelectOptions, path: &str) -> Result<String, SkipReason> {
        let path = self.resolve(path).ok_or(SkipReason::Unreadable)?;
        let bytes = self.bytes_now(
            path.as_bytes(),
            options.max_file.saturating_mul(metadata_changes::FACTOR),
        )?;
        if filter::is_text(&path, &bytes) {
            Ok(text_files::lossy(bytes))
        } else {
            Err(SkipReason::Binary)
        }
    }

    /// Returns other possible paths of the file, such as `b.rs` for the name `a/b.rs` in the diff.
    fn others(&self, patch: &Patch, path: &[u8]) -> Vec<String> {
        let here = self
            .start
            .strip_prefix(&self.root)
            .map(path_bytes::bytes)
            .unwrap_or_default();
        let mut all: Vec<Vec<u8>> = Vec::new();
        if !here.is_empty() {
            all.push([&here, b"/".as_slice(), path].concat());
        }
        // A file matches a patch if the file contains all old lines of the patch, or all new lines. Every file
        // therefore matches a patch without old lines, or without new lines. Glee therefore tries no shortened
        // names for such a patch.
        let names = std::iter::once(path).chain(patch.written.iter().map(Vec::as_slice));
        for name in names.filter(|_| patch.shows(Side::Old) && patch.shows(Side::New)) {
            let ends = name
                .iter()
                .enumerate()
                .filter(|(_, byte)| **byte == b'/')
                .map(|(at, _)| &name[at + 1..]);
            all.extend(std::iter::once(name).chain(ends).map(<[u8]>::to_vec));
        }
        let mut known = BTreeSet::new();
        let clean = all
            .iter()
            .filter_map(|name| self.clean(&filter::path_text(name)));
        clean.filter(|name| known.insert(name.clone())).collect()
    }
}

fn located(patch: &Patch, path: &str, text: String) -> Option<Located> {
    let path = path.to_owned();
    if patch.matches(&text, Side::New) {
        let before = patch
            .old
            .is_some()
            .then(|| patch.replaced(&text, Side::New));
        return Some(Located { path, text, before });
    }
    let is_before = patch.matches(&text, Side::Old) && patch.old.is_some();
    is_before.then(|| Located {
        path,
        text: patch.replaced(&text, Side::Old),
        before: Some(text),
    })
}

fn edits(named: &[Vec<u8>], file: &str) -> bool {
    named
        .iter()
        .any(|path| path_bytes::shown(path).rsplit('/').next() == Some(file))
}

fn deleted(patch: &Patch, path: String) -> SourceFile {
    let ends = patch.text.lines().any(|line| line == "+++ /dev/null");
    let diff = if ends {
        patch.text.clone()
    } else {
        format!("{}+++ /dev/null\n", patch.text)
    };
    SourceFile {
        path,
        text: String::new(),
        changed: Vec::new(),
        diff: Some(diff),
    }
}

fn add(known: &mut SourceFile, later: SourceFile) {
    known.changed = unified::joined(known.changed.drain(..).chain(later.changed).collect());
    known.text = later.text;
    if let (Some(diff), Some(more)) = (&mut known.diff, later.diff) {
        diff.push_str(&more);
    }
}
