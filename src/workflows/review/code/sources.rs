//! The code under review as it was read when a round began.
//!
//! It is kept beside the journal, so that a run that is carried on tomorrow shows reviewers and judges the bytes it
//! showed them today, and every excerpt comes from what was reviewed rather than from what the tree has become.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write as _};
use std::mem::take;
use std::path::{Path, PathBuf};

use crate::domain::Coverage;
use crate::protocol::request::SourceFile;
use crate::system::files;
use crate::workflows::run::ports::Excerpt;
use crate::workflows::run::redaction::Redaction;
use crate::workspace::SelectionRules;
use crate::workspace::code::anchors;

/// How many lines are shown before and after the lines of a finding.
const AROUND: u32 = 4;

/// The file with the rules of selection.
const RULES: &str = "selection.json";

#[derive(Debug)]
pub(crate) struct Sources {
    folder: PathBuf,
    redaction: Redaction,
    /// By round and by name, as the events name them: without secrets.
    rounds: BTreeMap<u32, BTreeMap<String, SourceFile>>,
    /// Texts that were shown, as far as they hold secrets: a report asks for the same file once a finding.
    shown: RefCell<HashMap<(u32, String), Option<String>>>,
}

impl Sources {
    /// The sources kept in the folder of a run, without any round read yet.
    pub(crate) fn new(folder: &Path, redaction: Redaction) -> Self {
        Self { folder: folder.to_owned(), redaction, rounds: BTreeMap::new(), shown: RefCell::default() }
    }

    pub(crate) fn unsaved(files: Vec<SourceFile>) -> Self {
        let rounds = BTreeMap::from([(1, by_name(Redaction::ON, files))]);
        Self { folder: PathBuf::new(), redaction: Redaction::ON, rounds, shown: RefCell::default() }
    }

    /// Keeps the files of a round; what is written has no secrets.
    pub(crate) fn keep(&mut self, round: u32, files: Vec<SourceFile>) -> io::Result<()> {
        let bytes = serde_json::to_vec(&self.redaction.files(files.clone())).map_err(io::Error::other)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&bytes)?;
        file.persist(self.path(round)).map_err(|error| error.error)?;
        self.rounds.insert(round, by_name(self.redaction, files));
        Ok(())
    }

    /// Reads the rounds `1..=last` that were kept earlier. A file that still stands in the tree at `root` as it was
    /// read then comes back with its secrets, for the embedded agents.
    pub(crate) fn load(&mut self, last: u32, root: Option<&Path>) -> io::Result<()> {
        for round in 1..=last {
            let bytes = files::read(&self.path(round))?;
            let mut files = Self::parse(&bytes)?;
            for file in files.iter_mut().filter(|file| file.text.contains("[secret:")) {
                let now = root.and_then(|root| files::read_to_string(&root.join(&file.path)).ok());
                file.text = now.filter(|now| self.redaction.text(now) == file.text).unwrap_or(take(&mut file.text));
            }
            self.rounds.insert(round, by_name(self.redaction, files));
        }
        Ok(())
    }

    /// Keeps the rules by which files are selected, as they are when the run begins.
    pub(crate) fn keep_rules(&self, rules: &SelectionRules) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&serde_json::to_vec(rules).map_err(io::Error::other)?)?;
        file.persist(self.folder.join(RULES)).map_err(|error| error.error)?;
        Ok(())
    }

    /// The rules of the beginning; `None` for a run of an earlier version, which kept none.
    pub(crate) fn rules(&self) -> Option<SelectionRules> {
        serde_json::from_slice(&std::fs::read(self.folder.join(RULES)).ok()?).ok()
    }

    fn path(&self, round: u32) -> PathBuf {
        Self::path_in(&self.folder, round)
    }

    /// Where the files of a round are kept in the folder of its run.
    pub(crate) fn path_in(folder: &Path, round: u32) -> PathBuf {
        folder.join(format!("sources-{round}.json"))
    }

    /// The files of a round as they were kept.
    pub(crate) fn parse(bytes: &[u8]) -> io::Result<Vec<SourceFile>> {
        serde_json::from_slice(bytes).map_err(io::Error::other)
    }

    pub(crate) fn file(&self, round: u32, path: &str) -> Option<&SourceFile> {
        self.named(self.rounds.get(&round)?, path)
    }

    pub(crate) fn first(&self, path: &str) -> Option<&SourceFile> {
        self.rounds.values().find_map(|files| self.named(files, path))
    }

    fn named<'a>(&self, files: &'a BTreeMap<String, SourceFile>, path: &str) -> Option<&'a SourceFile> {
        files.get(path).or_else(|| files.get(&self.redaction.text(path)))
    }

    /// The text of a file as it was reviewed in a round, without secrets.
    pub(crate) fn shown(&self, round: u32, path: &str) -> Option<String> {
        let file = self.file(round, path).or_else(|| self.first(path))?;
        let mut shown = self.shown.borrow_mut();
        let clean = shown.entry((round, path.to_owned())).or_insert_with(|| {
            let text = self.redaction.text(&file.text);
            (text != file.text).then_some(text)
        });
        Some(clean.as_ref().unwrap_or(&file.text).clone())
    }

    pub(crate) fn shard(&self, round: u32, shard: &[Coverage]) -> Vec<SourceFile> {
        shard.iter().filter_map(|covered| self.file(round, &covered.file).cloned()).collect()
    }

    pub(crate) fn excerpt(&self, finding: &crate::domain::Finding) -> Option<Excerpt> {
        let file = finding.raw.file.as_deref()?;
        let line = finding.raw.line?;
        let cut = anchors::excerpt(&self.shown(finding.round, file)?, line, finding.raw.end_line, AROUND)?;
        Some(Excerpt { file: file.to_owned(), first_line: cut.first_line, text: cut.text, lines: cut.lines })
    }
}

fn by_name(redaction: Redaction, files: Vec<SourceFile>) -> BTreeMap<String, SourceFile> {
    files.into_iter().map(|file| (redaction.text(&file.path), file)).collect()
}

#[derive(Debug)]
pub struct Reviewed(pub(crate) Sources);

impl Reviewed {
    /// The text of a file as it was reviewed in a round, counted from 1, by its path inside the tree.
    pub fn text(&self, path: &str, round: u32) -> Option<String> {
        self.0.shown(round, path)
    }
}
