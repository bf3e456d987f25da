//! Runs the steps that are due and records what comes of them.
//!
//! It owns the journal and the state; nothing else writes either.

use std::collections::BTreeSet;
use std::pin::Pin;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tracing::{Instrument as _, info_span};

use super::outcome;
use super::outcome::StageOutcome;
use super::state::StageState;
use crate::domain::event::{CallId, ConsensusEvent, EventKind, Part, Purpose, RunEvent};
use crate::domain::{AgentName, Certainty, Decision, Settler, StagePlan, Subject};
use crate::protocol::request::{StagePosition, StageSubject, Task};
use crate::rules::stages::checkpoint::{self, Tally};
use crate::workflows::consensus::schedule::{self, StageStep};
use crate::workflows::consensus::settle_error;
use crate::workflows::review::Rest;
use crate::workflows::run::call::{self, CallOutcome};
use crate::workflows::run::error::RunError;
use crate::workflows::run::ports::OpenQuestion;
use crate::workflows::run::ports::{Deadlock, PersonAnswer, Prompter};
use crate::workflows::run::runner::Runner;

pub(crate) struct ConsensusEngine {
    pub(crate) runner: Runner,
    pub(crate) state: StageState,
    pub(crate) person: Option<Box<dyn Prompter>>,
}

type Work = Pin<Box<dyn Future<Output = (CallId, CallOutcome)>>>;

impl ConsensusEngine {
    /// Runs until nothing can be done any more, and writes down what it came to.
    pub(crate) async fn rest(mut self) -> Result<(StageOutcome, Rest), RunError> {
        let span = info_span!(parent: &self.runner.span, "stage", name = self.state.plan.as_ref().map(|plan| &*plan.stage));
        let rest = self.run().instrument(span).await?;
        let millis = call::millis(self.runner.started);
        let outcome = outcome::outcome(&self.state, &self.runner.run, millis);
        let mut outcome = outcome.ok_or_else(|| RunError::NotStarted(self.runner.run.clone()))?;
        if rest == Rest::OverBudget {
            let then = "give the same command again";
            outcome.notices.extend(call::over_budget(&self.runner.settings, &self.state.spent, then));
        }
        Ok((outcome, rest))
    }

    async fn run(&mut self) -> Result<Rest, RunError> {
        let mut running: BTreeSet<CallId> = BTreeSet::new();
        let mut work: FuturesUnordered<Work> = FuturesUnordered::new();
        let mut left_open: BTreeSet<String> = BTreeSet::new();
        let mut stopped = false;
        let mut held_back = false;
        loop {
            if !stopped {
                held_back = false;
                // What follows from what is known may make other steps due at once.
                while self.follow()? {}
                for step in schedule::due(&self.state) {
                    match step {
                        StageStep::Ask(id) if running.contains(&id) => {}
                        StageStep::Ask(id)
                            if call::may_ask(&self.runner.settings, &self.state.spent, running.len()) =>
                        {
                            work.push(self.ask(&id)?);
                            running.insert(id);
                        }
                        StageStep::Ask(_) => held_back |= !call::is_full(&self.runner.settings, running.len()),
                        StageStep::Decide if running.is_empty() && left_open.insert(String::new()) => {
                            stopped |= self.decide().await?;
                        }
                        StageStep::Answer(question) if running.is_empty() && left_open.insert(question.clone()) => {
                            stopped |= self.answer(&question).await?;
                        }
                        StageStep::Decide | StageStep::Answer(_) | StageStep::Record(_) | StageStep::Finish => {}
                    }
                    if stopped {
                        break;
                    }
                }
                let again = schedule::due(&self.state);
                if !stopped && again.iter().any(|step| matches!(step, StageStep::Record(_) | StageStep::Finish)) {
                    if again == [StageStep::Finish] {
                        return self.finish();
                    }
                    continue;
                }
            }
            if work.is_empty() {
                return match (stopped, held_back) {
                    (true, _) => Ok(Rest::Stopped),
                    (false, true) => Ok(Rest::OverBudget),
                    // Only a person can go on.
                    (false, false) => self.finish(),
                };
            }
            let done = tokio::select! {
                done = work.next() => done,
                () = self.runner.stop.stopped(), if !stopped => None,
            };
            stopped |= self.runner.stop.is_stopped();
            if let Some((id, called)) = done {
                running.remove(&id);
                for event in self.runner.ended(id, called, stopped, |_| false)?.events {
                    self.append(event)?;
                }
            }
        }
    }

    /// Records what follows from what is known; says whether anything did.
    fn follow(&mut self) -> Result<bool, RunError> {
        match schedule::due(&self.state).into_iter().next() {
            Some(StageStep::Record(event)) => self.append(*event).map(|()| true),
            _ => Ok(false),
        }
    }

    fn finish(&mut self) -> Result<Rest, RunError> {
        let (exit, millis) = (outcome::exit(&self.state), call::millis(self.runner.started));
        self.append(RunEvent::RunEnded { exit, millis })?;
        Ok(Rest::Ended)
    }

    /// Records an event, takes it into the state, and tells the listeners.
    pub(crate) fn append(&mut self, kind: impl Into<EventKind>) -> Result<(), RunError> {
        let events = self.runner.record(vec![kind.into()], Vec::new())?;
        events.iter().for_each(|event| self.state.apply(event));
        self.runner.tell(&events);
        Ok(())
    }

    fn plan(&self) -> &StagePlan {
        self.state.plan.as_ref().expect("a step is due only where there is a plan")
    }

    fn ask(&mut self, id: &CallId) -> Result<Work, RunError> {
        let plan = self.plan();
        let agent = plan.all().find(|agent| agent.name == id.agent);
        let agent = agent.expect("a call that is due names an agent of the plan");
        let before = CallId { attempt: id.attempt.saturating_sub(1), ..id.clone() };
        let again = self.state.calls.get(&before).and_then(schedule::why_again);
        let (task, spent) = (self.task(id), &self.state.spent);
        let (started, mut call) = self.runner.call(id, agent, plan.backups.iter(), task, again, spent)?;
        self.append(started)?;
        call.lookout = Some(self.runner.watch.begin(&self.runner.workspace, id)?);
        let id = id.clone();
        Ok(Box::pin(async move { (id, call.make().await) }))
    }

    fn task(&self, id: &CallId) -> Task {
        let plan = self.plan();
        let Purpose::Stage { part } = &id.purpose else { unreachable!("only parts of a stage are due") };
        match (part, &plan.subject) {
            (Part::Position, Subject::Stage { input, resolved, .. }) => {
                Task::Stage { about: about(plan), input: input.clone(), resolved: resolved.clone() }
            }
            (Part::Aggregate, _) => {
                let positions = self.positions();
                let answered: BTreeSet<&AgentName> = positions.iter().map(|position| &position.agent).collect();
                let missing = plan.agents.iter().map(|agent| &agent.name).filter(|name| !answered.contains(name));
                Task::Aggregate { about: about(plan), missing: missing.cloned().collect(), positions }
            }
            (Part::Arbitrate, _) => Task::Arbitrate {
                about: about(plan),
                positions: self.positions(),
                aggregator: plan.aggregator.as_ref().map(|agent| agent.name.clone()).unwrap_or_else(|| "".into()),
                summary: self.state.synthesis().map(|synthesis| synthesis.summary.clone()).unwrap_or_default(),
                conflicts: self.state.verdict.iter().flat_map(|verdict| verdict.conflicts.clone()).collect(),
            },
            (Part::Validate { question }, _) => self.validate(plan, question),
            (Part::Questions | Part::Position, _) => Task::Questions {
                id: plan.id.clone(),
                checkpoint: plan.stage.clone(),
                questions: self.state.questions().to_vec(),
            },
        }
    }

    fn validate(&self, plan: &StagePlan, question: &str) -> Task {
        let asked = self.state.questions().iter().find(|asked| asked.id == question);
        let asked = asked.expect("a validator is asked about a question of the plan");
        match checkpoint::tally(asked, &self.state.answers(asked), plan.agents.len()) {
            Tally::Majority(majority, minority) => Task::Validate {
                id: plan.id.clone(),
                checkpoint: plan.stage.clone(),
                question: asked.clone(),
                majority,
                minority,
            },
            Tally::Unanimous(_) | Tally::Split(_) => unreachable!("only a majority is validated"),
        }
    }

    fn positions(&self) -> Vec<StagePosition> {
        let positions = self.state.positions().into_iter();
        positions
            .map(|(name, answer)| StagePosition { agent: name.clone(), content: answer.content.clone() })
            .collect()
    }

    /// Asks a person to end the deadlock. Says whether the run stops here.
    async fn decide(&mut self) -> Result<bool, RunError> {
        let Some(mut person) = self.person.take() else { return Ok(false) };
        let deadlock = Deadlock {
            stage: self.plan().stage.clone(),
            reason: self.state.deadlock.clone().unwrap_or_default(),
            conflicts: self.state.verdict.iter().flat_map(|verdict| verdict.conflicts.clone()).collect(),
            positions: self.positions(),
            arbiter: self.state.arbitration().cloned(),
        };
        let word = self.listen(move || (person.decide(&deadlock), person)).await;
        match word {
            PersonAnswer::Stopped => Ok(true),
            PersonAnswer::LeftOpen => Ok(false),
            PersonAnswer::Given((decision, reason)) => {
                let rationale = reason.into();
                let (modifications, confidence) = (Vec::new(), Certainty::High);
                let decision = Decision { decision, rationale, modifications, confidence };
                self.append(ConsensusEvent::StageDecided { decision, by: Settler::Human })?;
                Ok(false)
            }
        }
    }

    /// Asks a person a question. Says whether the run stops here.
    async fn answer(&mut self, id: &str) -> Result<bool, RunError> {
        let open = outcome::open_question(&self.state, id);
        let (Some(open), Some(mut person)) = (open, self.person.take()) else { return Ok(false) };
        let OpenQuestion { question, .. } = open.clone();
        let word = self.listen(move || (person.answer(&open), person)).await;
        match word {
            PersonAnswer::Stopped => Ok(true),
            PersonAnswer::LeftOpen => Ok(false),
            PersonAnswer::Given((value, reason)) => {
                if let Ok(resolution) = settle_error::by_person(&question, &value, reason) {
                    self.append(ConsensusEvent::QuestionResolved { resolution })?;
                }
                Ok(false)
            }
        }
    }

    /// Waits for what a person says, but not longer than the run goes on.
    async fn listen<T: Send + 'static>(
        &mut self,
        ask: impl FnOnce() -> (PersonAnswer<T>, Box<dyn Prompter>) + Send + 'static,
    ) -> PersonAnswer<T> {
        let asked = tokio::task::spawn_blocking(ask);
        tokio::select! {
            () = self.runner.stop.stopped() => PersonAnswer::Stopped,
            asked = asked => {
                let (word, person) = asked.expect("a dialog does not panic");
                self.person = Some(person);
                word
            }
        }
    }
}

fn about(plan: &StagePlan) -> StageSubject {
    let (instructions, prompt, required_fields) = match &plan.subject {
        Subject::Stage { instructions, prompt, required_fields, .. } => {
            (instructions.clone(), prompt.clone(), required_fields.clone())
        }
        Subject::Checkpoint { .. } => Default::default(),
    };
    StageSubject { id: plan.id.clone(), stage: plan.stage.clone(), instructions, prompt, required_fields }
}
