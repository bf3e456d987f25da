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
use glee_agents::calls::demonstration::{NotRun, Reports, TestJob, command, probe_file};
use glee_agents::process::sandbox::confinement::Guarded;
use glee_agents::{Agents, Stop, TranscriptFiles};
use glee_model::domain::{
    Claim, Demonstration, DemonstrationRun, Finding, TestEnd, TestRun, TestedTree, Untrusted,
    is_inside, meanings,
};
use glee_model::rules::review::demonstrations::RUNS;
use glee_protocol::text::references;
use glee_store::config::settings::{Limits, ReviewSettings, Runner};
use glee_system::{files, private};
use glee_workspace::TreeId;
use glee_workspace::code::anchors::Blocks;
use glee_workspace::code::probe;
use glee_workspace::code::without::{without_changes, without_guard};

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
    /// What was there before the first run.
    before: Fingerprints,
    blocks: Vec<(String, RangeInclusive<u32>)>,
    /// The folder for reports, traces and the runner's cache.
    folder: TempDir,
    /// A file of the tree, and its text without what possibly makes the test pass.
    without: Option<(String, String)>,
}

impl PreparedTest {
    /// The folder for the reports of one run.
    fn scratch(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("run-{number}"))
    }
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
    due: DueDemonstration,
    finding: &Finding,
    review: &ReviewSettings,
    trees: Trees<'_>,
    earlier: Option<TreeCopy>,
) -> Result<PreparedTest, Box<DemonstrationRun>> {
    let prepared = prepared(due.clone(), finding, review, trees, earlier);
    prepared.map_err(|why| Box::new(due.refused(why)))
}

/// A file without what possibly makes a test pass: after the coder's edits, without the coder's lines in the finding's
/// block, and on the reviewed tree without the guard that the objection cites.
fn without(
    due: &DueDemonstration,
    finding: &Finding,
    trees: Trees<'_>,
    tree: &str,
) -> Option<(String, String)> {
    let text = |tree: &str, file: &str| String::from_utf8(trees.read_at(tree, file)?).ok();
    if let Some(reviewed) = &due.reviewed {
        let mut blocks = blocks_of(finding, trees, reviewed).into_iter();
        return blocks.find_map(|(file, block)| {
            let before = text(reviewed, &file)?;
            let after = text(tree, &file)?;
            let taken_back = without_changes(&before, &after, &block)?;
            Some((file, taken_back))
        });
    }
    let from = finding.raw.file.as_deref().unwrap_or_default();
    let mut cited = due.evidence.iter().flat_map(|cited| {
        let places = references::references(cited.as_written());
        places.flat_map(|place| {
            let line = place.lines.map(|(first, _)| first);
            let files: Vec<String> = meanings(&place.path, from).collect();
            files
                .into_iter()
                .filter_map(move |file| Some((file, line?)))
        })
    });
    cited.find_map(|(file, line)| {
        let unguarded = without_guard(&file, &text(tree, &file)?, line)?;
        Some((file, unguarded))
    })
}

fn prepared(
    mut due: DueDemonstration,
    finding: &Finding,
    review: &ReviewSettings,
    trees: Trees<'_>,
    earlier: Option<TreeCopy>,
) -> Result<PreparedTest, String> {
    if due.tested == TestedTree::Before && due.left == 0 {
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
    due.tree = Some(copy.tree.0.clone());
    let costs = match due.tested {
        TestedTree::Before => 1,
        TestedTree::After => 0,
    };
    let without = (due.left > costs).then(|| without(&due, finding, trees, &copy.tree.0));
    Ok(PreparedTest {
        without: without.flatten(),
        before: fingerprints(copy.root()),
        blocks: blocks_of(finding, trees, &copy.tree.0),
        copy,
        runner: runner.clone(),
        folder,
        due,
    })
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
        mut prepared: PreparedTest,
    ) -> Option<(Box<DemonstrationRun>, TreeCopy)> {
        let due = prepared.due.clone();
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
        let mut runs: Vec<TestRun> = Vec::new();
        let ran = loop {
            let run = match self.once(&prepared, &prepared.before, runs.len()).await {
                Ok(run) => run,
                Err(NotRun::Stopped) => return None,
                Err(NotRun::Refused(why)) => break due.refused(why),
            };
            let is_different = runs.first().is_some_and(|first| first.end != run.end);
            let is_one_enough = !matches!(run.end, TestEnd::Passed | TestEnd::Failed);
            runs.push(run);
            if is_different || is_one_enough {
                break due.ran(shown, runs);
            }
            if runs.len() == times {
                if due.tested == TestedTree::Before && runs.iter().all(|run| run.reached.is_none())
                {
                    let reached = self.probe(&mut prepared, &runs).await?;
                    runs.iter_mut().for_each(|run| run.reached = reached);
                }
                let is_passing = runs.iter().all(|run| run.end == TestEnd::Passed);
                let is_wanted = due.claim == Claim::NoDefect || due.tested == TestedTree::After;
                // The run without what possibly makes the test pass; its number is another one than that of the probe.
                let without = match prepared.without.take().filter(|_| is_passing && is_wanted) {
                    Some(without) => {
                        self.altered(&mut prepared, vec![without], runs.len() + 1)
                            .await?
                    }
                    None => None,
                };
                break DemonstrationRun {
                    without,
                    ..due.ran(shown, runs)
                };
            }
        };
        Some((Box::new(ran), prepared.copy))
    }

    /// Whether the test executes a line of the finding's block, by one more run with probes in the blocks. It is unknown if
    /// no probe fits, or if the run ends in another way, as one that does not compile. Returns `None` if the user stopped
    /// the run.
    async fn probe(&self, prepared: &mut PreparedTest, runs: &[TestRun]) -> Option<Option<bool>> {
        let out = probe_file(&prepared.scratch(runs.len()));
        let mut texts: BTreeMap<String, (String, String)> = BTreeMap::new();
        for (file, block) in &prepared.blocks {
            let place = prepared.copy.root().join(file);
            let Ok(text) = files::read_to_string(&place) else {
                continue;
            };
            let (probed, _) = texts.entry(file.clone()).or_insert((text.clone(), text));
            if let Some(with_probe) = probe::probed(file, probed, block, &out) {
                *probed = with_probe;
            }
        }
        texts.retain(|_, (probed, text)| probed != text);
        if texts.is_empty() {
            return Some(None);
        }
        let probed = texts.into_iter().map(|(file, (probed, _))| (file, probed));
        let Some(run) = self.altered(prepared, probed.collect(), runs.len()).await? else {
            return Some(None);
        };
        let is_same = runs.last().is_some_and(|last| last.end == run.end);
        Some(is_same.then_some(run.reached.unwrap_or(false)))
    }

    /// Runs the demonstration once, with other texts of some files, which are as before afterwards. The inner value is `None`
    /// if it could not run. Returns `None` if the user stopped the run.
    async fn altered(
        &self,
        prepared: &mut PreparedTest,
        texts: Vec<(String, String)>,
        number: usize,
    ) -> Option<Option<TestRun>> {
        let mut known = prepared.before.clone();
        let mut texts_before = Vec::new();
        for (file, text) in texts {
            let place = prepared.copy.root().join(file);
            // A link of the project could lead elsewhere.
            let print_before = prepared.copy.files.get(&place);
            if print_before.is_none_or(|print| print.4 & KIND != REGULAR_FILE) {
                continue;
            }
            let Ok(bytes) = files::read(&place) else {
                continue;
            };
            if fs::write(&place, text).is_ok() {
                known.extend(place.metadata().map(|meta| (place.clone(), print(&meta))));
                texts_before.push((place, bytes));
            }
        }
        if texts_before.is_empty() {
            return Some(None);
        }
        let ran = self.once(prepared, &known, number).await;
        // What a test changed is not written to: it could lead elsewhere.
        if ran
            .as_ref()
            .is_ok_and(|run| run.end != TestEnd::ChangedTree)
        {
            for (place, bytes) in texts_before {
                drop(fs::write(&place, bytes));
                let print = place.metadata().map(|meta| print(&meta));
                if let Ok(print) = print {
                    prepared.before.insert(place.clone(), print);
                    prepared.copy.files.insert(place, print);
                }
            }
        }
        match ran {
            Ok(run) => Some(Some(run)),
            Err(NotRun::Stopped) => None,
            Err(NotRun::Refused(_)) => Some(None),
        }
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
                scratch: &prepared.scratch(number),
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

/// The bits of a file's mode that say what it is.
const KIND: u32 = 0o170_000;

const REGULAR_FILE: u32 = 0o100_000;

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
                found.insert(entry.path(), print(&meta));
            }
        }
    }
    found
}

fn print(meta: &fs::Metadata) -> (u64, u64, i64, i64, u32) {
    (
        meta.ino(),
        meta.len(),
        meta.ctime(),
        meta.ctime_nsec(),
        meta.mode(),
    )
}

/// Whether a file that was there is gone or changed. What an earlier run of the test left behind was not there.
fn changes(before: &Fingerprints, after: &Fingerprints) -> bool {
    let mut before = before.iter();
    before.any(|(path, print)| after.get(path) != Some(print))
}
