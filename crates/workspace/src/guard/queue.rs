//! The queue of the detached runs of a tree: one works at a time, the others wait. A run that still waits is superseded
//! by a newer run that reviews at least the same: it begins at the same commit, and its last commit contains the other's.
//!
//! The turn is a lock, which the kernel releases when the process ends. A run that waits has a file with its id as name.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::git::path_bytes;
use crate::snapshot::manifest::{read_json, write_json};
use crate::{Result, TargetSpec, Workspace, WorkspaceError};
use glee_model::domain::RunId;
use glee_system::private;

const RANGE: &str = "commits since ";

/// What a detached run reviews, as far as another run can contain it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSubject {
    /// The kind of the target with the commit at which it begins. Only runs with equal texts supersede each other.
    pub what: String,
    /// The last commit that the run contains; `None` outside git.
    pub until: Option<String>,
}

/// A detached run in the queue of its tree. It keeps its turn until this value is dropped or the process ends.
#[derive(Debug)]
pub struct QueuedRun {
    turn: PathBuf,
    entry: PathBuf,
    lock: Option<File>,
    begun: Arc<AtomicBool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    Begun,
    Waiting,
    /// A newer run reviews at least the same.
    Superseded(RunId),
}

/// The file of a run that waits.
#[derive(Debug, Serialize, Deserialize)]
struct QueueEntry {
    run: RunId,
    /// `None` if no other run contains what the run reviews.
    subject: Option<QueueSubject>,
    superseded_by: Option<RunId>,
}

impl Workspace {
    /// Returns `None` for a target that no other run contains.
    pub fn queue_subject(&self, spec: &TargetSpec) -> Result<Option<QueueSubject>> {
        let head = self.head().map(str::to_owned);
        let commit = self.head().unwrap_or_default();
        let (what, until) = match (spec, &self.repository) {
            (TargetSpec::Range(range), Some(git)) => {
                let (from, to) = git.range(range)?;
                (format!("{RANGE}{from}"), Some(to))
            }
            (TargetSpec::Base(base), Some(git)) => {
                (format!("base {}", git.fork_point(base)?), head)
            }
            (TargetSpec::Uncommitted, _) => (format!("uncommitted {commit}"), head),
            (TargetSpec::Staged, _) => (format!("staged {commit}"), head),
            (TargetSpec::Paths(paths), _) => (format!("paths {paths:?}"), head),
            (
                TargetSpec::Range(_)
                | TargetSpec::Base(_)
                | TargetSpec::Commit(_)
                | TargetSpec::Diff { .. },
                _,
            ) => {
                return Ok(None);
            }
        };
        Ok(Some(QueueSubject { what, until }))
    }

    /// Adds a run to the queue. Also returns the runs that it supersedes.
    pub fn enqueue(
        &self,
        state_dir: &Path,
        run: &RunId,
        subject: Option<QueueSubject>,
    ) -> Result<(QueuedRun, Vec<RunId>)> {
        let folder = self.queue(state_dir);
        let mut superseded = Vec::new();
        for (path, entry) in entries(&folder)? {
            if entry.run == *run || !self.contains(subject.as_ref(), entry.subject.as_ref())? {
                continue;
            }
            superseded.push(entry.run.clone());
            let superseded_by = Some(run.clone());
            write_json(
                &path,
                &QueueEntry {
                    superseded_by,
                    ..entry
                },
            )?;
        }
        let queued = QueuedRun {
            turn: folder.join("turn"),
            entry: folder.join(format!("{run}.json")),
            lock: None,
            begun: Arc::default(),
        };
        let entry = QueueEntry {
            run: run.clone(),
            subject,
            superseded_by: None,
        };
        write_json(&queued.entry, &entry)?;
        Ok((queued, superseded))
    }

    /// Whether a run with the subject `newer` reviews at least what a run with the subject `older` reviews.
    fn contains(&self, newer: Option<&QueueSubject>, older: Option<&QueueSubject>) -> Result<bool> {
        let (Some(newer), Some(older)) = (newer, older) else {
            return Ok(false);
        };
        if newer.what != older.what {
            return Ok(false);
        }
        match (&self.repository, &older.until, &newer.until) {
            (Some(git), Some(older), Some(newer)) => git.is_ancestor(older, newer),
            (_, older, newer) => Ok(older == newer),
        }
    }

    /// The arguments of a review of the last commit. The review begins earlier if a run of commits that `HEAD` contains
    /// still waits, so that it supersedes that run. `None` without a commit.
    pub fn new_commits(&self, state_dir: &Path) -> Result<Option<Vec<String>>> {
        let (Some(git), Some(head)) = (&self.repository, self.head()) else {
            return Ok(None);
        };
        let mut from = git.find("HEAD^")?;
        for (_, entry) in entries(&self.queue(state_dir))? {
            if let Some(subject) = &entry.subject
                && let Some(until) = &subject.until
                && let Some(first) = subject.what.strip_prefix(RANGE)
                && entry.superseded_by.is_none()
                && git.is_ancestor(until, head)?
            {
                from = first.split(' ').next().map(str::to_owned);
            }
        }
        Ok(Some(match from {
            Some(from) => vec![format!("{from}..{head}")],
            None => vec!["--commit".to_owned(), head.to_owned()],
        }))
    }

    fn queue(&self, state_dir: &Path) -> PathBuf {
        let name = blake3::hash(&path_bytes::bytes(self.root())).to_hex();
        state_dir.join("detached").join(&name[..16])
    }
}

impl QueuedRun {
    /// How often a run that waits asks for its turn.
    pub const STEP: Duration = Duration::from_millis(100);

    /// Becomes true when the turn begins.
    pub fn begun(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.begun)
    }

    /// Begins the turn if no other detached run works on the tree.
    pub fn turn(&mut self) -> Result<Turn> {
        if self.lock.is_some() {
            return Ok(Turn::Begun);
        }
        let state = WorkspaceError::state(&self.turn);
        let file = private::options()
            .create(true)
            .write(true)
            .truncate(false)
            .open(&self.turn)
            .map_err(state)?;
        let is_free = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(source)) => return Err(state(source)),
        };
        let entry: Option<QueueEntry> = read_json(&self.entry)?;
        if let Some(by) = entry.and_then(|entry| entry.superseded_by) {
            return Ok(Turn::Superseded(by));
        }
        if !is_free {
            return Ok(Turn::Waiting);
        }
        self.leave();
        self.lock = Some(file);
        self.begun.store(true, Ordering::Relaxed);
        Ok(Turn::Begun)
    }

    /// The run waits again, although another run superseded it.
    pub fn stay(&self) -> Result<()> {
        match read_json::<QueueEntry>(&self.entry)? {
            Some(entry) => {
                let superseded_by = None;
                write_json(
                    &self.entry,
                    &QueueEntry {
                        superseded_by,
                        ..entry
                    },
                )
            }
            None => Ok(()),
        }
    }

    /// The run waits no longer.
    pub fn leave(&self) {
        drop(fs::remove_file(&self.entry));
    }
}

fn entries(folder: &Path) -> Result<Vec<(PathBuf, QueueEntry)>> {
    let listed = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed.map_err(WorkspaceError::state(folder))?,
    };
    let mut entries = Vec::new();
    for path in listed.flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|end| end == "json")
            && let Some(entry) = read_json(&path)?
        {
            entries.push((path, entry));
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn one_run_works_and_a_newer_run_supersedes_one_that_waits() {
        let tree = tempfile::tempdir().unwrap();
        let state = tempfile::tempdir().unwrap();
        let workspace = Workspace::discover(tree.path()).unwrap();
        let enqueue = |name: &str, what: Option<&str>| {
            let run = RunId(name.to_owned());
            let subject = what.map(|what| QueueSubject {
                what: what.to_owned(),
                until: None,
            });
            let (queued, superseded) = workspace.enqueue(state.path(), &run, subject).unwrap();
            let superseded: Vec<String> = superseded.into_iter().map(|run| run.0).collect();
            (queued, superseded.join(" "))
        };
        let (mut first, superseded) = enqueue("first", Some("a"));
        assert_eq!(superseded, "");
        assert_eq!(first.turn().unwrap(), Turn::Begun);

        let (mut second, superseded) = enqueue("second", Some("a"));
        assert_eq!(superseded, "", "the first one works already");
        let (mut other, _) = enqueue("other", Some("b"));
        let (mut alone, _) = enqueue("alone", None);
        assert_eq!(second.turn().unwrap(), Turn::Waiting);
        let (mut third, superseded) = enqueue("third", Some("a"));
        assert_eq!(superseded, "second");
        let (mut again, superseded) = enqueue("again", None);
        assert_eq!(superseded, "", "nothing contains it");
        let by = Turn::Superseded(RunId("third".to_owned()));
        assert_eq!(second.turn().unwrap(), by);
        assert_eq!(first.turn().unwrap(), Turn::Begun);

        drop(first);
        assert_eq!(second.turn().unwrap(), by, "also when the tree is free");
        for run in [&mut third, &mut other, &mut alone, &mut again] {
            assert_eq!(run.turn().unwrap(), Turn::Begun);
            assert_eq!(second.turn().unwrap(), by);
            run.lock = None;
        }
        second.leave();
        assert!(entries(&workspace.queue(state.path())).unwrap().is_empty());
    }
}
