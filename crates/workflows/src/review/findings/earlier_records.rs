//! Reads earlier disputes and the disputed code.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::review::code::coder_changes::Trees;
use crate::review::code::sources::Sources;
use crate::run::redaction::Redaction;
use glee_model::domain::{Anchor, Dispute, DisputeNumber, RunId};
use glee_store::history::store::Journal;
use glee_workspace::code::anchors::Blocks;

/// Glee reads the code of at most this number of rounds of an earlier run.
const ROUNDS: u32 = 20;

/// A version of a file, with the hashes of its blocks.
struct Version {
    text: Rc<str>,
    blocks: HashSet<String>,
}

impl Version {
    fn of(path: &str, text: Rc<str>) -> Self {
        let blocks = Blocks::of(path, &text).hashes().cloned().collect();
        Self { text, blocks }
    }
}

/// The versions of a file in a run. Many findings can be about one file, so each version is read and divided once.
struct Versions {
    reviewed: Vec<Version>,
    /// The versions in git, which are read only if no reviewed version has a block.
    stored: OnceCell<Vec<Version>>,
}

#[derive(Clone)]
pub struct Past<'a> {
    journal: &'a Journal,
    trees: Trees<'a>,
    versions: RefCell<HashMap<(RunId, String), Rc<Versions>>>,
}

impl<'a> Past<'a> {
    pub fn of(journal: &'a Journal, trees: Trees<'a>) -> Self {
        Self {
            journal,
            trees,
            versions: RefCell::default(),
        }
    }

    pub fn dispute(&self, number: DisputeNumber) -> Option<Dispute> {
        Some(self.journal.dispute(number).ok()??.dispute)
    }

    /// Finds the version of a file that contains a block that was disputed in `run`. Searches the reviewed code first,
    /// then git. Returns `None` if no known version contains the block.
    pub fn text(&self, run: &RunId, anchor: &Anchor) -> Option<Rc<str>> {
        let versions = self.versions(run, &anchor.file);
        let has_block = |version: &&Version| version.blocks.contains(&anchor.block);
        let known = versions.reviewed.iter().find(has_block).or_else(|| {
            let stored = versions
                .stored
                .get_or_init(|| self.stored(run, &anchor.file));
            stored.iter().find(has_block)
        });
        known.map(|version| Rc::clone(&version.text))
    }

    pub fn reviewed(&self, run: &RunId, path: &str) -> Vec<Rc<str>> {
        let versions = self.versions(run, path);
        let texts = versions.reviewed.iter();
        texts.map(|version| Rc::clone(&version.text)).collect()
    }

    fn versions(&self, run: &RunId, path: &str) -> Rc<Versions> {
        let mut versions = self.versions.borrow_mut();
        let key = (run.clone(), path.to_owned());
        let known = versions.entry(key).or_insert_with(|| {
            Rc::new(Versions {
                reviewed: self.read(run, path),
                stored: OnceCell::new(),
            })
        });
        Rc::clone(known)
    }

    fn stored(&self, run: &RunId, path: &str) -> Vec<Version> {
        let Ok(Some(plan)) = self.journal.plan(run) else {
            return Vec::new();
        };
        let recorded = self.trees.read_at(&plan.tree, path);
        let commit = plan.commit.as_deref();
        let committed = commit.and_then(|commit| self.trees.workspace.read_at_commit(commit, path));
        let texts = recorded.into_iter().chain(committed);
        texts
            .map(|bytes| Version::of(path, String::from_utf8_lossy(&bytes).into()))
            .collect()
    }

    fn read(&self, run: &RunId, path: &str) -> Vec<Version> {
        let folder = self.journal.folder_of(run);
        let files = (1..=ROUNDS)
            .filter_map(|round| Sources::read(&folder, round).ok())
            .flatten();
        let shown = Redaction::ON.text(path);
        files
            .filter(|file| file.path == shown)
            .map(|file| Version::of(path, file.text.into()))
            .collect()
    }
}
