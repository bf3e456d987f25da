//! Replays the decisions of a recorded run. All code and all answers come from the record. A replay is read-only.
//!
//! With the settings of the run, a replay makes the same decisions as the run. With other settings, a replay can
//! require answers that were not recorded. The replay reports the answers that are missing in the record.

mod differences;
mod dispute_records;
mod match_findings;
mod record;
mod renumbering;

use std::collections::BTreeSet;

use crate::review::code::coder_changes::Trees;
use crate::review::code::sources::Sources;
use crate::review::demonstrations::{self, DueDemonstration};
use crate::review::disputes::rulings::{self, SharedRulings};
use crate::review::findings::{debate, numbers};
use crate::review::schedule::{
    self, DisputeQuestion, REPAIRS, ReviewEffect, ReviewStep, SchedulePolicy,
};
use crate::review::state::{RecordedCall, ReviewState};
use crate::review::{
    disputes::resolve,
    findings::earlier_records::Past,
    findings::round::{MergeSettings, RoundContext},
    outcome,
    recorded::view,
    requests::RequestBuilder,
};
use crate::run::{error::RunError, redaction::Redaction, workflow::Step};
use glee_model::domain::event::{
    CallAnswer, CallId, DisputeAnswer, EventKind, FixRequest, Purpose, ReviewEvent, RunEvent,
};
use glee_model::domain::{CallMetadata, DemonstrationRun, DisputeNumber, Outcome, RunId};
use glee_store::config::settings::Settings;
use glee_store::history::queries::{problems::KnownProblems, rows::Binding};
use glee_store::history::store::Journal;
use glee_workspace::root::Workspace;
use record::RecordedCheck;

#[derive(Debug)]
pub struct Replayed {
    pub outcome: Outcome,
    pub reviewed: Sources,
    /// One line for each decision that differs from the record, and one line for each missing answer.
    pub differences: Vec<String>,
}

/// Fails if the history or the reviewed code cannot be read, for example because the run was pruned.
pub fn replay(
    workspace: &Workspace,
    state_dir: &std::path::Path,
    journal: &Journal,
    run: &RunId,
    settings: &Settings,
) -> Result<Replayed, RunError> {
    let events = journal.events(run)?;
    let record = ReviewState::of(&events);
    let mut plan = record::begun(&events).ok_or_else(|| RunError::NotStarted(run.clone()))?;
    let mut sources = Sources::new(
        &journal.transcripts(run)?,
        Redaction::from(settings.redaction),
    );
    sources.load(record.round(), Some(workspace.root()))?;
    let trees = Trees {
        workspace,
        state_dir,
    };
    // If the commit with the shared rulings no longer exists, no shared rulings apply.
    let shared = SharedRulings::of_plan(workspace, &plan)
        .unwrap_or_default()
        .bindings();
    let mut replay = Replay {
        run,
        known: numbers::of_run(run, &record),
        earlier: record::earlier(rulings::all(Some(journal), &shared)?, &record, run),
        checks: record::checks(&events),
        record,
        state: ReviewState::default(),
        settings,
        sources,
        trees,
        journal,
        missing: BTreeSet::new(),
    };
    plan.settings = settings.recorded();
    replay.take(ReviewEvent::RunStarted {
        plan: Box::new(plan),
    });
    replay
        .state
        .called_judges
        .clone_from(&replay.record.called_judges);
    let reopened = replay.record.reopened.iter().copied();
    replay.state.reopened = reopened
        .filter(|number| !replay.record.carried.contains_key(number))
        .collect();
    replay.take(ReviewEvent::AdvisoriesAsked {
        answers: replay.record.advised.clone(),
    });
    replay.state.same.clone_from(&replay.record.same);
    let compared = replay.record.calls.iter();
    let compared = compared.filter(|(id, _)| matches!(id.purpose, Purpose::Same { .. }));
    replay
        .state
        .calls
        .extend(compared.map(|(id, call)| (id.clone(), call.clone())));
    for text in replay.record.notices.clone() {
        replay.take(EventKind::notice(text));
    }
    replay.decide();
    let Replay {
        record,
        mut state,
        sources,
        missing,
        ..
    } = replay;
    state.spent = record.spent;
    let millis = record.ended.map_or(0, |(_, millis)| millis);
    let exit = outcome::exit(&state, &settings.review);
    let outcome = view::outcome_of(&state, run, trees, journal, exit, millis)?;
    let mut differences = differences::differences(&record, &state, exit);
    differences.extend(missing);
    Ok(Replayed {
        outcome,
        reviewed: sources,
        differences,
    })
}

struct Replay<'a> {
    run: &'a RunId,
    /// The problems of the recorded run. A replay allocates no numbers.
    known: KnownProblems,
    record: ReviewState,
    state: ReviewState,
    settings: &'a Settings,
    sources: Sources,
    trees: Trees<'a>,
    journal: &'a Journal,
    earlier: Vec<Binding>,
    checks: Vec<RecordedCheck>,
    missing: BTreeSet<String>,
}

impl Replay<'_> {
    fn decide(&mut self) {
        // The disputes that wait for a person.
        let mut waiting = BTreeSet::new();
        // The steps for which the record has no events.
        let mut idle: Vec<ReviewStep> = Vec::new();
        let mut fixes = self.record.fixes.clone().into_iter();
        loop {
            let steps = schedule::next_steps(&self.state, &self.policy(), &waiting);
            let steps: Vec<ReviewStep> = steps
                .into_iter()
                .filter(|step| !idle.contains(step))
                .collect();
            if steps.is_empty() || steps == [Step::Finish] {
                let Some(request) = fixes.next() else { break };
                let findings = self.now(request.findings).into_iter().flatten().collect();
                let request = FixRequest {
                    findings,
                    ..request
                };
                self.take(RunEvent::RunEnded {
                    exit: outcome::exit(&self.state, &self.settings.review),
                    millis: 0,
                });
                self.take(ReviewEvent::FixRequested { request });
                continue;
            }
            for step in steps {
                let events = self.step(&step);
                match step {
                    Step::Prompt(DisputeQuestion::Ruling(dispute)) if events.is_empty() => {
                        waiting.insert(dispute);
                    }
                    step if events.is_empty() => idle.push(step),
                    step => {
                        events.into_iter().for_each(|event| self.take(event));
                        if let Step::Effect(ReviewEffect::Merge { round }) = step {
                            self.reuse_comparisons(round);
                        }
                    }
                }
            }
        }
        self.by_person()
            .into_iter()
            .for_each(|event| self.take(event));
    }

    fn policy(&self) -> SchedulePolicy {
        let review = &self.settings.review;
        SchedulePolicy {
            mode: self.state.mode(),
            recheck: review.recheck,
            compare: self
                .record
                .calls
                .keys()
                .any(|id| matches!(id.purpose, Purpose::Compare { .. })),
            rounds: if self.state.fixing.is_some() {
                0
            } else {
                review.rounds.min(self.record.round())
            },
            verify: review.verify.len().min(self.checks.len()),
            repairs: record::count_of_repairs(&self.record).min(REPAIRS),
            escalate_to: review.judge.escalate_to.into(),
        }
    }

    /// What was seen in the recorded run. A replay runs nothing.
    fn demonstrated(&self, due: &DueDemonstration) -> Option<EventKind> {
        let recorded = self.record.progress.values();
        let mut recorded = recorded.flat_map(|progress| &progress.demonstrations);
        let run = recorded.find(|run| due.is_in(run));
        let run = run.map(|run| DemonstrationRun {
            finding: due.finding,
            ..run.clone()
        });
        let run = run.unwrap_or_else(|| due.refused("it did not run in the recorded run"));
        Some(ReviewEvent::DemonstrationRan(run).into())
    }

    fn take(&mut self, kind: impl Into<EventKind>) {
        self.state.apply(&kind.into());
    }

    fn step(&mut self, step: &ReviewStep) -> Vec<EventKind> {
        let event = match step {
            Step::Ask(call) => return self.call(call),
            Step::Effect(ReviewEffect::Merge { round }) => {
                return self.context(*round).merge(&self.bindings());
            }
            Step::Effect(ReviewEffect::Recognise { round }) => {
                return schedule::recognised(&self.state, *round);
            }
            Step::Effect(ReviewEffect::Conclude { round }) => {
                let mut events = debate::conclude(&self.context(*round), &self.bindings());
                // The notices that the function `conclude` returns are removed, because the state already contains
                // the notices of the recorded run.
                events.retain(|event| !matches!(event, EventKind::Run(RunEvent::Notice { .. })));
                return events;
            }
            Step::Effect(ReviewEffect::Verify { round }) => {
                // The record can contain several results of the `review.verify` commands. The replay takes the
                // latest results on the current tree or on an earlier tree. If all results are on later trees,
                // the replay takes the first of the results.
                let done = self.state.tree_changes.len();
                let of_round = || self.checks.iter().filter(|verdict| verdict.round == *round);
                let known = of_round()
                    .map(|verdict| verdict.after)
                    .filter(|after| *after <= done)
                    .max();
                let after = known.or_else(|| of_round().map(|verdict| verdict.after).min());
                let taken = of_round().filter(|verdict| Some(verdict.after) == after);
                return taken.map(|verdict| verdict.event.clone()).collect();
            }
            Step::Effect(ReviewEffect::Undemonstrated) => {
                let findings = demonstrations::undemonstrated(&self.state);
                Some(ReviewEvent::Undemonstrated { findings }.into())
            }
            Step::Effect(ReviewEffect::Demonstrate(tested)) => {
                let due = demonstrations::next(&self.state, *tested);
                due.and_then(|due| self.demonstrated(&due))
            }
            Step::Effect(ReviewEffect::DebateRound {
                round,
                debate_round,
            }) => Some(self.state.debate_round(*round, *debate_round).into()),
            Step::Effect(ReviewEffect::Keep) => {
                let (kept_as, tree) = self.record.before.clone().unwrap_or_default();
                Some(ReviewEvent::BeforeImage { kept_as, tree }.into())
            }
            Step::Effect(ReviewEffect::RecordTree(call)) => Some(self.tree(call)),
            Step::Effect(ReviewEffect::CarryOn) => {
                let left = self.state.left_open().into_iter();
                return left
                    .filter_map(|(number, findings)| self.carried_on(number, findings[0]))
                    .collect();
            }
            Step::Prompt(DisputeQuestion::Route(dispute)) => Some(self.choice(*dispute)),
            Step::Effect(ReviewEffect::Send(dispute)) => {
                Some(schedule::disputes::sent(&self.state, *dispute))
            }
            Step::Prompt(DisputeQuestion::Ruling(dispute)) => self.person(*dispute),
            Step::Effect(ReviewEffect::Rule(dispute)) => {
                let requests = RequestBuilder {
                    state: &self.state,
                    sources: &self.sources,
                    trees: self.trees,
                    bindings: &[],
                };
                let ruling = resolve::due(&requests, *dispute, &self.settings.review);
                return ruling.map_or_else(Vec::new, |ruling| self.ruled(*dispute, ruling));
            }
            Step::Effect(ReviewEffect::Settle(disputes)) => {
                return disputes
                    .iter()
                    .filter_map(|dispute| self.settled(*dispute))
                    .collect();
            }
            Step::Effect(ReviewEffect::NextRound { round }) => {
                let is_recorded = *round <= self.record.round();
                is_recorded.then(|| {
                    ReviewEvent::RoundStarted {
                        round: *round,
                        shards: self.record.shards(*round).to_vec(),
                        skipped: self.record.skipped.clone(),
                    }
                    .into()
                })
            }
            Step::Effect(ReviewEffect::Reply(dispute)) => {
                schedule::disputes::replied(&self.state, *dispute)
            }
            Step::Effect(ReviewEffect::OpenDisputes) => return self.open_disputes(),
            Step::Record(_) | Step::Finish => None,
        };
        event.into_iter().collect()
    }

    /// The events of a recorded call. The answer refers to findings by their numbers in the replay.
    fn call(&mut self, call: &CallId) -> Vec<EventKind> {
        let mut events = Vec::new();
        if let Some(reuse) = self.record.reuse(call)
            && self.state.reuse(call).is_none()
        {
            let is_complete = reuse.asked.is_empty();
            let reused = ReviewEvent::AnswersReused {
                call: call.clone(),
                reuse: Box::new(reuse.clone()),
            };
            events.push(reused.into());
            if is_complete {
                return events;
            }
        }
        let RecordedCall {
            answer,
            millis,
            usage,
            by,
            reads,
            ..
        } = match &call.purpose {
            Purpose::JudgeFile { disputes } => self.together(call, disputes),
            _ => self.recorded(call),
        };
        if self.record.violated.contains(call) {
            events.push(
                RunEvent::ReadOnlyViolated {
                    call: call.clone(),
                    changes: Vec::new(),
                }
                .into(),
            );
        }
        let call = call.clone();
        let usage = Box::new(usage);
        let told = Box::new(CallMetadata {
            by,
            reads,
            ..CallMetadata::default()
        });
        let finished = RunEvent::CallFinished {
            call,
            answer,
            transcript: None,
            millis,
            usage,
            told,
        };
        events.push(finished.into());
        events
    }

    /// A call about several disputes, whose answers are recorded one by one.
    fn together(&mut self, call: &CallId, disputes: &[DisputeNumber]) -> RecordedCall {
        let mut all: Option<RecordedCall> = None;
        let mut answers = Vec::new();
        for (dispute, asked) in disputes.iter().zip(call.each()) {
            let recorded = self.recorded(&asked);
            let usage = all
                .as_ref()
                .map_or(recorded.usage, |all| all.usage.plus(recorded.usage));
            answers.push(DisputeAnswer {
                dispute: *dispute,
                answer: recorded.answer.clone(),
            });
            all = Some(RecordedCall { usage, ..recorded });
        }
        let all = all.expect("a call about several disputes is about at least one");
        RecordedCall {
            answer: CallAnswer::JudgeFile { answers },
            ..all
        }
    }

    fn recorded(&mut self, call: &CallId) -> RecordedCall {
        match self.record.calls.get(call) {
            Some(known) => RecordedCall {
                answer: self.renumbered(&known.answer),
                ..known.clone()
            },
            None => self.unrecorded(call),
        }
    }

    /// Takes the answers of earlier runs that the recorded run reused.
    fn reuse_comparisons(&mut self, round: u32) {
        let comparisons = self.each(&self.record.compared, |said| &mut said.finding);
        if !comparisons.is_empty() {
            self.take(ReviewEvent::ComparisonsReused { round, comparisons });
        }
    }

    fn unrecorded(&mut self, call: &CallId) -> RecordedCall {
        let error = format!("{} {}", call.agent, call.purpose.activity());
        self.missing.insert(format!("not recorded: {error}"));
        RecordedCall {
            answer: CallAnswer::Failed {
                error,
                hint: None,
                cause: None,
            },
            millis: 0,
            usage: <_>::default(),
            by: None,
            reads: None,
            asked_in: None,
        }
    }

    fn context(&self, round: u32) -> RoundContext<'_> {
        RoundContext {
            state: &self.state,
            round,
            lists: MergeSettings::of(&self.settings.review),
            sources: &self.sources,
            workspace: self.trees.workspace,
            past: Some(Past::of(self.journal, self.trees)),
            run: self.run,
            known: &self.known,
        }
    }
}
