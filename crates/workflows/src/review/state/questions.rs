//! Functions that read the state of a review. The functions determine the states of findings, and what the coder
//! and the judges receive.

use std::collections::BTreeMap;

use super::{RecordedCall, ReviewState};
use crate::run::attempts;
use glee_model::domain::event::{CallId, Mode, Purpose, Verified};
use glee_model::domain::{
    Agent, AgentName, Coverage, Disposition, Dispute, DisputeNumber, FileChange, Finding,
    FindingId, FindingState, Location, Objector, Reuse, Role, Route, RulingRecord,
};
use glee_model::rules::consensus::Policy;
use glee_model::rules::review::coder_selection::Coders;
use glee_model::rules::review::progress::JudgedFirst;
use glee_store::config::choices::{OlderFindings, Validate};

impl ReviewState {
    pub fn round(&self) -> u32 {
        u32::try_from(self.rounds.len()).unwrap_or(u32::MAX).max(1)
    }

    pub fn covers(&self, file: &str) -> bool {
        let mut covered = self.rounds.last().into_iter().flatten().flatten();
        covered.any(|covered| covered.file == file)
    }

    pub fn agents(&self, role: Role) -> impl Iterator<Item = &Agent> {
        self.planned().filter(move |agent| agent.role == role)
    }

    /// The reviewers, the coders and the judges of the plan.
    pub(crate) fn planned(&self) -> impl Iterator<Item = &Agent> {
        self.plan().agents.iter()
    }

    pub(crate) fn agent(&self, name: &AgentName) -> Option<&Agent> {
        self.planned().find(|agent| agent.name == *name)
    }

    /// The shards of a round; rounds are counted from 1.
    pub(crate) fn shards(&self, round: u32) -> &[Vec<Coverage>] {
        let at = (round as usize).checked_sub(1);
        at.and_then(|at| self.rounds.get(at))
            .map_or(&[], Vec::as_slice)
    }

    /// The commands of `review.verify` that fail on the current tree.
    pub(crate) fn failing(&self) -> impl Iterator<Item = &Verified> {
        self.verified.iter().filter(|verified| !verified.passed)
    }

    /// The files that the coders changed, call by call.
    pub(crate) fn file_changes(&self) -> impl Iterator<Item = &FileChange> {
        self.tree_changes.iter().flat_map(|change| &change.changes)
    }

    pub fn judges(&self) -> impl Iterator<Item = &Agent> {
        self.agents(Role::Judge).chain(&self.called_judges)
    }

    /// The last ruling of a dispute, ignoring rulings that were made before the dispute was reopened.
    pub(crate) fn last_ruling<'a>(&self, dispute: &'a Dispute) -> Option<&'a RulingRecord> {
        let before = self.ruled_before.get(&dispute.number).copied();
        dispute.rulings.get(before.unwrap_or_default()..)?.last()
    }

    /// Returns the open disputes that a resumed run decides again. `named` is the route on the command line.
    ///
    /// - If `named` is a route, the run decides all open disputes. If this route is `judge`, the function omits
    ///   the disputes that a judge of this run decides in any case.
    /// - If `named` is `None`, the run decides the disputes that have the route `human`, and those whose judges gave no
    ///   answer. Disputes for which a person chose the route `human` are left out. A run with `--fix` also decides disputes
    ///   without a route, if the coder received the finding before the judge.
    pub(crate) fn stayed_open(&self, named: Option<Route>) -> Vec<DisputeNumber> {
        let is_fix = self.plan().mode == Mode::Fix;
        self.disputes
            .values()
            .filter(|dispute| dispute.is_open())
            .filter(|dispute| match (named, dispute.route) {
                (None | Some(Route::Judge), Some(Route::Judge)) => {
                    let mut calls = self.calls.keys();
                    !dispute.rulings.is_empty()
                        && calls.all(|id| !id.purpose.judged().contains(&dispute.number))
                }
                (Some(_), _) => true,
                (None, None) => is_fix && !self.is_judged_first(&dispute.finding),
                (None, Some(Route::Human)) => !self.chosen.contains_key(&dispute.number),
                (None, Some(Route::Discard)) => false,
            })
            .map(|dispute| dispute.number)
            .collect()
    }

    /// The disputes of earlier runs that findings of this run repeat and that do not continue in this run yet, each with
    /// its findings in the order of their ids.
    pub fn left_open(&self) -> BTreeMap<DisputeNumber, Vec<FindingId>> {
        let mut left: BTreeMap<DisputeNumber, Vec<FindingId>> = BTreeMap::new();
        for (number, finding) in self.still_disputed() {
            if !self.disputes.contains_key(&number) {
                left.entry(number).or_default().push(finding);
            }
        }
        left
    }

    /// The open disputes of earlier runs that findings of this run repeat, in the order of the findings.
    pub(crate) fn still_disputed(&self) -> impl Iterator<Item = (DisputeNumber, FindingId)> {
        self.progress
            .iter()
            .filter_map(|(id, progress)| Some((progress.still_disputed()?, *id)))
    }

    pub fn finding(&self, id: FindingId) -> Option<&Finding> {
        self.place(id).map(|index| &self.findings[index])
    }

    pub(super) fn finding_mut(&mut self, id: FindingId) -> Option<&mut Finding> {
        self.place(id).map(|index| &mut self.findings[index])
    }

    /// The members of the group of `id`, in the order of their ids.
    pub fn group(&self, id: FindingId) -> &[Finding] {
        let start = self
            .findings
            .partition_point(|finding| finding.id < id.group());
        let length =
            self.findings[start..].partition_point(|finding| finding.id.number == id.number);
        &self.findings[start..start + length]
    }

    /// For the number of each group, the letter of its last member.
    pub fn letters(&self) -> BTreeMap<u32, u8> {
        let ids = self.findings.iter().map(|finding| finding.id);
        ids.map(|id| (id.number, id.member.max(1))).collect()
    }

    /// The findings are in the order of their ids.
    pub(super) fn place(&self, id: FindingId) -> Option<usize> {
        self.findings
            .binary_search_by_key(&id, |finding| finding.id)
            .ok()
    }

    pub fn dispute_of(&self, id: FindingId) -> Option<&Dispute> {
        self.disputes.get(&self.progress(id).dispute?)
    }

    pub fn undecided(&self) -> impl Iterator<Item = DisputeNumber> {
        let open = self
            .disputes
            .values()
            .filter(|dispute| dispute.is_open() && dispute.route.is_none());
        open.filter(|dispute| !self.is_sent_to_judge(&dispute.finding))
            .map(|dispute| dispute.number)
    }

    pub fn reuse(&self, call: &CallId) -> Option<&Reuse> {
        self.reused.get(&(call.agent.clone(), call.purpose.clone()))
    }

    pub(crate) fn last_call(
        &self,
        agent: &AgentName,
        purpose: &Purpose,
    ) -> Option<(&CallId, &RecordedCall)> {
        attempts::last(&self.calls, agent, purpose)
    }

    /// The last call of each agent for each purpose.
    pub(crate) fn last_calls(&self) -> Vec<(&CallId, &RecordedCall)> {
        let mut last = BTreeMap::new();
        for (id, call) in &self.calls {
            // An agent's calls for one purpose are sorted by attempt, so that the last attempt remains.
            last.insert((&id.agent, &id.purpose), (id, call));
        }
        last.into_values().collect()
    }

    pub(crate) fn next_call(&self, agent: &AgentName, purpose: Purpose) -> CallId {
        let last = self.last_call(agent, &purpose);
        CallId {
            attempt: last.map_or(1, |(id, _)| id.attempt + 1),
            agent: agent.clone(),
            purpose,
        }
    }

    /// The coders that can be called.
    pub(crate) fn coders(&self) -> impl Iterator<Item = &AgentName> {
        self.agents(Role::Coder)
            .filter(|coder| !coder.is_caller())
            .map(|coder| &coder.name)
    }

    /// The file by which the coder of a finding is chosen: that of the first place. The findings of a group name one
    /// defect, so one coder gets them.
    pub(crate) fn file_for_coder(&self, id: FindingId) -> Option<&str> {
        let mut group = self.group(id).iter();
        group.find_map(|finding| finding.raw.file.as_deref())
    }

    /// The findings in `ids` that go to a coder.
    pub(crate) fn of_coder(
        &self,
        coder: &AgentName,
        ids: impl Iterator<Item = FindingId>,
    ) -> Vec<FindingId> {
        let coders = Coders::of(self.agents(Role::Coder));
        ids.filter(|id| {
            let chosen = coders.of_file(self.file_for_coder(*id));
            chosen.is_some_and(|chosen| chosen.name == *coder)
        })
        .collect()
    }

    /// The findings that a coder receives.
    pub fn items(&self, coder: &AgentName, purpose: &Purpose) -> Vec<FindingId> {
        let asked = self.findings.iter().filter(|finding| match purpose {
            Purpose::Respond { round } => self.wants_response(finding, *round),
            Purpose::Enforce { round } => {
                finding.round <= *round
                    && self.is_for_coder(finding.id)
                    && self
                        .dispute_of(finding.id)
                        .is_some_and(|dispute| dispute.disposition == Some(Disposition::Enforced))
                    && !self.is_done(finding.id)
            }
            Purpose::Reply { dispute, .. } => {
                let dispute = self.disputes.get(dispute);
                dispute.is_some_and(|dispute| dispute.is_about(finding.id))
            }
            Purpose::Repair { round } => {
                finding.round <= *round && self.progress(finding.id).says_implemented()
            }
            _ => false,
        });
        self.of_coder(coder, asked.map(|finding| finding.id))
    }

    /// The call in which a coder replies to the last answer of a person. `None` if nobody answered, or if no coder that can
    /// be called objected in this run.
    pub(crate) fn reply_of(&self, dispute: &Dispute) -> Option<(&AgentName, Purpose)> {
        let is_asked = dispute.objector.is_coder() && !self.carried.contains_key(&dispute.number);
        let id = dispute.finding.id;
        let mut coders = self.coders().filter(|_| is_asked);
        let coder = coders.find(|coder| !self.of_coder(coder, std::iter::once(id)).is_empty())?;
        let purpose = Purpose::Reply {
            round: self.round(),
            dispute: dispute.number,
            answer: u32::try_from(dispute.answered.len()).unwrap_or(u32::MAX),
        };
        Some((coder, purpose))
    }

    pub fn repairs(&self, round: u32) -> usize {
        self.calls
            .keys()
            .filter(|id| id.purpose == Purpose::Repair { round })
            .count()
    }

    pub fn mode(&self) -> Mode {
        if self.fixing.is_some() {
            Mode::Fix
        } else {
            self.plan().mode
        }
    }

    pub(crate) fn asked_before(&self, coder: &AgentName) -> u32 {
        self.asked_before.get(coder).copied().unwrap_or_default()
    }

    pub(crate) fn is_for_coder(&self, id: FindingId) -> bool {
        self.fixing
            .as_ref()
            .or(self.handed_over.as_ref())
            .is_none_or(|findings| findings.contains(&id))
    }

    /// Whether a call is the coder's first attempt at a request. Later attempts ask only for the answers that
    /// are still missing.
    pub(crate) fn is_first_attempt(&self, call: &CallId) -> bool {
        let before = if matches!(call.purpose, Purpose::Respond { .. }) {
            self.asked_before(&call.agent)
        } else {
            0
        };
        call.attempt == before + 1
    }

    /// Whether the coder has to answer a finding in a round. In a round of a fix request, the coder answers the
    /// findings of the request. Findings of the request that a ruling enforced are left out. In any other round,
    /// the coder answers all new findings, and the open mandatory findings of earlier rounds.
    fn wants_response(&self, finding: &Finding, round: u32) -> bool {
        if !self.is_for_coder(finding.id)
            || self.is_ruled_by_person(finding.id)
            || self.is_hidden(finding)
        {
            return false;
        }
        if self.fixing.is_some() {
            let is_enforced =
                |dispute: &Dispute| dispute.disposition == Some(Disposition::Enforced);
            return !self.dispute_of(finding.id).is_some_and(is_enforced);
        }
        if finding.reverses.is_some() || finding.is_rejected() || self.is_judged_first(finding) {
            return false;
        }
        // The objection of an earlier run is recorded.
        let is_carried_on = self
            .dispute_of(finding.id)
            .is_some_and(|dispute| self.carried.contains_key(&dispute.number));
        if is_carried_on || self.progress(finding.id).is_settled_earlier() {
            return false;
        }
        if finding.round == round {
            return true;
        }
        finding.round < round
            && finding.mandatory
            && self.dispute_of(finding.id).is_none()
            && matches!(
                self.finding_state(finding),
                FindingState::Open
                    | FindingState::Unanswered
                    | FindingState::Claimed
                    | FindingState::NotResolved
                    | FindingState::Reverted
            )
    }

    /// Whether reports leave out a finding, because it is older than the change.
    pub(crate) fn is_hidden(&self, finding: &Finding) -> bool {
        let is_hiding = self.settings.review.older == OlderFindings::Hide;
        is_hiding && finding.older && !finding.mandatory
    }

    fn is_ruled_by_person(&self, id: FindingId) -> bool {
        self.dispute_of(id).is_some_and(|dispute| {
            matches!(dispute.objector, Objector::Person | Objector::Participant)
                && !dispute.is_open()
        })
    }

    /// Whether a judge rules on a mandatory finding before the coder receives the finding.
    pub(crate) fn is_judged_first(&self, finding: &Finding) -> bool {
        self.judged_first().applies(finding)
    }

    /// Whether a finding goes directly to the judge, without the choice of a route.
    pub(crate) fn is_sent_to_judge(&self, finding: &Finding) -> bool {
        self.judged_first().sends(finding)
    }

    fn judged_first(&self) -> JudgedFirst {
        let rules = self.settings.review.consensus;
        JudgedFirst {
            arbitrates: self.plan().mode == Mode::Arbitrate,
            has_judge: self.agents(Role::Judge).next().is_some(),
            validates: rules.validate == Validate::Judge,
            weighs: rules.policy == Policy::Specification,
        }
    }

    /// Whether the coder answered `IMPLEMENTED` and changed the code at the finding's anchor.
    pub(crate) fn is_done(&self, id: FindingId) -> bool {
        self.progress(id).says_implemented() && self.is_touched(id)
    }

    fn is_touched(&self, id: FindingId) -> bool {
        let Some(asked) = self.progress(id).asked_after.last() else {
            return false;
        };
        self.tree_changes
            .iter()
            .skip(*asked)
            .any(|change| change.touched.contains(&id))
    }

    /// The places of a finding that the coder has not changed since the coder first received the finding.
    pub(crate) fn unchanged_places(&self, finding: &Finding) -> Vec<Location> {
        let mut unchanged: Vec<Location> = finding.anchored().map(|(place, _)| place).collect();
        let Some(first) = self.progress(finding.id).asked_after.first() else {
            return unchanged;
        };
        for change in self.tree_changes.iter().skip(*first) {
            if change.touched.contains(&finding.id) {
                unchanged.clear();
            } else if let Some(left) = change.unchanged_of(finding.id) {
                unchanged = left.to_vec();
            }
        }
        unchanged
    }

    /// The unchanged places of a finding that the coder reports as implemented, but changed only in part.
    pub(crate) fn unchanged_part(&self, finding: &Finding) -> Vec<Location> {
        let unchanged = self.unchanged_places(finding);
        let is_part = unchanged.len() < finding.anchored().count();
        if is_part && self.finding_state(finding) == FindingState::Claimed {
            unchanged
        } else {
            Vec::new()
        }
    }

    pub(crate) fn finding_state(&self, finding: &Finding) -> FindingState {
        let checkers: Vec<&AgentName> = self.checkers(finding).collect();
        let is_touched = self.is_touched(finding.id);
        let progress = self.progress(finding.id);
        match progress.state(finding, &self.disputes, is_touched, &checkers) {
            FindingState::Resolved | FindingState::Unchecked if self.is_fix_undone(finding) => {
                FindingState::Reverted
            }
            state => state,
        }
    }

    /// Whether changes were undone in a file that the finding names. Where it names none, all of them were.
    fn is_fix_undone(&self, finding: &Finding) -> bool {
        let places = finding.raw.places.iter().map(|place| &place.file);
        let mut files = finding.raw.file.iter().chain(places).peekable();
        match files.peek() {
            Some(_) => files.any(|file| self.undone_files.contains(file)),
            None => self.undone && !self.undone_files.is_empty(),
        }
    }

    pub(crate) fn changed_in(&self, round: u32) -> bool {
        self.tree_changes
            .iter()
            .any(|change| change.call.purpose.round() == Some(round) && !change.changes.is_empty())
    }
}
