//! `glee disputes`: list, show, settle and verify disputes.

pub(crate) mod list;
mod resolve;
mod show;
mod verify;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::Globals;
use super::error::CommandResult;
use crate::domain::Disposition;
use crate::draw::Look;
use crate::journal::Author;
use crate::ui::screen;

/// Arguments of `glee disputes`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  glee disputes --recent 10
  glee disputes --open
  glee disputes --ruling dismiss --reviewer codex --since 3d
  glee disputes show 7
  glee disputes resolve 7 dismiss --as deferred --ref issue-12 --reason 'after the release'"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::Filters,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show a dispute by its number or id: the finding, the objection, the rulings
    Show(show::Args),
    /// Settle an open dispute by your own ruling
    Resolve(resolve::Args),
    /// Check that nothing recorded was altered, removed or moved
    Verify(verify::Args),
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        None => list::run(&args.list, globals),
        Some(Command::Show(args)) => show::run(args, globals),
        Some(Command::Resolve(args)) => resolve::run(args, globals),
        Some(Command::Verify(args)) => verify::run(args, globals),
    }
}

/// How text may look on stdout: as wide as the terminal, or as long as it is where nobody looks at columns.
fn look(globals: &Globals) -> Look {
    let width = console::Term::stdout().size_checked().map_or(usize::MAX, |(_, columns)| usize::from(columns));
    Look { color: globals.color_stdout(), unicode: screen::speaks_utf8(), width }
}

/// Minutes in the user's time zone.
fn when(at: Timestamp) -> String {
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Who sent a dispute of another history, and where it came from.
fn from(author: &Author, source: &str) -> String {
    let Author { name, email } = author;
    match (name.is_empty(), email.is_empty()) {
        (true, true) => format!("from {source}"),
        (false, _) => format!("by {name}, from {source}"),
        (true, false) => format!("by {email}, from {source}"),
    }
}

/// How a dispute ended, with what it refers to.
fn outcome(disposition: &Disposition) -> String {
    match disposition {
        Disposition::Deferred { reference } => format!("deferred to {reference}"),
        Disposition::Duplicate { of } => format!("duplicate of {of}"),
        Disposition::Enforced
        | Disposition::Refuted
        | Disposition::Discarded
        | Disposition::AcceptedRisk
        | Disposition::NotMandatory => disposition.as_str().to_owned(),
    }
}
