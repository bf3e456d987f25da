//! Finds the origin of each reused finding: a merged finding of an earlier run.

use std::collections::HashMap;

use super::archive::placed;
use crate::domain::{AgentName, FindingId, RawFinding, RunId};
use crate::history::store::Journal;
use crate::workflows::review::state::ReviewState;

pub(crate) struct Origins<'a> {
    journal: &'a Journal,
    runs: HashMap<RunId, ReviewState>,
}

impl<'a> Origins<'a> {
    pub(crate) fn new(journal: &'a Journal) -> Self {
        Self {
            journal,
            runs: HashMap::new(),
        }
    }

    /// `raw` is a finding from an answer that the run recorded for reuse. Returns `None` if the run did not
    /// merge the finding.
    pub(crate) fn of(
        &mut self,
        run: &RunId,
        reviewer: &AgentName,
        raw: &RawFinding,
    ) -> Option<FindingId> {
        let state = self.runs.entry(run.clone()).or_insert_with(|| {
            // An unreadable origin does not make the review fail: the finding is recognised by its anchor instead.
            ReviewState::of(&self.journal.events(run).unwrap_or_default())
        });
        let place = |raw: &RawFinding| (raw.file.clone(), raw.line, raw.title.clone());
        let is_same = |said: &RawFinding| {
            place(said) == place(raw)
                || raw.file.as_deref().is_some_and(|path| {
                    said.title == raw.title
                        && placed(said, &[path]).is_some_and(|(_, said)| place(&said) == place(raw))
                })
        };
        state.merged_into(reviewer, is_same)
    }
}
