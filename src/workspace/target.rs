//! What is reviewed: from the words of the command line to files with their texts and changed lines.
//!
//! Files are listed in the order of their paths. What belongs to the target and is not reviewed is listed too, with
//! its reason. `.gleeignore` holds for every target; a file that is named is taken even if it is ignored or
//! generated. Folders are walked as ripgrep does: `.gitignore` is respected and names that begin with a dot are
//! passed over unless they are named.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::domain::{Coverage, Skip, SkipReason};
use crate::protocol::request::SourceFile;

use super::git::{Call, Repository};
use super::ignores::Ignores;
use super::sift::{self, Before, Chosen};
use super::walk::{self, Hidden, Met};
use super::{Result, Workspace, WorkspaceError, altered, changed, content, names, shards};

/// What the user asks to have reviewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetSpec {
    /// Everything that differs from `HEAD`: staged, unstaged, and untracked files that are not ignored.
    Uncommitted,
    /// What is staged, as it is in the index.
    Staged,
    /// The changes since the common ancestor of `HEAD` and a revision, with the uncommitted ones.
    Base(String),
    /// One commit against its first parent.
    Commit(String),
    /// `A..B`: from A to B. `A...B`: from the common ancestor of both to B. A missing side is `HEAD`.
    Range(String),
    /// A unified diff. Where a file already is as the diff leaves it, the file is read; where it is as the diff
    /// found it, the diff is applied in memory; where it is neither, or missing, only the lines of the diff's new
    /// side are shown, at their line numbers.
    Diff {
        /// Its name, `-` for stdin.
        name: String,
        text: Vec<u8>,
    },
    /// Whole files and folders, relative to where the user stands.
    Paths(Vec<PathBuf>),
}

/// Bounds on a selection, both in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectOptions {
    /// Larger files are skipped (`review.max_file_size`).
    pub max_file: u64,
    /// What one call of a reviewer covers at most (`review.max_shard_size`).
    pub shard: u64,
}

/// A selection: what is reviewed, what is left out, and how it is split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub description: String,
    /// The commit under review, or the one that the work tree stands on.
    pub commit: Option<String>,
    /// The git tree under review; for a work tree, `blake3:` and a hash of the covered paths and texts.
    pub tree: String,
    /// The files, by path.
    pub files: Vec<SourceFile>,
    /// The files that are left out, by path.
    pub skipped: Vec<Skip>,
    /// The shards, as indexes into `files`.
    pub shards: Vec<Vec<usize>>,
}

impl Target {
    /// For each shard, the files it covers with the number of lines under review.
    pub fn coverage(&self) -> Vec<Vec<Coverage>> {
        let coverage = |index: &usize| {
            let file = &self.files[*index];
            let lines = match file.changed.as_slice() {
                _ if file.is_deleted() => file.deleted_lines(),
                [] => content::lines(&file.text),
                ranges => ranges.iter().map(|(first, last)| last - first + 1).sum(),
            };
            Coverage { file: file.path.clone(), lines }
        };
        self.shards.iter().map(|shard| shard.iter().map(coverage).collect()).collect()
    }
}

/// What a selection has found before it is put in order.
#[derive(Debug, Default)]
pub(super) struct Selection {
    pub(super) files: Vec<SourceFile>,
    pub(super) skipped: Vec<Skip>,
    /// The bytes of the diffs of deleted files so far.
    pub(super) deleted: usize,
    /// The reviewed commit, where it is not the one of `HEAD`.
    pub(super) commit: Option<String>,
    /// The reviewed tree's id, where the target has one.
    pub(super) tree: Option<String>,
}

impl Selection {
    /// Adds a file of a change; of one over the bound what changed.
    pub(super) fn add(&mut self, file: SourceFile, max_file: u64) {
        if file.is_deleted() {
            let size = file.diff.as_ref().map_or(0, String::len);
            let is_shown = size as u64 <= max_file && self.deleted.saturating_add(size) <= altered::SHOWN;
            self.deleted += if is_shown { size } else { 0 };
            self.files.push(if is_shown { file } else { altered::named(file) });
            return;
        }
        if file.text.len() as u64 <= max_file {
            self.files.push(file);
            return;
        }
        let path = file.path.clone();
        let reason = match changed::part(file, max_file) {
            Ok((file, is_cut)) => {
                self.files.push(file);
                is_cut.then_some(SkipReason::Partial)
            }
            Err(reason) => Some(reason),
        };
        self.skipped.extend(reason.map(|reason| Skip { file: path, reason }));
    }

    pub(super) fn skip(&mut self, path: &[u8], reason: SkipReason) {
        self.skipped.push(sift::skip(path, reason));
    }
}

impl Workspace {
    /// Selects what a review covers. Fails for a path, revision or diff that cannot be read, a target that needs git
    /// outside git, or an empty target: they end a command with exit code 2 and nothing written. A change of which
    /// nothing can be read ends it with 4.
    pub fn select(&self, spec: &TargetSpec, options: &SelectOptions) -> Result<Target> {
        let description = describe(spec);
        let git = || self.repository.as_ref().ok_or_else(|| WorkspaceError::NotGit(description.clone()));
        let selection = match spec {
            TargetSpec::Uncommitted => {
                let git = git()?;
                let base = git.head.as_deref();
                self.select_changes(git, &git.uncommitted(base)?, base, options)?
            }
            TargetSpec::Staged => self.select_staged(git()?, options)?,
            TargetSpec::Base(revision) => {
                let git = git()?;
                let base = git.fork_point(revision)?;
                self.select_changes(git, &git.uncommitted(Some(&base))?, Some(&base), options)?
            }
            TargetSpec::Commit(revision) => self.select_commit(git()?, revision, options)?,
            TargetSpec::Range(range) => self.select_range(git()?, range, options)?,
            TargetSpec::Diff { name, text } => self.select_diff(name, text, options)?,
            TargetSpec::Paths(paths) => self.select_paths(paths, options)?,
        };
        let target = self.finish(selection, description, options);
        if target.files.is_empty() {
            let is_change = !matches!(spec, TargetSpec::Paths(_));
            return Err(WorkspaceError::EmptyTarget {
                target: target.description,
                skipped: target.skipped,
                is_change,
            });
        }
        Ok(target)
    }

    /// Puts a selection in order and splits it.
    pub(super) fn finish(&self, mut selection: Selection, description: String, options: &SelectOptions) -> Target {
        selection.files.sort_by(|a, b| a.path.cmp(&b.path));
        // A name that is no text may be escaped to the name of another file, which nobody could tell apart.
        let skipped = &mut selection.skipped;
        selection.files.dedup_by(|later, first| {
            let same = later.path == first.path;
            if same {
                skipped.push(Skip { file: later.path.clone(), reason: SkipReason::Unreadable });
            }
            same
        });
        selection.skipped.sort_by(|a, b| a.file.cmp(&b.file));
        Target {
            description,
            commit: selection.commit.or_else(|| self.head().map(str::to_owned)),
            tree: selection.tree.unwrap_or_else(|| digest(&selection.files)),
            shards: shards::split(&selection.files, options.shard),
            files: selection.files,
            skipped: selection.skipped,
        }
    }

    /// Whole files: the named ones, and those met in named folders.
    fn select_paths(&self, paths: &[PathBuf], options: &SelectOptions) -> Result<Selection> {
        let mut chosen: BTreeMap<Vec<u8>, Chosen> = BTreeMap::new();
        let mut selection = Selection::default();
        let exclude = self.repository.as_ref().map(|repository| repository.common.join("info/exclude"));
        let mut ignores = Ignores::both(&self.root, self.steered_by.as_ref(), exclude);
        for path in paths {
            let unreadable = |source| WorkspaceError::Unreadable { path: path.display().to_string(), source };
            let relative = self.relative(path)?;
            let full = self.root.join(names::path(&relative));
            if !full.is_dir() {
                if content::open_regular(&full)
                    .is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
                {
                    return Err(unreadable(std::io::ErrorKind::PermissionDenied.into()));
                }
                chosen.insert(relative, Chosen::ByName);
                continue;
            }
            for met in walk::walk(&self.root, &relative, &mut ignores, Hidden::PassedOver).map_err(unreadable)? {
                match met {
                    Met::File(path) => drop(chosen.entry(path).or_insert(Chosen::Met)),
                    Met::Link(path) | Met::Other(path) => selection.skip(&path, SkipReason::NotAFile),
                    Met::Unreadable(path) => selection.skip(&path, SkipReason::Unreadable),
                }
            }
        }
        let marks = self.attributes(chosen.keys())?;
        for (path, chosen) in &chosen {
            match self.whole_file(path, *chosen, &marks, options) {
                Ok(file) => selection.files.push(file),
                Err(reason) => selection.skip(path, reason),
            }
        }
        selection.skipped.dedup();
        Ok(selection)
    }

    /// The attributes of files; none outside git.
    pub(super) fn attributes<'a>(&self, paths: impl Iterator<Item = &'a Vec<u8>>) -> Result<Attributes> {
        self.repository.as_ref().map_or_else(|| Ok(Attributes::default()), |git| git.attributes(paths))
    }

    fn whole_file(
        &self,
        path: &[u8],
        chosen: Chosen,
        marks: &Attributes,
        options: &SelectOptions,
    ) -> Result<SourceFile, SkipReason> {
        let bytes = self.bytes_now(path, options.max_file)?;
        let generated = (marks.generated(path), None);
        let path = sift::path_text(path);
        let text = sift::text(&path, bytes, chosen, generated, Before::Same)?;
        Ok(SourceFile { path, text, changed: Vec::new(), diff: None })
    }

    pub(super) fn bytes_now(&self, path: &[u8], max_file: u64) -> Result<Vec<u8>, SkipReason> {
        let full = self.root.join(names::path(path));
        match std::fs::symlink_metadata(&full) {
            Ok(meta) if !meta.is_file() => return Err(SkipReason::NotAFile),
            Ok(_) => {}
            Err(_) => return Err(SkipReason::Unreadable),
        }
        match content::read_capped(&full, max_file) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(SkipReason::Oversized),
            Err(_) => Err(SkipReason::Unreadable),
        }
    }

    /// A path as the user wrote it, relative to the root, links resolved.
    fn relative(&self, path: &Path) -> Result<Vec<u8>> {
        let shown = || path.display().to_string();
        let real = self
            .start
            .join(path)
            .canonicalize()
            .map_err(|source| WorkspaceError::Unreadable { path: shown(), source })?;
        let Ok(relative) = real.strip_prefix(&self.root) else {
            return Err(WorkspaceError::Outside { path: shown(), root: self.root.clone() });
        };
        if relative.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
            return Err(WorkspaceError::InsideGit(shown()));
        }
        Ok(names::bytes(relative))
    }
}

/// What `.gitattributes` says of files, as far as Glee asks.
#[derive(Debug, Default)]
pub(super) struct Attributes(BTreeMap<Vec<u8>, BTreeMap<String, String>>);

const ASKED: [&str; 7] = ["linguist-generated", "text", "eol", "crlf", "filter", "ident", "working-tree-encoding"];

impl Attributes {
    /// Whether a file is marked as generated; `None` if nothing is said.
    pub(super) fn generated(&self, path: &[u8]) -> Option<bool> {
        match self.value(path, "linguist-generated")? {
            "set" | "true" => Some(true),
            "unset" | "false" => Some(false),
            _ => None,
        }
    }

    /// Whether git may change the file's line ends; `None` if that is left to the configuration.
    pub(super) fn converts_line_ends(&self, path: &[u8]) -> Option<bool> {
        let said = |name| self.value(path, name);
        match (said("text").or_else(|| said("crlf")), said("eol")) {
            (Some("unset"), _) => Some(false),
            (Some(_), _) | (_, Some(_)) => Some(true),
            (None, None) => None,
        }
    }

    /// Whether git may have written other bytes to the work tree than it has in the object.
    pub(super) fn converts(&self, path: &[u8], autocrlf: bool) -> bool {
        self.converts_line_ends(path).unwrap_or(autocrlf) || self.is_filtered(path)
    }

    /// Whether git changes more of the file than its line ends.
    pub(super) fn is_filtered(&self, path: &[u8]) -> bool {
        let says = |name| self.value(path, name).is_some_and(|value| value != "unset");
        says("filter") || says("ident") || says("working-tree-encoding")
    }

    fn value(&self, path: &[u8], name: &str) -> Option<&str> {
        self.0.get(path)?.get(name).map(String::as_str)
    }
}

impl Repository {
    pub(super) fn autocrlf(&self) -> Result<bool> {
        let set = self.call(["config", "--get", "core.autocrlf"]).answer()?;
        Ok(set.is_some_and(|value| matches!(value.trim_ascii(), b"true" | b"input" | b"yes" | b"on" | b"1")))
    }

    /// Asks for the attributes of many files in one process.
    pub(super) fn attributes<'a>(&self, paths: impl Iterator<Item = &'a Vec<u8>>) -> Result<Attributes> {
        self.call(["check-attr", "-z", "--stdin"]).attributes(paths)
    }

    /// The attributes of files as the `.gitattributes` of a commit give them, with those that are not of the tree.
    pub(super) fn attributes_at<'a>(
        &self,
        commit: &str,
        paths: impl Iterator<Item = &'a Vec<u8>>,
    ) -> Result<Attributes> {
        let folder = tempfile::tempdir().map_err(WorkspaceError::Start)?;
        let index = folder.path().join("index");
        self.call(["read-tree", commit]).index(&index).output()?;
        self.call(["check-attr", "--cached", "-z", "--stdin"]).index(&index).attributes(paths)
    }
}

impl Call {
    /// The answer of `check-attr` about some files.
    pub(super) fn attributes<'a>(self, paths: impl Iterator<Item = &'a Vec<u8>>) -> Result<Attributes> {
        let input: Vec<u8> = paths.flat_map(|path| path.iter().copied().chain([0])).collect();
        let mut attributes = Attributes::default();
        if input.is_empty() {
            return Ok(attributes);
        }
        let output = ASKED.into_iter().fold(self, Self::arg).output_of(&input)?;
        let mut fields = output.split(|byte| *byte == 0);
        while let (Some(path), Some(name), Some(value)) = (fields.next(), fields.next(), fields.next()) {
            if value != b"unspecified" {
                let of_path = attributes.0.entry(path.to_vec()).or_default();
                of_path.insert(names::shown(name), names::shown(value));
            }
        }
        Ok(attributes)
    }
}

fn describe(spec: &TargetSpec) -> String {
    match spec {
        TargetSpec::Uncommitted => "uncommitted changes".to_owned(),
        TargetSpec::Staged => "staged changes".to_owned(),
        TargetSpec::Base(revision) => format!("changes since {revision}"),
        TargetSpec::Commit(revision) => format!("commit {revision}"),
        TargetSpec::Range(range) => range.clone(),
        TargetSpec::Diff { name, .. } if name == "-" => "diff from stdin".to_owned(),
        TargetSpec::Diff { name, .. } => format!("diff {name}"),
        TargetSpec::Paths(paths) => {
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
        }
    }
}

/// The id of a set of files: a hash over their paths and texts.
fn digest(files: &[SourceFile]) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in files {
        hasher.update(file.path.as_bytes()).update(&[0]).update(blake3::hash(file.text.as_bytes()).as_bytes());
    }
    format!("blake3:{}", hasher.finalize().to_hex())
}
