//! Entries of an answer, before the parser accepts or rejects the entries.

use std::collections::{BTreeSet, HashSet};
use std::fmt::{Debug, Display};
use std::hash::Hash;

use crate::text::LenientValue;
use crate::text::nonce::is_nonce;
use glee_model::domain::{Demonstration, FindingId, PairId};

pub(crate) const TEXT_CAP: usize = 256 << 10;

pub(crate) const ANSWERS_CAP: usize = 6 << 20;

pub(crate) const PROBLEMS_CAP: usize = 20;

/// The id of what an entry is about.
pub trait EntryId: Copy + Ord + Hash + Debug + Display {
    /// The fields of a JSON item that can contain the id.
    const FIELDS: &'static [&'static str];
    const KIND: &'static str;

    fn parse(text: &str) -> Option<Self>;

    /// The number of the group to which the id belongs.
    fn group(self) -> u32;

    /// Whether an entry with this id is about `other`.
    fn addresses(self, other: Self) -> bool;
}

impl EntryId for FindingId {
    const FIELDS: &'static [&'static str] = &["finding", "finding_id"];
    const KIND: &'static str = "a finding id such as `F1`";

    fn parse(text: &str) -> Option<Self> {
        Self::parse(text).or_else(|| Self::parse(&format!("F{text}")))
    }

    fn group(self) -> u32 {
        self.number
    }

    fn addresses(self, other: Self) -> bool {
        self.addresses(other)
    }
}

impl EntryId for PairId {
    const FIELDS: &'static [&'static str] = &["pair"];
    const KIND: &'static str = "a pair such as `P1`";

    fn parse(text: &str) -> Option<Self> {
        Self::parse(text)
    }

    fn group(self) -> u32 {
        self.0
    }

    fn addresses(self, other: Self) -> bool {
        self == other
    }
}

pub trait AnswerWord: Copy + Eq + Debug + 'static {
    type Id: EntryId;
    const WORDS: &'static [(&'static str, Self)];
    const CLOSING: &'static str;
    const LIST: &'static str;
    const EVIDENCE: bool = false;

    /// Whether the caller checks each entry against the tree. If so, two contradictory entries for one finding do
    /// not make the answer incomplete.
    const CHECKED: bool = false;

    /// Whether a finding with this answer word remains open. Examples of such words are `DEFEND` and `UNRESOLVED`.
    /// The parser keeps an entry with such a word even if an earlier entry for the finding has a different word.
    fn keeps_open(self) -> bool {
        false
    }

    fn from_json(answer: &LenientValue, _resolved: &LenientValue) -> Option<Self> {
        Self::from_word(answer)
    }

    fn from_word(answer: &LenientValue) -> Option<Self> {
        let word = answer.word()?;
        Self::WORDS
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(&word))
            .map(|(_, word)| *word)
    }

    fn name(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(_, word)| *word == self)
            .map_or("", |(name, _)| name)
    }

    fn names() -> String {
        Self::WORDS
            .iter()
            .map(|(name, _)| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingAnswer<W: AnswerWord> {
    pub finding: W::Id,
    pub word: W,
    pub text: String,
    pub evidence: Vec<String>,
    pub more: More,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct More {
    pub adjustment: Option<String>,
    pub severity: Option<String>,
    pub description: Option<String>,
    pub same_as: Option<String>,
    /// The field of a JSON item; in prose, the demonstration is a block of the text.
    pub demonstration: Option<Demonstration>,
}

pub(crate) struct Gathered<W: AnswerWord> {
    pub entries: Vec<Placed<W>>,
    pub problems: BTreeSet<String>,
    pub truncated: bool,
    pub nonce: Option<String>,
    /// The number of entries before the last closing line. `None` if the answer has no closing line.
    pub signed: Option<usize>,
}

pub(super) struct Placed<W: AnswerWord> {
    pub entry: FindingAnswer<W>,
    pub adjacent: bool,
}

impl<W: AnswerWord> Gathered<W> {
    pub(super) fn new() -> Self {
        Self {
            entries: Vec::new(),
            problems: BTreeSet::new(),
            truncated: false,
            nonce: None,
            signed: None,
        }
    }

    pub(crate) fn is_signed(&self, nonce: Option<&str>) -> bool {
        self.nonce
            .as_deref()
            .is_some_and(|given| is_nonce(nonce, given))
    }

    pub(super) fn add(&mut self, other: Self) {
        self.entries.extend(other.entries);
        self.problems.extend(other.problems);
        self.truncated |= other.truncated;
    }

    pub(super) fn problem(&mut self, problem: impl FnOnce() -> String) {
        if self.problems.len() < PROBLEMS_CAP {
            self.problems.insert(problem());
        }
    }

    pub(crate) fn unknown_word(&mut self, finding: W::Id, word: &str) {
        self.problem(|| format!("`{word}` for {finding} is not one of {}", W::names()));
    }

    pub(super) fn count(&self, end: usize) -> u64 {
        let ids: HashSet<W::Id> = self.entries[..end].iter().map(id_of).collect();
        ids.len() as u64
    }

    /// Returns the index of the first signed entry. The signed entries end before the index `end`. The number of
    /// different findings in these entries is `wanted`.
    pub(super) fn block(&self, wanted: u64, end: usize) -> usize {
        let mut ids = HashSet::new();
        let mut start = end;
        while start > 0 && (ids.len() as u64) < wanted {
            start -= 1;
            ids.insert(id_of(&self.entries[start]));
        }
        while start > 0
            && self
                .entries
                .get(start)
                .is_some_and(|placed| placed.adjacent)
            && ids.contains(&id_of(&self.entries[start - 1]))
        {
            start -= 1;
        }
        start
    }
}

pub(super) fn id_of<W: AnswerWord>(placed: &Placed<W>) -> W::Id {
    placed.entry.finding
}
