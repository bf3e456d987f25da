//! Selects the files of a target, with their texts and changed lines.
//!
//! The files are sorted by path. A skipped file is listed with the reason. `.gleeignore` applies to every target.
//! However, a file whose path the user gives is reviewed even if the file is ignored or generated. In a folder,
//! Glee leaves out the entries whose names begin with a dot, and the files that `.gitignore` excludes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::code::text_files;
use crate::diff::metadata_changes::FACTOR;
use crate::git::{GitCall, Repository, path_bytes};
use crate::select::attributes::{ASKED, Attributes};
use crate::select::filter::{Before, Selected};
use crate::select::ignores::Ignores;
use crate::select::selection::{SelectOptions, Selection, Target, TargetSpec};
use crate::select::{by_rule, filter, notebook, shards, walk};
use crate::{Result, Workspace, WorkspaceError};
use glee_model::domain::{Skip, SkipReason};
use glee_protocol::request::SourceFile;
use glee_store::config::closest;
use glee_store::config::files::paths;

/// If a file is missing, Glee compares its name with at most this number of names in the same folder.
const SEARCHED: usize = 10_000;

impl Workspace {
    /// Selects the files of a review; none if the target contains nothing to read. Fails with exit code 2 if a path of
    /// the target is missing or unreadable, or if the folder is not in a repository and the target requires git.
    pub fn select(&self, spec: &TargetSpec, options: &SelectOptions) -> Result<Target> {
        let mut selection = match spec {
            TargetSpec::Uncommitted => {
                let git = self.git_for(spec)?;
                let base = git.head.as_deref();
                self.select_worktree(git, git.uncommitted(base)?, base, options)?
            }
            TargetSpec::Staged => self.select_staged(self.git_for(spec)?, options)?,
            TargetSpec::Base(revision) => {
                let git = self.git_for(spec)?;
                let base = git.fork_point(revision)?;
                let changes = git.uncommitted_since(&base, revision)?;
                self.select_worktree(git, changes, Some(&base), options)?
            }
            TargetSpec::Commit(revision) => {
                self.select_commit(self.git_for(spec)?, revision, options)?
            }
            TargetSpec::Range(range) => self.select_range(self.git_for(spec)?, range, options)?,
            TargetSpec::Diff { name, text } => self.select_diff(name, text, options)?,
            TargetSpec::Paths(paths) => self.select_paths(paths, options)?,
        };
        // If the configuration of the base controls the review, an edit of the configuration is a part of the change.
        let is_steered = self.recorded_ignores.is_some();
        let is_of_worktree = matches!(spec, TargetSpec::Uncommitted | TargetSpec::Base(_));
        if is_of_worktree && !is_steered {
            selection.leave_out(paths::PROJECT_FILE, SkipReason::Configuration);
        }
        Ok(self.finish(selection, describe(spec), options))
    }

    fn git_for(&self, spec: &TargetSpec) -> Result<&Repository> {
        let git = self.repository.as_ref();
        git.ok_or_else(|| WorkspaceError::NotGit(describe(spec)))
    }

    pub fn finish(
        &self,
        mut selection: Selection,
        description: String,
        options: &SelectOptions,
    ) -> Target {
        selection.files.sort_by(|a, b| a.path.cmp(&b.path));
        // Two files can get the same path, because paths that are not UTF-8 are escaped. If two files get the same
        // path, Glee reviews only the first file.
        let skipped = &mut selection.skipped;
        selection.files.dedup_by(|later, first| {
            let same = later.path == first.path;
            skipped.extend(same.then(|| Skip {
                file: later.path.clone(),
                reason: SkipReason::Unreadable,
            }));
            same
        });
        selection.skipped.sort_by(|a, b| a.file.cmp(&b.file));
        Target {
            description,
            commit: selection.commit.or_else(|| self.head().map(str::to_owned)),
            tree: selection.tree.unwrap_or_else(|| digest(&selection.files)),
            shards: shards::split(&selection.files, options),
            files: selection.files,
            skipped: selection.skipped,
        }
    }

    fn select_paths(&self, paths: &[PathBuf], options: &SelectOptions) -> Result<Selection> {
        let mut chosen: BTreeMap<Vec<u8>, Selected> = BTreeMap::new();
        let mut selection = Selection::default();
        let others = self.other_repositories()?;
        let mut left_out = Vec::new();
        let exclude = self
            .repository
            .as_ref()
            .map(|repository| repository.common.join("info/exclude"));
        let mut ignores = Ignores::both(&self.root, self.recorded_ignores.as_ref(), exclude);
        for path in paths {
            let unreadable = WorkspaceError::unreadable(path);
            let relative = self.relative(path)?;
            let full = self.root.join(path_bytes::path(&relative));
            if !full.is_dir() {
                let opened = text_files::open_regular(&full);
                if opened.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
                    return Err(unreadable(ErrorKind::PermissionDenied.into()));
                }
                chosen.insert(relative, Selected::ByName);
                continue;
            }
            let how = match by_rule::is_vendored(&filter::path_text(&relative)) {
                true => Selected::InVendored,
                false => Selected::ByWalk,
            };
            let entries = walk::walk(&self.root, &relative, &mut ignores, &mut |path, _| {
                let is_other = others.contains(path);
                left_out.extend(is_other.then(|| path.to_vec()));
                is_other || path_bytes::name(path).starts_with(b".")
            });
            for (path, kind) in entries.map_err(unreadable)? {
                match kind {
                    Some(kind) if kind.is_file() => {
                        chosen.entry(path).or_insert(how);
                    }
                    Some(_) => selection.skip(&path, SkipReason::NotAFile),
                    None => selection.skip(&path, SkipReason::Unreadable),
                }
            }
        }
        for folder in left_out {
            selection.skip(&folder, SkipReason::Repository);
        }
        let marks = self.attributes(chosen.keys())?;
        for (path, chosen) in &chosen {
            let name = filter::path_text(path);
            let generated = (marks.generated(path), None);
            // The cells of a notebook are a small part of it.
            let factor = if notebook::is_notebook(&name) {
                FACTOR
            } else {
                1
            };
            let bytes = self.bytes_now(path, options.max_file.saturating_mul(factor));
            let text = bytes
                .and_then(|bytes| filter::text(&name, bytes, *chosen, generated, Before::Same));
            match text {
                Ok(text) if text.len() as u64 > options.max_file => {
                    selection.skip(path, SkipReason::Oversized);
                }
                Ok(text) => {
                    if notebook::is_cells(&name, &text) {
                        selection.skip(path, SkipReason::NotebookOutputs);
                    }
                    selection.files.push(SourceFile {
                        path: name,
                        text,
                        changed: Vec::new(),
                        diff: None,
                    });
                }
                Err(reason) => selection.skip(path, reason),
            }
        }
        selection.skipped.dedup();
        Ok(selection)
    }

    /// The untracked folders of the tree that are repositories or work trees of their own.
    fn other_repositories(&self) -> Result<BTreeSet<Vec<u8>>> {
        let scan = self.repository.as_ref().map(Repository::scan).transpose()?;
        Ok(scan
            .into_iter()
            .flat_map(|scan| scan.repositories)
            .collect())
    }

    /// Returns the git attributes of files. Outside git, files have no attributes.
    pub fn attributes<'a>(&self, paths: impl Iterator<Item = &'a Vec<u8>>) -> Result<Attributes> {
        self.repository
            .as_ref()
            .map_or_else(|| Ok(Attributes::default()), |git| git.attributes(paths))
    }

    pub(crate) fn bytes_now(&self, path: &[u8], max_file: u64) -> Result<Vec<u8>, SkipReason> {
        let full = self.root.join(path_bytes::path(path));
        if std::fs::symlink_metadata(&full).is_ok_and(|meta| !meta.is_file()) {
            return Err(SkipReason::NotAFile);
        }
        let bytes = text_files::read_capped(&full, max_file).map_err(|_| SkipReason::Unreadable)?;
        bytes.ok_or(SkipReason::Oversized)
    }

    /// Compares the name of `path` with the names in the same folder, and returns the path with the most similar
    /// name.
    fn similar(&self, path: &Path) -> Option<String> {
        let name = path.file_name()?.to_str()?;
        let entries = self.start.join(path).parent()?.read_dir().ok()?;
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .take(SEARCHED)
            .collect();
        names.sort();
        let similar = closest(name, names.iter().map(String::as_str))?;
        Some(path.with_file_name(similar).display().to_string())
    }

    /// Resolves the links in a user's path, and makes the path relative to the root.
    fn relative(&self, path: &Path) -> Result<Vec<u8>> {
        let shown = || path.display().to_string();
        let real = self
            .start
            .join(path)
            .canonicalize()
            .map_err(|error| match error.kind() {
                ErrorKind::NotFound => WorkspaceError::Missing {
                    path: shown(),
                    similar: self.similar(path),
                },
                _ => WorkspaceError::unreadable(path)(error),
            })?;
        let Ok(relative) = real.strip_prefix(&self.root) else {
            return Err(WorkspaceError::Outside {
                path: shown(),
                root: self.root.clone(),
            });
        };
        if relative
            .components()
            .any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
        {
            return Err(WorkspaceError::InsideGit(shown()));
        }
        Ok(path_bytes::bytes(relative))
    }
}

impl Repository {
    pub fn autocrlf(&self) -> Result<bool> {
        let set = self.setting("core.autocrlf")?;
        let set = set.map(str::to_lowercase);
        Ok(
            set.is_some_and(|value| {
                matches!(value.as_str(), "true" | "input" | "yes" | "on" | "1")
            }),
        )
    }

    /// Returns the attributes of files, with one git process for all files.
    pub fn attributes<'a>(&self, paths: impl Iterator<Item = &'a Vec<u8>>) -> Result<Attributes> {
        self.call(["check-attr", "-z", "--stdin"]).attributes(paths)
    }

    /// Returns the attributes of files according to the `.gitattributes` files of a commit.
    pub(crate) fn attributes_at<'a>(
        &self,
        commit: &str,
        paths: impl Iterator<Item = &'a Vec<u8>>,
    ) -> Result<Attributes> {
        let folder = tempfile::tempdir().map_err(WorkspaceError::Start)?;
        let index = folder.path().join("index");
        self.call(["read-tree", commit]).index(&index).output()?;
        self.call(["check-attr", "--cached", "-z", "--stdin"])
            .index(&index)
            .attributes(paths)
    }
}

impl GitCall {
    pub fn attributes<'a>(self, paths: impl Iterator<Item = &'a Vec<u8>>) -> Result<Attributes> {
        let input: Vec<u8> = paths
            .flat_map(|path| path.iter().copied().chain([0]))
            .collect();
        let mut attributes = Attributes::default();
        if input.is_empty() {
            return Ok(attributes);
        }
        let output = ASKED.into_iter().fold(self, Self::arg).output_of(&input)?;
        let mut fields = output.split(|byte| *byte == 0);
        while let (Some(path), Some(name), Some(value)) =
            (fields.next(), fields.next(), fields.next())
        {
            if value != b"unspecified" {
                let of_path = attributes.0.entry(path.to_vec()).or_default();
                of_path.insert(path_bytes::shown(name), path_bytes::shown(value));
            }
        }
        Ok(attributes)
    }
}

/// Whether all changed files belong to Glee's configuration. Shared rulings do not count as configuration.
fn describe(spec: &TargetSpec) -> String {
    match spec {
        TargetSpec::Uncommitted => "uncommitted changes".to_owned(),
        TargetSpec::Staged => "staged changes".to_owned(),
        TargetSpec::Base(revision) => format!("changes since {revision}"),
        TargetSpec::Commit(revision) => format!("commit {revision}"),
        TargetSpec::Range(range) => range.clone(),
        TargetSpec::Diff { name, .. } if name == "-" => "diff from stdin".to_owned(),
        TargetSpec::Diff { name, .. } => format!("diff {name}"),
        TargetSpec::Paths(paths) => paths
            .iter()
            .map(|path| path.display().to_string())
            .collect::<Vec<_>>()
            .join(" "),
    }
}

fn digest(files: &[SourceFile]) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in files {
        hasher
            .update(file.path.as_bytes())
            .update(&[0])
            .update(blake3::hash(file.text.as_bytes()).as_bytes());
    }
    format!("blake3:{}", hasher.finalize().to_hex())
}
