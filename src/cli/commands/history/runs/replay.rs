//! `glee runs replay`: computes the decisions of a recorded run again, by the same or by other rules, without
//! calling agents.

use serde_json::Value;

use crate::cli::commands::history::runs::lookup;
use crate::cli::context::{
    CommandError, CommandResult, Globals, POLICIES, ReportOutputs, RunArg, execute, one_of, place,
    stream,
};
use glee_model::rules::consensus::Policy;
use glee_protocol::text::printable;
use glee_store::config::settings::Settings;
use glee_store::config::{self, ConfigSources};
use glee_workflows::review;

/// Compute the decisions of a recorded run again, optionally by other rules, without calling agents
#[derive(clap::Args)]
#[command(after_help = "\
Glee repeats the decisions of the run with the recorded answers of agents and people: which findings are \
merged, mandatory or disputed, and how each dispute ends. Without options, Glee uses the recorded settings of \
the run. The report lists the differences between the replay and the run. If the record lacks the answer to a \
question, the exit code is 4.

Examples:
  glee runs replay last --policy specification
  glee runs replay 5f3a91c2 --set review.recheck=false
  glee runs replay --set review.on_dispute.default=discard --format json")]
pub(crate) struct Args {
    #[command(flatten)]
    run: RunArg,
    /// The rules by which findings of several reviewers are merged [default: the rules of the run]
    #[arg(long, value_parser = one_of(POLICIES), value_name = "POLICY")]
    policy: Option<Policy>,
    /// Replace the value of a setting of the run (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    report: ReportOutputs,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let outputs = args.report.check(globals)?;
    if let Some(format) = outputs.formats().find(|format| format.is_record()) {
        let hint = format!(
            "print the outcome of the replay with `--format json`, or the events of the run with `glee runs show \
             --format {}`",
            format.as_str()
        );
        return Err(CommandError::usage("a replay has no events to print").hint(hint));
    }
    let changed = changed(args)?;
    let (workspace, journal, run) = lookup::find(globals, &args.run.run)?;
    lookup::refuse_pruned(&journal, &run)?;
    let events = journal.events(&run)?;
    let plan = lookup::plan(&events, &run)?;
    let mut values = Settings::of_record(&plan.settings).recorded();
    values.extend(changed);
    let flags = values.into_iter().collect();
    let settings = config::load(&ConfigSources {
        flags,
        ..ConfigSources::default()
    })?
    .settings;
    let replayed = review::replay(&workspace, &place::state_dir()?, &journal, &run, &settings)?;
    let fix = execute::fix_command(globals, &plan);
    let outcome = &replayed.outcome;
    let reviewed = &replayed.reviewed;
    let report = execute::reports::RunReport {
        outcome,
        reviewed,
        events: &events,
        fix: &fix,
        only: &[],
        filter: None,
        was_asked: false,
    };
    report.write(globals, &outputs, workspace.root())?;
    let run = run.short();
    stream::err(match replayed.differences.as_slice() {
        [] => {
            format!(
                "Run {run} decided again, with the same result. No agent was called, nothing was changed.\n"
            )
        }
        lines => {
            let lines: String = lines
                .iter()
                .map(|line| format!("  {}\n", printable::line(line)))
                .collect();
            format!(
                "Run {run} decided again, with differences:\n{lines}No agent was called, nothing was changed.\n"
            )
        }
    });
    Ok(replayed.outcome.exit)
}

fn changed(args: &Args) -> Result<Vec<(String, Value)>, CommandError> {
    let mut changed = Vec::new();
    if let Some(policy) = args.policy {
        changed.push(("review.consensus.policy".to_owned(), policy.as_str().into()));
    }
    for given in &args.set {
        let Some((key, value)) = given.split_once('=') else {
            let message = format!("`{}` is not of the form KEY=VALUE", printable::line(given));
            return Err(CommandError::usage(message).hint(
                "give a key and a value, for example `--set \
                                                          review.recheck=false`",
            ));
        };
        if key.starts_with("agents.") {
            return Err(
                CommandError::usage("the agents of a recorded run cannot be changed")
                    .hint("start a new run with `glee review`"),
            );
        }
        changed.push((key.to_owned(), config::typed(key, value)?));
    }
    Ok(changed)
}
