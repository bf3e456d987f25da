//! `glee stats`: prints measures of reviewers, judges, models and categories from the whole history.

mod audit;
mod deadlocks;
mod table;
mod text;

use std::cmp::Reverse;
use std::path::PathBuf;

use clap::ValueEnum;
use jiff::civil::Date;

use crate::cli::commands::history::disputes::common;
use crate::cli::context::{
    CommandResult, Globals, JsonFlag, Viewer, history, pretty, print, server,
};
use crate::cli::report::Format;
use crate::cli::report::html;
use crate::cli::report::outputs::{self, Outputs, ReportOutput};
use glee_model::domain::{CallGroup, ExitReason, TallyKind};
use glee_model::rules::measures::{Measures, PairAgreement, ReviewStatistics};
use glee_store::history::queries::measures::Sums;
use glee_store::history::{Journal, JournalError};

/// Print statistics of recorded runs
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Glee prints each share with its denominator and its 95% interval (Wilson). A held dispute has no decision: the \
dispute is open, was discarded without a ruling, or was escalated by the judge. The shares of upheld and \
dismissed findings exclude held disputes.

Examples:
  glee stats                             a table that fits on the screen
  glee stats --by judge --since 90d      every measure of the judges
  glee stats --by month                  what all calls used, with the cost
  glee stats --all                       those of all repositories on the server
  glee stats --html stats.html           a page for the browser
  glee stats --json
  glee stats audit --judge opus --sample 20"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print every measure of reviewers, judges, models, categories or weaknesses (`-v`: of all five), or what all calls
    /// used by day, week, month, agent or role
    #[arg(long, value_name = "WHAT")]
    by: Option<By>,
    /// Count only findings and calls since this day (UTC): a date (2026-11-01), or an age (90d)
    #[arg(long, value_name = "DATE", value_parser = common::first_day)]
    since: Option<Date>,
    /// Add up all repositories on the server that its role sees
    #[arg(long)]
    all: bool,
    /// Write an HTML page to FILE; the page needs no other file
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
    #[command(flatten)]
    output: JsonFlag,
}

#[derive(clap::Subcommand)]
enum Command {
    Audit(audit::Args),
    Deadlocks(deadlocks::Args),
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// The agents that raised the findings
    Reviewer,
    /// The agents that ruled on the disputes
    Judge,
    /// The models of reviewers and judges
    Model,
    /// The kind of defect
    Category,
    /// The weakness in the CWE list
    Cwe,
    /// The day (UTC) on which a call started
    Day,
    /// The week
    Week,
    /// The month
    Month,
    /// The agent, of any role
    Agent,
    /// The role
    Role,
}

impl By {
    /// By what calls are added up, if this selects no list of measures.
    fn calls(self) -> Option<CallGroup> {
        match self {
            Self::Reviewer | Self::Judge | Self::Model | Self::Category | Self::Cwe => None,
            Self::Day => Some(CallGroup::Day),
            Self::Week => Some(CallGroup::Week),
            Self::Month => Some(CallGroup::Month),
            Self::Agent => Some(CallGroup::Agent),
            Self::Role => Some(CallGroup::Role),
        }
    }
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        Some(Command::Audit(args)) => audit::run(args, globals),
        Some(Command::Deadlocks(args)) => deadlocks::run(args, globals),
        None => {
            let group = args.by.and_then(By::calls);
            let sums = if args.all {
                server::required(globals)?.sums(group, args.since)?
            } else {
                match history::open_read_here(globals)? {
                    Some(journal) => journal.sums(group, args.since)?,
                    None => Sums::default(),
                }
            };
            let found = statistics(sums, args.by, args.since);
            show(args, globals, &found)
        }
    }
}

fn show(args: &Args, globals: &Globals, found: &ReviewStatistics) -> CommandResult {
    if let Some(file) = &args.html {
        let given = [ReportOutput {
            format: Format::Html,
            file: Some(file.clone()),
        }];
        let outputs = Outputs::check(&given, &globals.directory())?;
        let page = html::render_statistics(found);
        outputs
            .files
            .iter()
            .try_for_each(|(format, path)| outputs::write(*format, path, &page))?;
        return Ok(ExitReason::Clean);
    }
    if args.output.json {
        return print(pretty(found));
    }
    let style = globals.style();
    Viewer::new(globals, false).show(&match &found.calls {
        Some(calls) => table::calls(style, calls),
        None if args.by.is_some() || globals.verbose > 0 => text::statistics(style, found),
        None => table::statistics(style, found),
    })?;
    Ok(ExitReason::Clean)
}

/// The statistics of the whole history.
pub(crate) fn all(journal: &Journal) -> Result<ReviewStatistics, JournalError> {
    Ok(statistics(journal.sums(None, None)?, None, None))
}

fn statistics(sums: Sums, by: Option<By>, since: Option<Date>) -> ReviewStatistics {
    let wanted = |what| by.is_none_or(|by| by == what);
    let list = |what, kind| wanted(what).then(|| measures(&sums, kind));
    let pairs = |what, kind| wanted(what).then(|| agreements(&sums, kind));
    ReviewStatistics {
        schema: ReviewStatistics::SCHEMA,
        since: since.map(|day| day.to_string()),
        all: measures(&sums, TallyKind::All).pop().unwrap_or_default(),
        reviewers: list(By::Reviewer, TallyKind::Reviewer),
        judges: list(By::Judge, TallyKind::Judge),
        models: list(By::Model, TallyKind::Model),
        judge_models: list(By::Model, TallyKind::JudgeModel),
        comparisons: by.is_none().then(|| measures(&sums, TallyKind::Comparison)),
        categories: list(By::Category, TallyKind::Category),
        weaknesses: list(By::Cwe, TallyKind::Cwe),
        reviewer_agreement: pairs(By::Reviewer, TallyKind::Reviewer),
        judge_agreement: pairs(By::Judge, TallyKind::Judge),
        calls: sums.calls,
    }
}

fn measures(sums: &Sums, kind: TallyKind) -> Vec<Measures> {
    let mut rows = of_kind(&sums.tallies, kind);
    rows.sort_by_key(|(_, tally)| Reverse(tally.raised));
    rows.into_iter()
        .map(|(name, tally)| Measures::of(name, &tally))
        .collect()
}

fn agreements(sums: &Sums, kind: TallyKind) -> Vec<PairAgreement> {
    let pairs = of_kind(&sums.agreements, kind).into_iter();
    pairs.map(PairAgreement::from).collect()
}

fn of_kind<T: Clone>(lists: &[(TallyKind, Vec<T>)], kind: TallyKind) -> Vec<T> {
    let list = lists.iter().find(|(of, _)| *of == kind);
    list.map_or_else(Vec::new, |(_, rows)| rows.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use glee_model::domain::FindingTally;

    const PUBLISHED: &str = include_str!("../../../../../docs/schema/stats.json");

    /// Run `UPDATE_SCHEMA=1 cargo test schema` to regenerate the schema.
    #[test]
    fn the_published_schema_of_statistics_is_the_one_of_the_code() {
        let generated =
            serde_json::to_value(schemars::schema_for!(ReviewStatistics)).expect("a schema");
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            let path =
                std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema/stats.json");
            let text = serde_json::to_string_pretty(&generated).expect("a schema") + "\n";
            std::fs::write(path, text).expect("a writable folder");
        } else {
            assert_eq!(
                serde_json::from_str::<Value>(PUBLISHED).expect("JSON"),
                generated
            );
        }
    }

    #[test]
    fn statistics_follow_the_published_schema() {
        let schema = serde_json::from_str(PUBLISHED).expect("JSON");
        let schema = jsonschema::validator_for(&schema).expect("a schema");
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal::open(&folder.path().join("history.db")).expect("a history");
        let mut found = all(&journal).expect("statistics");
        let tally = FindingTally {
            raised: 3,
            disputed: 2,
            upheld: 1,
            calls: 4,
            micros: 250_000,
            ..FindingTally::default()
        };
        for full in [false, true] {
            if full {
                found.reviewers = Some(vec![Measures::of("ada".to_owned(), &tally)]);
                found.since = Some("2026-11-01".to_owned());
            }
            let value = serde_json::to_value(&found).expect("JSON");
            let errors: Vec<String> = schema
                .iter_errors(&value)
                .map(|error| error.to_string())
                .collect();
            assert_eq!(errors, Vec::<String>::new());
        }
        let mut broken = serde_json::to_value(&found).expect("JSON");
        broken["reviewers"][0]["raised"] = "three".into();
        assert!(!schema.is_valid(&broken));
    }
}
