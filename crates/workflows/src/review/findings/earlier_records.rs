//! Reads earlier disputes and the disputed code.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::review::code::coder_changes::Trees;
use crate::review::code::sources::Sources;
use crate::run::redaction::Redaction;
use glee_model::domain::{Anchor, Dispute, DisputeNumber, RunId};
use glee_store::history::store::Journal;
use glee_system::files;
use glee_workspace::code::anchors::Blocks;

/// Glee reads the code of at most this number of rounds of an earlier run.
const ROUNDS: u32 = 20;

/// The reviewed versions of a file, by the run and the path.
type Versions = HashMap<(RunId, String), Vec<Rc<str>>>;

#[derive(Clone)]
pub struct Past<'a> {
    journal: &'a Journal,
    trees: Trees<'a>,
    versions: RefCell<Versions>,
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
        let path = &anchor.file;
        let has_block = |text: &Rc<str>| Blocks::of(path, text).place(anchor).is_some();
        self.reviewed(run, path)
            .into_iter()
            .find(has_block)
            .or_else(|| {
                let plan = self.journal.plan(run).ok()??;
                let recorded = || self.trees.read_at(&plan.tree, path);
                let committed = || {
                    self.trees
                        .workspace
                        .read_at_commit(plan.commit.as_deref()?, path)
                };
                let texts = [recorded(), committed()].into_iter().flatten();
                texts
                    .map(|bytes| String::from_utf8_lossy(&bytes).into())
                    .find(has_block)
            })
    }

    pub fn reviewed(&self, run: &RunId, path: &str) -> Vec<Rc<str>> {
        let mut versions = self.versions.borrow_mut();
        let key = (run.clone(), path.to_owned());
        let versions = versions.entry(key);
        versions.or_insert_with(|| self.read(run, path)).clone()
    }

    fn read(&self, run: &RunId, path: &str) -> Vec<Rc<str>> {
        let folder = self.journal.folder_of(run);
        let rounds =
            (1..=ROUNDS).map_while(|round| files::read(&Sources::path_in(&folder, round)).ok());
        let files = rounds
            .filter_map(|bytes| Sources::parse(&bytes).ok())
            .flatten();
        let path = Redaction::ON.text(path);
        files
            .filter(|file| file.path == path)
            .map(|file| file.text.into())
            .collect()
    }
}
