//! `glee runs replay`: a recorded run is decided again, under its own rules or others, and nobody is asked.

use serde_json::Value;

use crate::cli::commands::history::runs::lookup;
use crate::cli::context::globals::{Globals, say};
use crate::cli::context::words::{FORMATS, POLICIES, one_of};
use crate::cli::context::{execute, place};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::Format;
use crate::cli::ui::stream;
use crate::config::schema::renamed;
use crate::config::settings::Settings;
use crate::config::{self, ConfigSources};
use crate::domain::RunId;
use crate::domain::event::{EventKind, Plan, ReviewEvent};
use crate::history::store::Journal;
use crate::protocol::text::printable;
use crate::rules::consensus::claim::Policy;
use crate::workflows::review;

/// Arguments of `glee runs replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Takes what agents and people said in the run and decides anew what follows from it: what is merged, what is mandatory,
what is a dispute and how it ends. Without options the rules are those of the run. The report says what would be
decided otherwise; an answer that was never given is not made up, and the exit code is 4 where one is missing.

Examples:
  glee runs replay last --policy specification
  glee runs replay 5f3a91c2 --set review.issues.mandatory='[HIGH, MEDIUM]'
  glee runs replay --set review.on_dispute.default=discard --format json")]
pub(crate) struct Args {
    /// A run: its id, the first or last digits of it, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    run: String,
    /// How findings of several reviewers become one answer [default: as in the run]
    #[arg(long, value_parser = one_of(POLICIES), value_name = "POLICY")]
    policy: Option<Policy>,
    /// Another value for a setting of the run; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The form of the report
    #[arg(long, value_parser = one_of(FORMATS), value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let format = args.format;
    if format == Format::Jsonl {
        return Err(CommandError::usage("a replay has no events of its own")
            .hint("`--format json` gives its outcome, `glee runs show --format jsonl` the events of the run"));
    }
    let changed = changed(args)?;
    let workspace = place::workspace(globals)?;
    let (journal, run) = lookup::find(globals, &workspace, &args.run)?;
    lookup::refuse_pruned(&journal, &run)?;
    let plan = plan(&journal, &run)?;
    let mut values = Settings::of_record(&plan.settings).recorded();
    for (key, value) in changed {
        let today = renamed::today(&key);
        if let Some(today) = today {
            say(globals, &renamed::notice(&key, today));
        }
        values.insert(today.map_or(key, str::to_owned), value);
    }
    let flags = values.into_iter().collect();
    let settings = config::load(&ConfigSources { flags, ..ConfigSources::default() })?.settings;
    let replayed = review::replay(&workspace, &place::state_dir()?, &journal, &run, &settings)?;
    execute::report(globals, format, &replayed.outcome, &replayed.reviewed, "glee review --fix")?;
    let run = run.short();
    stream::err(&match replayed.differences.as_slice() {
        [] => {
            format!("Run {run} decided again: nothing else comes of it. Nobody was asked, nothing was changed.\n")
        }
        lines => {
            let lines: String = lines.iter().map(|line| format!("  {}\n", printable::line(line))).collect();
            format!(
                "Run {run} decided again, otherwise than it was:\n{lines}Nobody was asked, nothing was changed.\n"
            )
        }
    });
    Ok(replayed.outcome.exit)
}

/// The settings that the command line changes.
fn changed(args: &Args) -> Result<Vec<(String, Value)>, CommandError> {
    let mut changed = Vec::new();
    if let Some(policy) = args.policy {
        changed.push(("review.consensus.policy".to_owned(), policy.as_str().into()));
    }
    for given in &args.set {
        let Some((key, value)) = given.split_once('=') else {
            let message = format!("`{}` is not of the form KEY=VALUE", printable::line(given));
            return Err(CommandError::usage(message).hint("for example `--set review.recheck=false`"));
        };
        if key.starts_with("agents.") {
            return Err(CommandError::usage("who took part in a run cannot be changed afterwards")
                .hint("start a new run with `glee review`"));
        }
        changed.push((key.to_owned(), config::typed(key, value)?));
    }
    Ok(changed)
}

fn plan(journal: &Journal, run: &RunId) -> Result<Plan, CommandError> {
    let events = journal.events(run)?;
    let plan = events.into_iter().find_map(|event| match event.kind {
        EventKind::Review(ReviewEvent::RunStarted { plan }) => Some(*plan),
        _ => None,
    });
    plan.ok_or_else(|| {
        CommandError::usage(format!("run {} was never started", run.short())).hint("`glee runs` lists the runs")
    })
}
