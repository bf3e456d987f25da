//! Lists the findings in the recorded answers of reviewers, and maps these findings to the merged findings of
//! the run.

use std::collections::{HashMap, HashSet};

use super::{RecordedCall, ReviewState};
use glee_model::domain::event::{CallAnswer, CallId, Purpose};
use glee_model::domain::{AgentName, FindingId, RawFinding};

/// A finding in a reviewer's answer, before findings are merged.
pub struct RaisedFinding<'a> {
    /// The call, and the index of the finding in the answer.
    pub id: String,
    pub raw: &'a RawFinding,
    /// The finding of an earlier run that this finding repeats, if an answer of the earlier run was reused.
    pub origin: Option<FindingId>,
}

impl ReviewState {
    /// Returns the findings of an answer, together with the findings of reused earlier answers. A finding that
    /// the reviewer raised again is listed once.
    pub fn raised_in<'s>(
        &'s self,
        call: &CallId,
        said: &'s [RawFinding],
    ) -> Vec<RaisedFinding<'s>> {
        let reuse = self.reuse(call);
        let reused: Vec<(&RawFinding, Option<FindingId>)> = reuse
            .into_iter()
            .flat_map(|reuse| {
                let origins = reuse.origins.iter().copied().chain(std::iter::repeat(None));
                reuse.findings.iter().zip(origins)
            })
            .collect();
        let key = |raw: &'s RawFinding| (&raw.file, raw.line, &raw.title);
        let mut origins = HashMap::new();
        for (raw, origin) in &reused {
            origins.entry(key(raw)).or_insert(*origin);
        }
        let stem = call.file_stem();
        let answered = said.iter().enumerate().map(|(index, raw)| RaisedFinding {
            id: format!("{stem}/{index}"),
            raw,
            origin: origins.get(&key(raw)).copied().flatten(),
        });
        let mut raised: Vec<RaisedFinding<'_>> = answered.collect();
        // If the field `asked` is empty, Glee made no call, and the recorded answer already contains the reused
        // findings.
        if reuse.is_some_and(|reuse| !reuse.asked.is_empty()) {
            let again: HashSet<_> = said.iter().map(key).collect();
            for (index, (raw, origin)) in reused.into_iter().enumerate() {
                if !again.contains(&key(raw)) {
                    raised.push(RaisedFinding {
                        id: format!("{stem}/reused-{index}"),
                        raw,
                        origin,
                    });
                }
            }
        }
        raised
    }

    /// Returns all findings of the answers of reviewers, with the reviewers' names.
    pub fn raised(&self) -> impl Iterator<Item = (&AgentName, RaisedFinding<'_>)> {
        let reviews = self
            .calls
            .iter()
            .filter(|(id, _)| matches!(id.purpose, Purpose::Review { .. }));
        reviews.flat_map(|(id, RecordedCall { answer, .. })| {
            let said = match answer {
                CallAnswer::Review { findings, .. } => findings.as_slice(),
                _ => &[],
            };
            self.raised_in(id, said)
                .into_iter()
                .map(|raised| (&id.agent, raised))
        })
    }
}
