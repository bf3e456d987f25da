//! The state of a run: a fold over its events, and nothing else.
//!
//! Resume, the outcome and the decision what is due all read this one value; it holds nothing that the events do not.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{
    Advised, Agent, AgentName, Answer, Class, Coverage, Disposition, Dispute, DisputeNumber, ExitReason,
    FileChange, Finding, FindingId, FindingState, Recheck, Response, Role, Spent, Told, Usage,
};
use crate::event::{CallAnswer, CallId, Event, EventKind, Mode, Plan, Purpose};
use crate::rules::consensus::Policy;

/// A call that has ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) answer: CallAnswer,
    pub(crate) millis: u64,
    pub(crate) usage: Usage,
}

/// What one call of the coder changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TreeChange {
    pub(crate) call: CallId,
    pub(crate) tree: String,
    pub(crate) changes: Vec<FileChange>,
    pub(crate) touched: BTreeSet<FindingId>,
}

/// A command of `review.verify` that has run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verified {
    pub(crate) round: u32,
    pub(crate) command: String,
    pub(crate) passed: bool,
}

/// The state of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) plan: Option<Plan>,
    /// The shards of each round; round 1 is at index 0.
    pub(crate) rounds: Vec<Vec<Vec<Coverage>>>,
    pub(crate) calls: BTreeMap<CallId, Call>,
    /// What all calls have used, those too that failed and were made again.
    pub(crate) spent: Spent,
    /// Reviews whose findings are merged.
    pub(crate) merged: BTreeSet<CallId>,
    pub(crate) findings: Vec<Finding>,
    /// Rounds of debates that are complete: the run's round and the debate's.
    pub(crate) debate_rounds: BTreeSet<(u32, u32)>,
    /// Rounds whose debate is over.
    pub(crate) concluded: BTreeSet<u32>,
    pub(crate) ruled: BTreeMap<FindingId, (DisputeNumber, Disposition)>,
    pub(crate) still_disputed: BTreeMap<FindingId, DisputeNumber>,
    pub(crate) before: Option<(String, String)>,
    pub(crate) tree_changes: Vec<TreeChange>,
    pub(crate) responses: BTreeMap<FindingId, Response>,
    /// How many tree changes there were when the coder was last given a finding; only later ones count for it.
    pub(crate) asked_after: BTreeMap<FindingId, usize>,
    /// How often the coder was given a finding as enforced.
    pub(crate) enforced: BTreeMap<FindingId, u32>,
    /// Findings whose last change was put before their raiser.
    pub(crate) recheck_asked: BTreeSet<FindingId>,
    pub(crate) checks: BTreeMap<FindingId, Recheck>,
    pub(crate) disputes: BTreeMap<DisputeNumber, Dispute>,
    /// Disputes whose route a person chose.
    pub(crate) chosen: BTreeSet<DisputeNumber>,
    /// Commands of `review.verify` that ran on the tree as it stands now.
    pub(crate) verified: Vec<Verified>,
    pub(crate) notices: Vec<String>,
    /// What advisories say of findings, by where those were read.
    pub(crate) advised: BTreeMap<String, Advised>,
    /// The session of the coder's last answered call: whose, which, and what it has used.
    pub(crate) coder_session: Option<(AgentName, String, Usage)>,
    /// Calls of this sitting whose agents may have written though they may only read.
    pub(crate) violated: BTreeSet<CallId>,
    pub(crate) ended: Option<(ExitReason, u64)>,
    pub(crate) undone: bool,
    /// Whether what was kept of it is gone: it can be neither undone nor carried on.
    pub(crate) pruned: bool,
}

impl State {
    /// Folds all events of a run.
    pub(crate) fn of(events: &[Event]) -> Self {
        let mut state = Self::default();
        for event in events {
            state.apply(&event.kind);
        }
        state
    }

    /// Takes one more event.
    pub(crate) fn apply(&mut self, event: &EventKind) {
        match event {
            EventKind::RunStarted { plan } => {
                self.rounds = vec![plan.shards.clone()];
                self.plan = Some((**plan).clone());
            }
            EventKind::RunResumed => {
                // What failed may be tried again now; what was answered stays answered.
                self.calls.retain(|_, call| {
                    !matches!(call.answer, CallAnswer::Failed { .. } | CallAnswer::Invalid { .. })
                });
                self.violated.clear();
                self.ended = None;
            }
            EventKind::RoundStarted { shards, .. } => self.rounds.push(shards.clone()),
            EventKind::CallStarted { .. } => {}
            EventKind::CallFinished { call, answer, millis, usage, told, .. } => {
                self.take_session(call, answer, usage, told);
                self.finish_call(call, answer);
                self.spent.calls += u64::from(told.retries) + 1;
                self.spent.usage = self.spent.usage.plus(**usage);
                let call_record = Call { answer: answer.clone(), millis: *millis, usage: **usage };
                self.calls.insert(call.clone(), call_record);
            }
            EventKind::ReadOnlyViolated { call, .. } => drop(self.violated.insert(call.clone())),
            EventKind::AdvisoriesAsked { answers } => self.advised.extend(answers.clone()),
            EventKind::FindingsMerged { findings, .. } => {
                self.merged.extend(self.unmerged().cloned().collect::<Vec<_>>());
                self.findings.extend(findings.iter().cloned());
            }
            EventKind::DebateRound { round, debate_round, .. } => {
                self.debate_rounds.insert((*round, *debate_round));
            }
            EventKind::DebateConcluded { round, findings, .. } => {
                self.concluded.insert(*round);
                for finding in findings {
                    match self.findings.iter_mut().find(|known| known.id == finding.id) {
                        Some(known) => *known = finding.clone(),
                        None => self.findings.push(finding.clone()),
                    }
                }
            }
            EventKind::DebateShutdown { .. }
            | EventKind::StageStarted { .. }
            | EventKind::StageJudged { .. }
            | EventKind::StageDeadlocked { .. }
            | EventKind::StageDecided { .. }
            | EventKind::QuestionResolved { .. }
            | EventKind::WatchStarted { .. }
            | EventKind::EventReceived { .. }
            | EventKind::CycleStarted { .. }
            | EventKind::ReviewRequested { .. }
            | EventKind::CycleDecided { .. }
            | EventKind::ClarificationAsked { .. }
            | EventKind::WatchPaused { .. }
            | EventKind::WatchResumed { .. }
            | EventKind::IssueClosed { .. } => {}
            EventKind::AlreadyRuled { finding, dispute, disposition } => {
                self.ruled.insert(*finding, (*dispute, disposition.clone()));
            }
            EventKind::StillDisputed { finding, dispute } => {
                self.still_disputed.insert(*finding, *dispute);
            }
            EventKind::BeforeImage { kept_as, tree } => {
                self.before.get_or_insert((kept_as.clone(), tree.clone()));
            }
            EventKind::TreeChanged { call, tree, changes, touched } => {
                if !changes.is_empty() {
                    self.verified.clear();
                }
                self.tree_changes.push(TreeChange {
                    call: call.clone(),
                    tree: tree.clone(),
                    changes: changes.clone(),
                    touched: touched.iter().copied().collect(),
                });
            }
            EventKind::DisputeOpened { dispute } => {
                self.disputes.insert(dispute.number, (**dispute).clone());
            }
            EventKind::RouteChosen { dispute, route, by_person } => {
                if *by_person {
                    self.chosen.insert(*dispute);
                }
                if let Some(dispute) = self.disputes.get_mut(dispute) {
                    dispute.route = Some(*route);
                }
            }
            EventKind::RulingGiven { dispute, ruling } => {
                if let Some(dispute) = self.disputes.get_mut(dispute) {
                    dispute.rulings.push(ruling.clone());
                }
            }
            EventKind::DisputeSettled { dispute, settlement } => {
                if let Some(dispute) = self.disputes.get_mut(dispute) {
                    dispute.disposition = Some(settlement.disposition.clone());
                }
            }
            EventKind::Verified { round, command, passed, .. } => {
                self.verified.push(Verified { round: *round, command: command.clone(), passed: *passed });
            }
            EventKind::Notice { text } => self.notices.push(text.clone()),
            EventKind::RunEnded { exit, millis } => self.ended = Some((*exit, *millis)),
            EventKind::RunUndone { .. } => self.undone = true,
            EventKind::RunPruned { .. } => self.pruned = true,
        }
    }

    fn finish_call(&mut self, call: &CallId, answer: &CallAnswer) {
        if call.purpose.is_coder() && (call.attempt == 1 || matches!(call.purpose, Purpose::Enforce { .. })) {
            for id in self.items(&call.purpose) {
                self.asked_after.insert(id, self.tree_changes.len());
                self.responses.remove(&id);
            }
        }
        if let Purpose::Enforce { .. } = call.purpose {
            for id in self.items(&call.purpose) {
                *self.enforced.entry(id).or_default() += 1;
            }
        }
        match answer {
            CallAnswer::Respond { responses, .. } => {
                for response in responses {
                    self.responses.insert(response.finding, response.clone());
                    // A new answer makes an old word on the change worthless.
                    self.checks.remove(&response.finding);
                    self.recheck_asked.remove(&response.finding);
                }
            }
            CallAnswer::Recheck { checks } => {
                self.recheck_asked.extend(self.recheck_items(&call.agent));
                for check in checks {
                    self.checks.insert(check.finding, check.clone());
                }
            }
            CallAnswer::Invalid { .. } | CallAnswer::Failed { .. }
                if matches!(call.purpose, Purpose::Recheck { .. }) =>
            {
                self.recheck_asked.extend(self.recheck_items(&call.agent));
            }
            CallAnswer::Review { .. }
            | CallAnswer::Examine { .. }
            | CallAnswer::Defend { .. }
            | CallAnswer::Judge { .. }
            | CallAnswer::Stage { .. }
            | CallAnswer::Work { .. }
            | CallAnswer::Peer { .. }
            | CallAnswer::Invalid { .. }
            | CallAnswer::Failed { .. } => {}
        }
    }

    /// A session can be carried on by whoever held it, if its last call was answered.
    fn take_session(&mut self, call: &CallId, answer: &CallAnswer, usage: &Usage, told: &Told) {
        if !call.purpose.is_coder() {
            return;
        }
        let who = told.by.as_ref().unwrap_or(&call.agent);
        let answered = matches!(answer, CallAnswer::Respond { .. } | CallAnswer::Invalid { .. });
        let session = told.session.as_ref().filter(|_| answered);
        let earlier = self.coder_session.take().filter(|(name, id, _)| name == who && Some(id) == session);
        let used = earlier.map_or(*usage, |(_, _, used)| used.plus(*usage));
        self.coder_session = session.map(|session| (who.clone(), session.clone(), used));
    }

    /// Answered reviews that are not merged yet.
    pub(crate) fn unmerged(&self) -> impl Iterator<Item = &CallId> {
        self.calls
            .iter()
            .filter(|(id, call)| {
                matches!(id.purpose, Purpose::Review { .. })
                    && matches!(call.answer, CallAnswer::Review { .. })
                    && !self.merged.contains(id)
            })
            .map(|(id, _)| id)
    }

    /// Implemented findings that an agent raised and whose change it has not been shown.
    pub(crate) fn recheck_items(&self, agent: &AgentName) -> Vec<FindingId> {
        self.findings
            .iter()
            .filter(|finding| finding.raised_by.first() == Some(agent))
            .filter(|finding| !self.recheck_asked.contains(&finding.id))
            .filter(|finding| self.finding_state(finding) == FindingState::Unchecked)
            .map(|finding| finding.id)
            .collect()
    }

    /// The current round, counted from 1.
    pub(crate) fn round(&self) -> u32 {
        u32::try_from(self.rounds.len()).unwrap_or(u32::MAX).max(1)
    }

    /// Whether a file is under review in the current round.
    pub(crate) fn covers(&self, file: &str) -> bool {
        self.rounds.last().into_iter().flatten().flatten().any(|covered| covered.file == file)
    }

    /// The agents of a role that take part.
    pub(crate) fn agents(&self, role: Role) -> impl Iterator<Item = &Agent> {
        self.plan.iter().flat_map(|plan| &plan.agents).filter(move |agent| agent.role == role)
    }

    /// The finding with an id.
    pub(crate) fn finding(&self, id: FindingId) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.id == id)
    }

    /// The dispute of this run about a finding.
    pub(crate) fn dispute_of(&self, id: FindingId) -> Option<&Dispute> {
        self.disputes.values().rev().find(|dispute| dispute.finding.id == id)
    }

    /// The last call for a purpose by an agent, whatever its attempt.
    pub(crate) fn last_call(&self, agent: &AgentName, purpose: &Purpose) -> Option<(&CallId, &Call)> {
        self.calls.iter().rfind(|(id, _)| id.agent == *agent && id.purpose == *purpose)
    }

    /// The findings that a call of the coder is given: the answer to "what is it to do now?".
    pub(crate) fn items(&self, purpose: &Purpose) -> Vec<FindingId> {
        let asked = |finding: &&Finding| -> bool {
            match purpose {
                Purpose::Respond { round } => self.wants_response(finding, *round),
                Purpose::Enforce { round } => {
                    finding.round <= *round
                        && self
                            .dispute_of(finding.id)
                            .is_some_and(|dispute| dispute.disposition == Some(Disposition::Enforced))
                        && !self.is_done(finding.id)
                }
                Purpose::Review { .. }
                | Purpose::Examine { .. }
                | Purpose::Defend { .. }
                | Purpose::Judge { .. }
                | Purpose::Recheck { .. }
                | Purpose::Stage { .. }
                | Purpose::Work
                | Purpose::Peer { .. } => false,
            }
        };
        self.findings.iter().filter(asked).map(|finding| finding.id).collect()
    }

    /// Whether the coder is to answer a finding in a round: new ones, and earlier mandatory ones that stayed open.
    fn wants_response(&self, finding: &Finding, round: u32) -> bool {
        if finding.reverses.is_some() || finding.is_rejected() || self.is_judged_first(finding) {
            return false;
        }
        if self.still_disputed.contains_key(&finding.id) {
            return false;
        }
        if self.ruled.get(&finding.id).is_some_and(|(_, disposition)| disposition.closes()) {
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
                FindingState::Open | FindingState::Unanswered | FindingState::Claimed | FindingState::NotResolved
            )
    }

    /// Whether a mandatory finding is judged before any coder is asked to take a side: because reviewers contradict each
    /// other about it, because one alone raised it and the judge validates such findings, or because the policy
    /// `specification` leaves a conflict or a challenge to the judge.
    pub(crate) fn is_judged_first(&self, finding: &Finding) -> bool {
        let (Some(plan), Some(consensus)) = (&self.plan, &finding.consensus) else { return false };
        if !finding.mandatory || consensus.withdrawn {
            return false;
        }
        let set = |key: &str, word: &str| plan.settings.get(key).is_some_and(|value| value == word);
        let has_judge = self.agents(Role::Judge).next().is_some();
        let weighed =
            has_judge && consensus.doubted && set("review.consensus.policy", Policy::Specification.as_str());
        match consensus.class {
            Class::Disputed => plan.mode == Mode::Arbitrate || has_judge,
            Class::Uncorroborated => set("review.consensus.validate", "judge"),
            Class::Accepted | Class::Rejected => weighed,
        }
    }

    /// Whether the coder's last answer is `IMPLEMENTED` and the code at the anchor changed with it.
    pub(crate) fn is_done(&self, id: FindingId) -> bool {
        self.says_implemented(id) && self.is_touched(id)
    }

    fn says_implemented(&self, id: FindingId) -> bool {
        self.responses.get(&id).is_some_and(|response| response.answer == Answer::Implemented)
    }

    fn is_touched(&self, id: FindingId) -> bool {
        let Some(asked) = self.asked_after.get(&id) else { return false };
        self.tree_changes.iter().skip(*asked).any(|change| change.touched.contains(&id))
    }

    /// Where a finding stands (section 3.1 of the design).
    pub(crate) fn finding_state(&self, finding: &Finding) -> FindingState {
        let id = finding.id;
        if let Some(dispute) = self.still_disputed.get(&id) {
            return FindingState::Disputed { dispute: *dispute };
        }
        if let Some((dispute, disposition)) = self.ruled.get(&id)
            && (disposition.closes() || !self.says_implemented(id))
        {
            return FindingState::AlreadyRuled { dispute: *dispute, disposition: disposition.clone() };
        }
        if let Some(dispute) = self.dispute_of(id) {
            let number = dispute.number;
            match &dispute.disposition {
                None => return FindingState::Disputed { dispute: number },
                Some(Disposition::Discarded) => return FindingState::Discarded,
                Some(Disposition::Enforced) => {
                    if !self.says_implemented(id) {
                        return FindingState::Enforced { dispute: number };
                    }
                }
                Some(_) => return FindingState::Dismissed { dispute: number },
            }
        }
        match self.responses.get(&id).map(|response| response.answer) {
            None if finding.is_rejected() => FindingState::Discarded,
            None if self.asked_after.contains_key(&id) => FindingState::Unanswered,
            None => FindingState::Open,
            Some(Answer::Implemented) if !self.is_touched(id) => FindingState::Claimed,
            Some(Answer::Implemented) => match self.checks.get(&id) {
                None => FindingState::Unchecked,
                Some(check) if check.resolved => FindingState::Resolved,
                Some(_) => FindingState::NotResolved,
            },
            Some(Answer::Discarded | Answer::Disagree) if finding.mandatory => FindingState::Open,
            Some(Answer::Discarded | Answer::Disagree) => FindingState::Discarded,
        }
    }

    /// Whether anything in the tree was changed in a round.
    pub(crate) fn changed_in(&self, round: u32) -> bool {
        self.tree_changes
            .iter()
            .any(|change| change.call.purpose.round() == Some(round) && !change.changes.is_empty())
    }

    /// A call of the coder that has ended and whose effect on the tree is not recorded yet.
    pub(crate) fn unrecorded_change(&self) -> Option<&CallId> {
        self.calls
            .keys()
            .find(|id| id.purpose.is_coder() && !self.tree_changes.iter().any(|change| change.call == **id))
    }
}
