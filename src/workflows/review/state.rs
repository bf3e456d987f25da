//! The state of a review, computed by applying its recorded events in order.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::settings::{Settings, Validate};
use crate::domain::event::{
    CallAnswer, CallId, DisputeEvent, Event, EventKind, FixRequest, Mode, Plan, Purpose, ReviewEvent, RunEvent,
};
use crate::domain::{
    AdvisoryStatus, Agent, AgentName, Answer, AnswerStatus, AskedFile, CallMetadata, Class, Coverage, Disposition,
    Dispute, DisputeNumber, EarlierDispute, ExitReason, FailureKind, FileChange, Finding, FindingId, FindingState,
    Lowered, Objector, RawFinding, Recheck, Relation, Response, ReusedFrom, Role, Route, RulingRecord, RulingRef,
    RunId, Severity, Skip, Spent, Tag, Usage,
};
use crate::rules::consensus::Policy;
use crate::workflows::run::attempts;

/// The number of re-check requests without a valid answer after which a reviewer is not asked again in the round.
const RECHECKS: u32 = 2;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordedCall {
    pub(crate) answer: CallAnswer,
    pub(crate) millis: u64,
    pub(crate) usage: Usage,
    /// The backup that answered instead of the agent.
    pub(crate) by: Option<AgentName>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reuse {
    pub(crate) from: Vec<ReusedFrom>,
    pub(crate) findings: Vec<RawFinding>,
    /// The files that still need a review; if the list is empty, no call is made.
    pub(crate) asked: Vec<AskedFile>,
    pub(crate) superseded: Vec<RawFinding>,
}

impl Reuse {
    pub(crate) fn event(self, call: CallId) -> EventKind {
        let Self { from, findings, asked, superseded } = self;
        ReviewEvent::AnswersReused { call, from, findings, asked, superseded }.into()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TreeChange {
    pub(crate) call: CallId,
    pub(crate) tree: String,
    pub(crate) changes: Vec<FileChange>,
    pub(crate) touched: BTreeSet<FindingId>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verified {
    pub(crate) round: u32,
    pub(crate) command: String,
    pub(crate) passed: bool,
    pub(crate) tail: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReviewState {
    pub(crate) plan: Option<Plan>,
    pub(crate) settings: Settings,
    /// The shards of each round; round 1 is at index 0.
    pub(crate) rounds: Vec<Vec<Vec<Coverage>>>,
    pub(crate) skipped: Vec<Skip>,
    /// Whether a round after the first round had no readable file.
    pub(crate) blind: bool,
    pub(crate) calls: BTreeMap<CallId, RecordedCall>,
    pub(crate) reused: BTreeMap<(AgentName, Purpose), Reuse>,
    pub(crate) spent: Spent,
    pub(crate) merged: BTreeSet<CallId>,
    pub(crate) findings: Vec<Finding>,
    /// The completed debate rounds, as pairs: first the round of the run, then the round of the debate.
    pub(crate) debate_rounds: BTreeSet<(u32, u32)>,
    /// Each agent whose last debate call left findings unanswered, with the purpose of that call.
    pub(crate) silent_debaters: BTreeSet<(AgentName, Purpose)>,
    pub(crate) concluded: BTreeSet<u32>,
    pub(crate) ruled: BTreeMap<FindingId, (RulingRef, Disposition)>,
    pub(crate) still_disputed: BTreeMap<FindingId, DisputeNumber>,
    /// The findings that a ruling in force closed and a reviewer raised again without new evidence.
    pub(crate) insisted: BTreeSet<FindingId>,
    /// For each finding, the related earlier disputes that do not bind the finding.
    pub(crate) related: BTreeMap<FindingId, Vec<EarlierDispute>>,
    pub(crate) fixes: Vec<FixRequest>,
    /// The findings of the fix request that is being handled. The coder receives no other findings.
    pub(crate) fixing: Option<BTreeSet<FindingId>>,
    /// In a run without `--fix`, the findings of all fix requests. The coder never receives other findings.
    pub(crate) handed_over: Option<BTreeSet<FindingId>>,
    /// The number of `Respond` calls in this round that were made before the last fix request.
    pub(crate) asked_before: u32,
    pub(crate) before: Option<(String, String)>,
    pub(crate) tree_changes: Vec<TreeChange>,
    pub(crate) responses: BTreeMap<FindingId, Response>,
    /// For each finding, the number of tree changes before the finding was last sent to the coder. These earlier
    /// tree changes cannot implement the finding.
    pub(crate) asked_after: BTreeMap<FindingId, usize>,
    pub(crate) enforced: BTreeMap<FindingId, u32>,
    pub(crate) checks: BTreeMap<FindingId, BTreeMap<AgentName, Recheck>>,
    /// For each finding and reviewer, the number of re-check requests that got no valid answer in this round.
    pub(crate) unanswered_checks: BTreeMap<(FindingId, AgentName), u32>,
    pub(crate) disputes: BTreeMap<DisputeNumber, Dispute>,
    pub(crate) lowered: BTreeMap<FindingId, Lowered>,
    pub(crate) disputed: BTreeMap<FindingId, DisputeNumber>,
    pub(crate) reopened: BTreeSet<DisputeNumber>,
    /// For each reopened dispute, the number of rulings before the reopening. These rulings no longer apply.
    pub(crate) ruled_before: BTreeMap<DisputeNumber, usize>,
    /// The disputes of earlier runs that continue in this run. Each entry has the id of the earlier run and the
    /// number of rulings from earlier runs.
    pub(crate) carried: BTreeMap<DisputeNumber, (RunId, usize)>,
    pub(crate) called_judges: Vec<Agent>,
    pub(crate) chosen: BTreeSet<DisputeNumber>,
    /// The results of the `review.verify` commands on the current tree.
    pub(crate) verified: Vec<Verified>,
    pub(crate) notices: Vec<String>,
    /// The results of advisory lookups, by the id of the raw finding.
    pub(crate) advised: BTreeMap<String, AdvisoryStatus>,
    /// The session that the coder can resume: the agent's name, the session id, and the session's usage.
    pub(crate) coder_session: Option<(AgentName, String, Usage)>,
    /// The calls of read-only agents that are suspected of changing the tree. A resumption clears this set.
    pub(crate) violated: BTreeSet<CallId>,
    pub(crate) ended: Option<(ExitReason, u64)>,
    pub(crate) undone: bool,
    /// Whether the stored data of the run was deleted, which makes undo and resumption impossible.
    pub(crate) pruned: bool,
}

impl ReviewState {
    pub(crate) fn of(events: &[Event]) -> Self {
        let mut state = Self::default();
        for event in events {
            state.apply(&event.kind);
        }
        state
    }

    pub(crate) fn apply(&mut self, event: &EventKind) {
        match event {
            EventKind::Run(event) => self.apply_run(event),
            EventKind::Review(event) => self.apply_review(event),
            EventKind::Dispute(event) => self.apply_dispute(event),
            EventKind::Consensus(_) | EventKind::Watch(_) => {}
        }
    }

    fn apply_run(&mut self, event: &RunEvent) {
        match event {
            RunEvent::CallStarted { .. } => {}
            RunEvent::RunResumed => {
                // After a resumption, calls without a valid answer are due again.
                self.calls.retain(|_, call| {
                    !matches!(call.answer, CallAnswer::Failed { .. } | CallAnswer::Invalid { .. })
                });
                self.unanswered_checks.clear();
                self.violated.clear();
                self.ended = None;
            }
            RunEvent::CallFinished { call, answer, millis, usage, told, .. } => {
                self.take_session(call, answer, usage, told);
                self.finish_call(call, answer);
                self.spent.calls += u64::from(told.retries) + 1;
                self.spent.usage = self.spent.usage.plus(**usage);
                let call_record =
                    RecordedCall { answer: answer.clone(), millis: *millis, usage: **usage, by: told.by.clone() };
                self.calls.insert(call.clone(), call_record);
                let debater = (call.agent.clone(), call.purpose.clone());
                if self.left_unanswered(call) {
                    self.silent_debaters.insert(debater);
                } else {
                    self.silent_debaters.remove(&debater);
                }
            }
            RunEvent::ReadOnlyViolated { call, .. } => drop(self.violated.insert(call.clone())),
            RunEvent::Notice { text } => self.notices.push(text.clone()),
            RunEvent::RunEnded { exit, millis } => {
                self.ended = Some((*exit, *millis));
                self.fixing = None;
            }
            RunEvent::RunUndone { .. } => self.undone = true,
            RunEvent::RunRedone { .. } => self.undone = false,
            RunEvent::RunPruned { .. } => self.pruned = true,
        }
    }

    fn apply_review(&mut self, event: &ReviewEvent) {
        match event {
            ReviewEvent::FilesReviewed { .. } | ReviewEvent::DebateShutdown { .. } => {}
            ReviewEvent::RunStarted { plan } => {
                self.rounds = vec![plan.shards.clone()];
                self.skipped = plan.skipped.clone();
                self.settings = Settings::of_record(&plan.settings);
                self.plan = Some((**plan).clone());
            }
            ReviewEvent::RoundStarted { shards, skipped, .. } => {
                self.blind |= shards.is_empty() && skipped.iter().any(|skip| skip.reason.is_unread());
                for skip in skipped {
                    if !self.skipped.contains(skip) {
                        self.skipped.push(skip.clone());
                    }
                }
                self.rounds.push(shards.clone());
                self.unanswered_checks.clear();
                self.asked_before = 0;
            }
            ReviewEvent::AnswersReused { call, from, findings, asked, superseded } => {
                if asked.is_empty() {
                    let status = if findings.is_empty() { AnswerStatus::Clean } else { AnswerStatus::Complete };
                    let (findings, notes) = (findings.clone(), String::new());
                    let answer = CallAnswer::Review { status, findings, notes, problem: None };
                    let reused = RecordedCall { answer, millis: 0, usage: NOTHING, by: None };
                    self.calls.insert(call.clone(), reused);
                }
                let (from, findings) = (from.clone(), findings.clone());
                let reuse = Reuse { from, findings, asked: asked.clone(), superseded: superseded.clone() };
                self.reused.insert((call.agent.clone(), call.purpose.clone()), reuse);
            }
            ReviewEvent::AdvisoriesAsked { answers } => self.advised.extend(answers.clone()),
            ReviewEvent::FindingsMerged { findings, .. } => {
                self.merged.extend(self.unmerged().cloned().collect::<Vec<_>>());
                self.findings.extend(findings.iter().cloned());
            }
            ReviewEvent::DebateRound { round, debate_round, .. } => {
                self.debate_rounds.insert((*round, *debate_round));
            }
            ReviewEvent::DebateConcluded { round, findings, .. } => {
                self.concluded.insert(*round);
                for finding in findings {
                    match self.place(finding.id) {
                        Some(known) => {
                            let tag = self.findings[known].raw.severity.tag;
                            self.findings[known] = finding.clone();
                            // A ruling that lowered the tag of a finding still applies after the debate.
                            if let (Some(tag), Some(lowered)) = (tag, self.lowered.get(&finding.id)) {
                                self.retag(finding.id, tag, lowered.dispute.clone());
                            }
                        }
                        None => self.findings.push(finding.clone()),
                    }
                }
            }
            ReviewEvent::AlreadyRuled { finding, dispute, new_tag: Some(tag), .. } => {
                self.still_disputed.remove(finding);
                self.related.remove(finding);
                self.retag(*finding, *tag, dispute.clone());
            }
            ReviewEvent::AlreadyRuled { finding, dispute, disposition, new_tag: None, insisted } => {
                self.still_disputed.remove(finding);
                self.related.remove(finding);
                if *insisted {
                    self.insisted.insert(*finding);
                }
                self.ruled.insert(*finding, (dispute.clone(), disposition.clone()));
            }
            ReviewEvent::RelatedDispute { finding, earlier } => {
                self.related.entry(*finding).or_default().push((**earlier).clone());
            }
            ReviewEvent::StillDisputed { finding, dispute } => {
                self.related.remove(finding);
                self.still_disputed.insert(*finding, *dispute);
            }
            ReviewEvent::BeforeImage { kept_as, tree } => {
                self.before.get_or_insert((kept_as.clone(), tree.clone()));
            }
            ReviewEvent::TreeChanged { call, tree, changes, touched } => {
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
            ReviewEvent::FixRequested { request } => self.request_fix(request),
            ReviewEvent::Verified { round, command, passed, tail } => {
                let (command, tail) = (command.clone(), tail.clone());
                self.verified.push(Verified { round: *round, command, passed: *passed, tail });
            }
        }
    }

    fn request_fix(&mut self, request: &FixRequest) {
        let failed = |answer: &CallAnswer| matches!(answer, CallAnswer::Failed { .. } | CallAnswer::Invalid { .. });
        self.calls.retain(|id, call| !(id.purpose.is_coder() && failed(&call.answer)));
        let purpose = Purpose::Respond { round: self.round() };
        let asked = self.calls.keys().filter(|id| id.purpose == purpose).map(|id| id.attempt);
        self.asked_before = asked.max().unwrap_or(0);
        for id in &request.findings {
            self.responses.remove(id);
            self.enforced.remove(id);
            self.checks.remove(id);
            self.unanswered_checks.retain(|(checked, _), _| checked != id);
        }
        if let Some(plan) = &mut self.plan {
            if plan.mode == Mode::Review {
                plan.mode = Mode::Fix;
                self.handed_over = Some(BTreeSet::new());
            }
            plan.agents.extend(request.coder.clone());
            plan.backups.extend(request.backups.iter().cloned());
        }
        if let Some(handed_over) = &mut self.handed_over {
            handed_over.extend(&request.findings);
        }
        self.fixing = Some(request.findings.iter().copied().collect());
        self.fixes.push(request.clone());
        self.ended = None;
    }

    fn apply_dispute(&mut self, event: &DisputeEvent) {
        match event {
            DisputeEvent::DisputeOpened { dispute } => {
                self.disputed.insert(dispute.finding.id, dispute.number);
                self.disputes.insert(dispute.number, (**dispute).clone());
            }
            DisputeEvent::DisputesReopened { disputes, judges } => {
                disputes.iter().for_each(|number| self.reopen(*number));
                self.called_judges.extend(judges.iter().cloned());
            }
            DisputeEvent::RulingRevoked { dispute: number, .. } => {
                self.reopen(*number);
                let Some(dispute) = self.disputes.get_mut(number) else { return };
                dispute.disposition = None;
                dispute.discarded_by = None;
                let id = dispute.finding.id;
                self.raise(id, &(*number).into());
            }
            DisputeEvent::RulingEnded { .. } => {}
            DisputeEvent::DisputeCarriedOn { dispute, from } => {
                let (id, number) = (dispute.finding.id, dispute.number);
                self.still_disputed.remove(&id);
                self.disputed.insert(id, number);
                // The route is set only if a judge escalated the dispute. After an escalation, the earlier rulings
                // still apply.
                if dispute.route.is_none() {
                    self.ruled_before.insert(number, dispute.rulings.len());
                }
                self.reopened.insert(number);
                self.carried.insert(number, (from.clone(), dispute.rulings.len()));
                self.disputes.insert(number, (**dispute).clone());
            }
            DisputeEvent::RouteChosen { dispute, route, by_person } => {
                if *by_person {
                    self.chosen.insert(*dispute);
                }
                if let Some(dispute) = self.disputes.get_mut(dispute) {
                    dispute.route = Some(*route);
                }
            }
            DisputeEvent::RulingGiven { dispute, ruling } => {
                if let Some(dispute) = self.disputes.get_mut(dispute) {
                    dispute.rulings.push(ruling.clone());
                }
            }
            DisputeEvent::DisputeSettled { dispute, settlement } => {
                if let Some(dispute) = self.disputes.get_mut(dispute) {
                    dispute.disposition = Some(settlement.disposition.clone());
                    let is_discarded = settlement.disposition == Disposition::Discarded;
                    dispute.discarded_by = is_discarded.then(|| settlement.by.clone());
                }
                self.lower(*dispute);
            }
        }
    }

    fn reopen(&mut self, number: DisputeNumber) {
        let Some(dispute) = self.disputes.get_mut(&number) else { return };
        dispute.route = None;
        self.ruled_before.insert(number, dispute.rulings.len());
        self.reopened.insert(number);
        self.chosen.remove(&number);
        self.calls.retain(|id, _| id.purpose != Purpose::Judge { dispute: number });
    }

    fn raise(&mut self, id: FindingId, by: &RulingRef) {
        let Some(lowered) = self.lowered.remove(&id).filter(|lowered| lowered.dispute == *by) else { return };
        let Some(index) = self.place(id) else { return };
        let finding = &mut self.findings[index];
        finding.mandatory = true;
        finding.raw.severity = lowered.was;
    }

    fn lower(&mut self, number: DisputeNumber) {
        let Some(dispute) = self.disputes.get(&number) else { return };
        let Some(tag) = dispute.new_tag() else { return };
        self.retag(dispute.finding.id, tag, number.into());
    }

    fn retag(&mut self, id: FindingId, tag: Tag, dispute: RulingRef) {
        let Some(index) = self.place(id) else { return };
        let finding = &mut self.findings[index];
        finding.mandatory = false;
        let was = std::mem::replace(&mut finding.raw.severity, Severity::known(tag));
        self.lowered.insert(id, Lowered { was, dispute });
    }

    fn finish_call(&mut self, call: &CallId, answer: &CallAnswer) {
        let is_given = match call.purpose {
            Purpose::Enforce { .. } => true,
            // A repair call is no new request to implement findings, so implemented findings remain implemented.
            Purpose::Repair { .. } => false,
            _ => call.purpose.is_coder() && self.is_first_attempt(call),
        };
        if is_given {
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
                    // A new response from the coder invalidates the earlier re-checks of the finding.
                    self.checks.remove(&response.finding);
                    self.unanswered_checks.retain(|(id, _), _| *id != response.finding);
                }
            }
            CallAnswer::Recheck { checks } => {
                let asked = self.recheck_items(&call.agent);
                for check in checks {
                    let own = self.checks.entry(check.finding).or_default();
                    own.insert(call.agent.clone(), check.clone());
                }
                let left_out = asked.into_iter().filter(|id| checks.iter().all(|check| check.finding != *id));
                self.count_unanswered(left_out.collect(), &call.agent, 1);
            }
            CallAnswer::Invalid { .. } if matches!(call.purpose, Purpose::Recheck { .. }) => {
                self.count_unanswered(self.recheck_items(&call.agent), &call.agent, 1);
            }
            CallAnswer::Failed { cause, .. } if matches!(call.purpose, Purpose::Recheck { .. }) => {
                let tries = if cause.is_some_and(FailureKind::may_pass) { 1 } else { RECHECKS };
                self.count_unanswered(self.recheck_items(&call.agent), &call.agent, tries);
            }
            CallAnswer::Review { .. }
            | CallAnswer::Examine { .. }
            | CallAnswer::Defend { .. }
            | CallAnswer::Judge { .. }
            | CallAnswer::Compare { .. }
            | CallAnswer::Stage { .. }
            | CallAnswer::Work { .. }
            | CallAnswer::Peer { .. }
            | CallAnswer::Invalid { .. }
            | CallAnswer::Failed { .. } => {}
        }
    }

    /// If the coder answered the call, stores the session of the call. Otherwise, clears the stored session.
    fn take_session(&mut self, call: &CallId, answer: &CallAnswer, usage: &Usage, told: &CallMetadata) {
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

    fn count_unanswered(&mut self, findings: Vec<FindingId>, agent: &AgentName, tries: u32) {
        for id in findings {
            *self.unanswered_checks.entry((id, agent.clone())).or_default() += tries;
        }
    }

    /// The implemented findings that the agent raised and still has to re-check.
    pub(crate) fn recheck_items(&self, agent: &AgentName) -> Vec<FindingId> {
        let is_changed = |finding: &&Finding| {
            use FindingState::{NotResolved, Resolved, Unchecked, Unconfirmed};
            matches!(self.finding_state(finding), Unchecked | Unconfirmed | NotResolved | Resolved)
        };
        self.findings
            .iter()
            .filter(|finding| self.checkers(finding).any(|name| name == agent))
            .filter(|finding| self.check(finding.id, agent).is_none() && !self.is_given_up(finding.id, agent))
            .filter(is_changed)
            .map(|finding| finding.id)
            .collect()
    }

    /// The reviewers that re-check a finding's implementation: all reviewers that raised the finding.
    pub(crate) fn checkers<'a>(&'a self, finding: &'a Finding) -> impl Iterator<Item = &'a AgentName> {
        self.agents(Role::Reviewer).map(|agent| &agent.name).filter(|name| finding.raised_by.contains(name))
    }

    fn check(&self, id: FindingId, agent: &AgentName) -> Option<&Recheck> {
        self.checks.get(&id)?.get(agent)
    }

    fn is_given_up(&self, id: FindingId, agent: &AgentName) -> bool {
        self.unanswered_checks.get(&(id, agent.clone())).is_some_and(|tries| *tries >= RECHECKS)
    }

    /// The state of an implemented finding. A re-check that is missing or negative keeps the finding open.
    fn checked(&self, finding: &Finding) -> FindingState {
        let id = finding.id;
        let said = || self.checks.get(&id).into_iter().flatten().map(|(_, check)| check);
        if said().any(|check| !check.resolved) {
            FindingState::NotResolved
        } else if self.checkers(finding).any(|name| self.is_given_up(id, name)) {
            FindingState::Unconfirmed
        } else if said().next().is_some() && self.checkers(finding).all(|name| self.check(id, name).is_some()) {
            FindingState::Resolved
        } else {
            FindingState::Unchecked
        }
    }

    /// Pairs of a finding in the round and an earlier dispute that the finding possibly repeats.
    pub(crate) fn uncertain(&self, round: u32) -> impl Iterator<Item = (&Finding, &EarlierDispute)> {
        let may_repeat = |id: FindingId| {
            let related = self.related.get(&id).into_iter().flatten();
            // Rulings that only changed a tag are not compared, because such rulings do not close findings.
            related.into_iter().find(|earlier| earlier.relation == Relation::MayRepeat && earlier.new_tag.is_none())
        };
        let of_round = self.findings.iter().filter(move |finding| finding.round == round);
        // A finding that the coder has answered or that is in dispute is not compared with earlier disputes.
        let is_new = |id| !self.responses.contains_key(id) && !self.disputed.contains_key(id);
        let of_round = of_round.filter(move |finding| is_new(&finding.id));
        of_round.filter_map(move |finding| Some((finding, may_repeat(finding.id)?)))
    }

    pub(crate) fn recognised(&self, round: u32) -> impl Iterator<Item = (&Finding, &EarlierDispute)> {
        let same: BTreeSet<FindingId> = self
            .calls
            .iter()
            .filter(|(id, _)| id.purpose == Purpose::Compare { round })
            .flat_map(|(_, call)| match &call.answer {
                CallAnswer::Compare { comparisons } => comparisons.as_slice(),
                _ => &[],
            })
            .filter(|comparison| comparison.same)
            .map(|comparison| comparison.finding)
            .collect();
        self.uncertain(round).filter(move |(finding, _)| same.contains(&finding.id))
    }

    pub(crate) fn round(&self) -> u32 {
        u32::try_from(self.rounds.len()).unwrap_or(u32::MAX).max(1)
    }

    pub(crate) fn covers(&self, file: &str) -> bool {
        self.rounds.last().into_iter().flatten().flatten().any(|covered| covered.file == file)
    }

    pub(crate) fn agents(&self, role: Role) -> impl Iterator<Item = &Agent> {
        self.plan.iter().flat_map(|plan| &plan.agents).filter(move |agent| agent.role == role)
    }

    pub(crate) fn judges(&self) -> impl Iterator<Item = &Agent> {
        self.agents(Role::Judge).chain(&self.called_judges)
    }

    /// The last ruling of a dispute, ignoring rulings that were made before the dispute was reopened.
    pub(crate) fn last_ruling<'a>(&self, dispute: &'a Dispute) -> Option<&'a RulingRecord> {
        let before = self.ruled_before.get(&dispute.number).copied().unwrap_or_default();
        dispute.rulings.get(before..)?.last()
    }

    /// The open disputes that a resumed run reopens. If the command line sets a route (`named`), the run reopens
    /// all open disputes, but the route `judge` leaves out disputes that are already routed to a judge of this run.
    /// If `named` is `None`, the run reopens disputes that have the default route `human`. If `named` is `None`, a
    /// run with `--fix` also reopens disputes without a route.
    pub(crate) fn stayed_open(&self, named: Option<Route>) -> Vec<DisputeNumber> {
        let is_fix = self.plan.as_ref().is_some_and(|plan| plan.mode == Mode::Fix);
        let judged = |number| self.calls.keys().any(|id| id.purpose == Purpose::Judge { dispute: number });
        let waits = |dispute: &&Dispute| match (named, dispute.route) {
            (Some(Route::Judge), Some(Route::Judge)) => !judged(dispute.number) && !dispute.rulings.is_empty(),
            (Some(_), _) => true,
            (None, None) => is_fix && !self.is_judged_first(&dispute.finding),
            (None, Some(Route::Human)) => !self.chosen.contains(&dispute.number),
            (None, Some(Route::Judge | Route::Discard)) => false,
        };
        self.disputes
            .values()
            .filter(|dispute| dispute.is_open())
            .filter(waits)
            .map(|dispute| dispute.number)
            .collect()
    }

    /// For each open dispute of an earlier run, one finding that repeats the dispute. Excludes disputes that
    /// already continue in this run.
    pub(crate) fn left_open(&self) -> impl Iterator<Item = FindingId> {
        let mut taken: BTreeSet<DisputeNumber> = self.disputes.keys().copied().collect();
        self.still_disputed.iter().filter(move |(_, number)| taken.insert(**number)).map(|(id, _)| *id)
    }

    pub(crate) fn finding(&self, id: FindingId) -> Option<&Finding> {
        self.place(id).map(|index| &self.findings[index])
    }

    /// Finding n is at index n - 1, except in some runs that an earlier version of Glee recorded.
    fn place(&self, id: FindingId) -> Option<usize> {
        let has_id = |finding: &Finding| finding.id == id;
        let expected = usize::try_from(id.0).ok().and_then(|number| number.checked_sub(1));
        expected
            .filter(|index| self.findings.get(*index).is_some_and(has_id))
            .or_else(|| self.findings.iter().position(has_id))
    }

    pub(crate) fn dispute_of(&self, id: FindingId) -> Option<&Dispute> {
        self.disputes.get(self.disputed.get(&id)?)
    }

    pub(crate) fn undecided(&self) -> impl Iterator<Item = DisputeNumber> {
        let open = self.disputes.values().filter(|dispute| dispute.is_open() && dispute.route.is_none());
        open.filter(|dispute| !self.is_sent_to_judge(&dispute.finding)).map(|dispute| dispute.number)
    }

    pub(crate) fn reuse(&self, call: &CallId) -> Option<&Reuse> {
        self.reused.get(&(call.agent.clone(), call.purpose.clone()))
    }

    pub(crate) fn last_call(&self, agent: &AgentName, purpose: &Purpose) -> Option<(&CallId, &RecordedCall)> {
        attempts::last(&self.calls, agent, purpose)
    }

    pub(crate) fn items(&self, purpose: &Purpose) -> Vec<FindingId> {
        let asked = |finding: &&Finding| -> bool {
            match purpose {
                Purpose::Respond { round } => self.wants_response(finding, *round),
                Purpose::Enforce { round } => {
                    finding.round <= *round
                        && self.is_for_coder(finding.id)
                        && self
                            .dispute_of(finding.id)
                            .is_some_and(|dispute| dispute.disposition == Some(Disposition::Enforced))
                        && !self.is_done(finding.id)
                }
                Purpose::Repair { round } => finding.round <= *round && self.says_implemented(finding.id),
                Purpose::Review { .. }
                | Purpose::Examine { .. }
                | Purpose::Defend { .. }
                | Purpose::Judge { .. }
                | Purpose::Recheck { .. }
                | Purpose::Compare { .. }
                | Purpose::Stage { .. }
                | Purpose::Work
                | Purpose::Peer { .. } => false,
            }
        };
        self.findings.iter().filter(asked).map(|finding| finding.id).collect()
    }

    pub(crate) fn repairs(&self, round: u32) -> u32 {
        let is_repair = |id: &&CallId| id.purpose == Purpose::Repair { round };
        self.calls.keys().filter(is_repair).map(|id| id.attempt).max().unwrap_or(0)
    }

    pub(crate) fn mode(&self) -> Mode {
        match (&self.fixing, &self.plan) {
            (Some(_), _) => Mode::Fix,
            (None, Some(plan)) => plan.mode,
            (None, None) => Mode::Review,
        }
    }

    fn is_for_coder(&self, id: FindingId) -> bool {
        self.fixing.as_ref().or(self.handed_over.as_ref()).is_none_or(|findings| findings.contains(&id))
    }

    /// Whether a call is the coder's first attempt at a request. Later attempts only ask for missing answers.
    pub(crate) fn is_first_attempt(&self, call: &CallId) -> bool {
        let before = if matches!(call.purpose, Purpose::Respond { .. }) { self.asked_before } else { 0 };
        call.attempt == before + 1
    }

    /// Whether the coder has to answer a finding in a round. A fix request requires answers about its findings. In
    /// other rounds, the coder answers new findings, and older mandatory findings that are still open.
    fn wants_response(&self, finding: &Finding, round: u32) -> bool {
        if !self.is_for_coder(finding.id) || self.is_ruled_by_person(finding.id) {
            return false;
        }
        if self.fixing.is_some() {
            let is_enforced = |dispute: &Dispute| dispute.disposition == Some(Disposition::Enforced);
            return !self.dispute_of(finding.id).is_some_and(is_enforced);
        }
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

    fn is_ruled_by_person(&self, id: FindingId) -> bool {
        self.dispute_of(id).is_some_and(|dispute| dispute.objector == Objector::Person && !dispute.is_open())
    }

    /// Whether a judge rules on a mandatory finding before the coder receives the finding. The possible reasons are
    /// a contradiction between reviewers, a finding of a single reviewer that the judge has to validate, and the
    /// policy `specification`.
    pub(crate) fn is_judged_first(&self, finding: &Finding) -> bool {
        let (Some(plan), Some(consensus)) = (&self.plan, &finding.consensus) else { return false };
        if !finding.mandatory || consensus.withdrawn {
            return false;
        }
        let has_judge = self.agents(Role::Judge).next().is_some();
        let rules = self.settings.review.consensus;
        let weighed = has_judge && consensus.doubted && rules.policy == Policy::Specification;
        match consensus.class {
            Class::Disputed => plan.mode == Mode::Arbitrate || has_judge,
            Class::Uncorroborated => rules.validate == Validate::Judge,
            Class::Accepted | Class::Rejected => weighed,
        }
    }

    /// Whether a finding goes directly to the judge, without the choice of a route. With `--arbitrate`, a
    /// contradiction between reviewers is an ordinary dispute, for which a route is chosen.
    pub(crate) fn is_sent_to_judge(&self, finding: &Finding) -> bool {
        let arbitrates = self.plan.as_ref().is_some_and(|plan| plan.mode == Mode::Arbitrate);
        let contradicted = finding.consensus.as_ref().is_some_and(|consensus| consensus.class == Class::Disputed);
        self.is_judged_first(finding) && !(arbitrates && contradicted)
    }

    /// Whether the coder answered `IMPLEMENTED` and changed the code at the finding's anchor.
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

    /// The state of a finding, as defined in section 3.1 of the design.
    pub(crate) fn finding_state(&self, finding: &Finding) -> FindingState {
        let id = finding.id;
        if let Some(dispute) = self.still_disputed.get(&id) {
            // If another finding repeats the same dispute, the dispute is possibly already settled in this run.
            let ended = self.disputes.get(dispute).and_then(|here| here.disposition.clone());
            return match ended {
                None => FindingState::Disputed { dispute: *dispute },
                Some(disposition) => FindingState::AlreadyRuled { dispute: (*dispute).into(), disposition },
            };
        }
        if let Some((dispute, disposition)) = self.ruled.get(&id)
            && (disposition.closes() || !self.says_implemented(id))
        {
            return FindingState::AlreadyRuled { dispute: dispute.clone(), disposition: disposition.clone() };
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
                Some(_) if self.lowered.contains_key(&id) => {
                    if !self.says_implemented(id) {
                        return FindingState::Open;
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
            Some(Answer::Implemented) => self.checked(finding),
            Some(Answer::Discarded | Answer::Disagree) if finding.mandatory => FindingState::Open,
            Some(Answer::Discarded | Answer::Disagree) => FindingState::Discarded,
        }
    }

    pub(crate) fn changed_in(&self, round: u32) -> bool {
        self.tree_changes
            .iter()
            .any(|change| change.call.purpose.round() == Some(round) && !change.changes.is_empty())
    }

    /// An ended call of the coder whose changes are not recorded yet.
    pub(crate) fn unrecorded_change(&self) -> Option<&CallId> {
        self.calls
            .keys()
            .find(|id| id.purpose.is_coder() && !self.tree_changes.iter().any(|change| change.call == **id))
    }
}

/// The usage of a call that was not made, because its answer was completely reused.
pub(crate) const NOTHING: Usage = Usage {
    input_tokens: Some(0),
    output_tokens: Some(0),
    usd: Some(0.0),
    cached_tokens: None,
    reasoning_tokens: None,
    turns: None,
    estimated: false,
};
