//! The state of a review, computed by applying its recorded events in order.

mod calls;
mod pair_answers;
mod questions;
pub mod raised;
mod rechecks;
mod regroup;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use glee_agents::Session;
use glee_model::domain::event::{
    CallAnswer, CallId, DisputeEvent, Event, EventKind, FixRequest, Mode, Plan, Purpose,
    ReviewEvent, RunEvent, TreeChange, Verified,
};
use glee_model::domain::{
    AdvisoryStatus, Agent, AgentName, AnswerStatus, Comparison, Coverage, Disposition, Dispute,
    DisputeNumber, ExitReason, Finding, FindingId, Objector, PairAnswer, Person, RaisedIn, Reuse,
    RunId, RunWorktree, Skip, Spent, TracedRead, UnsurePair, Usage, WorktreeFacts,
};
use glee_model::rules::review::progress::{Progress, Repeated};
use glee_store::config::settings::Settings;

#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCall {
    pub answer: CallAnswer,
    pub millis: u64,
    pub usage: Usage,
    /// The backup that answered instead of the agent.
    pub by: Option<AgentName>,
    /// What the agent read; `None` if its program gives no trace.
    pub reads: Option<Vec<TracedRead>>,
    /// The call about several disputes that contained the answer.
    pub asked_in: Option<CallId>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReviewState {
    pub plan: Option<Plan>,
    pub settings: Settings,
    /// The shards of each round; round 1 is at index 0.
    pub rounds: Vec<Vec<Vec<Coverage>>>,
    pub skipped: Vec<Skip>,
    /// Whether a round after the first round had no readable file.
    pub blind: bool,
    pub calls: BTreeMap<CallId, RecordedCall>,
    pub reused: BTreeMap<(AgentName, Purpose), Reuse>,
    pub spent: Spent,
    pub merged: BTreeSet<CallId>,
    /// The comparisons of earlier runs with earlier disputes.
    pub compared: Vec<Comparison>,
    /// The pairs of findings that may name the same defect.
    pub pairs: BTreeMap<(u32, RaisedIn), Vec<UnsurePair>>,
    /// The answers about pairs of findings. A key consists of the `one` and the `other` of an [`UnsurePair`].
    pub same: BTreeMap<(String, String), PairAnswer>,
    pub findings: Vec<Finding>,
    pub(crate) progress: BTreeMap<FindingId, Progress>,
    /// The completed debate rounds. Each pair consists of two numbers: the round of the run, and the round of the
    /// debate.
    pub(crate) debate_rounds: BTreeSet<(u32, u32)>,
    /// The agents that left findings unanswered in their last call of the debate, and the purposes of these calls.
    pub(crate) silent_debaters: BTreeSet<(AgentName, Purpose)>,
    pub concluded: BTreeSet<u32>,
    pub fixes: Vec<FixRequest>,
    /// The findings of the current fix request. The coder receives only these findings.
    pub fixing: Option<BTreeSet<FindingId>>,
    /// In a run without `--fix`, all findings that a person sent to the coder. The coder receives no other
    /// findings.
    pub(crate) handed_over: Option<BTreeSet<FindingId>>,
    /// For each coder, the number of `Respond` calls in this round that were made before the last fix request.
    pub(crate) asked_before: BTreeMap<AgentName, u32>,
    pub before: Option<(String, String)>,
    pub(crate) tree_changes: Vec<TreeChange>,
    /// The ended call of a coder whose changes are not recorded yet.
    pub(crate) unrecorded_change: Option<CallId>,
    pub disputes: BTreeMap<DisputeNumber, Dispute>,
    /// The former and the new ids of the findings that a ruling left out.
    pub separated: BTreeMap<FindingId, FindingId>,
    /// The pairs of raw findings that a ruling separated, by their ids.
    pub apart: BTreeSet<(String, String)>,
    pub reopened: BTreeSet<DisputeNumber>,
    /// For each reopened dispute, the number of rulings before the reopening. Rulings from before the reopening
    /// no longer apply.
    pub(crate) ruled_before: BTreeMap<DisputeNumber, usize>,
    /// The disputes of earlier runs that continue in this run. Each dispute has the id of its earlier run, and the
    /// number of rulings on the dispute from before this run.
    pub carried: BTreeMap<DisputeNumber, (RunId, usize)>,
    pub(crate) called_judges: Vec<Agent>,
    /// The people who chose routes.
    pub chosen: BTreeMap<DisputeNumber, Person>,
    /// The results of the `review.verify` commands on the current tree.
    pub verified: Vec<Verified>,
    pub notices: Vec<String>,
    /// The results of advisory lookups, by the id of the raw finding.
    pub advised: BTreeMap<String, AdvisoryStatus>,
    /// For each coder, the session that the coder can resume. If a backup answered, the session is the backup's.
    pub(crate) coder_sessions: BTreeMap<AgentName, Session>,
    /// The calls during which a read-only agent possibly changed the tree. Resuming the run clears this set.
    pub violated: BTreeSet<CallId>,
    pub ended: Option<(ExitReason, u64)>,
    /// Whether changes of the coder are not in the user's tree: they were undone, or are only in the run's worktree.
    pub undone: bool,
    /// The files in which the coder's changes were undone.
    pub(crate) undone_files: BTreeSet<String>,
    /// Whether `glee runs drop` removed the run's worktree.
    pub dropped: bool,
    /// Whether the stored data of the run was deleted. Without this data, undo and resumption are impossible.
    pub pruned: bool,
}

impl ReviewState {
    pub fn of(events: &[Event]) -> Self {
        let mut state = Self::default();
        state.apply_all(events.iter().map(|event| &event.kind));
        state
    }

    /// The plan of the run; an empty one before the run has started.
    pub(crate) fn plan(&self) -> &Plan {
        static NONE: LazyLock<Plan> = LazyLock::new(Plan::default);
        self.plan.as_ref().unwrap_or(&NONE)
    }

    /// The worktree of the run, and whether its changes are in the user's tree.
    pub fn worktree(&self) -> Option<RunWorktree> {
        let path = self.plan().worktree.clone()?;
        let mut changes = self.tree_changes.iter();
        let facts = WorktreeFacts {
            is_dropped: self.dropped,
            has_changes: changes.any(|change| !change.changes.is_empty()),
            is_undone: self.undone,
        };
        let changes = facts.into();
        Some(RunWorktree { path, changes })
    }

    /// The state at the start of a run.
    pub(crate) fn begun(plan: &Plan) -> Self {
        let plan = Box::new(plan.clone());
        let mut state = Self::default();
        state.apply_review(&ReviewEvent::RunStarted { plan });
        state
    }

    pub(crate) fn apply_all<'e>(&mut self, events: impl IntoIterator<Item = &'e EventKind>) {
        for event in events {
            self.apply(event);
        }
    }

    pub fn apply(&mut self, event: &EventKind) {
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
                // When a run is resumed, calls without a valid answer are made again.
                self.calls.retain(|_, call| !call.answer.is_missing());
                self.forget_unanswered_checks();
                self.violated.clear();
                self.ended = None;
            }
            RunEvent::CallFinished {
                call,
                answer,
                millis,
                usage,
                told,
                ..
            } => {
                let by = told.by.as_ref().unwrap_or(&call.agent);
                self.take_session(call, by, answer, usage, told);
                self.finish_call(call, by, answer);
                self.answer_pairs(by, call, answer);
                // A failed call is made again with the same id when the run is resumed, so the recorded changes do not
                // tell whether those of this call are among them.
                if call.purpose.is_coder() {
                    self.unrecorded_change = Some(call.clone());
                }
                self.spent.add(**usage, told.retries);
                // What a call about several disputes used counts once.
                let mut usage = **usage;
                for asked in call.each() {
                    let call_record = RecordedCall {
                        answer: answer.to(&asked.purpose),
                        millis: *millis,
                        usage: std::mem::take(&mut usage),
                        by: told.by.clone(),
                        reads: told.reads.clone(),
                        asked_in: (asked != *call).then(|| call.clone()),
                    };
                    self.calls.insert(asked, call_record);
                }
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
            RunEvent::RunUndone { files, left } => {
                self.undone = *left == 0;
                self.undone_files.extend(files.iter().cloned());
                if self.undone {
                    let all: Vec<String> = self.file_changes().map(|it| it.file.clone()).collect();
                    self.undone_files.extend(all);
                }
            }
            RunEvent::RunRedone { files } => {
                self.undone = false;
                self.undone_files.retain(|file| !files.contains(file));
            }
            RunEvent::RunApplied { left, .. } => self.undone = *left > 0,
            RunEvent::RunDropped => {
                self.dropped = true;
                self.undone = true;
            }
            RunEvent::RunPruned { .. } => self.pruned = true,
        }
    }

    fn apply_review(&mut self, event: &ReviewEvent) {
        match event {
            ReviewEvent::FilesReviewed { .. }
            | ReviewEvent::FindingsCompared { .. }
            | ReviewEvent::DebateShutdown { .. } => {}
            ReviewEvent::ComparisonsReused { comparisons, .. } => {
                self.compared.extend(comparisons.iter().cloned());
            }
            ReviewEvent::RunStarted { plan } => {
                self.rounds = vec![plan.shards.clone()];
                self.skipped = plan.skipped.clone();
                self.settings = Settings::of_record(&plan.settings);
                self.plan = Some((**plan).clone());
            }
            ReviewEvent::RoundStarted {
                shards, skipped, ..
            } => {
                self.blind |=
                    shards.is_empty() && skipped.iter().any(|skip| skip.reason.is_unread());
                for skip in skipped {
                    if !self.skipped.contains(skip) {
                        self.skipped.push(skip.clone());
                    }
                }
                self.rounds.push(shards.clone());
                self.forget_unanswered_checks();
                self.asked_before.clear();
            }
            ReviewEvent::AnswersReused { call, reuse } => {
                if reuse.asked.is_empty() {
                    let status = if reuse.findings.is_empty() {
                        AnswerStatus::Clean
                    } else {
                        AnswerStatus::Complete
                    };
                    let answer = CallAnswer::Review {
                        status,
                        findings: reuse.findings.clone(),
                        notes: String::new(),
                        problem: None,
                        read: None,
                        is_doubtful: false,
                    };
                    let reused = RecordedCall {
                        answer,
                        asked_in: None,
                        millis: 0,
                        usage: NOTHING,
                        by: None,
                        reads: None,
                    };
                    self.calls.insert(call.clone(), reused);
                }
                self.reused.insert(
                    (call.agent.clone(), call.purpose.clone()),
                    (**reuse).clone(),
                );
            }
            // The findings of this run keep the ids that the coder and the judges were told.
            ReviewEvent::ProblemsJoined { .. } => {}
            ReviewEvent::AdvisoriesAsked { answers } => self.advised.extend(answers.clone()),
            ReviewEvent::PairsUnsure {
                round,
                raised_in,
                pairs,
            } => self.pair((*round, *raised_in), pairs),
            ReviewEvent::FindingsMerged {
                findings, restated, ..
            } => {
                self.merged
                    .extend(self.unmerged().cloned().collect::<Vec<_>>());
                for finding in findings {
                    self.insert(finding.clone());
                }
                self.restate(restated);
            }
            ReviewEvent::DebateRound {
                round,
                debate_round,
                ..
            } => {
                self.debate_rounds.insert((*round, *debate_round));
            }
            ReviewEvent::DebateConcluded {
                round,
                findings,
                restated,
                ..
            } => {
                self.concluded.insert(*round);
                self.regroup(findings);
                self.restate(restated);
            }
            ReviewEvent::MembersSeparated { findings, .. } => {
                self.regroup(findings);
                self.separate(findings);
            }
            ReviewEvent::AlreadyRuled {
                finding,
                dispute,
                disposition,
                new_tag,
                insisted,
            } => {
                if *disposition == Disposition::Enforced {
                    self.require(*finding);
                }
                let progress = self.progress_mut(*finding);
                progress.bind(None);
                match new_tag {
                    Some(tag) => self.retag(*finding, *tag, dispute.clone()),
                    None => {
                        progress.insisted |= insisted;
                        progress.repeats = Some(Repeated::Ruled {
                            dispute: dispute.clone(),
                            disposition: disposition.clone(),
                        });
                    }
                }
            }
            ReviewEvent::RelatedDispute { finding, earlier } => {
                let progress = self.progress_mut(*finding);
                progress.related.push((**earlier).clone());
            }
            ReviewEvent::StillDisputed { finding, dispute } => {
                self.require(*finding);
                let progress = self.progress_mut(*finding);
                progress.bind(Some(Repeated::Open(*dispute)));
            }
            ReviewEvent::BeforeImage { kept_as, tree } => {
                self.before.get_or_insert((kept_as.clone(), tree.clone()));
            }
            ReviewEvent::TreeChanged(change) => {
                if !change.changes.is_empty() {
                    self.undone |= self.plan().worktree.is_some();
                    self.verified.clear();
                }
                for changed in &change.changes {
                    self.undone_files.remove(&changed.file);
                }
                self.unrecorded_change = None;
                self.tree_changes.push(change.clone());
            }
            ReviewEvent::FixRequested { request } => self.request_fix(request),
            ReviewEvent::Verified(checked) => self.verified.push(checked.clone()),
            ReviewEvent::DemonstrationRan(run) => {
                let progress = self.progress_mut(run.finding);
                progress.demonstrations.push(run.clone());
            }
            ReviewEvent::Undemonstrated { findings } => {
                for id in findings {
                    self.progress_mut(*id).undemonstrated = true;
                    if let Some(finding) = self.finding_mut(*id) {
                        finding.mandatory = false;
                    }
                }
            }
        }
    }

    fn request_fix(&mut self, request: &FixRequest) {
        self.calls
            .retain(|id, call| !(id.purpose.is_coder() && call.answer.is_missing()));
        let purpose = Purpose::Respond {
            round: self.round(),
        };
        // The attempts of a coder are in ascending order.
        let asked = self.calls.keys().filter(|id| id.purpose == purpose);
        self.asked_before = asked.map(|id| (id.agent.clone(), id.attempt)).collect();
        for id in &request.findings {
            self.progress_mut(*id).restart();
        }
        if let Some(plan) = &mut self.plan {
            if plan.mode == Mode::Review {
                plan.mode = Mode::Fix;
                self.handed_over = Some(BTreeSet::new());
            }
            request.add_agents(plan);
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
                for id in dispute.findings().map(|finding| finding.id) {
                    self.require(id);
                    let progress = self.progress_mut(id);
                    // An objection in a pull request takes precedence over the finding's disputes in earlier runs.
                    if dispute.objector == Objector::Participant {
                        progress.repeats = None;
                    }
                    progress.dispute = Some(dispute.number);
                }
                self.disputes.insert(dispute.number, (**dispute).clone());
            }
            DisputeEvent::DisputesReopened { disputes, judges } => {
                disputes.iter().for_each(|number| self.reopen(*number));
                self.called_judges.extend(judges.iter().cloned());
            }
            DisputeEvent::RulingRevoked {
                dispute: number, ..
            } => {
                self.reopen(*number);
                let Some(dispute) = self.disputes.get_mut(number) else {
                    return;
                };
                dispute.reopen();
                let of_dispute = |purpose: &Purpose| matches!(purpose, Purpose::Reply { dispute, .. } if dispute == number);
                self.calls.retain(|id, _| !of_dispute(&id.purpose));
                let ids: Vec<FindingId> = dispute.findings().map(|finding| finding.id).collect();
                for id in ids {
                    self.raise(id, &(*number).into());
                }
            }
            DisputeEvent::RulingEnded { .. }
            | DisputeEvent::AuditStarted { .. }
            | DisputeEvent::RulingAudited { .. } => {}
            DisputeEvent::DisputeCarriedOn { dispute, from } => {
                let number = dispute.number;
                for id in dispute.findings().map(|finding| finding.id) {
                    let progress = self.progress_mut(id);
                    progress.repeats = None;
                    progress.dispute = Some(number);
                }
                // If a dispute of an earlier run has a route, a judge has escalated the dispute. After an
                // escalation, the earlier rulings still apply.
                if dispute.route.is_none() {
                    self.ruled_before.insert(number, dispute.rulings.len());
                }
                self.reopened.insert(number);
                self.carried
                    .insert(number, (from.clone(), dispute.rulings.len()));
                self.disputes.insert(number, (**dispute).clone());
            }
            DisputeEvent::RouteChosen {
                dispute,
                route,
                person,
            } => {
                if let Some(person) = person {
                    self.chosen.insert(*dispute, person.clone());
                }
                if let Some(dispute) = self.disputes.get_mut(dispute) {
                    dispute.route = Some(*route);
                }
            }
            DisputeEvent::ObjectionAnswered { dispute, answered } => {
                if let Some(dispute) = self.disputes.get_mut(dispute) {
                    dispute.answered.push((**answered).clone());
                }
            }
            DisputeEvent::CoderReplied { dispute, response } => {
                if let Some(dispute) = self.disputes.get_mut(dispute) {
                    dispute.reply(response);
                }
            }
            DisputeEvent::RulingGiven { dispute, ruling } => {
                if let Some(dispute) = self.disputes.get_mut(dispute) {
                    dispute.rulings.push(ruling.clone());
                    for left in dispute.keep(&ruling.ruling.members) {
                        self.progress_mut(left).dispute = None;
                    }
                }
            }
            DisputeEvent::DisputeSettled {
                dispute,
                settlement,
            } => {
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
        let Some(dispute) = self.disputes.get_mut(&number) else {
            return;
        };
        dispute.route = None;
        self.ruled_before.insert(number, dispute.rulings.len());
        self.reopened.insert(number);
        self.chosen.remove(&number);
        self.calls
            .retain(|id, _| !id.purpose.judged().contains(&number));
    }

    /// What happened to a finding so far.
    pub(crate) fn progress(&self, id: FindingId) -> &Progress {
        static NEW: LazyLock<Progress> = LazyLock::new(Progress::default);
        self.progress.get(&id).unwrap_or(&NEW)
    }

    pub(super) fn progress_mut(&mut self, id: FindingId) -> &mut Progress {
        self.progress.entry(id).or_default()
    }

    fn forget_unanswered_checks(&mut self) {
        for progress in self.progress.values_mut() {
            progress.unanswered_checks.clear();
        }
    }

    pub fn unmerged(&self) -> impl Iterator<Item = &CallId> {
        self.calls
            .iter()
            .filter(|(id, call)| {
                matches!(id.purpose, Purpose::Review { .. })
                    && matches!(call.answer, CallAnswer::Review { .. })
                    && !self.merged.contains(id)
            })
            .map(|(id, _)| id)
    }
}

/// The usage of a request whose complete answer Glee reuses without a call.
pub const NOTHING: Usage = Usage {
    input_tokens: Some(0),
    output_tokens: Some(0),
    usd: Some(0.0),
    cached_tokens: None,
    reasoning_tokens: None,
    turns: None,
    estimated: false,
};
