//! Determines which files reviewers received but could not read.
//!
//! The embedded reviewer reads only files in languages for which it has rules. A reviewer that is not embedded
//! reads all files.

use std::collections::BTreeMap;

use crate::review::state::ReviewState;
use glee_builtin as builtin;
use glee_model::domain::event::{CallAnswer, Purpose};
use glee_model::domain::{Agent, AgentName, Coverage, Role, UnreadFile};

/// The files that the agent `reviewer` received but could not read, and whether these are all files.
pub(crate) fn unread_by(state: &ReviewState, reviewer: &AgentName) -> (Vec<UnreadFile>, bool) {
    let unread = Unread::of(shards(state), |purpose| {
        Vec::from_iter(answered(state, reviewer, purpose))
    });
    (unread.files(), unread.is_blind())
}

/// The files that no reviewer could read. A file for which no reviewer gave a complete answer is not included.
pub fn unread(state: &ReviewState) -> Vec<UnreadFile> {
    Unread::of(shards(state), |purpose| answers(state, purpose)).files()
}

/// Whether, in at least one round, no reviewer could read any file.
pub(crate) fn is_blind(state: &ReviewState) -> bool {
    (1..=state.round()).any(|round| {
        let of_round = shards(state).filter(|(purpose, _)| purpose.round() == Some(round));
        Unread::of(of_round, |purpose| answers(state, purpose)).is_blind()
    })
}

struct Unread<'a> {
    /// The files that could not be read, with their languages.
    languages: BTreeMap<&'a str, String>,
    /// Whether all files were unreadable.
    is_all: bool,
}

impl<'a> Unread<'a> {
    fn of(
        shards: impl Iterator<Item = (Purpose, &'a [Coverage])>,
        answered: impl Fn(&Purpose) -> Vec<&'a Agent>,
    ) -> Self {
        let mut unread = Self {
            languages: BTreeMap::new(),
            is_all: true,
        };
        for (purpose, files) in shards {
            let answered = answered(&purpose);
            let is_embedded =
                !answered.is_empty() && answered.iter().all(|agent| agent.is_embedded());
            for file in files {
                match builtin::language_without_rules(&file.file).filter(|_| is_embedded) {
                    Some(language) => drop(unread.languages.insert(&file.file, language)),
                    None => unread.is_all = false,
                }
            }
        }
        unread
    }

    fn is_blind(&self) -> bool {
        self.is_all && !self.languages.is_empty()
    }

    fn files(&self) -> Vec<UnreadFile> {
        self.languages
            .iter()
            .map(|(file, language)| UnreadFile {
                file: (*file).to_owned(),
                language: language.clone(),
            })
            .collect()
    }
}

fn shards(state: &ReviewState) -> impl Iterator<Item = (Purpose, &[Coverage])> {
    (1..).zip(&state.rounds).flat_map(|(round, shards)| {
        (0..)
            .zip(shards)
            .map(move |(shard, files)| (Purpose::Review { round, shard }, files.as_slice()))
    })
}

fn answers<'a>(state: &'a ReviewState, purpose: &Purpose) -> Vec<&'a Agent> {
    state
        .agents(Role::Reviewer)
        .filter_map(|agent| answered(state, &agent.name, purpose))
        .collect()
}

/// The agent that gave a reviewer's complete answer: the reviewer itself or the reviewer's backup.
fn answered<'a>(
    state: &'a ReviewState,
    reviewer: &AgentName,
    purpose: &Purpose,
) -> Option<&'a Agent> {
    let (_, call) = state.last_call(reviewer, purpose)?;
    let CallAnswer::Review { status, .. } = &call.answer else {
        return None;
    };
    let name = call.by.as_ref().unwrap_or(reviewer);
    let plan = state.plan.as_ref()?;
    plan.agents
        .iter()
        .chain(&plan.backups)
        .find(|agent| agent.name == *name)
        .filter(|_| status.is_complete())
}
