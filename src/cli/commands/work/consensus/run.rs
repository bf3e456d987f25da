//! `glee consensus run`: stages in order, with the checkpoints between.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::commands::work::gate;
use crate::cli::context::execute_stage::Table;
use crate::cli::context::globals::Globals;
use crate::cli::context::words::{FORMATS, one_of};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::Format;
use crate::config::files::stages as files;
use crate::config::files::stages::{Gate, PipelineStep, Stage};
use crate::domain::{ExitReason, StagePlan, Untrusted};
use crate::workflows::consensus::{self, Asking, NextStep as Came, StageOutcome};

/// Arguments of `glee consensus run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The pipeline: `prompt` and `stages`
    #[arg(value_name = "PIPELINE")]
    pipeline: PathBuf,
    /// What the work is called; the same again carries on where it stood
    #[arg(long, value_name = "ID")]
    id: String,
    /// What to ask, instead of the pipeline's own prompt; `-`: standard input
    #[arg(long, value_name = "PROMPT")]
    prompt: Option<String>,
    /// Ask these agents instead of those of the stages
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    agents: Vec<String>,
    /// The form of the report
    #[arg(long, value_parser = one_of(FORMATS), value_name = "FORMAT", default_value = "text")]
    format: Format,
}

enum Due {
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
            return Err(CommandError::usage("nothing is asked")
                .hint("give the pipeline a `prompt:`, or say it with `--prompt`"));
        }
    };
    let table = Table::new(globals, args.format)?;
    let steps = steps(&table, &pipeline.stages, path.parent().unwrap_or(Path::new(".")))?;
    let walk = Walk { table: &table, args, prompt };
    let mut outcomes = Vec::new();
    let mut exit = ExitReason::Clean;
    let (mut input, mut resolved): (Option<Untrusted>, Vec<Value>) = (None, Vec::new());
    // Everything that is missing is missing before anybody is asked.
    for step in &steps {
        walk.plan(step, None, &[])?;
    }
    for step in &steps {
        let outcome = walk.step(step, input.as_ref(), &resolved)?;
        if exit == ExitReason::Clean {
            exit = outcome.exit;
        }
        let goes_on = match &outcome.step {
            Came::Stage { advances, .. } => {
                input = outcome.synthesis_json().map(|value| value.to_string().into());
                *advances && matches!(outcome.exit, ExitReason::Clean | ExitReason::AgentFailed)
            }
            Came::Checkpoint { resolved: answers, .. } => {
                resolved.push(json!({ "checkpoint": outcome.stage, "resolved": answers }));
                outcome.exit == ExitReason::Clean
            }
        };
        outcomes.push(outcome);
        if !goes_on {
            break;
        }
    }
    table.report(&outcomes, false)?;
    Ok(exit)
}

/// All steps, with the checkpoints that stages name, each read before anything is asked.
fn steps(table: &Table<'_>, steps: &[PipelineStep], beside: &Path) -> Result<Vec<Due>, CommandError> {
    let mut all = Vec::new();
    for step in steps {
        match step {
            PipelineStep::Gate(gate) => all.push(Due::Gate(gate.clone(), beside.join(&gate.questions))),
            PipelineStep::Stage(name) => {
                let described = files::stage(&table.project, name)?;
                let folder = table.project.join(files::FOLDER);
                let gates: Vec<Due> = described
                    .gates
                    .iter()
                    .map(|gate| Due::Gate(gate.clone(), folder.join(&gate.questions)))
                    .collect();
                all.push(Due::Stage(described));
                all.extend(gates);
            }
        }
    }
    Ok(all)
}

struct Walk<'a> {
    table: &'a Table<'a>,
    args: &'a Args,
    prompt: String,
}

impl Walk<'_> {
    fn plan(&self, step: &Due, input: Option<&Untrusted>, resolved: &[Value]) -> Result<StagePlan, CommandError> {
        let (table, args) = (self.table, self.args);
        match step {
            Due::Gate(named, questions) => gate::plan(table, &args.id, &named.gate, questions, &args.agents),
            Due::Stage(described) => {
                let resolved = (!resolved.is_empty()).then(|| json!(resolved).to_string().into());
                let asking = Asking {
                    id: &args.id,
                    agents: &args.agents,
                    prompt: self.prompt.clone(),
                    input: input.cloned(),
                    resolved,
                };
                Ok(consensus::stage(&table.settings, table.workspace.root(), described, asking)?)
            }
        }
    }

    /// Does a step, unless the same was asked and settled before.
    fn step(
        &self,
        step: &Due,
        input: Option<&Untrusted>,
        resolved: &[Value],
    ) -> Result<StageOutcome, CommandError> {
        let plan = self.plan(step, input, resolved)?;
        let last = consensus::last(&self.table.journal()?, &plan.id, &plan.stage)?;
        let settled = last.filter(|last| {
            let goes_on = match &last.outcome.step {
                Came::Stage { advances, .. } => *advances,
                Came::Checkpoint { open, .. } => open.is_empty(),
            };
            goes_on && last.outcome.ended && last.asked_the_same(&plan, &self.table.settings)
        });
        match settled {
            Some(last) => {
                // The files may be gone.
                self.table.write(&last.outcome)?;
                Ok(last.outcome)
            }
            None => self.table.ask(plan, false),
        }
    }
}
