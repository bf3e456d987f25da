//! Determines which findings a reviewer still has to re-check, and which findings repeat an earlier dispute.

use std::collections::BTreeSet;

use super::ReviewState;
use glee_model::domain::event::{CallAnswer, Purpose};
use glee_model::domain::{
    AgentName, Comparison, EarlierDispute, Finding, FindingId, FindingState, Role,
};

impl ReviewState {
    pub(super) fn count_unanswered(
        &mut self,
        findings: Vec<FindingId>,
        agent: &AgentName,
        tries: u32,
    ) {
        for id in findings {
            let unanswered = &mut self.progress_mut(id).unanswered_checks;
            *unanswered.entry(agent.clone()).or_default() += tries;
        }
    }

    /// The implemented findings that the agent raised and still has to re-check.
    pub(crate) fn recheck_items(&self, agent: &AgentName) -> Vec<FindingId> {
        self.findings
            .iter()
            .filter(|finding| self.checkers(finding).any(|name| name == agent))
            .filter(|finding| self.progress(finding.id).lacks_check(agent))
            .filter(|finding| {
                use FindingState::{NotResolved, Resolved, Unchecked, Unconfirmed};
                matches!(
                    self.finding_state(finding),
                    Unchecked | Unconfirmed | NotResolved | Resolved
                )
            })
            .map(|finding| finding.id)
            .collect()
    }

    /// The reviewers that re-check a finding's implementation: all reviewers that raised the finding.
    pub(crate) fn checkers<'a>(
        &'a self,
        finding: &'a Finding,
    ) -> impl Iterator<Item = &'a AgentName> {
        self.agents(Role::Reviewer)
            .map(|agent| &agent.name)
            .filter(|name| finding.raised_by.contains(name))
    }

    /// Each pair consists of a finding of the round and an earlier dispute. The finding possibly repeats the
    /// dispute.
    pub fn uncertain(&self, round: u32) -> impl Iterator<Item = (&Finding, &EarlierDispute)> {
        let of_round = self
            .findings
            .iter()
            .filter(move |finding| finding.round == round);
        of_round.filter_map(|finding| Some((finding, self.progress(finding.id).may_repeat()?)))
    }

    pub fn recognised(&self, round: u32) -> impl Iterator<Item = (&Finding, &EarlierDispute)> {
        let same: BTreeSet<FindingId> = self
            .comparisons(round)
            .filter(|comparison| comparison.same)
            .map(|comparison| comparison.finding)
            .collect();
        self.uncertain(round)
            .filter(move |(finding, _)| same.contains(&finding.id))
    }

    /// The pairs of [`Self::uncertain`] about which nobody was asked, neither in this run nor in an earlier run.
    pub(crate) fn uncompared(
        &self,
        round: u32,
    ) -> impl Iterator<Item = (&Finding, &EarlierDispute)> {
        let compared: BTreeSet<FindingId> = self
            .comparisons(round)
            .map(|comparison| comparison.finding)
            .collect();
        self.uncertain(round)
            .filter(move |(finding, _)| !compared.contains(&finding.id))
    }

    fn comparisons(&self, round: u32) -> impl Iterator<Item = &Comparison> {
        self.calls
            .iter()
            .filter(move |(id, _)| id.purpose == Purpose::Compare { round })
            .flat_map(|(_, call)| match &call.answer {
                CallAnswer::Compare { comparisons } => comparisons.as_slice(),
                _ => &[],
            })
            .chain(&self.compared)
    }
}
