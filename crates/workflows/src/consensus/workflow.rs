//! Implements stages and checkpoints as a [`Workflow`].

use std::collections::BTreeSet;

use tokio::task::spawn_blocking;
use tracing::{Instrument as _, info_span};

use crate::consensus::outcome::{self, StageOutcome};
use crate::consensus::requests;
use crate::consensus::schedule::{self, Asked, StageStep};
use crate::consensus::settle_error;
use crate::consensus::state::StageState;
use crate::run::budget;
use crate::run::error::RunError;
use crate::run::ports::{Deadlock, OpenQuestion, PersonAnswer, Prompter};
use crate::run::resources::RunResources;
use crate::run::runner;
use crate::run::workflow::{Pending, Prepared, Rest, Step, Workflow};
use glee_model::domain::event::{CallId, ConsensusEvent, Event, RunEvent};
use glee_model::domain::{Approach, Certainty, Decision, Settler, Spent};

pub(crate) struct ConsensusWorkflow {
    resources: RunResources,
    state: StageState,
    /// `person` is `None` if no person can be asked. While a person answers a question, the field `person` is also
    /// `None`, because the prompter is in use.
    person: Option<Box<dyn Prompter>>,
    has_person: bool,
    left_open: BTreeSet<Asked>,
}

pub(crate) struct Answered {
    word: Word,
    person: Box<dyn Prompter>,
}

enum Word {
    Decision(PersonAnswer<Approach>),
    Answer(OpenQuestion, PersonAnswer<String>),
}

impl ConsensusWorkflow {
    pub(super) fn new(
        resources: RunResources,
        state: StageState,
        person: Option<Box<dyn Prompter>>,
    ) -> Self {
        Self {
            resources,
            state,
            has_person: person.is_some(),
            person,
            left_open: BTreeSet::new(),
        }
    }

    pub(super) async fn run(mut self) -> Result<(StageOutcome, Rest), RunError> {
        let name = self.state.plan.as_ref().map(|plan| plan.stage.clone());
        let span = info_span!(parent: &self.resources.span, "stage", name);
        let rest = runner::drive(&mut self).instrument(span).await?;
        let outcome = outcome::outcome(&self.state, &self.resources.run, self.resources.millis());
        let mut outcome =
            outcome.ok_or_else(|| RunError::NotStarted(self.resources.run.clone()))?;
        if rest == Rest::OverBudget {
            let notices = budget::notices(
                &self.resources.settings,
                &self.state.spent,
                &self.resources.by_runs,
                "repeat the command",
            );
            outcome.notices.extend(notices);
        }
        Ok((outcome, rest))
    }
}

impl Workflow for ConsensusWorkflow {
    type Effect = ();
    type Question = Asked;
    type Input = Answered;

    fn resources(&self) -> &RunResources {
        &self.resources
    }

    fn resources_mut(&mut self) -> &mut RunResources {
        &mut self.resources
    }

    fn apply(&mut self, event: &Event) {
        self.state.apply(event);
    }

    fn spent(&self) -> &Spent {
        &self.state.spent
    }

    fn next(&self) -> Vec<StageStep> {
        let steps: Vec<StageStep> = schedule::next_steps(&self.state)
            .into_iter()
            .filter(|step| match step {
                Step::Prompt(asked) => self.has_person && !self.left_open.contains(asked),
                _ => true,
            })
            .collect();
        // If the run waits for a person's answer and no person can answer now, this process ends. A later
        // process can resume the run.
        if steps.is_empty() && self.state.ended.is_none() {
            vec![Step::Finish]
        } else {
            steps
        }
    }

    fn request(&mut self, call: &CallId) -> Result<Prepared, RunError> {
        let prepared = requests::request(&self.resources, &self.state, call)?;
        Ok(Prepared::Call(Box::new(prepared)))
    }

    fn effect(&mut self, (): &()) -> Result<Option<Pending<Answered>>, RunError> {
        Ok(None)
    }

    fn prompt(&mut self, asked: &Asked) -> Option<Pending<Answered>> {
        let asked = match asked {
            Asked::Decision => {
                let deadlock = Deadlock {
                    stage: self
                        .state
                        .plan
                        .as_ref()
                        .map(|plan| plan.stage.clone())
                        .unwrap_or_default(),
                    reason: self.state.deadlock.clone().unwrap_or_default(),
                    conflicts: self.state.conflicts(),
                    positions: requests::positions(&self.state),
                    arbiter: self.state.arbitration().cloned(),
                };
                let mut person = self.person.take()?;
                spawn_blocking(move || Answered {
                    word: Word::Decision(person.decide(&deadlock)),
                    person,
                })
            }
            Asked::Question(id) => {
                let open = outcome::open_question(&self.state, id)?;
                let mut person = self.person.take()?;
                spawn_blocking(move || {
                    let answer = person.answer(&open);
                    Answered {
                        word: Word::Answer(open, answer),
                        person,
                    }
                })
            }
        };
        Some(Box::pin(async move {
            asked.await.expect("a dialog does not panic")
        }))
    }

    fn take(
        &mut self,
        Answered { word, person }: Answered,
        _is_stopped: bool,
    ) -> Result<bool, RunError> {
        self.person = Some(person);
        match word {
            Word::Decision(PersonAnswer::Stopped) | Word::Answer(_, PersonAnswer::Stopped) => {
                return Ok(true);
            }
            Word::Decision(PersonAnswer::LeftOpen | PersonAnswer::Nobody) => {
                self.left_open.insert(Asked::Decision);
            }
            Word::Answer(open, PersonAnswer::LeftOpen | PersonAnswer::Nobody) => {
                self.left_open.insert(Asked::Question(open.question.id));
            }
            Word::Decision(PersonAnswer::Given((decision, reason))) => {
                let decision = Decision {
                    decision,
                    rationale: reason.into(),
                    modifications: Vec::new(),
                    confidence: Certainty::High,
                };
                self.append(ConsensusEvent::StageDecided {
                    decision,
                    by: Settler::Human,
                })?;
            }
            Word::Answer(OpenQuestion { question, .. }, PersonAnswer::Given((value, reason))) => {
                match settle_error::by_person(&question, &value, reason) {
                    Ok(resolution) => {
                        self.append(ConsensusEvent::QuestionResolved { resolution })?
                    }
                    Err(_) => drop(self.left_open.insert(Asked::Question(question.id))),
                }
            }
        }
        Ok(false)
    }

    fn finish(&mut self) -> Result<(), RunError> {
        self.append(RunEvent::RunEnded {
            exit: outcome::exit(&self.state),
            millis: self.resources.millis(),
        })
    }
}
