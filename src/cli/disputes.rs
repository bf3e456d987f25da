//! `glee disputes`: list, show, settle, share and verify disputes.

mod check;
pub(crate) mod list;
mod prune;
mod reopen;
mod resolve;
mod share;
mod show;
mod verify;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::error::{CommandError, CommandResult};
use super::{Globals, load, sitting};
use crate::config::settings::MaxAge;
use crate::domain::{Anchor, Disposition, DisputeNumber};
use crate::draw::Look;
use crate::journal::{Author, Journal};
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
  glee disputes resolve 7 dismiss --as deferred --ref issue-12 --reason 'after the release'
  glee disputes share 7                 as a file that binds in other clones and in CI"
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
    /// Revoke the ruling of a settled dispute, which waits again then
    Reopen(reopen::Args),
    /// End the rulings whose code is gone
    Prune(prune::Args),
    /// Write rulings as files that bind in other clones and in CI
    Share(share::Args),
    /// Check the files of shared rulings
    Check(check::Args),
    /// Check that nothing recorded was altered, removed or moved
    Verify(verify::Args),
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        None => list::run(&args.list, globals),
        Some(Command::Show(args)) => show::run(args, globals),
        Some(Command::Resolve(args)) => resolve::run(args, globals),
        Some(Command::Reopen(args)) => reopen::run(args, globals),
        Some(Command::Prune(args)) => prune::run(args, globals),
        Some(Command::Share(args)) => share::run(args, globals),
        Some(Command::Check(args)) => check::run(args, globals),
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

/// The rulings of the history that bind and whose code is gone from the tree, by the number of their dispute.
fn gone(globals: &Globals, journal: &Journal) -> Result<Vec<DisputeNumber>, CommandError> {
    let workspace = sitting::workspace(globals)?;
    let mut bindings = journal.bindings()?;
    bindings.retain(|binding| binding.disposition.is_some() && binding.ended.is_none());
    let anchors: Vec<&Anchor> = bindings.iter().map(|binding| &binding.anchor).collect();
    let gone = workspace.gone(&anchors)?;
    let gone = bindings.iter().zip(gone).filter(|(_, gone)| *gone).filter_map(|(binding, _)| binding.number());
    Ok(gone.collect())
}

/// How long rulings bind, as it is configured.
fn max_age(globals: &Globals) -> Result<MaxAge, CommandError> {
    Ok(load::settings(globals, Vec::new())?.1.settings.rulings.max_age)
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
