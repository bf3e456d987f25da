//! Lists the findings in the recorded answers of reviewers, and maps these findings to the merged findings of
//! the run.

use super::{RecordedCall, ReviewState};
use crate::domain::event::{CallAnswer, CallId, Purpose};
use crate::domain::{AgentName, Finding, FindingId, RawFinding};

/// A finding in a reviewer's answer, before findings are merged.
pub(crate) struct RaisedFinding<'a> {
    /// The call, and the index of the finding in the answer.
    pub(crate) id: String,
    pub(crate) raw: &'a RawFinding,
    /// The finding of an earlier run that this finding repeats, if an answer of the earlier run was reused.
    pub(crate) origin: Option<FindingId>,
}

impl ReviewState {
    /// Returns the findings of an answer, together with the findings of reused earlier answers. A finding that
    /// the reviewer raised again is listed once.
    pub(crate) fn raised_in<'s>(
        &'s self,
        call: &CallId,
        said: &'s [RawFinding],
    ) -> Vec<RaisedFinding<'s>> {
        let reuse = self.reuse(call);
        let reused = || {
            let reuse = reuse.into_iter();
            reuse.flat_map(|reuse| {
                let origins = reuse.origins.iter().copied().chain(std::iter::repeat(None));
                reuse.findings.iter().zip(origins).enumerate()
            })
        };
        let key = |raw: &RawFinding| (raw.file.clone(), raw.line, raw.title.clone());
        let stem = call.file_stem();
        let answered = said.iter().enumerate().map(|(index, raw)| {
            let earlier = reused().find(|(_, (earlier, _))| key(earlier) == key(raw));
            let origin = earlier.and_then(|(_, (_, origin))| origin);
            RaisedFinding {
                id: format!("{stem}/{index}"),
                raw,
                origin,
            }
        });
        let mut raised: Vec<RaisedFinding<'_>> = answered.collect();
        // If the field `asked` is empty, Glee made no call, and the recorded answer already contains the reused
        // findings.
        if reuse.is_some_and(|reuse| !reuse.asked.is_empty()) {
            let again = |raw: &RawFinding| said.iter().any(|said| key(said) == key(raw));
            raised.extend(reused().filter(|(_, (raw, _))| !again(raw)).map(
                |(index, (raw, origin))| RaisedFinding {
                    id: format!("{stem}/reused-{index}"),
                    raw,
                    origin,
                },
            ));
        }
        raised
    }

    /// Returns all findings of the answers of reviewers, with the reviewers' names.
    pub(crate) fn raised(&self) -> impl Iterator<Item = (&AgentName, RaisedFinding<'_>)> {
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

    /// Returns the merged finding that contains a finding of a reviewer. `is_same` selects the finding in the
    /// reviewer's answers. If no merged finding refers to the selected finding, the function calls `is_same` for
    /// the reviewer's merged findings, and returns the first match.
    pub(crate) fn merged_into(
        &self,
        reviewer: &AgentName,
        is_same: impl Fn(&RawFinding) -> bool,
    ) -> Option<FindingId> {
        let raised = self
            .raised()
            .filter(|(by, raised)| *by == reviewer && is_same(raised.raw));
        let ids: Vec<String> = raised.map(|(_, raised)| raised.id).collect();
        let is_said = |finding: &&Finding| {
            let mut sources = finding.sources();
            sources.any(|source| ids.iter().any(|id| id == source))
        };
        let by_title = || {
            let mut findings = self.findings.iter();
            findings.find(|finding| finding.raised_by.contains(reviewer) && is_same(&finding.raw))
        };
        self.findings
            .iter()
            .find(is_said)
            .or_else(by_title)
            .map(|finding| finding.id)
    }
}
