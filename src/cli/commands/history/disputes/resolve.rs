//! `glee disputes resolve`: settle open disputes, at the dialog or by a word.
//!
//! A person's own word is recorded at once. At the dialog and for the judge the dispute's run is opened again, for its
//! disputes alone: what is enforced is implemented when the run is carried on.

use clap::ValueEnum;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::cli::commands::history::disputes::common::outcome;
use crate::cli::commands::history::runs::lookup::{self, Recalled};
use crate::cli::context::execute::{self, CommandContext};
use crate::cli::context::globals::Globals;
use crate::cli::context::{history, place};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::Format;
use crate::cli::ui::stream;
use crate::domain::event::Mode;
use crate::domain::{Disposition, Dispute, DisputeNumber, ExitReason, Route, RunId};
use crate::history::JournalError;
use crate::history::queries::rows::DisputeFilter;
use crate::protocol::text::printable;

/// Arguments of `glee disputes resolve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  glee disputes resolve 7              see the finding, the code and the objection, and choose
  glee disputes resolve 7 judge        ask the judge
  glee disputes resolve 7 enforce
  glee disputes resolve 7 dismiss --reason 'the value is a constant'
  glee disputes resolve 7 dismiss --as deferred --ref issue-12
  glee disputes resolve 7 dismiss --as accepted-risk --until 90d
  glee disputes resolve --all          one after the other

Exit codes: 0 settled, 3 it still waits for a person.")]
pub(crate) struct Args {
    /// The dispute's number
    #[arg(required_unless_present = "all")]
    number: Option<u64>,
    /// How to settle it; without a word, the dialog asks
    #[arg(value_enum)]
    word: Option<Word>,
    /// Every open dispute, one after the other
    #[arg(long, conflicts_with = "number")]
    all: bool,
    /// The same as WORD, for --all
    #[arg(long = "by", value_enum, value_name = "WORD", conflicts_with = "word")]
    by: Option<Word>,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,
    /// What a dismissed finding is [default: refuted]
    #[arg(long = "as", value_enum, value_name = "WHAT")]
    disposition: Option<Kind>,
    /// Where a deferred finding is tracked, or what a duplicate repeats
    #[arg(long = "ref", value_name = "REFERENCE")]
    reference: Option<String>,
    /// The last day (UTC) on which a dismissal binds: a date (2026-11-01), or an age from today (90d)
    #[arg(long, value_name = "DATE", value_parser = last_day)]
    until: Option<Date>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Word {
    /// The AI judge rules
    Judge,
    /// The reviewer's opinion is discarded, without a word on its content
    Discard,
    /// The coder must implement the finding
    Enforce,
    /// The finding does not hold, or not now
    Dismiss,
}

/// `--as`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// The finding is wrong
    Refuted,
    /// It is right, and the risk is taken knowingly
    AcceptedRisk,
    /// It is right, and is done later; needs `--ref`
    Deferred,
    /// It repeats another finding; needs `--ref`
    Duplicate,
    /// It is right, but not mandatory
    NotMandatory,
    /// It is dropped without a word on its content
    Discarded,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let word = args.word.or(args.by);
    let own = match word {
        Some(Word::Discard | Word::Enforce | Word::Dismiss) => disposition(args, word)?,
        Some(Word::Judge) | None => None,
    };
    if args.until.is_some() && word != Some(Word::Dismiss) {
        return Err(CommandError::usage("`--until` goes with `dismiss`")
            .hint("for example `glee disputes resolve 7 dismiss --as accepted-risk --until 90d`"));
    }
    if own.is_none() && (args.disposition.is_some() || args.reference.is_some() || !args.reason.is_empty()) {
        return Err(CommandError::usage("`--reason`, `--as` and `--ref` go with a ruling of your own")
            .hint("for example `glee disputes resolve 7 dismiss --reason 'the value is a constant'`"));
    }
    let disputes = wanted(args, globals)?;
    if disputes.is_empty() {
        stream::out("No dispute waits.\n")?;
        return Ok(ExitReason::Clean);
    }
    match own {
        Some(disposition) => {
            for (number, _) in &disputes {
                rule(globals, *number, &disposition, args)?;
            }
            Ok(ExitReason::Clean)
        }
        None => settle(globals, &disputes, word.map(|_| Route::Judge)),
    }
}

/// The open disputes that are meant, the oldest first, each with its run.
fn wanted(args: &Args, globals: &Globals) -> Result<Vec<(DisputeNumber, RunId)>, CommandError> {
    let Some(number) = args.number.map(DisputeNumber) else {
        let filter = DisputeFilter { open_only: true, ..DisputeFilter::default() };
        let rows = match history::read_here(globals, |journal| journal.disputes(&filter))? {
            Some((_, Some(damage))) => return Err(damage),
            Some((rows, None)) => rows,
            None => Vec::new(),
        };
        return Ok(rows.into_iter().rev().map(|row| (row.number, row.run)).collect());
    };
    // Looked at first, so that a wrong number makes no history where there is none.
    match history::read_here(globals, |journal| journal.dispute(number))? {
        Some((_, Some(damage))) => Err(damage),
        Some((Some(record), None)) => match record.dispute.disposition {
            Some(disposition) => Err(JournalError::AlreadySettled { number, disposition }.into()),
            None => Ok(vec![(number, record.run)]),
        },
        Some((None, None)) | None => Err(JournalError::UnknownDispute(number).into()),
    }
}

/// Records a person's own word.
fn rule(
    globals: &Globals,
    number: DisputeNumber,
    disposition: &Disposition,
    args: &Args,
) -> Result<(), CommandError> {
    let ended = printable::line(&outcome(disposition));
    let mut journal = history::open_here(globals)?;
    let run = journal.resolve(number, disposition.clone(), args.reason.clone(), args.until)?;
    let word = match disposition {
        Disposition::Enforced => "ENFORCE by you, ",
        Disposition::Discarded => "",
        _ => "DISMISS by you, ",
    };
    let by = if word.is_empty() { " by you" } else { "" };
    let until = args.until.map(|day| format!(" until {day}")).unwrap_or_default();
    stream::out(&format!("Dispute {number}: {word}{ended}{by}{until}.\n"))?;
    next(globals, &run, *disposition == Disposition::Enforced);
    Ok(())
}

fn next(globals: &Globals, run: &RunId, enforced: bool) {
    if !globals.quiet {
        let next = if enforced { "to have the coder implement it" } else { "to bring the run to its end" };
        stream::err(&format!("Next: `glee runs resume {}` {next}\n", printable::line(run.short())));
    }
}

/// Brings disputes before a person at the dialog, or before the judge; those of a run at once.
fn settle(globals: &Globals, disputes: &[(DisputeNumber, RunId)], named: Option<Route>) -> CommandResult {
    if named.is_none() && !globals.interactive() {
        return Err(CommandError::usage("how to resolve? Nobody can be asked here")
            .hint(format!("say it: `glee disputes resolve {} judge|discard|enforce|dismiss`", disputes[0].0)));
    }
    let mut exit = ExitReason::Clean;
    let mut runs: Vec<&RunId> = disputes.iter().map(|(_, run)| run).collect();
    runs.dedup();
    let mut done: Vec<&RunId> = Vec::new();
    for run in runs {
        if done.contains(&run) {
            continue;
        }
        done.push(run);
        let numbers = disputes.iter().filter(|(_, of)| of == run).map(|(number, _)| *number).collect();
        let workspace = place::workspace(globals)?;
        let (journal, run) = lookup::find(globals, &workspace, &run.0)?;
        let recalled = lookup::recall(globals, workspace, &journal, &run, named);
        drop(journal);
        let Recalled { workspace, settings, plan, judges, .. } = recalled?;
        let agents = lookup::programs(&plan, &judges, &workspace)?;
        let sitting = CommandContext { format: Format::Text, mode: Mode::Arbitrate, chosen: named, globals };
        let (settled, stopped) =
            execute::settle(&sitting, workspace, settings, agents, run.clone(), numbers, judges)?;
        for dispute in &settled {
            stream::out(&told(dispute))?;
            if dispute.is_open() {
                exit = exit.strongest(ExitReason::DisputeOpen);
            }
        }
        let ended = settled.iter().filter(|dispute| !dispute.is_open());
        if ended.clone().next().is_some() {
            next(
                globals,
                &run,
                ended.into_iter().any(|dispute| dispute.disposition == Some(Disposition::Enforced)),
            );
        }
        if stopped {
            break;
        }
    }
    Ok(exit)
}

/// How a dispute stands now, in a line.
fn told(dispute: &Dispute) -> String {
    let number = dispute.number;
    let by = dispute.rulings.last().map(|last| format!("{} by {}", last.ruling.ruling, last.by));
    let ruled = match (&dispute.disposition, by) {
        (Some(Disposition::Discarded), _) => "discarded by you".to_owned(),
        (Some(ended), Some(by)) => format!("{by}, {}", outcome(ended)),
        (Some(ended), None) => outcome(ended),
        (None, Some(by)) => format!("{by}, it still waits"),
        (None, None) => "it still waits".to_owned(),
    };
    format!("Dispute {number}: {}.\n", printable::line(&ruled))
}

/// Reads the last day of a ruling, today or later.
fn last_day(text: &str) -> Result<Date, String> {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let age = || text.parse::<Span>().ok().filter(|age| age.is_positive());
    let day = text.parse::<Date>().ok().or_else(|| today.checked_add(age()?).ok());
    match day.ok_or("not a date (2026-11-01) or an age from today (90d)")? {
        day if day < today => Err(format!("{day} has passed")),
        day => Ok(day),
    }
}

/// What a person's own word makes of the finding; `None` where it is no ruling of a person.
fn disposition(args: &Args, word: Option<Word>) -> Result<Option<Disposition>, CommandError> {
    let kind = match (word, args.disposition) {
        (Some(Word::Judge) | None, _) => return Ok(None),
        (Some(Word::Enforce), None) if args.reference.is_none() => {
            return Ok(Some(Disposition::Enforced));
        }
        (Some(Word::Discard), None) if args.reference.is_none() => {
            return Ok(Some(Disposition::Discarded));
        }
        (Some(Word::Enforce | Word::Discard), _) => {
            return Err(CommandError::usage("`--as` and `--ref` say what a dismissed finding is")
                .hint("leave them away, or rule `dismiss`"));
        }
        (Some(Word::Dismiss), kind) => kind.unwrap_or(Kind::Refuted),
    };
    dismissed(args, kind).map(Some)
}

fn dismissed(args: &Args, kind: Kind) -> Result<Disposition, CommandError> {
    let reference = args.reference.as_deref().map(str::trim).filter(|text| !text.is_empty());
    match (kind, reference) {
        (Kind::Deferred, Some(reference)) => Ok(Disposition::Deferred { reference: reference.to_owned() }),
        (Kind::Duplicate, Some(of)) => Ok(Disposition::Duplicate { of: of.to_owned() }),
        (Kind::Deferred, None) => Err(CommandError::usage("a deferred finding needs `--ref`")
            .hint("say where it is tracked: `--as deferred --ref <issue or link>`")),
        (Kind::Duplicate, None) => Err(CommandError::usage("a duplicate needs `--ref`")
            .hint("say what it repeats: `--as duplicate --ref <finding or dispute>`")),
        (_, Some(_)) => Err(CommandError::usage("`--ref` goes with `--as deferred` or `--as duplicate`")),
        (Kind::Refuted, None) => Ok(Disposition::Refuted),
        (Kind::AcceptedRisk, None) => Ok(Disposition::AcceptedRisk),
        (Kind::NotMandatory, None) => Ok(Disposition::NotMandatory),
        (Kind::Discarded, None) => Ok(Disposition::Discarded),
    }
}
