//! `glee history push` and `glee history fetch`: exchange runs, outcomes and disputes with other clones over a git
//! remote.

use std::fs::File;
use std::path::PathBuf;

use clap::Subcommand;

use crate::cli::context::{CommandError, CommandResult, Globals, history, place, print, stream};
use crate::cli::style;
use glee_model::domain::{ExitReason, Person};
use glee_protocol::text::printable;
use glee_store::history::store::Journal;
use glee_store::history::{HistoryRecord, Outgoing, Refusal};
use glee_system::private;
use glee_workspace::root::Workspace;
use glee_workspace::{ExchangeRemote, FetchedRecord};

const LISTED: usize = 50;

/// Exchange runs, outcomes and disputes with other clones over a git remote
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each record contains an ended run, the outcome of a run, or a dispute. Glee stores records under \
`refs/glee/history` of the remote, and names each record by the hash of its content. A push only adds records. \
Glee sends the texts of findings and rulings, which can quote code. Glee sends no prompts, raw answers, files \
or diffs. Secrets are redacted.

`glee disputes` lists fetched disputes, which have no effect on runs. Glee checks the size, format, hash, paths \
and author of each fetched record. The author of a record must also be the author of the commit that added the \
record. Glee lists the records that it refuses, and exits with code 7.

Examples:
  glee history push            send this history to the remote of the branch, else to `origin`
  glee history fetch upstream")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Send runs, outcomes and disputes to a remote
    Push(Remote),
    /// Fetch the runs, outcomes and disputes of other people from a remote
    Fetch(Remote),
}

#[derive(Debug, clap::Args)]
struct Remote {
    /// A remote of the repository [default: the remote of the branch, or else `origin`]
    #[arg(value_name = "REMOTE")]
    remote: Option<String>,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    match &args.command {
        Command::Push(Remote { remote }) => push(globals, &workspace, remote.as_deref()),
        Command::Fetch(Remote { remote }) => fetch(globals, &workspace, remote.as_deref()),
    }
}

fn push(globals: &Globals, workspace: &Workspace, remote: Option<&str>) -> CommandResult {
    let remote = workspace.remote(remote)?;
    let (name, email) = workspace.author()?;
    let mut journal = history::open(globals, workspace)?;
    let _lock = lock(&journal)?;
    let author = Person {
        name: name.clone(),
        email: email.clone(),
    };
    let Outgoing { records, large } = journal.outgoing(&author)?;
    for what in &large {
        globals.say(&format!(
            "{what} exceeds the maximum size of a record and is not sent"
        ));
    }
    let last = last_fetched(&journal, &remote);
    let to = ExchangeRemote {
        name: &remote,
        last: &last,
    };
    let added = workspace.push_records(to, &records, (&name, &email))?;
    print(&match (records.is_empty(), added) {
        (true, _) => "Nothing to send: no run has ended yet.\n".to_owned(),
        (false, 0) => format!(
            "{remote} is up to date: {}.\n",
            style::count(records.len(), "record")
        ),
        (false, added) => format!("Sent {} to {remote}.\n", style::count(added, "record")),
    })
}

fn fetch(globals: &Globals, workspace: &Workspace, remote: Option<&str>) -> CommandResult {
    let remote = workspace.remote(remote)?;
    let mut journal = history::open(globals, workspace)?;
    let _lock = lock(&journal)?;
    let mut failed = Ok(());
    let last = last_fetched(&journal, &remote);
    let from = ExchangeRemote {
        name: &remote,
        last: &last,
    };
    let fetched = workspace.fetch_records(from, |hash| {
        journal.has_record(hash).unwrap_or_else(|error| {
            failed = Err(error);
            false
        })
    })?;
    failed?;
    let mut refused = Vec::new();
    let (mut records, mut paths) = (Vec::new(), Vec::new());
    for FetchedRecord {
        path,
        authors,
        content,
    } in fetched
    {
        let read = content.and_then(|bytes| {
            let record = HistoryRecord::read(&path.replace('/', ""), &bytes, &authors);
            let text = String::from_utf8(bytes).map_err(|_| Refusal::NotJson);
            record
                .and_then(|record| Ok((record, text?)))
                .map_err(|refusal| refusal.to_string())
        });
        match read {
            Ok(read) => {
                records.push(read);
                paths.push(path);
            }
            Err(why) => refused.push((path, why)),
        }
    }
    let repeated = journal.import(&remote, &records)?;
    refused.extend(
        repeated
            .iter()
            .map(|index| (paths[*index].clone(), Refusal::Duplicate.to_string())),
    );
    let taken = records.len() - repeated.len();
    stream::out(&match taken {
        0 => format!("Nothing new from {remote}.\n"),
        taken => format!("Fetched {} from {remote}.\n", style::count(taken, "record")),
    })?;
    if refused.is_empty() {
        return Ok(ExitReason::Clean);
    }
    for (path, why) in refused.iter().take(LISTED) {
        stream::err(&format!(
            "refused {}: {}\n",
            printable::line(path),
            printable::line(why)
        ));
    }
    let more = refused.len().saturating_sub(LISTED);
    if more > 0 {
        stream::err(&format!("and {more} more\n"));
    }
    let message = format!(
        "{} of {remote} refused",
        style::count(refused.len(), "record")
    );
    let tip = std::fs::read_to_string(&last).unwrap_or_default();
    Err(CommandError::new(ExitReason::History, anyhow::Error::msg(message)).hint(format!(
        "`git log -p {} -- <record>` shows who sent a refused record; the other records were fetched",
        tip.get(..12).unwrap_or(&tip)
    )))
}

/// Returns the path of the file that stores the id of the last commit fetched from a remote.
fn last_fetched(journal: &Journal, remote: &str) -> PathBuf {
    journal
        .path()
        .with_file_name(format!("fetched-{}", remote.replace('/', "%")))
}

fn lock(journal: &Journal) -> Result<File, CommandError> {
    let path = journal.path().with_file_name("exchange.lock");
    let mut options = private::options();
    let opened = options.write(true).create(true).truncate(false).open(&path);
    let locked = opened.and_then(|file| file.lock().map(|()| file));
    locked.map_err(|error| CommandError::caused(format!("cannot lock `{}`", path.display()), error))
}
