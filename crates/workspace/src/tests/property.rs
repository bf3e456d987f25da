//! Property test of undo: no sequence of changes by coder and user loses the user's changes.
//!
//! Every line of the user contains a unique word (`u12`), and so does every line of the coder (`c12`). The test
//! compares the files before and after each step, independent of the implementation. `GLEE_UNDO_CASES` (2,000)
//! sets how many: eight tenths of the sequences run outside git, two in git, where each takes a hundred
//! processes. They are the same in every run, unless `GLEE_UNDO_RANDOM` is set.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::images::{everything, set_mode};
use super::*;
use crate::snapshot::SnapshotNote;

/// The files by path.
type Disk = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// The paths that coder and user change; some are folders of others.
const PATHS: [&str; 9] = ["a", "b", "d", "d/x", "d/y", "d/e/z", "n", "d/e", "s.ig"];
/// The contents of ignore files.
const RULES: [&str; 6] = [
    "",
    "*.ig\n",
    "b\nn\n",
    "d/\n",
    "*\n",
    "*\n!a\n!.gitignore\n",
];

/// A change by coder or user.
#[derive(Clone, Debug)]
enum Deed {
    Write(usize),
    /// Adds a line at the top, in the middle or at the end.
    Add(usize, usize),
    Delete(usize),
    Rename(usize, usize),
    Mode(usize, u32),
    Link(usize),
    Binary(usize),
    Ignore(usize),
    Exclude(usize),
    Attributes,
    Git(usize),
}

#[derive(Clone, Debug)]
enum Stage {
    User(Deed),
    /// A run with one or two calls of the coder, and the user's changes in between.
    Run(Vec<Deed>, Option<(Vec<Deed>, Vec<Deed>)>),
    /// An undo of the run that many runs ago.
    Undo(usize),
    Redo(usize),
}

fn entry() -> impl Strategy<Value = Deed> {
    let path = 0..PATHS.len();
    prop_oneof![
        4 => path.clone().prop_map(Deed::Write),
        6 => (path.clone(), 0..3_usize).prop_map(|(path, place)| Deed::Add(path, place)),
        2 => path.clone().prop_map(Deed::Delete),
        2 => (path.clone(), path.clone()).prop_map(|(from, to)| Deed::Rename(from, to)),
        1 => (path.clone(), prop_oneof![Just(0o600), Just(0o644), Just(0o755)]).prop_map(|(path, mode)| Deed::Mode(path, mode)),
        1 => path.clone().prop_map(Deed::Link),
        1 => path.prop_map(Deed::Binary),
        2 => (0..RULES.len()).prop_map(Deed::Ignore),
        1 => (0..RULES.len()).prop_map(Deed::Exclude),
        1 => Just(Deed::Attributes),
        2 => (0..4_usize).prop_map(Deed::Git),
    ]
}

fn stage() -> impl Strategy<Value = Stage> {
    let log = || prop::collection::vec(entry(), 0..4);
    prop_oneof![
        4 => entry().prop_map(Stage::User),
        2 => (log(), prop::option::weighted(0.3, (log(), log()))).prop_map(|(first, more)| Stage::Run(first, more)),
        3 => (0..2_usize).prop_map(Stage::Undo),
        1 => (0..2_usize).prop_map(Stage::Redo),
    ]
}

/// The recorded state of a run.
struct Known {
    id: RunId,
    /// The files before and after each call of the coder.
    calls: Vec<(Disk, Disk)>,
    /// Whether there was no other change since.
    untouched: bool,
    /// Whether an undo replaced something.
    undone: bool,
}

impl Known {
    /// The words that the coder of this run added to a file.
    fn coders_words(&self, path: &Path) -> BTreeSet<String> {
        self.calls
            .iter()
            .flat_map(|(before, after)| &words(after.get(path)) - &words(before.get(path)))
            .collect()
    }
}

struct World {
    tree: Tree,
    open: Workspace,
    words: u64,
    runs: Vec<Known>,
}

impl World {
    fn new(is_git: bool) -> Self {
        let tree = if is_git { Tree::git() } else { Tree::plain() };
        for (number, path) in ["a", "b", "d/x", "d/e/z"].into_iter().enumerate() {
            tree.write(
                path,
                (0..6)
                    .map(|line| format!("u{number}{line}\n"))
                    .collect::<String>(),
            );
        }
        if is_git {
            tree.commit("one");
        }
        let open = tree.open();
        Self {
            tree,
            open,
            words: 100,
            runs: Vec::new(),
        }
    }

    fn disk(&self) -> Disk {
        let root = self.tree.root();
        everything(&root)
            .into_iter()
            .map(|(path, what)| (path.strip_prefix(&root).unwrap().to_owned(), what))
            .collect()
    }

    fn word(&mut self, who: char) -> String {
        self.words += 1;
        format!("{who}{}\n", self.words)
    }

    /// Prepares a path for a file: removes what is there, and creates the folders above.
    fn clear(&self, path: &str) {
        let root = self.tree.root();
        for (end, _) in path.match_indices('/') {
            let folder = root.join(&path[..end]);
            if folder.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
                std::fs::remove_file(&folder).unwrap();
            }
        }
        let full = root.join(path);
        match full.symlink_metadata() {
            Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(&full).unwrap(),
            Ok(_) => std::fs::remove_file(&full).unwrap(),
            Err(_) => std::fs::create_dir_all(full.parent().unwrap()).unwrap(),
        }
    }

    fn act(&mut self, who: char, entry: &Deed) {
        let root = self.tree.root();
        let is_git = self.open.is_git();
        match entry {
            Deed::Write(path) => {
                let text: String = (0..5).map(|_| self.word(who)).collect();
                self.clear(PATHS[*path]);
                self.tree.write(PATHS[*path], text);
            }
            Deed::Add(path, place) => {
                let full = root.join(PATHS[*path]);
                let is_file = full.symlink_metadata().is_ok_and(|meta| meta.is_file());
                let Some(text) = is_file
                    .then(|| std::fs::read_to_string(&full).ok())
                    .flatten()
                else {
                    return;
                };
                let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
                let word = self.word(who);
                lines.insert(lines.len() * place / 2, &word);
                std::fs::write(full, lines.concat()).unwrap();
            }
            Deed::Delete(path) => {
                let full = root.join(PATHS[*path]);
                match full.symlink_metadata() {
                    Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(full).unwrap(),
                    Ok(_) => std::fs::remove_file(full).unwrap(),
                    Err(_) => {}
                }
            }
            Deed::Rename(from, to) => {
                let from = PATHS[*from];
                let to = PATHS[*to];
                let is_file = root
                    .join(from)
                    .symlink_metadata()
                    .is_ok_and(|meta| !meta.is_dir());
                if is_file && !to.starts_with(from) && !from.starts_with(to) {
                    self.clear(to);
                    std::fs::rename(root.join(from), root.join(to)).unwrap();
                }
            }
            Deed::Mode(path, mode) => {
                let full = root.join(PATHS[*path]);
                if full.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
                    set_mode(&full, *mode);
                }
            }
            Deed::Link(path) => {
                let target = self.word(who);
                self.clear(PATHS[*path]);
                std::os::unix::fs::symlink(target.trim(), root.join(PATHS[*path])).unwrap();
            }
            Deed::Binary(path) => {
                let bytes = [b"\0".as_slice(), self.word(who).as_bytes()].concat();
                self.clear(PATHS[*path]);
                self.tree.write(PATHS[*path], bytes);
            }
            Deed::Ignore(rules) => {
                let word = self.word(who);
                self.clear(".gitignore");
                self.tree
                    .write(".gitignore", format!("{}#{word}", RULES[*rules]));
            }
            Deed::Exclude(rules) if is_git => {
                std::fs::write(root.join(".git/info/exclude"), RULES[*rules]).unwrap();
            }
            Deed::Attributes => {
                let word = self.word(who);
                self.clear(".gitattributes");
                self.tree
                    .write(".gitattributes", format!("* text eol=crlf\n#{word}"));
            }
            Deed::Git(number) if is_git => {
                let commands: [&[&str]; 4] = [
                    &["add", "-A"],
                    &["commit", "-q", "--allow-empty", "-a", "-m", "more"],
                    &["add", "-A", "-f"],
                    &["rm", "-q", "-r", "--cached", "."],
                ];
                // Adding or committing may fail.
                drop(try_git(&root, commands[*number]));
            }
            Deed::Exclude(_) | Deed::Git(_) => {}
        }
    }

    fn play(&mut self, stage: &Stage) {
        match stage {
            Stage::User(entry) => {
                self.act('u', entry);
                self.runs.iter_mut().for_each(|run| run.untouched = false);
            }
            Stage::Run(first, more) => self.begin(first, more.as_ref()),
            Stage::Undo(back) => self.undo(*back),
            Stage::Redo(back) => self.redo(*back),
        }
    }

    fn begin(&mut self, first: &[Deed], more: Option<&(Vec<Deed>, Vec<Deed>)>) {
        let id = RunId(format!("run-{}", self.runs.len()));
        let state = self.tree.state();
        let mut calls = vec![self.call(&id, first)];
        if let Some((between, second)) = more {
            between.iter().for_each(|entry| self.act('u', entry));
            self.open.before_coder_call(&id, &state).unwrap();
            calls.push(self.call(&id, second));
        }
        self.runs.iter_mut().for_each(|run| run.untouched = false);
        let untouched = more.is_none_or(|(between, _)| between.is_empty());
        self.runs.push(Known {
            id,
            calls,
            untouched,
            undone: false,
        });
    }

    fn call(&mut self, id: &RunId, log: &[Deed]) -> (Disk, Disk) {
        let state = self.tree.state();
        self.open.keep(id, &state).unwrap();
        let before = self.disk();
        log.iter().for_each(|entry| self.act('c', entry));
        let after = self.disk();
        self.open.after_coder_call(id, &state).unwrap();
        assert_eq!(self.disk(), after, "recording changes nothing");
        (before, after)
    }

    fn index(&self, back: usize) -> Option<usize> {
        self.runs.len().checked_sub(back + 1)
    }

    fn undo(&mut self, back: usize) {
        let Some(index) = self.index(back) else {
            return;
        };
        let state = self.tree.state();
        let was_undone = self.runs[index].undone;
        let id = self.runs[index].id.clone();
        let undo = || {
            self.open
                .undo(&id, &UndoOptions::default(), &state)
                .unwrap()
        };
        let redo = || {
            self.open
                .redo(&id, &UndoOptions::default(), &state)
                .unwrap()
        };

        let found = self.disk();
        let undone = undo();
        let left = self.disk();
        self.nothing_lost(&self.runs[index], &found, &left, &undone);
        if self.runs[index].untouched && !was_undone {
            self.as_before(&self.runs[index], &left, &undone);
        }
        assert_eq!(undo().files, 0, "twice is once");
        assert_eq!(self.disk(), left, "twice is once");
        // Half of them, for git takes its time.
        if !was_undone && self.words.is_multiple_of(2) {
            let redone = redo();
            assert_eq!(
                (redone.files, redone.conflicts),
                (undone.files, Vec::new()),
                "all of it comes back"
            );
            assert_eq!(self.disk(), found, "an undo and a redo are nothing");
            assert_eq!(redo(), Undone::default(), "twice is once");
            assert_eq!(undo().files, undone.files, "an undo can be done again");
            assert_eq!(self.disk(), left, "an undo can be done again");
        }
        self.runs[index].undone |= undone.files > 0;
        let touched = undone.files > 0;
        self.runs
            .iter_mut()
            .for_each(|run| run.untouched &= !touched);
    }

    fn redo(&mut self, back: usize) {
        let Some(index) = self.index(back) else {
            return;
        };
        let id = self.runs[index].id.clone();
        let found = self.disk();
        let redone = self
            .open
            .redo(&id, &UndoOptions::default(), &self.tree.state())
            .unwrap();
        let left = self.disk();
        for (path, what) in &found {
            let Some(now) = left.get(path) else {
                // A redo removes only what an undo restored: the contents before the run.
                assert!(
                    self.runs[index]
                        .calls
                        .iter()
                        .any(|(before, _)| before.get(path) == Some(what)),
                    "{path:?} is missing"
                );
                continue;
            };
            if now != what {
                assert!(self.runs[index].undone, "{path:?} was changed");
            }
            let known = words(
                self.runs[index]
                    .calls
                    .iter()
                    .flat_map(|(before, _)| before.get(path)),
            );
            let lost: Vec<_> = words([what])
                .difference(&words([now]))
                .filter(|word| !known.contains(*word))
                .cloned()
                .collect();
            assert!(
                lost.iter().all(|word| word.starts_with('c')),
                "{path:?} lost {lost:?}"
            );
        }
        if redone.conflicts.is_empty() {
            self.runs[index].undone = false;
        }
        if redone.files > 0 {
            self.runs.iter_mut().for_each(|run| run.untouched = false);
        }
    }

    /// No line of the user is lost, and only files that the coder changed are written.
    fn nothing_lost(&self, run: &Known, found: &Disk, left: &Disk, undone: &Undone) {
        let of = |disk: &Disk, path: &PathBuf| disk.get(path).cloned();
        for path in found.keys().chain(left.keys()).collect::<BTreeSet<_>>() {
            let old = of(found, path);
            let new = of(left, path);
            if old == new {
                continue;
            }
            let changed = run
                .calls
                .iter()
                .any(|(before, after)| before.get(path) != after.get(path));
            assert!(
                changed,
                "{path:?} is none of the coder's: {old:?} became {new:?}"
            );
            assert!(
                !undone
                    .conflicts
                    .iter()
                    .any(|conflict| Path::new(&conflict.name()) == path),
                "{path:?} is listed"
            );
            match (&old, &new) {
                (Some(old), None) => {
                    let is_coders = run.calls.iter().any(|(before, after)| {
                        !before.contains_key(path) && after.contains_key(path)
                    }) && run
                        .calls
                        .iter()
                        .any(|(_, after)| after.get(path) == Some(old));
                    assert!(is_coders, "{path:?} was not created by the coder: {old:?}");
                }
                (Some(old), Some(new)) => {
                    let coders = run.coders_words(path);
                    let lost: Vec<_> = words([old])
                        .difference(&words([new]))
                        .filter(|word| !coders.contains(*word))
                        .cloned()
                        .collect();
                    assert_eq!(
                        lost,
                        Vec::<String>::new(),
                        "{path:?}: {old:?} became {new:?}"
                    );
                }
                (None, Some(new)) => {
                    // The user's version between two calls is restored without the additions of the first call.
                    let coders = run.coders_words(path);
                    let was_there = run
                        .calls
                        .iter()
                        .filter_map(|(before, _)| before.get(path))
                        .any(|before| {
                            before == new
                                || (before.0 == new.0
                                    && &words([before]) - &coders == words([new])
                                    && !coders.is_empty())
                        });
                    assert!(was_there, "{path:?} was never {new:?} before the coder");
                }
                (None, None) => {}
            }
        }
    }

    /// The tree is as before, except for ignored files.
    fn as_before(&self, run: &Known, left: &Disk, undone: &Undone) {
        assert_eq!(undone.conflicts, [], "nobody else changed anything");
        let first = &run.calls[0].0;
        let note = SnapshotNote::read(&run.id, &self.tree.state()).unwrap();
        let (image, _) = self
            .open
            .opened(&run.id, &note.spans[0].before, &self.tree.state())
            .unwrap();
        for (path, what) in first
            .iter()
            .filter(|(path, _)| image.contains_key(path.to_str().unwrap().as_bytes()))
        {
            assert_eq!(left.get(path), Some(what), "{path:?} is not as it was");
        }
        let rules = |name: &str| {
            first
                .get(Path::new(name))
                .map(|(_, text)| text.clone())
                .unwrap_or_default()
        };
        let mut builder = ignore::gitignore::GitignoreBuilder::new("");
        for line in String::from_utf8(rules(".gitignore"))
            .unwrap_or_default()
            .lines()
        {
            builder.add_line(None, line).unwrap();
        }
        let rules = builder.build().unwrap();
        for path in left.keys().filter(|path| !first.contains_key(*path)) {
            let is_ignored = rules.matched_path_or_any_parents(path, false).is_ignore();
            let is_excluded = self.open.is_git() && excluded(&self.tree.state(), &run.id, path);
            assert!(is_ignored || is_excluded, "{path:?} was left");
        }
    }
}

/// Whether the rules outside the tree excluded a path when the run began.
fn excluded(state: &Path, run: &RunId, path: &Path) -> bool {
    let text = std::fs::read_to_string(state.join("kept").join(&run.0).join("excludes")).unwrap();
    let mut builder = ignore::gitignore::GitignoreBuilder::new("");
    text.lines()
        .for_each(|line| drop(builder.add_line(None, line)));
    builder
        .build()
        .unwrap()
        .matched_path_or_any_parents(path, false)
        .is_ignore()
}

/// The unique words in some contents.
fn words<'a>(contents: impl IntoIterator<Item = &'a (u32, Vec<u8>)>) -> BTreeSet<String> {
    let text: Vec<String> = contents
        .into_iter()
        .map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned())
        .collect();
    text.iter()
        .flat_map(|text| {
            text.split(|c: char| !c.is_ascii_alphanumeric())
                .filter(|word| word.starts_with(['u', 'c']) && word[1..].parse::<u64>().is_ok())
                .map(str::to_owned)
        })
        .collect()
}

/// Runs some tenths of the sequences.
fn holds(is_git: bool, tenths: u32, seed: u8) {
    static PLAYED: AtomicU64 = AtomicU64::new(0);
    let all = std::env::var("GLEE_UNDO_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(2000_u32);
    let config = Config {
        cases: (all * tenths / 10).max(1),
        failure_persistence: None,
        max_shrink_iters: 100,
        ..Config::default()
    };
    let mut runner = match std::env::var_os("GLEE_UNDO_RANDOM") {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(
            config,
            TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]),
        ),
    };
    runner
        .run(&prop::collection::vec(stage(), 1..9), |stages| {
            let mut world = World::new(is_git);
            stages.iter().for_each(|stage| world.play(stage));
            // The last run is always undone once.
            world.undo(0);
            PLAYED.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(PLAYED.load(Ordering::Relaxed) >= u64::from((all * tenths / 10).max(1)));
}

#[test]
fn nothing_is_lost_outside_git() {
    holds(false, 8, 1);
}

#[test]
fn nothing_is_lost_in_git() {
    holds(true, 1, 2);
}

#[test]
fn nothing_is_lost_in_git_either() {
    holds(true, 1, 3);
}
