//! The loop that all workflows share. The loop runs the steps of a workflow concurrently and records the results.
//!
//! The runner makes the calls, enforces the limits of the run, handles interruptions and records the events. Each
//! event is written to the disk before anything acts on the event, so a run that was killed can be resumed. Calls that
//! begin or end at the same time share one write.

use futures_util::FutureExt as _;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tracing::{Instrument as _, info_span};

use crate::run::budget::{self, Place};
use crate::run::call::Made;
use crate::run::error::RunError;
use crate::run::resources::RunResources;
use crate::run::workflow::{Pending, Prepared, Rest, Step, Workflow};
use crate::run::write_guard::Observation;
use glee_agents::CallOutcome;
use glee_model::domain::AgentName;
use glee_model::domain::event::{CallAnswer, CallId, Purpose, RunEvent};
use glee_store::history::JournalError;

type StepOf<W> = Step<<W as Workflow>::Effect, <W as Workflow>::Question>;

/// A step under way, and its result.
type Working<W> = Pending<(StepOf<W>, Done<<W as Workflow>::Input>)>;

enum Done<I> {
    Call(CallId, Box<CallOutcome<CallAnswer>>, Option<Observation>),
    Input(I),
}

/// Runs the steps of a workflow until the run ends or has to wait.
pub async fn drive<W: Workflow>(workflow: &mut W) -> Result<Rest, RunError> {
    let mut running = Vec::new();
    let mut work = FuturesUnordered::new();
    let rest = run_steps(workflow, &mut running, &mut work).await;
    if matches!(&rest, Err(RunError::Journal(JournalError::Log(error))) if error.is_passing()) {
        // The agents at work are paid for. The journal keeps their answers until the server is back.
        while let Some((_, done)) = work.next().await {
            if let Done::Call(call, outcome, observation) = done {
                let is_stopped = workflow.resources().stop.is_stopped();
                drop(workflow.call_ended(call, *outcome, observation, is_stopped));
            }
        }
    }
    // Calls that had ended before an error are kept.
    let committed = workflow.resources_mut().commit();
    rest.and_then(|rest| committed.map(|()| rest))
}

async fn run_steps<W: Workflow>(
    workflow: &mut W,
    running: &mut Vec<StepOf<W>>,
    work: &mut FuturesUnordered<Working<W>>,
) -> Result<Rest, RunError> {
    let stop = workflow.resources().stop.clone();
    let mut is_stopped = false;
    let unread = workflow.resources_mut().count_runs()?;
    if unread > 0 {
        workflow.notice(format!(
            "`budget.month_usd` leaves out {unread} of your histories, which cannot be read"
        ))?;
    }
    loop {
        // A step that finished immediately can make other steps due, so the due steps are computed again.
        let mut again = !is_stopped;
        let mut is_held_back = false;
        let mut memory = workflow.resources().available_memory();
        while std::mem::take(&mut again) {
            is_held_back = false;
            for step in workflow.next() {
                if running.iter().any(|other| is_same(other, &step)) {
                    continue;
                }
                match step {
                    Step::Ask(_) => workflow.resources_mut().journal.begin()?,
                    _ => workflow.resources_mut().commit()?,
                }
                let started = match &step {
                    Step::Ask(call) => match place(workflow, call, running, &mut memory) {
                        Place::Free => {
                            begin_call(workflow, call)?.map(|made| -> Pending<Done<W::Input>> {
                                let call = call.clone();
                                Box::pin(async move {
                                    let (outcome, observation) = made.await;
                                    Done::Call(call, Box::new(outcome), observation)
                                })
                            })
                        }
                        Place::Full => continue,
                        Place::OverBudget => match workflow.over_budget() {
                            Some(answer) => {
                                workflow.call_ended(
                                    call.clone(),
                                    CallOutcome::from(answer),
                                    None,
                                    false,
                                )?;
                                None
                            }
                            None => {
                                is_held_back = true;
                                continue;
                            }
                        },
                    },
                    Step::Record(event) => {
                        workflow.append((**event).clone())?;
                        None
                    }
                    Step::Effect(effect) => workflow.effect(effect)?.map(input),
                    Step::Prompt(question) => match workflow.prompt(question) {
                        Some(answer) => Some(input(answer)),
                        None => continue,
                    },
                    Step::Finish if running.is_empty() && !again => {
                        workflow.finish()?;
                        return Ok(Rest::Ended);
                    }
                    Step::Finish => continue,
                };
                match started {
                    Some(future) => {
                        running.push(step.clone());
                        work.push(Box::pin(async move { (step, future.await) }));
                    }
                    None => again = true,
                }
            }
        }
        // A stopped run does not wait for a person's answer to an open question.
        let is_idle = running
            .iter()
            .all(|step| is_stopped && matches!(step, Step::Prompt(_)));
        if is_idle && !workflow.expects_input() {
            return Ok(match (is_stopped, is_held_back) {
                (true, _) => Rest::Stopped,
                (false, true) => Rest::OverBudget,
                (false, false) => Rest::Ended,
            });
        }
        workflow.resources_mut().commit()?;
        workflow.waiting();
        let mut ended = Vec::new();
        let mut input = None;
        tokio::select! {
            biased;
            Some(first) = work.next(), if !work.is_empty() => ended.push(first),
            () = stop.stopped(), if !is_stopped => {}
            given = workflow.input() => input = Some(given),
        };
        while let Some(Some(other)) = work.next().now_or_never() {
            ended.push(other);
        }
        // If a stop ends a call, the result of the call can arrive before this loop is notified of the stop.
        if !is_stopped && stop.is_stopped() {
            is_stopped = true;
            workflow.stopping()?;
        }
        let mut ended = ended.into_iter();
        while let Some((step, done)) = ended.next() {
            if let Err(error) = take(workflow, running, &step, done, &mut is_stopped) {
                // Nothing that ended is forgotten because of the error.
                work.extend(ended.map(|done| -> Working<W> { Box::pin(std::future::ready(done)) }));
                return Err(error);
            }
        }
        if let Some(given) = input {
            workflow.resources_mut().commit()?;
            is_stopped |= workflow.take(given, is_stopped)?;
        }
    }
}

/// Records the result of a step.
fn take<W: Workflow>(
    workflow: &mut W,
    running: &mut Vec<StepOf<W>>,
    step: &StepOf<W>,
    done: Done<W::Input>,
    is_stopped: &mut bool,
) -> Result<(), RunError> {
    match done {
        Done::Call(call, outcome, observation) => {
            let calls = calls_of(&call.agent, running);
            let resources = workflow.resources_mut();
            resources.pace.ended(&call.agent, &outcome, calls);
            if let Some(transcript) = &outcome.transcript {
                let asked = outcome.metadata.by.as_ref().unwrap_or(&call.agent);
                let program = resources.program(asked);
                resources.memory.ended(program, transcript.peak_memory);
            }
            resources.journal.begin()?;
            running.retain(|other| other != step);
            workflow.call_ended(call, *outcome, observation, *is_stopped)?;
            let before = workflow.resources().by_runs;
            workflow.resources_mut().count_runs()?;
            let resources = workflow.resources();
            let caps = resources.settings.budget.caps();
            if let Some(text) = budget::level_notice(&caps, &before, &resources.by_runs) {
                workflow.notice(text)?;
            }
        }
        Done::Input(given) => {
            running.retain(|other| other != step);
            workflow.resources_mut().commit()?;
            *is_stopped |= workflow.take(given, *is_stopped)?;
        }
    }
    Ok(())
}

/// Begins a call. If the workflow already has an answer, records the answer without a call and returns `None`.
fn begin_call<W: Workflow>(
    workflow: &mut W,
    id: &CallId,
) -> Result<Option<Pending<Made>>, RunError> {
    let (mut call, refusal) = match workflow.request(id)? {
        Prepared::Call(call) => (*call, None),
        Prepared::Refused(call, refusal) => (*call, Some(refusal)),
        Prepared::Answered(answer) => {
            workflow.call_ended(id.clone(), CallOutcome::from(answer), None, false)?;
            return Ok(None);
        }
    };
    call.limits = budget::limits(&workflow.resources().settings, workflow.spent());
    let file_stem = id.file_stem();
    let agent = call.agent.name.0.as_str();
    let span = info_span!(parent: &workflow.scope(), "call", id = file_stem, agent);
    workflow.append(RunEvent::CallStarted {
        call: id.clone(),
        role: call.request.task.role(),
        prompt_bytes: call.prompt.len() as u64,
        nonce: call.request.nonce.clone(),
    })?;
    if let Some(refusal) = refusal {
        return Ok(Some(Box::pin(std::future::ready((
            CallOutcome::from(refusal),
            None,
        )))));
    }
    let mut check = None;
    if workflow.is_guarded() {
        let RunResources {
            guard, workspace, ..
        } = workflow.resources_mut();
        check = Some(guard.begin(workspace, id)?);
    }
    Ok(Some(Box::pin(
        workflow.make(id, call, check).instrument(span),
    )))
}

/// Whether a call can begin now. Calls with the purpose `Work` do not count towards the limit on concurrent
/// calls.
fn place<W: Workflow>(
    workflow: &mut W,
    call: &CallId,
    running: &[StepOf<W>],
    memory: &mut Option<u64>,
) -> Place {
    let takes_place =
        |step: &&Step<_, _>| matches!(step, Step::Ask(call) if call.purpose != Purpose::Work);
    if !workflow
        .resources()
        .pace
        .allows(&call.agent, calls_of(&call.agent, running))
    {
        return Place::Full;
    }
    let running = running.iter().filter(takes_place).count();
    let RunResources {
        settings, by_runs, ..
    } = workflow.resources();
    let place = budget::place(settings, workflow.spent(), by_runs, call, running);
    let resources = workflow.resources_mut();
    let program = resources.program(&call.agent);
    match place {
        Place::Free if !resources.memory.admits(&program, running, memory) => Place::Full,
        place => place,
    }
}

fn calls_of<E, Q>(agent: &AgentName, running: &[Step<E, Q>]) -> usize {
    running
        .iter()
        .filter(|step| matches!(step, Step::Ask(call) if call.agent == *agent))
        .count()
}

/// Whether a step is running already. A question can be part of a call that asks several.
fn is_same<E: PartialEq, Q: PartialEq>(running: &Step<E, Q>, step: &Step<E, Q>) -> bool {
    match (running, step) {
        (Step::Ask(running), Step::Ask(call)) => running.overlaps(call),
        _ => running == step,
    }
}

fn input<I: 'static>(pending: Pending<I>) -> Pending<Done<I>> {
    Box::pin(async move { Done::Input(pending.await) })
}
