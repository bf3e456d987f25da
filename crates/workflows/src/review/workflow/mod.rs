//! Implements the [`Workflow`] trait for reviews.

mod effects;
mod questions;

use std::collections::BTreeSet;

use tracing::{Instrument as _, Span, info_span};

use crate::review::code::coder_changes::{self, Trees};
use crate::review::code::scripts::Scripts;
use crate::review::code::sources::Sources;
use crate::review::demonstrations;
use crate::review::demonstrations::running::TreeCopy;
use crate::review::findings::{debate, pairs};
use crate::review::outcome;
use crate::review::plan::shard_limit;
use crate::review::recorded::reuse::{self, Archive, ReviewerKeys};
use crate::review::requests::RequestBuilder;
use crate::review::schedule::disputes::{routed, undiscarded};
use crate::review::schedule::{self, DisputeQuestion, ReviewEffect, ReviewStep, SchedulePolicy};
use crate::review::state::ReviewState;
use crate::run::budget;
use crate::run::call;
use crate::run::error::RunError;
use crate::run::ports::{Choice, DisputeResolver, PersonAnswer, PersonDecision};
use crate::run::resources::RunResources;
use crate::run::runner;
use crate::run::workflow::{Pending, Prepared, Rest, Step, Workflow};
use crate::run::write_guard::Observation;
use glee_agents::{Call, CallOutcome};
use glee_model::domain::event::{
    CallAnswer, CallId, DisputeEvent, Event, EventKind, Plan, ReviewEvent, RunEvent, Verified,
};
use glee_model::domain::{
    Agent, AnsweredObjection, Coverage, DemonstrationRun, DisputeNumber, ExitReason, Ruler, Ruling,
    RulingRecord, RunId, Spent, Untrusted, number_of,
};
use glee_protocol::prompts::PromptError;
use glee_protocol::request::SourceFile;
use glee_store::config::choices::Compare;
use glee_store::config::schema::values::ReuseMode;
use glee_store::history::queries::rows::Binding;
use glee_workspace::code::cited;

pub(crate) struct ReviewWorkflow {
    pub resources: RunResources,
    pub sources: Sources,
    pub scripts: Scripts,
    pub state: ReviewState,
    /// The bindings that were last read from the history and from shared rulings.
    pub bindings: Vec<Binding>,
    /// The shared rulings at the base commit of the change under review.
    pub shared: Vec<Binding>,
    /// A notice about invalid files of shared rulings. `None` after the notice is recorded.
    pub unread: Option<String>,
    pub(crate) reviewer_keys: ReviewerKeys,
    /// The field is `None` while the resolver waits for a person's answer.
    pub resolver: Option<Box<dyn DisputeResolver>>,
    pub(crate) parked: BTreeSet<DisputeNumber>,
    /// If the field `only` is set, the run settles the disputes in this field, and takes no other steps.
    pub only: Option<BTreeSet<DisputeNumber>>,
    pub round: Option<(u32, Span)>,
    /// The copy in which the last demonstration ran.
    pub tested: Option<TreeCopy>,
}

pub(crate) enum ReviewInput {
    Chosen {
        dispute: DisputeNumber,
        choice: Option<Choice>,
        resolver: Box<dyn DisputeResolver>,
    },
    Ruled {
        dispute: DisputeNumber,
        ruling: PersonAnswer<PersonDecision>,
        resolver: Box<dyn DisputeResolver>,
    },
    Verified(Vec<Verified>),
    /// The demonstration that ran, and the copy in which it ran; `None` if the user stopped it.
    Demonstrated(Option<(Box<DemonstrationRun>, TreeCopy)>),
}

impl Workflow for ReviewWorkflow {
    type Effect = ReviewEffect;
    type Question = DisputeQuestion;
    type Input = ReviewInput;

    fn resources(&self) -> &RunResources {
        &self.resources
    }

    fn resources_mut(&mut self) -> &mut RunResources {
        &mut self.resources
    }

    fn apply(&mut self, event: &Event) {
        self.state.apply(&event.kind);
    }

    fn spent(&self) -> &Spent {
        &self.state.spent
    }

    fn next(&self) -> Vec<ReviewStep> {
        let policy = self.policy();
        let Some(only) = &self.only else {
            return schedule::next_steps(&self.state, &policy, &self.parked);
        };
        let open = only.iter().filter(|number| !self.parked.contains(number));
        let open = open
            .filter_map(|number| self.state.disputes.get(number))
            .filter(|dispute| dispute.is_open());
        schedule::disputes::of_open(&self.state, &policy, open)
    }

    fn request(&mut self, id: &CallId) -> Result<Prepared, RunError> {
        if id.purpose.is_coder() {
            self.resources
                .workspace
                .before_coder_call(&self.resources.run, &self.resources.state_dir)?;
        }
        let builder = self.requests(&self.bindings);
        let task = builder.task(id);
        let again = builder.again(id);
        let plan = self.state.plan();
        let mut known = plan
            .agents
            .iter()
            .chain(&plan.comparers)
            .chain(&self.state.called_judges);
        let agent = known
            .find(|agent| agent.name == id.agent)
            .expect("a call that is due names an agent of the plan");
        // Only coders at work resume a session; all others start each call without earlier context.
        let session = self.state.coder_sessions.get(&id.agent);
        let session = session.filter(|_| id.purpose.is_coder()).cloned();
        let call = Box::new(Call {
            session,
            ..self.resources.call(id, agent, &plan.backups, task, again)?
        });
        Ok(match self.scripts.changed(agent) {
            Some(file) => {
                let error = format!(
                    "`{file}`, which `{}` runs, was changed in this run",
                    id.agent
                );
                let hint = "read the changed file; a new run accepts it".to_owned();
                Prepared::Refused(call, call::failed(error, Some(hint)))
            }
            None => Prepared::Call(call),
        })
    }

    fn effect(&mut self, effect: &ReviewEffect) -> Result<Option<Pending<ReviewInput>>, RunError> {
        match effect {
            ReviewEffect::Verify { round } => return self.verify(*round).map(Some),
            ReviewEffect::Demonstrate(tested) => return self.demonstrate(*tested),
            ReviewEffect::Undemonstrated => {
                let findings = demonstrations::undemonstrated(&self.state);
                self.append(ReviewEvent::Undemonstrated { findings })?;
            }
            ReviewEffect::Merge { round } => self.merge(*round)?,
            ReviewEffect::Recognise { round } => self.recognise(*round)?,
            ReviewEffect::DebateRound {
                round,
                debate_round,
            } => {
                self.append(self.state.debate_round(*round, *debate_round))?;
            }
            ReviewEffect::Conclude { round } => self.conclude(*round)?,
            ReviewEffect::Keep => {
                let kept = self
                    .resources
                    .workspace
                    .keep(&self.resources.run, &self.resources.state_dir)?;
                self.append(ReviewEvent::BeforeImage {
                    kept_as: kept.kept_as,
                    tree: kept.tree.0,
                })?;
            }
            ReviewEffect::RecordTree(call) => {
                let event = self
                    .trees()
                    .record(&self.state, call, &self.resources.run)?;
                self.append(event)?;
            }
            ReviewEffect::OpenDisputes => self.open_disputes()?,
            ReviewEffect::CarryOn => self.carry_on()?,
            ReviewEffect::Send(dispute) => {
                self.append(schedule::disputes::sent(&self.state, *dispute))?
            }
            ReviewEffect::Rule(dispute) => self.rule(*dispute)?,
            ReviewEffect::Settle(disputes) => {
                let settled = disputes.iter().filter_map(|dispute| {
                    Some(EventKind::from(DisputeEvent::DisputeSettled {
                        dispute: *dispute,
                        settlement: schedule::disputes::settlement(&self.state, *dispute)?,
                    }))
                });
                let settled: Vec<EventKind> = settled.collect();
                self.append_all(settled)?;
            }
            ReviewEffect::Reply(dispute) => {
                self.append_all(schedule::disputes::replied(&self.state, *dispute))?;
            }
            ReviewEffect::NextRound { round } => self.next_round(*round)?,
        }
        Ok(None)
    }

    fn prompt(&mut self, question: &DisputeQuestion) -> Option<Pending<ReviewInput>> {
        self.ask_person(*question)
    }

    fn take(&mut self, input: ReviewInput, is_stopped: bool) -> Result<bool, RunError> {
        match input {
            ReviewInput::Chosen {
                dispute,
                choice,
                resolver,
            } => {
                self.resolver = Some(resolver);
                let Some(Choice {
                    route,
                    by_person,
                    for_all,
                }) = choice
                else {
                    return Ok(true);
                };
                let person = by_person.then(|| self.resources.workspace.person());
                let chosen = self
                    .state
                    .undecided()
                    .filter(|number| for_all || *number == dispute);
                let events: Vec<EventKind> = chosen
                    .flat_map(|dispute| {
                        let state = &self.state;
                        let why = undiscarded(state, dispute, route, person.as_ref());
                        let chosen = routed(state, dispute, route, person.clone());
                        why.map(EventKind::notice).into_iter().chain([chosen])
                    })
                    .collect();
                self.append_all(events)?;
            }
            ReviewInput::Ruled {
                dispute,
                ruling,
                resolver,
            } => {
                self.resolver = Some(resolver);
                match ruling {
                    PersonAnswer::Stopped => return Ok(true),
                    PersonAnswer::LeftOpen => drop(self.parked.insert(dispute)),
                    PersonAnswer::Nobody => {
                        let asked = self.next().into_iter().filter_map(|step| match step {
                            Step::Prompt(DisputeQuestion::Ruling(number)) => Some(number),
                            _ => None,
                        });
                        self.parked.extend(asked.collect::<Vec<_>>());
                    }
                    PersonAnswer::Given((PersonDecision::Answer, answer)) => {
                        let answered = Box::new(AnsweredObjection {
                            answer: answer.into(),
                            by: self.resources.workspace.person(),
                            reply: None,
                        });
                        self.append(DisputeEvent::ObjectionAnswered { dispute, answered })?;
                    }
                    PersonAnswer::Given((PersonDecision::Rule(word), reason)) => {
                        let rationale = Untrusted::from(reason);
                        let disputed = self.state.disputes.get(&dispute);
                        let file = disputed.and_then(|known| known.finding.raw.file.as_deref());
                        let cited = cited::in_reason(
                            &rationale,
                            file.unwrap_or_default(),
                            &self.resources.workspace,
                        );
                        let ruling = Ruling {
                            rationale,
                            ..Ruling::bare(word)
                        };
                        let ruling = RulingRecord {
                            cited,
                            ..RulingRecord::new(
                                ruling,
                                Ruler::Human(self.resources.workspace.person()),
                            )
                        };
                        self.append(DisputeEvent::RulingGiven { dispute, ruling })?;
                    }
                }
            }
            ReviewInput::Demonstrated(Some((run, copy))) => {
                self.tested = Some(copy);
                self.append(ReviewEvent::DemonstrationRan(*run))?;
            }
            ReviewInput::Demonstrated(None) => {}
            ReviewInput::Verified(results) => {
                // A stopped command says nothing about the code.
                if !is_stopped {
                    let results = results.into_iter().map(ReviewEvent::Verified);
                    self.append_all(results.map(EventKind::from))?;
                }
            }
        }
        Ok(false)
    }

    fn finish(&mut self) -> Result<(), RunError> {
        let mut exit = outcome::exit(&self.state, &self.resources.settings.review);
        let mut events = Vec::new();
        if let Some(restaged) = self.trees().restage(&self.state)? {
            if !restaged.left.is_empty() {
                exit = exit.strongest(ExitReason::FindingsOpen);
            }
            events = coder_changes::restage_notices(&self.state, &restaged);
        }
        events.push(
            RunEvent::RunEnded {
                exit,
                millis: self.resources.millis(),
            }
            .into(),
        );
        self.append_all(events)
    }

    fn elsewhere(&self, kind: &EventKind) -> Vec<(RunId, EventKind)> {
        let EventKind::Dispute(DisputeEvent::DisputeSettled {
            dispute: number, ..
        }) = kind
        else {
            return Vec::new();
        };
        let Some((run, before)) = self.state.carried.get(number) else {
            return Vec::new();
        };
        let Some(dispute) = self.state.disputes.get(number) else {
            return Vec::new();
        };
        let person = self.state.chosen.get(number);
        let route = dispute.route.map(|route| DisputeEvent::RouteChosen {
            dispute: *number,
            route,
            person: person.cloned(),
        });
        let rulings = dispute.rulings.iter().skip(*before).cloned();
        let rulings = rulings.map(|ruling| DisputeEvent::RulingGiven {
            dispute: *number,
            ruling,
        });
        let events = route.into_iter().chain(rulings).map(EventKind::Dispute);
        events
            .chain([kind.clone()])
            .map(|kind| (run.clone(), kind))
            .collect()
    }

    fn call_ended(
        &mut self,
        call: CallId,
        outcome: CallOutcome<CallAnswer>,
        observation: Option<Observation>,
        is_stopped: bool,
    ) -> Result<(), RunError> {
        // The coder's changes are recorded even if the call failed, so that the changes can be undone.
        let recorded = match call.purpose.is_coder() {
            true => self
                .resources
                .workspace
                .after_coder_call(&self.resources.run, &self.resources.state_dir),
            false => Ok(()),
        };
        let mut found = self.resources.changes(&call, &outcome, observation)?;
        found.stale.retain(|file| self.state.covers(file));
        let mut events = RunResources::ended(call.clone(), outcome, &found, is_stopped);
        events
            .iter_mut()
            .for_each(|event| self.ask_for_places(event));
        let finished = events.iter().find_map(|event| match event {
            EventKind::Run(RunEvent::CallFinished { answer, told, .. }) => {
                Some((answer, told.by.as_ref()))
            }
            _ => None,
        });
        let kept = finished.and_then(|(answer, by)| {
            pairs::kept(&self.state, &call, by.unwrap_or(&call.agent), answer)
        });
        // An answer of a backup is not recorded for reuse, because the answer does not come from the reviewer.
        let is_own = finished.is_some_and(|(_, by)| by.is_none());
        self.append_all(events.into_iter().chain(kept))?;
        recorded?;
        if is_own {
            let reviewed = self.archive().record(
                &self.state,
                &self.sources,
                &self.bindings,
                &call,
                &found.stale,
            );
            self.append_all(reviewed)?;
        }
        Ok(())
    }

    fn scope(&mut self) -> Span {
        let now = self.state.round();
        if self.round.as_ref().is_none_or(|(round, _)| *round != now) {
            self.round = Some((
                now,
                info_span!(parent: &self.resources.span, "round", n = now),
            ));
        }
        self.round
            .as_ref()
            .map_or_else(Span::none, |(_, span)| span.clone())
    }

    fn stopping(&mut self) -> Result<(), RunError> {
        if let Some(round) = self.state.debate_at_work() {
            self.append(ReviewEvent::DebateShutdown {
                messages: debate::shutdown(round),
            })?;
        }
        Ok(())
    }
}

impl ReviewWorkflow {
    /// Mandatory findings at places that do not exist are a question to their reviewer. An embedded reviewer would
    /// give the same answer again.
    fn ask_for_places(&self, event: &mut EventKind) {
        let EventKind::Run(RunEvent::CallFinished {
            call,
            answer:
                CallAnswer::Review {
                    status,
                    findings,
                    problem,
                    is_doubtful,
                    ..
                },
            ..
        }) = event
        else {
            return;
        };
        let agent = self.state.agent(&call.agent);
        if !status.is_complete() || agent.is_some_and(Agent::is_embedded) {
            return;
        }
        let misplaced = self
            .requests(&self.bindings)
            .misplaced(call, findings)
            .len();
        if misplaced > 0 {
            *is_doubtful = true;
            problem.get_or_insert_with(|| {
                let verb = if misplaced == 1 { "names" } else { "name" };
                let findings = number_of(misplaced, "finding");
                format!("{findings} {verb} a place that does not exist")
            });
        }
    }

    /// Keeps the files of a round, for the agents that work at the base of the change, too.
    pub(crate) fn keep(&mut self, round: u32, files: Vec<SourceFile>) -> Result<(), RunError> {
        let kept = self.resources.agents.keep_change(&files);
        kept.map_err(RunError::Sources)?;
        self.sources.keep(round, files)
    }

    pub(crate) async fn run(&mut self) -> Result<Rest, RunError> {
        let span = self.resources.span.clone();
        runner::drive(self).instrument(span).await
    }

    pub(crate) async fn joined(&mut self, plan: &Plan) -> Result<Vec<Vec<Coverage>>, RunError> {
        let settings = &self.resources.settings;
        if settings.review.reuse == ReuseMode::Off {
            return Ok(plan.shards.clone());
        }
        let max = shard_limit(settings);
        self.reviewer_keys = self.keys(plan).await?;
        Ok(self
            .archive()
            .joined(plan, &self.sources, &self.bindings, max)?)
    }

    pub(crate) async fn reuse(&mut self) -> Result<(), RunError> {
        let Some(plan) = &self.state.plan else {
            return Ok(());
        };
        self.reviewer_keys = self.keys(plan).await?;
        let is_off = self.resources.settings.review.reuse == ReuseMode::Off;
        if is_off || self.state.round() > 1 {
            return Ok(());
        }
        let known = self
            .archive()
            .reuse(&self.state, &self.sources, &self.bindings)?;
        self.append_all(known)
    }

    async fn keys(&self, plan: &Plan) -> Result<ReviewerKeys, PromptError> {
        reuse::reviewer_keys(
            &self.resources.agents,
            &self.resources.settings,
            plan,
            self.resources.workspace.root(),
            &self.resources.templates,
            &self.sources.guidelines,
        )
        .await
    }

    fn archive(&self) -> Archive<'_> {
        Archive {
            journal: &self.resources.journal,
            workspace: &self.resources.workspace,
            keys: &self.reviewer_keys,
            redaction: self.resources.redaction(),
            now: Some(&self.resources.run),
        }
    }

    pub(crate) fn trees(&self) -> Trees<'_> {
        Trees {
            workspace: &self.resources.workspace,
            state_dir: &self.resources.state_dir,
        }
    }

    fn requests<'a>(&'a self, bindings: &'a [Binding]) -> RequestBuilder<'a> {
        RequestBuilder {
            state: &self.state,
            sources: &self.sources,
            trees: self.trees(),
            bindings,
        }
    }

    fn policy(&self) -> SchedulePolicy {
        let review = &self.resources.settings.review;
        SchedulePolicy {
            mode: self.state.mode(),
            recheck: review.recheck,
            // Without a comparison, findings that may be the same stay side by side, so a run does not wait for a
            // larger budget.
            compare: review.compare == Compare::Auto
                && !budget::is_used_up(
                    &self.resources.settings,
                    &self.state.spent,
                    &self.resources.by_runs,
                ),
            rounds: if self.state.fixing.is_some() {
                0
            } else {
                review.rounds
            },
            verify: review.verify.len(),
            repairs: schedule::REPAIRS,
            escalate_to: review.judge.escalate_to.into(),
        }
    }

    pub(crate) fn exit(&self) -> ExitReason {
        self.state.ended.map_or_else(
            || outcome::exit(&self.state, &self.resources.settings.review),
            |(exit, _)| exit,
        )
    }
}
