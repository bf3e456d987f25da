//! The engine: runs the steps that are due side by side and records what comes of them.
//!
//! It owns the journal and the state; nothing else writes either. An event is on the disk before anything acts on it.

mod docket;
mod waiting;
pub(crate) mod work;

use std::collections::BTreeSet;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use jiff::Timestamp;
use tracing::{Instrument as _, Span, info_span};

use crate::agents::calls::project_commands::CheckResult;
use crate::domain::event::{DisputeEvent, EventKind, Plan, ReviewEvent, RunEvent};
use crate::domain::{
    Agent, Coverage, DisputeNumber, ExitReason, FindingId, Route, Ruler, Ruling, RulingRecord, RulingWord, RunId,
};
use crate::history::JournalError;
use crate::history::queries::rows::Binding;
use crate::workflows::review::code::trees::{self, Trees};
use crate::workflows::review::disputes::{resolve, rulings};
use crate::workflows::review::engine::work::{Done, PendingStep, Rest, ReviewEngine};
use crate::workflows::review::findings::past::Past;
use crate::workflows::review::findings::round::MergeSettings;
use crate::workflows::review::findings::{debate, merge};
use crate::workflows::review::outcome;
use crate::workflows::review::recorded::reuse::{self, Archive};
use crate::workflows::review::requests::RequestBuilder;
use crate::workflows::review::schedule::{self, ReviewStep, SchedulePolicy};
use crate::workflows::review::state::ReviewState;
use crate::workflows::run::call;
use crate::workflows::run::error::RunError;
use crate::workflows::run::ports::{Choice, PersonAnswer};
use crate::workflows::run::runner::{Finished, Runner};
use crate::workspace::Since;

impl ReviewEngine {
    pub(crate) async fn run(&mut self) -> Result<Rest, RunError> {
        let span = self.runner.span.clone();
        self.steps().instrument(span).await
    }

    async fn steps(&mut self) -> Result<Rest, RunError> {
        let policy = self.policy();
        let mut parked: BTreeSet<DisputeNumber> = BTreeSet::new();
        let mut running: BTreeSet<ReviewStep> = BTreeSet::new();
        let mut work: FuturesUnordered<PendingStep> = FuturesUnordered::new();
        let mut stopped = false;
        loop {
            if !stopped {
                // Steps without waiting may make others due at once, so this goes on until nothing new is.
                while let Some(step) = self.next(&policy, &parked, &running) {
                    if step == ReviewStep::Finish {
                        self.finish()?;
                        return Ok(Rest::Ended);
                    }
                    if let Some(future) = self.start(&step)? {
                        running.insert(step);
                        work.push(future);
                    }
                }
            }
            // A run that is stopped does not wait for the person at a dialog.
            let only_a_person =
                running.iter().all(|step| matches!(step, ReviewStep::Choose(_) | ReviewStep::AskPerson(_)));
            if work.is_empty() || stopped && only_a_person {
                return Ok(match stopped {
                    true => Rest::Stopped,
                    false if self.only.is_none() && self.is_held_back(&policy, &parked) => Rest::OverBudget,
                    false => Rest::Ended,
                });
            }
            let done = tokio::select! {
                biased;
                done = work.next() => done,
                () = self.runner.stop.stopped(), if !stopped => None,
            };
            // What the stop cut off may arrive before the stop itself is seen here.
            if !stopped && self.runner.stop.is_stopped() {
                stopped = true;
                if let Some(round) = self.state.debate_at_work() {
                    self.append(ReviewEvent::DebateShutdown { messages: debate::shutdown(round) })?;
                }
            }
            let Some((step, done)) = done else { continue };
            running.remove(&step);
            stopped |= self.take(done, stopped, &mut parked)?;
        }
    }

    /// The shards of a run that was not started yet, see [`Archive::joined`].
    pub(crate) async fn joined(&mut self, plan: &Plan) -> Result<Vec<Vec<Coverage>>, RunError> {
        let Runner { agents, settings, workspace, templates, .. } = &self.runner;
        if !settings.review.reuse {
            return Ok(plan.shards.clone());
        }
        self.askers = reuse::askers(agents, settings, plan, workspace.root(), templates).await?;
        let max = settings.review.max_shard_size;
        Ok(self.archive().joined(plan, &self.sources, &self.bindings, max)?)
    }

    /// Records which parts of the first round earlier answers stand for, before anybody is asked.
    pub(crate) async fn reuse(&mut self) -> Result<(), RunError> {
        let Some(plan) = &self.state.plan else { return Ok(()) };
        let Runner { agents, settings, workspace, templates, .. } = &self.runner;
        self.askers = reuse::askers(agents, settings, plan, workspace.root(), templates).await?;
        if !settings.review.reuse || self.state.round() > 1 {
            return Ok(());
        }
        let known = self.archive().reuse(&self.state, &self.sources, &self.bindings)?;
        self.append_all(known)
    }

    fn archive(&self) -> Archive<'_> {
        Archive {
            journal: &self.runner.journal,
            askers: &self.askers,
            redaction: self.runner.redaction(),
            now: Some(&self.runner.run),
        }
    }

    fn scope(&mut self) -> Span {
        let now = self.state.round();
        if self.round.as_ref().is_none_or(|(round, _)| *round != now) {
            self.round = Some((now, info_span!(parent: &self.runner.span, "round", n = now)));
        }
        self.round.as_ref().map_or_else(Span::none, |(_, span)| span.clone())
    }

    fn trees(&self) -> Trees<'_> {
        Trees { workspace: &self.runner.workspace, state_dir: &self.runner.state_dir }
    }

    fn desk<'a>(&'a self, bindings: &'a [Binding]) -> RequestBuilder<'a> {
        RequestBuilder { state: &self.state, sources: &self.sources, trees: self.trees(), bindings }
    }

    fn policy(&self) -> SchedulePolicy {
        let review = &self.runner.settings.review;
        SchedulePolicy {
            mode: self.state.plan.as_ref().map_or(crate::domain::event::Mode::Review, |plan| plan.mode),
            recheck: review.recheck,
            compare: review.judge.compare && review.on_dispute.default == Route::Judge,
            rounds: review.rounds,
            verify: review.verify.len(),
            repairs: schedule::REPAIRS,
            escalate_to: review.judge.escalate_to.into(),
        }
    }

    /// Whether agents would be asked if the budget let them.
    fn is_held_back(&self, policy: &SchedulePolicy, parked: &BTreeSet<DisputeNumber>) -> bool {
        schedule::due(&self.state, policy, parked).iter().any(|step| matches!(step, ReviewStep::Ask(_)))
    }

    /// Does a step that needs no waiting, or begins one that does.
    fn start(&mut self, step: &ReviewStep) -> Result<Option<PendingStep>, RunError> {
        match step {
            ReviewStep::Ask(call) => {
                if call.purpose.is_coder() {
                    self.runner.workspace.coder_begins(&self.runner.run, &self.runner.state_dir)?;
                }
                return self.ask(step, call).map(Some);
            }
            ReviewStep::Choose(dispute) => return Ok(self.choose(step, *dispute)),
            ReviewStep::AskPerson(dispute) => return Ok(self.ask_person(step, *dispute)),
            ReviewStep::Verify { round } => return self.verify(step, *round).map(Some),
            ReviewStep::Merge { round } => self.merge(*round)?,
            ReviewStep::Recognise { round } => self.append_all(schedule::recognised(&self.state, *round))?,
            ReviewStep::DebateRound { round, debate_round } => {
                let message = self.state.round_message(*round, *debate_round);
                self.append(ReviewEvent::DebateRound { round: *round, debate_round: *debate_round, message })?;
            }
            ReviewStep::Conclude { round } => self.conclude(*round)?,
            ReviewStep::Keep => {
                let kept = self.runner.workspace.keep(&self.runner.run, &self.runner.state_dir)?;
                self.append(ReviewEvent::BeforeImage { kept_as: kept.kept_as, tree: kept.tree.0 })?;
            }
            ReviewStep::RecordTree(call) => {
                let event = self.trees().record(&self.state, call, &self.runner.run)?;
                self.append(event)?;
            }
            // All at once: they are numbered in one transaction.
            ReviewStep::OpenDispute(_) => self.open_disputes()?,
            ReviewStep::CarryOn(finding) => self.carry_on(*finding)?,
            ReviewStep::Send(dispute) => self.append(schedule::sent(&self.state, *dispute))?,
            ReviewStep::Rule(dispute) => self.rule(*dispute)?,
            ReviewStep::Settle(dispute) => {
                if let Some(settlement) = schedule::settlement(&self.state, *dispute) {
                    self.append(DisputeEvent::DisputeSettled { dispute: *dispute, settlement })?;
                }
            }
            ReviewStep::NextRound { round } => self.next_round(*round)?,
            ReviewStep::Finish => {}
        }
        Ok(None)
    }

    pub(crate) fn append(&mut self, kind: impl Into<EventKind>) -> Result<(), RunError> {
        self.append_all([kind.into()])
    }

    /// Records events that belong together, all of them or, with an error, none; takes them into the state, and tells the
    /// listeners.
    pub(crate) fn append_all(&mut self, kinds: impl IntoIterator<Item = EventKind>) -> Result<(), RunError> {
        let kinds: Vec<EventKind> = kinds.into_iter().collect();
        let elsewhere = kinds.iter().flat_map(|kind| self.for_earlier_run(kind)).collect();
        let events = self.runner.record(kinds, elsewhere)?;
        for event in &events {
            self.state.apply(&event.kind);
            self.note(&event.kind);
        }
        self.runner.tell(&events);
        Ok(())
    }

    /// How a dispute of an earlier run ended in this one, as that run records it.
    fn for_earlier_run(&self, kind: &EventKind) -> Vec<(RunId, EventKind)> {
        let EventKind::Dispute(DisputeEvent::DisputeSettled { dispute: number, .. }) = kind else {
            return Vec::new();
        };
        let (Some((run, before)), Some(dispute)) =
            (self.state.carried.get(number), self.state.disputes.get(number))
        else {
            return Vec::new();
        };
        let by_person = self.state.chosen.contains(number);
        let route = dispute
            .route
            .map(|route| EventKind::Dispute(DisputeEvent::RouteChosen { dispute: *number, route, by_person }));
        let rulings = dispute.rulings.iter().skip(*before).cloned();
        let rulings =
            rulings.map(|ruling| EventKind::Dispute(DisputeEvent::RulingGiven { dispute: *number, ruling }));
        route.into_iter().chain(rulings).chain([kind.clone()]).map(|kind| (run.clone(), kind)).collect()
    }

    /// Takes what a step brought. Returns whether the run stops here.
    fn take(&mut self, done: Done, stopped: bool, parked: &mut BTreeSet<DisputeNumber>) -> Result<bool, RunError> {
        match done {
            Done::Called { call, called } => {
                // However it ended: what it did can be undone.
                let recorded = match call.purpose.is_coder() {
                    true => self.runner.workspace.coder_ended(&self.runner.run, &self.runner.state_dir),
                    false => Ok(()),
                };
                let Finished { events, stale } =
                    self.runner.ended(call.clone(), *called, stopped, |file| self.state.covers(file))?;
                // What a backup said is not the reviewer's own answer.
                let is_own = |event: &EventKind| matches!(event, EventKind::Run(RunEvent::CallFinished { told, .. }) if told.by.is_none());
                let is_own = events.iter().any(is_own);
                self.append_all(events)?;
                recorded?;
                if is_own {
                    let reviewed = self.archive().record(&self.state, &self.sources, &self.bindings, &call, &stale);
                    self.append_all(reviewed)?;
                }
            }
            Done::Chosen { dispute, choice, decider } => {
                self.decider = Some(decider);
                let Some(choice) = choice else { return Ok(true) };
                let undecided = self.state.disputes.values().filter(|other| {
                    other.is_open() && other.route.is_none() && !self.state.is_sent_to_judge(&other.finding)
                });
                let chosen = undecided.map(|other| other.number).filter(|n| choice.for_all || *n == dispute);
                let Choice { route, by_person, .. } = choice;
                let events: Vec<EventKind> = chosen
                    .map(|dispute| EventKind::Dispute(DisputeEvent::RouteChosen { dispute, route, by_person }))
                    .collect();
                self.append_all(events)?;
            }
            Done::Ruled { dispute, ruling, decider } => {
                self.decider = Some(decider);
                match ruling {
                    PersonAnswer::Stopped => return Ok(true),
                    PersonAnswer::LeftOpen => {
                        parked.insert(dispute);
                    }
                    PersonAnswer::Given((ruling, reason)) => {
                        let ruling = Ruling { rationale: reason.into(), ..Ruling::bare(ruling) };
                        let ruling = RulingRecord { ruling, by: Ruler::Human, votes: Vec::new() };
                        self.append(DisputeEvent::RulingGiven { dispute, ruling })?;
                    }
                }
            }
            Done::Verified { round, results } => {
                if !stopped {
                    self.append_all(results.into_iter().map(|(command, CheckResult { passed, tail })| {
                        EventKind::Review(ReviewEvent::Verified { round, command, passed, tail })
                    }))?;
                }
            }
        }
        Ok(false)
    }

    fn known_rulings(&self) -> Result<Vec<Binding>, RunError> {
        let max_age = &self.runner.settings.rulings.max_age;
        Ok(rulings::known(Some(&self.runner.journal), &self.shared, max_age, Timestamp::now())?)
    }

    fn merge(&mut self, round: u32) -> Result<(), RunError> {
        self.bindings = self.known_rulings()?;
        let lists = self.lists();
        let bench = self.bench(round, &lists);
        let advised = bench.advise(&bench.unmerged(), &self.runner.settings.advisories);
        self.append_all(advised)?;
        self.append_all(self.bench(round, &lists).merge(&self.bindings))
    }

    /// The state with the findings of those reviewers who have answered, where others have not; nothing is recorded.
    pub(crate) fn merged_so_far(&self) -> Option<ReviewState> {
        self.state.unmerged().next()?;
        let lists = self.lists();
        let merged = self.bench(self.state.round(), &lists).merge(&self.bindings);
        let mut state = self.state.clone();
        merged.iter().for_each(|event| state.apply(event));
        Some(state)
    }

    fn conclude(&mut self, round: u32) -> Result<(), RunError> {
        let lists = self.lists();
        let bench = self.bench(round, &lists);
        let advised = bench.advise(&debate::observations(&bench), &self.runner.settings.advisories);
        self.append_all(advised)?;
        self.append_all(debate::conclude(&self.bench(round, &lists), &self.bindings))
    }

    fn lists(&self) -> MergeSettings {
        MergeSettings::of(&self.runner.settings)
    }

    fn bench<'a>(&'a self, round: u32, lists: &'a MergeSettings) -> merge::RoundContext<'a> {
        let past = Some(Past { journal: &self.runner.journal, trees: self.trees() });
        let (state, sources, workspace) = (&self.state, &self.sources, &self.runner.workspace);
        merge::RoundContext { state, round, lists, sources, workspace, past }
    }

    fn open_disputes(&mut self) -> Result<(), RunError> {
        let due: Vec<FindingId> = schedule::unopened(&self.state).collect();
        let sides = due.into_iter().map(|id| self.state.sides(id));
        let events = self.runner.journal.open_disputes(&self.runner.run, sides)?;
        events.iter().for_each(|event| self.state.apply(&event.kind));
        self.docket = None;
        self.runner.tell(&events);
        Ok(())
    }

    /// Brings disputes that stayed open before whoever decides, with judges where the run has none.
    pub(crate) fn reopen(&mut self, disputes: Vec<DisputeNumber>, judges: Vec<Agent>) -> Result<(), RunError> {
        let has_judge = self.state.judges().next().is_some();
        let judges = if has_judge { Vec::new() } else { judges.into_iter().map(Agent::recorded).collect() };
        self.append(DisputeEvent::DisputesReopened { disputes, judges })
    }

    /// Carries on the dispute of an earlier run that a finding repeats, unless it was settled meanwhile.
    fn carry_on(&mut self, finding: FindingId) -> Result<(), RunError> {
        let number = self.state.still_disputed.get(&finding).copied().expect("the finding repeats a disputed one");
        let record = self.runner.journal.dispute(number)?.ok_or(JournalError::UnknownDispute(number))?;
        let mut dispute = record.dispute;
        let new_tag = dispute.new_tag();
        self.append(match dispute.disposition.take() {
            Some(disposition) => EventKind::Review(ReviewEvent::AlreadyRuled {
                finding,
                dispute: number.into(),
                disposition,
                new_tag,
                insisted: false,
            }),
            None => {
                dispute.finding = self.state.finding(finding).expect("a finding of the run").clone();
                dispute.objection.finding = finding;
                // A judge that left it to a person is asked again only where that is named.
                let is_named = self.state.plan.as_ref().is_some_and(|plan| plan.on_dispute.is_some());
                let escalated =
                    dispute.rulings.last().is_some_and(|last| last.ruling.ruling == RulingWord::Escalate);
                if is_named || !escalated {
                    dispute.route = None;
                }
                EventKind::Dispute(DisputeEvent::DisputeCarriedOn { dispute: Box::new(dispute), from: record.run })
            }
        })
    }

    fn rule(&mut self, dispute: DisputeNumber) -> Result<(), RunError> {
        let ruling = resolve::due(&self.desk(&[]), dispute, &self.runner.settings.review);
        self.append_all(ruling.map(|ruling| EventKind::Dispute(DisputeEvent::RulingGiven { dispute, ruling })))
    }

    fn next_round(&mut self, round: u32) -> Result<(), RunError> {
        let rules = self.sources.rules();
        let Since { target, hidden } =
            self.trees().changed_target(&self.state, round - 1, &self.runner.settings, rules.as_ref())?;
        let mut events = Vec::new();
        if !hidden.is_empty() {
            let files = hidden.iter().map(|file| format!("`{file}`")).collect::<Vec<_>>().join(", ");
            let text = format!("reviewed although ignore files that came during the run hide it: {files}");
            events.push(EventKind::notice(text));
        }
        let shards = target.coverage();
        self.bindings = self.known_rulings()?;
        self.sources.keep(round, target.files).map_err(RunError::Sources)?;
        events.push(EventKind::Review(ReviewEvent::RoundStarted { round, shards, skipped: target.skipped }));
        self.append_all(events)
    }

    fn finish(&mut self) -> Result<(), RunError> {
        let mut exit = outcome::exit(&self.state, &self.runner.settings.review);
        let mut events = Vec::new();
        if let Some(restaged) = self.trees().restage(&self.state)? {
            if !restaged.left.is_empty() {
                exit = exit.strongest(ExitReason::FindingsOpen);
            }
            events = trees::told(&self.state, &restaged);
        }
        events.push(EventKind::Run(RunEvent::RunEnded { exit, millis: self.millis() }));
        self.append_all(events)
    }

    pub(crate) fn millis(&self) -> u64 {
        call::millis(self.runner.started)
    }

    pub(crate) fn exit(&self) -> ExitReason {
        self.state.ended.map_or_else(|| outcome::exit(&self.state, &self.runner.settings.review), |(exit, _)| exit)
    }
}
