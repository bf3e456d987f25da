//! The code under review, as Glee read the code at the start of each round.
//!
//! The code is stored in the run's folder. Therefore, a resumed run sends the same code as before the
//! interruption, and excerpts show the reviewed code.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::review::code::guidelines::Guidelines;
use crate::run::error::RunError;
use crate::run::redaction::Redaction;
use glee_model::domain::{Coverage, Finding};
use glee_protocol::request::SourceFile;
use glee_system::{files, private};
use glee_workspace::SelectionRules;
use glee_workspace::code::anchors::{self, Excerpt};
use glee_workspace::code::names::{self, NamedPlaces};
use glee_workspace::diff::blocks;
use glee_workspace::root::Workspace;
use glee_workspace::select::shards;

/// The number of lines before and after a finding in an excerpt.
const AROUND: u32 = 4;

const RULES: &str = "selection.json";

const GUIDELINES: &str = "guidelines.json";

#[derive(Debug)]
pub struct Sources {
    folder: PathBuf,
    redaction: Redaction,
    /// Maps each round to the files of the round. The inner map maps the redacted path of a file to the file.
    rounds: BTreeMap<u32, BTreeMap<String, SourceFile>>,
    /// A cache of redacted texts, by round and path. An entry is `None` if the text contains no secrets.
    shown: RefCell<HashMap<(u32, String), Option<String>>>,
    /// Where the names of a round's change occur in the tree, by round.
    places: RefCell<BTreeMap<u32, Arc<NamedPlaces>>>,
    pub(crate) guidelines: Guidelines,
}

impl Sources {
    pub fn new(folder: &Path, redaction: Redaction) -> Self {
        Self {
            folder: folder.to_owned(),
            redaction,
            rounds: BTreeMap::new(),
            shown: RefCell::default(),
            places: RefCell::default(),
            guidelines: Guidelines::default(),
        }
    }

    /// The files as they are in the tree.
    pub(crate) fn of_tree(workspace: &Workspace, paths: BTreeSet<String>) -> Self {
        let files = paths.into_iter().filter_map(|path| {
            let text = workspace.read(&path)?;
            Some(SourceFile::whole(path, text))
        });
        Self::unsaved(files.collect())
    }

    pub(crate) fn unsaved(files: Vec<SourceFile>) -> Self {
        Self {
            rounds: BTreeMap::from([(1, by_name(Redaction::ON, files))]),
            ..Self::new(Path::new(""), Redaction::ON)
        }
    }

    /// Writes the redacted files of a round to the run's folder. The files in memory stay unredacted.
    pub fn keep(&mut self, round: u32, files: Vec<SourceFile>) -> Result<(), RunError> {
        let redacted = self.redaction.value(files.clone());
        write(&Self::path_in(&self.folder, round), &redacted)?;
        self.rounds.insert(round, by_name(self.redaction, files));
        Ok(())
    }

    /// Loads the rounds `1..=last`. The secrets in a stored file are redacted, but embedded agents receive the
    /// unredacted file. Therefore, the secrets are restored if the file in the tree at `root` is unchanged.
    pub fn load(&mut self, last: u32, root: Option<&Path>) -> Result<(), RunError> {
        for round in 1..=last {
            let mut files = Self::read(&self.folder, round).map_err(RunError::Sources)?;
            for file in files
                .iter_mut()
                .filter(|file| file.text.contains("[secret:"))
            {
                let now = root.and_then(|root| files::read_to_string(&root.join(&file.path)).ok());
                file.text = now
                    .filter(|now| self.redaction.text(now) == file.text)
                    .unwrap_or(take(&mut file.text));
            }
            self.rounds.insert(round, by_name(self.redaction, files));
        }
        let kept = files::read(&self.folder.join(GUIDELINES)).ok();
        let guidelines = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        self.guidelines = guidelines.unwrap_or_default();
        Ok(())
    }

    pub(crate) fn keep_rules(&self, rules: &SelectionRules) -> Result<(), RunError> {
        write(&self.folder.join(RULES), rules)
    }

    pub fn rules(&self) -> Option<SelectionRules> {
        serde_json::from_slice(&std::fs::read(self.folder.join(RULES)).ok()?).ok()
    }

    /// Writes the redacted guidelines to the run's folder. The guidelines in memory stay unredacted.
    pub(crate) fn keep_guidelines(&mut self, guidelines: Guidelines) -> Result<(), RunError> {
        let redacted = self.redaction.value(guidelines.clone());
        write(&self.folder.join(GUIDELINES), &redacted)?;
        self.guidelines = guidelines;
        Ok(())
    }

    fn path_in(folder: &Path, round: u32) -> PathBuf {
        folder.join(format!("sources-{round}.json"))
    }

    /// The redacted files of a round in the folder of a run.
    pub(crate) fn read(folder: &Path, round: u32) -> io::Result<Vec<SourceFile>> {
        let bytes = files::read(&Self::path_in(folder, round))?;
        serde_json::from_slice(&bytes).map_err(io::Error::other)
    }

    /// Where the names of a round's change occur in the tree. The tree is searched once a round.
    pub(crate) fn places(&self, round: u32, workspace: &Workspace) -> Arc<NamedPlaces> {
        let mut places = self.places.borrow_mut();
        let found = places.entry(round).or_insert_with(|| {
            let mut names = BTreeSet::new();
            for file in self.files(round) {
                names.extend(names::of_change(file));
                names.extend(blocks::names_shown(file));
            }
            // A tree that cannot be searched is told like one in which the names do not occur.
            Arc::new(workspace.named_places(&names).unwrap_or_default())
        });
        Arc::clone(found)
    }

    /// The files of a round.
    pub fn files(&self, round: u32) -> impl Iterator<Item = &SourceFile> + Clone {
        self.rounds
            .get(&round)
            .into_iter()
            .flat_map(BTreeMap::values)
    }

    pub fn file(&self, round: u32, path: &str) -> Option<&SourceFile> {
        self.named(self.rounds.get(&round)?, path)
    }

    /// The text of a file in a round. If the round does not include the file, returns the file's current text. The
    /// result is empty if there is no such file.
    pub fn text(&self, round: u32, path: &str, workspace: &Workspace) -> String {
        match self.file(round, path) {
            Some(file) => file.text.clone(),
            None => workspace.read(path).unwrap_or_default(),
        }
    }

    fn named<'a>(
        &self,
        files: &'a BTreeMap<String, SourceFile>,
        path: &str,
    ) -> Option<&'a SourceFile> {
        files
            .get(path)
            .or_else(|| files.get(&self.redaction.text(path)))
    }

    /// The redacted text of a file in a round; of a deleted file, the text before the change. Rounds are counted from 1.
    pub fn shown(&self, round: u32, path: &str) -> Option<String> {
        let mut rounds = self.rounds.values();
        let file = self
            .file(round, path)
            .or_else(|| rounds.find_map(|files| self.named(files, path)))?;
        let mut shown = self.shown.borrow_mut();
        let clean = shown.entry((round, path.to_owned())).or_insert_with(|| {
            // The lines of a finding about a deleted file are those before the change.
            let deleted = file.deleted_text();
            let text = self.redaction.text(deleted.as_ref().unwrap_or(&file.text));
            (text != file.text).then_some(text)
        });
        Some(clean.as_ref().unwrap_or(&file.text).clone())
    }

    pub fn shard(&self, round: u32, shard: &[Coverage]) -> Vec<SourceFile> {
        shard
            .iter()
            .filter_map(|covered| self.part(round, covered))
            .collect()
    }

    /// The file, or the part of the file, that a shard covers.
    pub fn part(&self, round: u32, covered: &Coverage) -> Option<SourceFile> {
        let file = self.file(round, &covered.file)?;
        Some(if covered.ranges.is_empty() {
            file.clone()
        } else {
            shards::part(file, &covered.ranges)
        })
    }

    pub fn excerpt(&self, finding: &Finding) -> Option<Excerpt> {
        let file = finding.raw.file.as_deref()?;
        let line = finding.raw.line?;
        anchors::excerpt(
            file,
            &self.shown(finding.round, file)?,
            line,
            finding.raw.end_line,
            AROUND,
        )
    }
}

fn write(path: &Path, value: &impl Serialize) -> Result<(), RunError> {
    let bytes = serde_json::to_vec(value).map_err(io::Error::other);
    bytes
        .and_then(|bytes| private::write(path, &bytes))
        .map_err(RunError::Sources)
}

fn by_name(redaction: Redaction, files: Vec<SourceFile>) -> BTreeMap<String, SourceFile> {
    files
        .into_iter()
        .map(|file| (redaction.text(&file.path), file))
        .collect()
}
