//! `glee disputes resolve`: a person's ruling on an open dispute.

use clap::ValueEnum;

use super::outcome;
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::{Globals, history};
use crate::domain::{Disposition, DisputeNumber, ExitReason};
use crate::journal::JournalError;
use crate::protocol::printable;
use crate::ui::stream;

/// Arguments of `glee disputes resolve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  glee disputes resolve 7 enforce
  glee disputes resolve 7 dismiss --reason 'the value is a constant'
  glee disputes resolve 7 dismiss --as deferred --ref issue-12")]
pub(super) struct Args {
    /// The dispute's number
    number: u64,
    /// Must the coder implement the finding?
    #[arg(value_enum)]
    ruling: Word,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,
    /// What a dismissed finding is [default: refuted]
    #[arg(long = "as", value_enum, value_name = "WHAT")]
    disposition: Option<Kind>,
    /// Where a deferred finding is tracked, or what a duplicate repeats
    #[arg(long = "ref", value_name = "REFERENCE")]
    reference: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Word {
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

pub(super) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let number = DisputeNumber(args.number);
    let disposition = disposition(args)?;
    // Looked at first, so that a wrong number makes no history where there is none.
    let known = history::read_here(globals, |journal| journal.dispute(number))?;
    match known {
        Some((_, Some(damage))) => return Err(damage),
        Some((Some(_), None)) => {}
        Some((None, None)) | None => return Err(JournalError::UnknownDispute(number).into()),
    }
    let ended = printable::line(&outcome(&disposition));
    let run = history::open_here(globals)?.resolve(number, disposition, args.reason.clone())?;
    let word = match args.ruling {
        Word::Enforce => "ENFORCE",
        Word::Dismiss => "DISMISS",
    };
    stream::out(&format!("Dispute {number}: {word} by you, {ended}.\n"))?;
    if !globals.quiet {
        let next = match args.ruling {
            Word::Enforce => "to have the coder implement it",
            Word::Dismiss => "to bring the run to its end",
        };
        stream::err(&format!("Next: `glee runs resume {}` {next}\n", printable::line(run.short())));
    }
    Ok(ExitReason::Clean)
}

fn disposition(args: &Args) -> Result<Disposition, CommandError> {
    let kind = match (args.ruling, args.disposition) {
        (Word::Enforce, None) if args.reference.is_none() => return Ok(Disposition::Enforced),
        (Word::Enforce, _) => {
            return Err(CommandError::usage("`--as` and `--ref` say what a dismissed finding is")
                .hint("leave them away, or rule `dismiss`"));
        }
        (Word::Dismiss, kind) => kind.unwrap_or(Kind::Refuted),
    };
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
