//! A unified diff as a target: read, laid over the tree in memory, never written.
//!
//! The diff comes from somebody: its paths name files only inside the tree, its line numbers cost no more memory
//! than a file may have.

use std::collections::BTreeMap;

use crate::domain::SkipReason;
use crate::protocol::request::SourceFile;

use super::sift::{self, Chosen};
use super::target::{Attributes, SelectOptions, Selection};
use super::{Workspace, WorkspaceError, difference, names};

/// One hunk: the lines of both sides, without their line ends.
#[derive(Debug, Default, PartialEq, Eq)]
struct Hunk {
    /// The first line of each side, counted from 1; 0 for an empty side.
    old_start: u32,
    new_start: u32,
    old: Vec<String>,
    new: Vec<String>,
    /// The lines of the new side under review, counted from the hunk's first line.
    marked: Vec<(u32, u32)>,
}

/// One file of a diff.
#[derive(Debug, Default, PartialEq, Eq)]
struct Patch {
    /// The path before, as written; `None` for a new file.
    old: Option<Vec<u8>>,
    /// The path after; `None` for a deleted file.
    new: Option<Vec<u8>>,
    is_binary: bool,
    hunks: Vec<Hunk>,
    /// Its part of the diff.
    text: String,
}

impl Workspace {
    pub(super) fn select_diff(
        &self,
        name: &str,
        text: &[u8],
        options: &SelectOptions,
    ) -> Result<Selection, WorkspaceError> {
        let patches = parse(&String::from_utf8_lossy(text));
        if patches.is_empty() {
            return Err(WorkspaceError::NotADiff { name: name.to_owned() });
        }
        let mut ignores = super::ignores::Ignores::glee(&self.root, self.steered_by.as_ref());
        let mut selection = Selection::default();
        let mut files: BTreeMap<String, SourceFile> = BTreeMap::new();
        let named: Vec<Vec<u8>> = patches.iter().filter_map(|patch| patch.new.clone()).collect();
        let marks = match &self.repository {
            Some(git) => git.attributes(named.iter().filter(|path| !path.contains(&0)))?,
            None => Attributes::default(),
        };
        for patch in patches {
            let Some(path) = patch.new.as_ref() else {
                selection.skip(patch.old.as_deref().unwrap_or_default(), SkipReason::Deleted);
                continue;
            };
            if ignores.is_ignored(path) {
                continue;
            }
            match self.patched(&patch, path, marks.generated(path), options) {
                Ok(file) => match files.get_mut(&file.path) {
                    Some(known) => add(known, file),
                    None => drop(files.insert(file.path.clone(), file)),
                },
                Err(reason) => selection.skip(path, reason),
            }
        }
        selection.files = files.into_values().collect();
        Ok(selection)
    }

    /// A file as the diff leaves it.
    fn patched(
        &self,
        patch: &Patch,
        path: &[u8],
        marked: Option<bool>,
        options: &SelectOptions,
    ) -> Result<SourceFile, SkipReason> {
        if patch.is_binary {
            return Err(SkipReason::Binary);
        }
        let path = sift::path_text(path)?;
        // A path that leads out of the tree, or into `.git`, names nothing.
        let path = self.clean(&path).ok_or(SkipReason::Unreadable)?;
        let now = match self.resolve(&path) {
            Some(path) => self.bytes_now(path.as_bytes(), options.max_file).map(super::content::lossy),
            None => Err(SkipReason::Unreadable),
        };
        let text = match now {
            Err(reason @ (SkipReason::Oversized | SkipReason::NotAFile)) => return Err(reason),
            Err(_) => patch.sketch(options.max_file)?,
            Ok(now) if patch.stands_in(&now, Side::New) => now,
            Ok(now) if patch.stands_in(&now, Side::Old) => patch.apply(&now),
            Ok(_) => patch.sketch(options.max_file)?,
        };
        if text.len() as u64 > options.max_file {
            return Err(SkipReason::Oversized);
        }
        let text = sift::text(&path, text.into_bytes(), Chosen::Met, marked)?;
        let last = super::content::lines(&text);
        let mut changed = Vec::new();
        for hunk in &patch.hunks {
            let start = hunk.new_start.max(1);
            for (first, end) in &hunk.marked {
                let shifted = |line: &u32| start.saturating_add(*line).saturating_sub(1).clamp(1, last.max(1));
                difference::push(&mut changed, (shifted(first), shifted(end)));
            }
        }
        Ok(SourceFile { path, text, changed, diff: Some(patch.text.clone()) })
    }
}

/// Adds what a later part of the diff says of the same file.
fn add(known: &mut SourceFile, later: SourceFile) {
    let mut ranges = std::mem::take(&mut known.changed);
    ranges.extend(later.changed);
    ranges.sort_unstable();
    ranges.into_iter().for_each(|range| difference::push(&mut known.changed, range));
    known.text = later.text;
    if let (Some(diff), Some(more)) = (&mut known.diff, later.diff) {
        diff.push_str(&more);
    }
}

/// A side of a hunk.
#[derive(Clone, Copy)]
enum Side {
    Old,
    New,
}

impl Patch {
    /// Whether every hunk's lines of one side stand in a text at their place.
    fn stands_in(&self, text: &str, side: Side) -> bool {
        let lines: Vec<&str> = text.lines().collect();
        self.hunks.iter().all(|hunk| {
            let (start, wanted) = match side {
                Side::Old => (hunk.old_start, &hunk.old),
                Side::New => (hunk.new_start, &hunk.new),
            };
            let start = start.saturating_sub(1) as usize;
            wanted.is_empty()
                || lines.get(start..start + wanted.len()).is_some_and(|found| found == wanted.as_slice())
        })
    }

    /// The text with every hunk's old side replaced by its new side; the old sides stand in it.
    fn apply(&self, text: &str) -> String {
        let mut lines = text.lines();
        let (mut result, mut at) = (String::new(), 1_u32);
        let mut push = |line: &str| {
            result.push_str(line);
            result.push('\n');
        };
        for hunk in &self.hunks {
            // An empty old side stands after the line it names.
            let start = if hunk.old.is_empty() { hunk.old_start.saturating_add(1) } else { hunk.old_start };
            while at < start {
                let Some(line) = lines.next() else { break };
                push(line);
                at += 1;
            }
            for _ in &hunk.old {
                lines.next();
                at += 1;
            }
            hunk.new.iter().for_each(|line| push(line));
        }
        lines.for_each(push);
        result
    }

    /// What the diff alone tells of the new side: its lines at their numbers, and empty lines between them.
    fn sketch(&self, max_file: u64) -> Result<String, SkipReason> {
        let mut text = String::new();
        let mut line = 1_u32;
        for hunk in &self.hunks {
            let missing = hunk.new_start.saturating_sub(line);
            if text.len() as u64 + u64::from(missing) > max_file {
                return Err(SkipReason::Oversized);
            }
            text.extend(std::iter::repeat_n('\n', missing as usize));
            line += missing;
            for known in &hunk.new {
                text.push_str(known);
                text.push('\n');
                line = line.saturating_add(1);
            }
        }
        Ok(text)
    }
}

/// Reads the files of a unified diff; text around them is passed over.
fn parse(text: &str) -> Vec<Patch> {
    let mut patches: Vec<Patch> = Vec::new();
    // Whether the last patch was opened by `diff --git` and still waits for its `---`.
    let mut waits = false;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let bare = line.trim_end_matches(['\n', '\r']);
        if let Some(rest) = bare.strip_prefix("diff --git ") {
            patches.push(Patch { text: line.to_owned(), ..git_names(rest) });
            waits = true;
            continue;
        }
        let next_is_plus = lines.peek().is_some_and(|next| next.starts_with("+++ "));
        if let (Some(old), true) = (bare.strip_prefix("--- "), next_is_plus) {
            let plus = lines.next().unwrap_or_default();
            let new = plus.trim_end_matches(['\n', '\r']).strip_prefix("+++ ").unwrap_or_default();
            let (old, new) = (side_name(old, "a/"), side_name(new, "b/"));
            let belongs = |patch: &&Patch| waits && (old.is_none() || patch.old.is_none() || patch.old == old);
            if patches.last().filter(belongs).is_none() {
                patches.push(Patch::default());
            }
            waits = false;
            if let Some(patch) = patches.last_mut() {
                (patch.old, patch.new) = (old, new);
                patch.text.extend([line, plus]);
            }
            continue;
        }
        let Some(patch) = patches.last_mut() else { continue };
        if let Some(header) = bare.strip_prefix("@@ -").filter(|_| !waits).and_then(hunk_header) {
            patch.text.push_str(line);
            let hunk = read_hunk(header, &mut lines, &mut patch.text);
            patch.hunks.push(hunk);
        } else if waits {
            patch.text.push_str(line);
            match bare.split_once(' ') {
                Some(("new", rest)) if rest.starts_with("file") => patch.old = None,
                Some(("deleted", _)) => patch.new = None,
                Some(("rename" | "copy", rest)) => {
                    if let Some(to) = rest.strip_prefix("to ") {
                        patch.new = names::unquoted(to.as_bytes());
                    } else if let Some(from) = rest.strip_prefix("from ") {
                        patch.old = names::unquoted(from.as_bytes());
                    }
                }
                Some(("Binary" | "GIT", _)) => patch.is_binary = true,
                _ => {}
            }
        }
    }
    patches
}

/// The two names of `diff --git a/x b/x`, where both are the same.
fn git_names(rest: &str) -> Patch {
    let name = match rest.strip_prefix('"') {
        Some(_) => rest.find("\" \"").and_then(|end| side_name(&rest[..=end], "a/")),
        None => {
            let half = rest.len() / 2;
            let same = rest.is_char_boundary(half) && rest.as_bytes().get(half) == Some(&b' ');
            same.then(|| side_name(&rest[..half], "a/")).flatten()
        }
    };
    Patch { old: name.clone(), new: name, ..Patch::default() }
}

/// The path of a `---` or `+++` line: unquoted, without the time stamp and git's prefix.
fn side_name(text: &str, prefix: &str) -> Option<Vec<u8>> {
    let name = names::unquoted(text.split('\t').next().unwrap_or(text).as_bytes())?;
    if name == b"/dev/null" {
        return None;
    }
    Some(name.strip_prefix(prefix.as_bytes()).map(<[u8]>::to_vec).unwrap_or(name))
}

/// Reads `1,5 +1,7 @@ ...` as the start and length of both sides.
fn hunk_header(text: &str) -> Option<[u32; 4]> {
    let (sides, _) = text.split_once(" @@")?;
    let (old, new) = sides.split_once(" +")?;
    let pair = |side: &str| {
        let (start, length) = side.split_once(',').unwrap_or((side, "1"));
        Some((start.parse().ok()?, length.parse().ok()?))
    };
    let ((old_start, old_length), (new_start, new_length)) = (pair(old)?, pair(new)?);
    Some([old_start, old_length, new_start, new_length])
}

/// Reads as many lines as the header announces.
fn read_hunk<'a>(
    [old_start, mut old_left, new_start, mut new_left]: [u32; 4],
    lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    text: &mut String,
) -> Hunk {
    let mut hunk = Hunk { old_start, new_start, ..Hunk::default() };
    // Lines were removed and none has come in their place yet.
    let mut removed = false;
    while old_left > 0 || new_left > 0 || lines.peek().is_some_and(|line| line.starts_with('\\')) {
        let Some(line) = lines.peek().copied() else { break };
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let bare = bare.strip_suffix('\r').unwrap_or(bare);
        let body = bare.get(1..).unwrap_or_default().to_owned();
        let at = u32::try_from(hunk.new.len()).unwrap_or(u32::MAX).saturating_add(1);
        match bare.bytes().next() {
            Some(b' ') | None => {
                if std::mem::take(&mut removed) {
                    difference::push(&mut hunk.marked, (at.saturating_sub(1).max(1), at));
                }
                old_left = old_left.saturating_sub(1);
                new_left = new_left.saturating_sub(1);
                hunk.old.push(body.clone());
                hunk.new.push(body);
            }
            Some(b'-') => {
                old_left = old_left.saturating_sub(1);
                removed = true;
                hunk.old.push(body);
            }
            Some(b'+') => {
                new_left = new_left.saturating_sub(1);
                removed = false;
                difference::push(&mut hunk.marked, (at, at));
                hunk.new.push(body);
            }
            Some(b'\\') => {}
            Some(_) => break,
        }
        text.push_str(line);
        lines.next();
    }
    if removed {
        let last = u32::try_from(hunk.new.len()).unwrap_or(u32::MAX);
        difference::push(&mut hunk.marked, (last.max(1), last.saturating_add(1)));
    }
    hunk
}
