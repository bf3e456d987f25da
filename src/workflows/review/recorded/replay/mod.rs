//! Deciding a recorded run again: the steps of a run, with its record in the place of agents, people and the tree.
//!
//! Nobody is asked and nothing is written. Under the settings of the run the decisions are those of the run; under
//! others, an answer that was never given stays missing and is said to be.

mod same;

use std::collections::{BTreeMap, BTreeSet};

use crate::config::settings::Settings;
use crate::domain::event::{CallAnswer, CallId, DisputeEvent, Event, EventKind, Purpose, ReviewEvent, RunEvent};
use crate::domain::{
    Disposition, Dispute, DisputeNumber, EarlierDispute, ExitReason, Finding, FindingId, Outcome, Response, Route,
    Ruler, RulingRef, RunId, Tag,
};
use crate::history::queries::rows::Binding;
use crate::history::store::Journal;
use crate::protocol::text::printable;
use crate::workflows::review::code::sources::{Reviewed, Sources};
use crate::workflows::review::code::trees::{self, Trees};
use crate::workflows::review::disputes::resolve;
use crate::workflows::review::disputes::rulings::{self, SharedRulings};
use crate::workflows::review::findings::past::Past;
use crate::workflows::review::findings::round::MergeSettings;
use crate::workflows::review::findings::{debate, merge};
use crate::workflows::review::outcome;
use crate::workflows::review::recorded::replay::same::Same;
use crate::workflows::review::recorded::view;
use crate::workflows::review::requests::RequestBuilder;
use crate::workflows::review::schedule::{
    self, DisputeQuestion, REPAIRS, ReviewEffect, ReviewStep, SchedulePolicy,
};
use crate::workflows::review::state::{RecordedCall, Reuse, ReviewState};
use crate::workflows::run::error::RunError;
use crate::workflows::run::redaction::Redaction;
use crate::workflows::run::workflow::Step;
use crate::workspace::root::Workspace;

/// A recorded run as it is decided now.
#[derive(Debug)]
pub struct Replayed {
    pub outcome: Outcome,
    pub reviewed: Reviewed,
    /// What is decided otherwise than in the record, and what the record lacks to decide it; a line each.
    pub differences: Vec<String>,
}

/// Decides a recorded run again. Fails when the history or the code under review cannot be read; the code is gone
/// once the run was pruned.
pub fn replay(
    workspace: &Workspace,
    state_dir: &std::path::Path,
    journal: &Journal,
    run: &RunId,
    settings: &Settings,
) -> Result<Replayed, RunError> {
    let events = journal.events(run)?;
    let record = ReviewState::of(&events);
    let plan = record.plan.clone().ok_or_else(|| RunError::NotStarted(run.clone()))?;
    let mut sources = Sources::new(&journal.transcripts(run)?, Redaction::from(settings.redaction));
    sources.load(record.round(), Some(workspace.root())).map_err(RunError::Sources)?;
    let trees = Trees { workspace, state_dir };
    // The commit may be gone by now.
    let shared = SharedRulings::at(workspace, plan.rulings_at.as_deref()).unwrap_or_default().bindings();
    let mut replay = Replay {
        run,
        earlier: earlier(rulings::all(Some(journal), &shared)?, &record, run),
        verdicts: verdicts(&events),
        record,
        state: ReviewState::default(),
        settings,
        sources,
        trees,
        journal,
        missing: BTreeSet::new(),
    };
    let mut plan = plan;
    plan.settings = settings.recorded();
    replay.take(EventKind::Review(ReviewEvent::RunStarted { plan: Box::new(plan) }));
    replay.state.called_judges.clone_from(&replay.record.called_judges);
    replay.state.reopened = replay
        .record
        .reopened
        .iter()
        .filter(|number| !replay.record.carried.contains_key(number))
        .copied()
        .collect();
    replay.take(EventKind::Review(ReviewEvent::AdvisoriesAsked { answers: replay.record.advised.clone() }));
    for text in replay.record.notices.clone() {
        replay.take(EventKind::notice(text));
    }
    replay.decide();
    let Replay { record, mut state, sources, missing, .. } = replay;
    state.spent = record.spent;
    let millis = record.ended.map_or(0, |(_, millis)| millis);
    let exit = outcome::exit(&state, &settings.review);
    let changes = Redaction::ON.changes(trees.all_changes_or_recorded(&state));
    let outcome = outcome::outcome(&state, run, exit, millis, changes);
    let mut outcome = outcome.ok_or_else(|| RunError::NotStarted(run.clone()))?;
    view::add_repeated(&mut outcome, &state, journal)?;
    let mut differences = differences(&record, &state, exit);
    differences.extend(missing);
    Ok(Replayed { outcome, reviewed: Reviewed(sources), differences })
}

/// The disputes of earlier runs that this run came upon, as they stood then.
fn earlier(bindings: Vec<Binding>, record: &ReviewState, run: &RunId) -> Vec<Binding> {
    let ruled: BTreeMap<&RulingRef, &Disposition> =
        record.ruled.values().map(|(dispute, disposition)| (dispute, disposition)).collect();
    let lowered: BTreeMap<&RulingRef, Option<Tag>> = record
        .lowered
        .iter()
        .filter_map(|(id, lowered)| Some((&lowered.dispute, record.finding(*id)?.raw.severity.tag)))
        .collect();
    let open: BTreeSet<RulingRef> =
        record.still_disputed.values().chain(record.carried.keys()).map(|number| (*number).into()).collect();
    let related: BTreeMap<RulingRef, &EarlierDispute> =
        record.related.values().flatten().map(|earlier| (earlier.dispute.clone(), earlier)).collect();
    let known = bindings.into_iter().filter(|binding| binding.run != *run);
    known
        .filter_map(|binding| {
            if let Some(earlier) = related.get(&binding.dispute) {
                let (disposition, new_tag) = (earlier.disposition.clone(), earlier.new_tag);
                return Some(Binding { disposition, new_tag, ..binding });
            }
            let (disposition, new_tag) = match (ruled.get(&binding.dispute), lowered.get(&binding.dispute)) {
                (Some(disposition), _) => (Some((*disposition).clone()), None),
                (None, Some(tag)) => (Some(Disposition::NotMandatory), *tag),
                (None, None) if open.contains(&binding.dispute) => (None, None),
                (None, None) => return None,
            };
            Some(Binding { disposition, new_tag, ended: None, is_vouched: true, ..binding })
        })
        .collect()
}

struct Verdict {
    round: u32,
    /// How many calls of the coder had ended before.
    after: usize,
    event: EventKind,
}

fn verdicts(events: &[Event]) -> Vec<Verdict> {
    let mut after = 0;
    let mut verdicts = Vec::new();
    for event in events {
        match &event.kind {
            EventKind::Review(ReviewEvent::TreeChanged { .. }) => after += 1,
            kind @ EventKind::Review(ReviewEvent::Verified { round, .. }) => {
                verdicts.push(Verdict { round: *round, after, event: kind.clone() });
            }
            _ => {}
        }
    }
    verdicts
}

fn count_of_repairs(record: &ReviewState) -> u32 {
    let attempt = |call: &CallId| matches!(call.purpose, Purpose::Repair { .. }).then_some(call.attempt);
    record.calls.keys().filter_map(attempt).max().unwrap_or(0)
}

/// A run at its decisions, with its record at hand.
struct Replay<'a> {
    run: &'a RunId,
    record: ReviewState,
    state: ReviewState,
    settings: &'a Settings,
    sources: Sources,
    trees: Trees<'a>,
    journal: &'a Journal,
    /// What earlier runs left to this one.
    earlier: Vec<Binding>,
    /// What the commands of `review.verify` said.
    verdicts: Vec<Verdict>,
    /// What would have been needed and was never recorded.
    missing: BTreeSet<String>,
}

impl Replay<'_> {
    fn decide(&mut self) {
        let policy = self.policy();
        // Disputes that wait for a person, and steps without a record.
        let (mut parked, mut idle) = (BTreeSet::new(), Vec::<ReviewStep>::new());
        loop {
            let steps = schedule::next_steps(&self.state, &policy, &parked);
            let steps: Vec<ReviewStep> = steps.into_iter().filter(|step| !idle.contains(step)).collect();
            if steps.is_empty() || steps == [Step::Finish] {
                return;
            }
            for step in steps {
                let events = self.step(&step);
                match step {
                    Step::Prompt(DisputeQuestion::Ruling(dispute)) if events.is_empty() => {
                        parked.insert(dispute);
                    }
                    step if events.is_empty() => idle.push(step),
                    _ => events.into_iter().for_each(|event| self.take(event)),
                }
            }
        }
    }

    /// As the engine's, but no longer than the record reaches.
    fn policy(&self) -> SchedulePolicy {
        let review = &self.settings.review;
        SchedulePolicy {
            mode: self.record.plan.as_ref().map_or(crate::domain::event::Mode::Review, |plan| plan.mode),
            recheck: review.recheck,
            compare: self.record.calls.keys().any(|id| matches!(id.purpose, Purpose::Compare { .. })),
            rounds: review.rounds.min(self.record.round()),
            verify: review.verify.len().min(self.verdicts.len()),
            repairs: count_of_repairs(&self.record).min(REPAIRS),
            escalate_to: review.judge.escalate_to.into(),
        }
    }

    fn take(&mut self, kind: EventKind) {
        self.state.apply(&kind);
    }

    /// The events that a step brings; none where the record has nothing for it.
    fn step(&mut self, step: &ReviewStep) -> Vec<EventKind> {
        match step {
            Step::Ask(call) => self.call(call),
            Step::Effect(ReviewEffect::Merge { round }) => {
                let lists = self.lists();
                self.bench(*round, &lists).merge(&self.bindings())
            }
            Step::Effect(ReviewEffect::Recognise { round }) => schedule::recognised(&self.state, *round),
            Step::Effect(ReviewEffect::DebateRound { round, debate_round }) => {
                let message = self.state.round_message(*round, *debate_round);
                vec![EventKind::Review(ReviewEvent::DebateRound {
                    round: *round,
                    debate_round: *debate_round,
                    message,
                })]
            }
            Step::Effect(ReviewEffect::Conclude { round }) => {
                let lists = self.lists();
                let mut events = debate::conclude(&self.bench(*round, &lists), &self.bindings());
                // The record's own notices stand already.
                events.retain(|event| !matches!(event, EventKind::Run(RunEvent::Notice { .. })));
                events
            }
            Step::Effect(ReviewEffect::Keep) => {
                let (kept_as, tree) = self.record.before.clone().unwrap_or_default();
                vec![EventKind::Review(ReviewEvent::BeforeImage { kept_as, tree })]
            }
            Step::Effect(ReviewEffect::RecordTree(call)) => vec![self.tree(call)],
            // Opened all at once.
            Step::Effect(ReviewEffect::OpenDispute(_)) => self.open_disputes(),
            Step::Effect(ReviewEffect::CarryOn(finding)) => self.carried_on(*finding).into_iter().collect(),
            Step::Prompt(DisputeQuestion::Route(dispute)) => vec![self.choice(*dispute)],
            Step::Effect(ReviewEffect::Send(dispute)) => vec![schedule::sent(&self.state, *dispute)],
            Step::Prompt(DisputeQuestion::Ruling(dispute)) => self.person(*dispute),
            Step::Effect(ReviewEffect::Rule(dispute)) => {
                let desk =
                    RequestBuilder { state: &self.state, sources: &self.sources, trees: self.trees, bindings: &[] };
                let ruling = resolve::due(&desk, *dispute, &self.settings.review);
                ruling
                    .map(|ruling| EventKind::Dispute(DisputeEvent::RulingGiven { dispute: *dispute, ruling }))
                    .into_iter()
                    .collect()
            }
            Step::Effect(ReviewEffect::Settle(dispute)) => {
                let settlement = schedule::settlement(&self.state, *dispute).map(|mut settlement| {
                    // A person may have said more than the ruling does: a risk accepted, a fix deferred.
                    let said = self.record.disputes.get(dispute).and_then(|known| known.disposition.clone());
                    if let (Ruler::Human, Some(said)) = (&settlement.by, said) {
                        settlement.disposition = said;
                    }
                    settlement
                });
                let dispute = *dispute;
                settlement
                    .map(|settlement| EventKind::Dispute(DisputeEvent::DisputeSettled { dispute, settlement }))
                    .into_iter()
                    .collect()
            }
            Step::Effect(ReviewEffect::Verify { round }) => {
                // Those on the tree as it stands here; under other rules, the last of the round before.
                let done = self.state.tree_changes.len();
                let of_round = || self.verdicts.iter().filter(|verdict| verdict.round == *round);
                let known = of_round().map(|verdict| verdict.after).filter(|after| *after <= done).max();
                let after = known.or_else(|| of_round().map(|verdict| verdict.after).min());
                let taken = of_round().filter(|verdict| Some(verdict.after) == after);
                taken.map(|verdict| verdict.event.clone()).collect()
            }
            Step::Effect(ReviewEffect::NextRound { round }) => {
                let shards = usize::try_from(round - 1).ok().and_then(|at| self.record.rounds.get(at)).cloned();
                let skipped = self.record.skipped.clone();
                shards
                    .map(|shards| EventKind::Review(ReviewEvent::RoundStarted { round: *round, shards, skipped }))
                    .into_iter()
                    .collect()
            }
            Step::Record(_) | Step::Finish => Vec::new(),
        }
    }

    /// The recorded answer to a call, about the findings as they are numbered now.
    fn call(&mut self, call: &CallId) -> Vec<EventKind> {
        let mut events = Vec::new();
        let part = (call.agent.clone(), call.purpose.clone());
        if let (Some(reuse), None) = (self.record.reused.get(&part), self.state.reused.get(&part)) {
            let Reuse { from, findings, asked, superseded } = reuse.clone();
            let is_known = asked.is_empty();
            events.push(EventKind::Review(ReviewEvent::AnswersReused {
                call: call.clone(),
                from,
                findings,
                asked,
                superseded,
            }));
            if is_known {
                return events;
            }
        }
        let RecordedCall { answer, millis, usage } = match self.record.calls.get(call) {
            Some(known) => RecordedCall { answer: self.renumbered(&known.answer), ..known.clone() },
            None => self.unrecorded(call),
        };
        if self.record.violated.contains(call) {
            events.push(EventKind::Run(RunEvent::ReadOnlyViolated { call: call.clone(), changes: Vec::new() }));
        }
        let (transcript, usage, told) = (None, Box::new(usage), Box::default());
        events.push(EventKind::Run(RunEvent::CallFinished {
            call: call.clone(),
            answer,
            transcript,
            millis,
            usage,
            told,
        }));
        events
    }

    fn unrecorded(&mut self, call: &CallId) -> RecordedCall {
        let what = match &call.purpose {
            Purpose::Review { .. } => "to review".to_owned(),
            Purpose::Examine { .. } => "about the others' findings".to_owned(),
            Purpose::Defend { .. } => "to defend its findings".to_owned(),
            Purpose::Respond { .. } => "about these findings".to_owned(),
            Purpose::Enforce { .. } => "to implement what is enforced".to_owned(),
            Purpose::Repair { .. } => "to repair what its edits broke".to_owned(),
            Purpose::Judge { dispute } => format!("to rule on dispute {dispute}"),
            Purpose::Recheck { .. } => "to check the changes".to_owned(),
            Purpose::Compare { .. } => "to compare findings with earlier disputes".to_owned(),
            Purpose::Stage { .. } => "about a stage".to_owned(),
            Purpose::Work | Purpose::Peer { .. } => "in a watch".to_owned(),
        };
        let error = format!("{} was never asked {what}", call.agent);
        self.missing.insert(format!("not recorded: {error}"));
        RecordedCall {
            answer: CallAnswer::Failed { error, hint: None, cause: None },
            millis: 0,
            usage: <_>::default(),
        }
    }

    /// The findings that recorded findings have become: each one, or those it was merged from.
    fn now(&self, ids: impl IntoIterator<Item = FindingId>) -> Vec<Vec<FindingId>> {
        let same = Same::of(&self.state.findings);
        let now =
            |known: &Finding| same.places(known).into_iter().map(|place| self.state.findings[place].id).collect();
        ids.into_iter().map(|id| self.record.finding(id).map(now).unwrap_or_default()).collect()
    }

    fn renumbered(&self, answer: &CallAnswer) -> CallAnswer {
        let mut answer = answer.clone();
        match &mut answer {
            CallAnswer::Examine { examinations, .. } => {
                *examinations = self.each(examinations, |said| &mut said.finding);
            }
            CallAnswer::Defend { defences } => *defences = self.each(defences, |said| &mut said.finding),
            CallAnswer::Respond { responses, .. } => {
                *responses = self.each(responses, |response| &mut response.finding);
            }
            CallAnswer::Recheck { checks } => *checks = self.each(checks, |check| &mut check.finding),
            CallAnswer::Compare { comparisons } => {
                *comparisons = self.each(comparisons, |comparison| &mut comparison.finding);
            }
            CallAnswer::Judge { ruling } => {
                ruling.duplicate_of = self.now(ruling.duplicate_of).first().and_then(|now| now.first()).copied();
            }
            CallAnswer::Review { .. }
            | CallAnswer::Stage { .. }
            | CallAnswer::Work { .. }
            | CallAnswer::Peer { .. }
            | CallAnswer::Invalid { .. }
            | CallAnswer::Failed { .. } => {}
        }
        answer
    }

    fn each<T: Clone>(&self, said: &[T], id: impl Fn(&mut T) -> &mut FindingId) -> Vec<T> {
        let now = self.now(said.iter().map(|said| *id(&mut said.clone())));
        let renamed =
            said.iter().zip(now).flat_map(|(said, now)| now.into_iter().map(move |now| (said.clone(), now)));
        renamed
            .map(|(mut said, now)| {
                *id(&mut said) = now;
                said
            })
            .collect()
    }

    /// What a call of the coder did to the tree.
    fn tree(&self, call: &CallId) -> EventKind {
        let known = self.record.tree_changes.iter().find(|change| change.call == *call);
        let touched = known.map(|known| self.now(known.touched.iter().copied()).into_iter().flatten().collect());
        let last = || trees::last_tree(&self.state).cloned().unwrap_or_default();
        EventKind::Review(ReviewEvent::TreeChanged {
            call: call.clone(),
            tree: known.map_or_else(last, |known| known.tree.clone()),
            changes: known.map(|known| known.changes.clone()).unwrap_or_default(),
            touched: touched.unwrap_or_default(),
        })
    }

    /// The disputes that are due, under the numbers of the record.
    fn open_disputes(&self) -> Vec<EventKind> {
        let recorded: Vec<&Dispute> = self.record.disputes.values().collect();
        let same = Same::of(recorded.iter().map(|dispute| &dispute.finding));
        let mut taken: BTreeSet<DisputeNumber> = self.state.disputes.keys().copied().collect();
        let mut last = self.record.disputes.keys().chain(&taken).max().map_or(0, |number| number.0);
        let mut opened = Vec::new();
        for id in schedule::unopened(&self.state) {
            let finding = self.state.finding(id).expect("a dispute is opened about a finding of the run");
            let known = same.places(finding).into_iter().rev().map(|place| recorded[place].number);
            let number = known.into_iter().find(|number| !taken.contains(number)).unwrap_or_else(|| {
                last += 1;
                DisputeNumber(last)
            });
            taken.insert(number);
            let mut dispute = Box::new(self.state.sides(id).numbered(number));
            // Where the same sides stand against each other, what was said stays as it was recorded.
            let recorded = self.record.disputes.get(&number).filter(|recorded| {
                self.record.is_judged_first(&recorded.finding) == self.state.is_judged_first(&dispute.finding)
            });
            if let Some(recorded) = recorded {
                dispute.objector = recorded.objector;
                dispute.objection = Response { finding: id, ..recorded.objection.clone() };
            }
            opened.push(EventKind::Dispute(DisputeEvent::DisputeOpened { dispute }));
        }
        opened
    }

    /// The dispute of an earlier run that went on in this one, as it stood then.
    fn carried_on(&self, finding: FindingId) -> Option<EventKind> {
        let number = self.state.still_disputed.get(&finding)?;
        let (known, (from, rulings)) = (self.record.disputes.get(number)?, self.record.carried.get(number)?);
        let route = known.route.filter(|_| !self.record.ruled_before.contains_key(number));
        let mut dispute = Dispute { route, disposition: None, discarded_by: None, ..known.clone() };
        dispute.rulings.truncate(*rulings);
        dispute.finding = self.state.finding(finding)?.clone();
        dispute.objection.finding = finding;
        Some(EventKind::Dispute(DisputeEvent::DisputeCarriedOn { dispute: Box::new(dispute), from: from.clone() }))
    }

    /// The way that a person chose in the run; else the one taken then, where the default is the same; else the
    /// configured one.
    fn choice(&self, dispute: DisputeNumber) -> EventKind {
        let configured = self.settings.review.on_dispute.default;
        let by_person = self.record.chosen.contains(&dispute);
        let is_taken = by_person || self.record.settings.review.on_dispute.default == configured;
        let known = self.record.disputes.get(&dispute).and_then(|known| known.route).filter(|_| is_taken);
        let nobody = configured == Route::Judge && self.state.judges().next().is_none();
        let route = known.unwrap_or(if nobody { Route::Human } else { configured });
        EventKind::Dispute(DisputeEvent::RouteChosen { dispute, route, by_person })
    }

    /// What a person ruled in the run, or later.
    fn person(&mut self, dispute: DisputeNumber) -> Vec<EventKind> {
        let known = self.record.disputes.get(&dispute);
        let ruled = known.and_then(|known| known.rulings.iter().rev().find(|ruling| ruling.by == Ruler::Human));
        let given =
            ruled.map(|ruling| EventKind::Dispute(DisputeEvent::RulingGiven { dispute, ruling: ruling.clone() }));
        given.into_iter().collect()
    }

    /// What disputes say about places in the code: those of earlier runs, and those of this one so far.
    fn bindings(&self) -> Vec<Binding> {
        let own = self.state.disputes.values().filter_map(|dispute| {
            Some(Binding {
                dispute: dispute.number.into(),
                run: self.run.clone(),
                finding: dispute.finding.id,
                anchor: dispute.finding.anchor.clone()?,
                title: dispute.finding.raw.title.clone(),
                location: dispute.finding.raw.location(),
                disposition: dispute.disposition.clone(),
                new_tag: dispute.new_tag(),
                rationale: dispute.rulings.last().map(|last| last.ruling.rationale.clone()).unwrap_or_default(),
                settled_at: None,
                until: None,
                ended: None,
                is_vouched: true,
                reopens: dispute.reopens(),
            })
        });
        self.earlier.iter().cloned().chain(own).collect()
    }

    fn lists(&self) -> MergeSettings {
        MergeSettings::of(self.settings)
    }

    fn bench<'b>(&'b self, round: u32, lists: &'b MergeSettings) -> merge::RoundContext<'b> {
        let workspace = self.trees.workspace;
        let past = Some(Past { journal: self.journal, trees: self.trees });
        merge::RoundContext { state: &self.state, round, lists, sources: &self.sources, workspace, past }
    }
}

/// What is decided otherwise: the findings, and the end.
fn differences(record: &ReviewState, state: &ReviewState, exit: ExitReason) -> Vec<String> {
    let mut lines = Vec::new();
    let (recorded, decided) = (Same::of(&record.findings), Same::of(&state.findings));
    for finding in &state.findings {
        let (title, now) = (printable::line(&finding.raw.title), state.finding_state(finding));
        match recorded.places(finding).first().map(|place| &record.findings[*place]) {
            None => lines.push(format!("{} is new: {title}", finding.id)),
            Some(known) => {
                if known.mandatory != finding.mandatory {
                    let word = |mandatory| if mandatory { "mandatory" } else { "optional" };
                    let (then, now) = (word(known.mandatory), word(finding.mandatory));
                    lines.push(format!("{} is {now}, was {then}: {title}", finding.id));
                }
                let then = record.finding_state(known);
                if then != now {
                    lines.push(format!("{} is {now}, was {then}: {title}", finding.id));
                }
            }
        }
    }
    for known in &record.findings {
        if decided.places(known).is_empty() {
            lines.push(format!("{} of the record is gone: {}", known.id, printable::line(&known.raw.title)));
        }
    }
    if let Some((then, _)) = record.ended.filter(|(then, _)| *then != exit) {
        lines.push(format!("the exit code is {}, was {}", exit.code(), then.code()));
    }
    lines
}
