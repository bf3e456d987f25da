//! Determines which findings a reviewer still has to re-check, and which findings repeat an earlier dispute.

use std::collections::BTreeSet;

use super::ReviewState;
use super::calls::RECHECKS;
use glee_model::domain::event::{CallAnswer, Purpose};
use glee_model::domain::{
    AgentName, Comparison, EarlierDispute, Finding, FindingId, FindingState, Recheck, Relation,
    Role,
};

impl ReviewState {
    pub(super) fn count_unanswered(
        &mut self,
        findings: Vec<FindingId>,
        agent: &AgentName,
        tries: u32,
    ) {
        for id in findings {
            *self
                .unanswered_checks
                .entry((id, agent.clone()))
                .or_default() += tries;
        }
    }

    /// The implemented findings that the agent raised and still has to re-check.
    pub(crate) fn recheck_items(&self, agent: &AgentName) -> Vec<FindingId> {
        let is_changed = |finding: &&Finding| {
            use FindingState::{NotResolved, Resolved, Unchecked, Unconfirmed};
            matches!(
                self.finding_state(finding),
                Unchecked | Unconfirmed | NotResolved | Resolved
            )
        };
        self.findings
            .iter()
            .filter(|finding| self.checkers(finding).any(|name| name == agent))
            .filter(|finding| {
                self.check(finding.id, agent).is_none() && !self.is_given_up(finding.id, agent)
            })
            .filter(is_changed)
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

    fn check(&self, id: FindingId, agent: &AgentName) -> Option<&Recheck> {
        self.checks.get(&id)?.get(agent)
    }

    fn is_given_up(&self, id: FindingId, agent: &AgentName) -> bool {
        self.unanswered_checks
            .get(&(id, agent.clone()))
            .is_some_and(|tries| *tries >= RECHECKS)
    }

    /// The state of an implemented finding. The finding stays open if its re-check is missing, or if
    /// the re-check does not confirm the fix.
    pub(super) fn checked(&self, finding: &Finding) -> FindingState {
        let id = finding.id;
        let said = || {
            self.checks
                .get(&id)
                .into_iter()
                .flatten()
                .map(|(_, check)| check)
        };
        if said().any(|check| !check.resolved) {
            FindingState::NotResolved
        } else if self
            .checkers(finding)
            .any(|name| self.is_given_up(id, name))
        {
            FindingState::Unconfirmed
        } else if said().next().is_some()
            && self
                .checkers(finding)
                .all(|name| self.check(id, name).is_some())
        {
            FindingState::Resolved
        } else {
            FindingState::Unchecked
        }
    }

    /// Each pair consists of a finding of the round and an earlier dispute. The finding possibly repeats the
    /// dispute.
    pub fn uncertain(&self, round: u32) -> impl Iterator<Item = (&Finding, &EarlierDispute)> {
        let may_repeat = |id: FindingId| {
            let related = self.related.get(&id).into_iter().flatten();
            // A dispute whose ruling only changed a tag is not compared, because such a ruling closes no finding.
            related.into_iter().find(|earlier| {
                earlier.relation == Relation::MayRepeat && earlier.new_tag.is_none()
            })
        };
        let of_round = self
            .findings
            .iter()
            .filter(move |finding| finding.round == round);
        // A finding is compared with earlier disputes only if the coder has not answered the finding and the
        // finding has no dispute.
        let is_new = |id| !self.responses.contains_key(id) && !self.disputed.contains_key(id);
        let of_round = of_round.filter(move |finding| is_new(&finding.id));
        of_round.filter_map(move |finding| Some((finding, may_repeat(finding.id)?)))
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
