//! `glee consensus run`: executes the stages and checkpoints of a pipeline in order.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::commands::work::gate;
use crate::cli::context::{
    CommandError, CommandResult, Globals, ReportFormat, StageContext, names,
};
use glee_model::domain::{ExitReason, Role, StagePlan, Untrusted};
use glee_store::config::files::stages::{self as files, Gate, PipelineStep, Stage};
use glee_workflows::consensus::{self, Asking, NextStep, StageOutcome};

/// Run a pipeline, and skip the stages and checkpoints that an earlier run settled
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The pipeline file, which has the keys `prompt` and `stages`
    #[arg(value_name = "PIPELINE")]
    pipeline: PathBuf,
    /// The name under which Glee records the pipeline (the same name resumes an interrupted pipeline)
    #[arg(long, value_name = "ID")]
    id: String,
    /// The request that replaces the pipeline's `prompt` (`-`: standard input)
    #[arg(long, value_name = "PROMPT")]
    prompt: Option<String>,
    /// Ask these agents instead of the agents that are listed in the stages
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    agents: Vec<String>,
    #[command(flatten)]
    report: ReportFormat,
}

enum Step {
    Stage(Stage),
    Gate(Gate, PathBuf),
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    files::name(&args.id)?;
    let path = globals.directory().join(&args.pipeline);
    let pipeline = files::pipeline(&path)?;
    let prompt = match (&args.prompt, &pipeline.prompt) {
        (Some(prompt), _) => super::ask::prompt(Some(prompt), None, globals)?,
        (None, Some(prompt)) => prompt.clone(),
        (None, None) => {
            return Err(CommandError::usage("the request is empty")
                .hint("add `prompt:` to the pipeline file, or use `--prompt`"));
        }
    };
    let context = StageContext::new(globals, args.report.format)?;
    let steps = steps(
        &context,
        &pipeline.stages,
        path.parent().unwrap_or(Path::new(".")),
    )?;
    let agents = names::full_of_any_role(&context.settings.agents, &args.agents, Role::Reviewer)?;
    let mut pipeline = Pipeline {
        context: &context,
        args,
        agents,
        prompt,
        input: None,
        resolved: Vec::new(),
    };
    let mut outcomes = Vec::new();
    let mut exit = ExitReason::Clean;
    // Glee plans all stages and checkpoints before the first call of an agent, so that a mistake in the pipeline
    // is found before a call causes costs.
    for step in &steps {
        pipeline.plan(step)?;
    }
    for step in &steps {
        let outcome = pipeline.step(step)?;
        if exit == ExitReason::Clean {
            exit = outcome.exit;
        }
        let goes_on = match &outcome.step {
            NextStep::Stage { advances, .. } => {
                pipeline.input = outcome
                    .synthesis_json()
                    .map(|value| value.to_string().into());
                *advances && matches!(outcome.exit, ExitReason::Clean | ExitReason::AgentFailed)
            }
            NextStep::Checkpoint {
                resolved: answers, ..
            } => {
                pipeline
                    .resolved
                    .push(json!({ "checkpoint": outcome.stage, "resolved": answers }));
                outcome.exit == ExitReason::Clean
            }
        };
        outcomes.push(outcome);
        if !goes_on {
            break;
        }
    }
    context.report(&outcomes)?;
    Ok(exit)
}

/// Returns the stages and checkpoints of a pipeline in the order of their execution. The checkpoints of a stage
/// come directly after the stage. Paths in a pipeline are relative to `folder`.
fn steps(
    context: &StageContext<'_>,
    steps: &[PipelineStep],
    folder: &Path,
) -> Result<Vec<Step>, CommandError> {
    let mut all = Vec::new();
    for step in steps {
        match step {
            PipelineStep::Gate(gate) => {
                all.push(Step::Gate(gate.clone(), folder.join(&gate.questions)))
            }
            PipelineStep::Stage(name) => {
                let stage = files::stage(&context.project, name)?;
                let folder = context.project.join(files::FOLDER);
                let gates = stage.gates.clone();
                all.push(Step::Stage(stage));
                all.extend(gates.into_iter().map(|gate| {
                    let questions = folder.join(&gate.questions);
                    Step::Gate(gate, questions)
                }));
            }
        }
    }
    Ok(all)
}

struct Pipeline<'a> {
    context: &'a StageContext<'a>,
    args: &'a Args,
    agents: Vec<String>,
    prompt: String,
    /// The synthesis of the previous stage.
    input: Option<Untrusted>,
    resolved: Vec<Value>,
}

impl Pipeline<'_> {
    fn plan(&self, step: &Step) -> Result<StagePlan, CommandError> {
        let context = self.context;
        let args = self.args;
        match step {
            Step::Gate(named, questions) => {
                gate::plan(context, &args.id, &named.gate, questions, &self.agents)
            }
            Step::Stage(stage) => {
                let resolved =
                    (!self.resolved.is_empty()).then(|| json!(self.resolved).to_string().into());
                let prompt = self.prompt.clone();
                let input = self.input.clone();
                let asking = Asking {
                    id: &args.id,
                    agents: &self.agents,
                    prompt,
                    input,
                    resolved,
                };
                Ok(consensus::stage(
                    &context.settings,
                    context.workspace.root(),
                    stage,
                    asking,
                )?)
            }
        }
    }

    /// If an earlier run already settled this stage or checkpoint with the same request, returns the recorded
    /// outcome of that run.
    fn step(&self, step: &Step) -> Result<StageOutcome, CommandError> {
        let plan = self.plan(step)?;
        let last = consensus::last(&self.context.journal()?, &plan.id, &plan.stage)?;
        let settled = last.filter(|last| {
            let goes_on = match &last.outcome.step {
                NextStep::Stage { advances, .. } => *advances,
                NextStep::Checkpoint { open, .. } => open.is_empty(),
            };
            goes_on && last.outcome.ended && last.asked_the_same(&plan, &self.context.settings)
        });
        match settled {
            Some(last) => {
                // Glee writes the files of the recorded outcome again, because the user possibly deleted these
                // files.
                self.context.write(&last.outcome)?;
                Ok(last.outcome)
            }
            None => self.context.ask(plan, false),
        }
    }
}
