//! Runs a demonstration in a copy of the recorded tree.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::ops::RangeInclusive;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::DueDemonstration;
use crate::review::code::coder_changes::Trees;
use crate::run::redaction::Redaction;
use glee_agents::calls::demonstration::{NotRun, Reports, TestJob, command};
use glee_agents::process::sandbox::confinement::Guarded;
use glee_agents::{Agents, Stop, TranscriptFiles};
use glee_model::domain::{
    Demonstration, DemonstrationRun, Finding, TestEnd, TestRun, TestedTree, Untrusted, is_inside,
};
use glee_model::rules::review::demonstrations::RUNS;
use glee_store::config::settings::{Limits, ReviewSettings, Runner};
use glee_system::private;
use glee_workspace::TreeId;
use glee_workspace::code::anchors::Blocks;

/// The maximum size of a demonstration, in bytes.
const LARGEST: usize = 64 << 10;

const LONGEST_PATH: usize = 200;

/// The number of bytes of a test's output that are recorded.
const RECORDED: usize = 4 << 10;

/// What a demonstration needs to run, without the state of the review.
pub(crate) struct TestBench {
    pub agents: Agents,
    pub guarded: Guarded,
    pub limits: Limits,
    pub redaction: Redaction,
    pub files: TranscriptFiles,
    pub stop: Stop,
}

/// A recorded tree that is written to a folder. The demonstrations of a run share it one after another, because files are
/// written slowly.
pub(crate) struct TreeCopy {
    folder: TempDir,
    tree: TreeId,
    files: Fingerprints,
}

impl TreeCopy {
    fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a tree, or what differs from the tree of an earlier copy in which nothing is left of its demonstrations.
    fn of(tree: TreeId, earlier: Option<Self>, trees: Trees<'_>) -> Result<Self, String> {
        let unwritten =
            |error: &dyn std::fmt::Display| format!("the copy of the tree failed: {error}");
        let earlier = earlier.filter(Self::restore);
        let (folder, from) = match earlier {
            Some(earlier) if earlier.tree == tree => return Ok(earlier),
            Some(earlier) => (earlier.folder, Some(earlier.tree)),
            None => (folder(trees).map_err(|error| unwritten(&error))?, None),
        };
        trees
            .workspace
            .write_tree(&tree, from.as_ref(), folder.path(), trees.state_dir)
            .map_err(|error| unwritten(&error))?;
        let files = fingerprints(folder.path());
        Ok(Self {
            folder,
            tree,
            files,
        })
    }

    /// Removes what was added. Returns whether the copy is as it was written.
    fn restore(&self) -> bool {
        let found = fingerprints(self.root());
        let added = found.keys().filter(|path| !self.files.contains_key(*path));
        for path in added {
            let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
            drop(if is_folder {
                fs::remove_dir_all(path)
            } else {
                fs::remove_file(path)
            });
        }
        fingerprints(self.root()) == self.files
    }
}

fn folder(trees: Trees<'_>) -> io::Result<TempDir> {
    private::folder(trees.state_dir)?;
    tempfile::Builder::new()
        .prefix("demonstration-")
        .tempdir_in(trees.state_dir)
}

/// A demonstration with the copy of its tree.
pub(crate) struct PreparedTest {
    due: DueDemonstration,
    runner: Runner,
    copy: TreeCopy,
    blocks: Vec<(String, RangeInclusive<u32>)>,
    /// The folder for reports, traces and the runner's cache.
    folder: TempDir,
}

/// The blocks of a finding in a tree: the lines of which one has to be executed.
fn blocks_of(
    finding: &Finding,
    trees: Trees<'_>,
    tree: &str,
) -> Vec<(String, RangeInclusive<u32>)> {
    let blocks = finding.anchored().filter_map(|(_, anchor)| {
        let text = trees.read_at(tree, &anchor.file)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines = Blocks::of(&anchor.file, &text).place(anchor)?;
        Some((anchor.file.clone(), lines))
    });
    blocks.collect()
}

/// Checks a demonstration and adds it to a copy of its tree. Fails with the reason why it does not run.
pub(crate) fn prepare(
    mut due: DueDemonstration,
    finding: &Finding,
    review: &ReviewSettings,
    trees: Trees<'_>,
    earlier: Option<TreeCopy>,
) -> Result<PreparedTest, Box<DemonstrationRun>> {
    match prepared(&due, finding, review, trees, earlier) {
        Ok((runner, folder, copy)) => {
            due.tree = Some(copy.tree.0.clone());
            Ok(PreparedTest {
                blocks: blocks_of(finding, trees, &copy.tree.0),
                copy,
                runner,
                folder,
                due,
            })
        }
        Err(why) => Err(Box::new(due.refused(why))),
    }
}

/// The runner, the folder for its reports, and the copy.
type Place = (Runner, TempDir, TreeCopy);

fn prepared(
    due: &DueDemonstration,
    finding: &Finding,
    review: &ReviewSettings,
    trees: Trees<'_>,
    earlier: Option<TreeCopy>,
) -> Result<Place, String> {
    if due.is_over {
        return Err("`budget.demonstrations` is reached".to_owned());
    }
    let demonstration = &due.demonstration;
    let mut runners = review.offered_runners();
    let runner = runners.find(|(name, _)| **name == demonstration.runner);
    let Some((_, runner)) = runner else {
        return Err("no runner of this name is configured".to_owned());
    };
    if finding.anchored().next().is_none() {
        return Err("the finding names no code".to_owned());
    }
    let path = demonstration.path.as_str();
    misplaced(path, runner)?;
    let code = demonstration.code.as_written();
    if code.len() > LARGEST {
        return Err(format!("the file is larger than {} KiB", LARGEST >> 10));
    }
    let tree = match &due.tree {
        Some(tree) => TreeId(tree.clone()),
        None => trees
            .workspace
            .snapshot(trees.state_dir)
            .map_err(|error| format!("the tree was not recorded: {error}"))?,
    };
    let folder = folder(trees).map_err(|error| error.to_string())?;
    let copy = TreeCopy::of(tree, earlier, trees)?;
    add(copy.root(), path, code)?;
    Ok((runner.clone(), folder, copy))
}

/// Fails if the path is not that of a file below the runner's folder.
fn misplaced(path: &str, runner: &Runner) -> Result<(), String> {
    let below = path.strip_prefix(&runner.folder);
    let below = below.and_then(|rest| rest.strip_prefix('/'));
    if is_plain(path) && below.is_some_and(|below| !below.is_empty()) {
        Ok(())
    } else {
        Err(format!(
            "its path is not that of a file below `{}`",
            runner.folder
        ))
    }
}

/// Whether a path is that of a file inside, without hidden folders and without white space.
fn is_plain(path: &str) -> bool {
    is_inside(path)
        && path.len() <= LONGEST_PATH
        && !path.chars().any(|c| c.is_control() || c.is_whitespace())
        && path
            .split('/')
            .all(|part| !part.is_empty() && !part.starts_with(['.', '-']))
}

/// Writes a demonstration into the tree at `root`, as a new file. Fails with the reason why the file is not written: its
/// path is not that of a file inside, a folder on the way is a link, or a file is there.
pub fn keep(root: &Path, demonstration: &Demonstration) -> Result<(), String> {
    let path = demonstration.path.as_str();
    if !is_plain(path) {
        return Err("its path is not that of a file of the tree".to_owned());
    }
    add(root, path, demonstration.code.as_written())
}

/// Adds the file to a tree. No folder on the way may be a link, and no file may be there.
fn add(copy: &Path, path: &str, code: &str) -> Result<(), String> {
    let mut place = copy.to_owned();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    for part in folders.split('/').filter(|part| !part.is_empty()) {
        place.push(part);
        match place.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err("a folder of its path is a link or a file".to_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(&place).map_err(|error| error.to_string())?;
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    let file = fs::File::create_new(place.join(name));
    let mut file = file.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => "a file with its path exists".to_owned(),
        _ => error.to_string(),
    })?;
    file.write_all(code.as_bytes()).map_err(|error| {
        drop(fs::remove_file(place.join(name)));
        error.to_string()
    })
}

impl TestBench {
    /// Runs the demonstration: three times on the reviewed tree, or until one run is enough to tell that it shows nothing,
    /// and once on the tree after the coder's edits. Returns `None` if the user stopped the run.
    pub(crate) async fn run(
        self,
        prepared: PreparedTest,
    ) -> Option<(Box<DemonstrationRun>, TreeCopy)> {
        let due = &prepared.due;
        let times = match due.tested {
            TestedTree::Before => RUNS,
            TestedTree::After => 1,
        };
        let placeholders = Reports {
            junit: Runner::REPORT.into(),
            coverage: Runner::COVERAGE.into(),
        };
        let path = due.demonstration.path.as_str();
        let shown = command(&prepared.runner, path, &placeholders).join(" ");
        let before = fingerprints(prepared.copy.root());
        let mut runs: Vec<TestRun> = Vec::new();
        let ran = loop {
            let run = match self.once(&prepared, &before, runs.len()).await {
                Ok(run) => run,
                Err(NotRun::Stopped) => return None,
                Err(NotRun::Refused(why)) => break due.refused(why),
            };
            let is_different = runs.first().is_some_and(|first| first.end != run.end);
            let is_one_enough = !matches!(run.end, TestEnd::Passed | TestEnd::Failed);
            runs.push(run);
            if is_different || is_one_enough || runs.len() == times {
                break due.ran(shown, runs);
            }
        };
        Some((Box::new(ran), prepared.copy))
    }

    /// Runs the demonstration once, in the copy as it is.
    async fn once(
        &self,
        prepared: &PreparedTest,
        before: &Fingerprints,
        number: usize,
    ) -> Result<TestRun, NotRun> {
        let copy = prepared.copy.root();
        let ended = self
            .agents
            .run_test(TestJob {
                runner: &prepared.runner,
                path: &prepared.due.demonstration.path,
                copy,
                scratch: &prepared.folder.path().join(format!("run-{number}")),
                cache: &prepared.folder.path().join("cache"),
                guarded: &self.guarded,
                limits: self.limits,
                files: &self.files,
                stop: self.stop.clone(),
            })
            .await;
        let redacted = self.redaction.transcripts(&self.files);
        redacted.map_err(|error| {
            NotRun::Refused(format!("its output could not be redacted: {error}"))
        })?;
        let ended = ended?;
        let reached = ended.executed.map(|lines| {
            lines.iter().any(|(path, line)| {
                let mut blocks = prepared.blocks.iter();
                blocks.any(|(file, block)| file == path && block.contains(line))
            })
        });
        let output = self.redaction.text(&ended.output);
        let start = output.len().saturating_sub(RECORDED);
        let output = &output[output.ceil_char_boundary(start)..];
        Ok(TestRun {
            end: if changes(before, &fingerprints(copy)) {
                TestEnd::ChangedTree
            } else {
                ended.end
            },
            reached: reached.filter(|_| !prepared.blocks.is_empty()),
            millis: ended.millis,
            output: Untrusted::from(output.replace(&*copy.to_string_lossy(), ".")),
        })
    }
}

/// For each file, what changes if its content changes, and for each folder its permissions. A test cannot set the time of
/// the last change of a file's status.
type Fingerprints = BTreeMap<PathBuf, (u64, u64, i64, i64, u32)>;

fn fingerprints(copy: &Path) -> Fingerprints {
    let mut found = BTreeMap::new();
    let mut waiting = vec![copy.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                waiting.push(entry.path());
                found.insert(entry.path(), (0, 0, 0, 0, meta.mode()));
            } else {
                let print = (
                    meta.ino(),
                    meta.len(),
                    meta.ctime(),
                    meta.ctime_nsec(),
                    meta.mode(),
                );
                found.insert(entry.path(), print);
            }
        }
    }
    found
}

/// Whether a file that was there is gone or changed. What an earlier run of the test left behind was not there.
fn changes(before: &Fingerprints, after: &Fingerprints) -> bool {
    let mut before = before.iter();
    before.any(|(path, print)| after.get(path) != Some(print))
}
