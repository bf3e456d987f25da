//! `glee disputes share`: writes each ruling to a file of the repository.

use crate::cli::commands::history::disputes::common::{self, max_age, outcome};
use crate::cli::context::{CommandError, CommandResult, Globals, history, number, place, tell};
use crate::cli::style;
use glee_model::domain::{DisputeNumber, ExitReason, Ruler, SharedRuling};
use glee_model::rules;
use glee_protocol::{secrets, text::printable};
use glee_store::config::files::rulings::{self, FOLDER, Shared};
use glee_store::history::JournalError;
use glee_store::history::store::Journal;
use glee_workflows::review;
use glee_workspace::root::Workspace;

/// Write rulings to files that apply in other clones and in CI
#[derive(clap::Args)]
#[command(after_help = "\
Glee writes each ruling to the file `.glee/rulings/<id>.yml`. When this file is on the base branch, the ruling \
applies in every clone and in CI. A ruling that closes a security finding applies only if the file contains \
the name of the responsible person.

Examples:
  glee disputes share 7
  glee disputes share 7 --by 'Ada Lovelace'
  glee disputes share --dry-run    list settled disputes that are not shared yet")]
pub(crate) struct Args {
    /// The numbers of the disputes [default: all disputes whose ruling is in force and is not shared]
    #[arg(value_name = "NUMBER", value_parser = number::<u64>(1, u64::MAX))]
    numbers: Vec<u64>,
    /// The name of the person who is responsible for the rulings of judges and policies. The ruling of a person
    /// keeps the person's name
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Overwrite ruling files that have other content
    #[arg(long)]
    force: bool,
    /// List the rulings without writing files
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let journal = history::open_read(globals, &workspace)?;
    let numbers = match (&journal, args.numbers.as_slice()) {
        (Some(journal), []) => unshared(globals, &workspace, journal)?,
        (_, numbers) => numbers.iter().copied().map(DisputeNumber).collect(),
    };
    let Some(journal) = journal.filter(|_| !numbers.is_empty()) else {
        return match numbers.first() {
            Some(number) => Err(JournalError::UnknownDispute(*number).into()),
            None => tell(
                globals,
                "Nothing to share: every ruling in force is shared.\n",
            ),
        };
    };
    let mut due = Vec::new();
    let mut unnamed = Vec::new();
    for number in numbers {
        let ruling = form(args, globals, &journal, number)?;
        if rules::review::rulings::needs_person_of(&ruling) && ruling.by.person.is_none() {
            unnamed.push(number);
        } else {
            due.push((number, ruling));
        }
    }
    tell(
        globals,
        due.iter()
            .map(|(number, ruling)| line(*number, ruling))
            .collect::<String>(),
    )?;
    if !args.dry_run {
        write(args, globals, &workspace, &due)?;
    }
    if unnamed.is_empty() {
        return Ok(ExitReason::Clean);
    }
    let list = unnamed.iter().map(ToString::to_string).collect::<Vec<_>>();
    let message = format!(
        "closing the security findings of disputes {} needs a responsible person",
        list.join(", ")
    );
    Err(CommandError::usage(message).hint(format!(
        "read the rulings, then share them: `glee disputes share {} --by '<your name>'`",
        list.join(
            " \
                       "
        )
    )))
}

/// Returns the disputes with a ruling that is in force and not yet shared. Disputes about code that was removed
/// from the tree are omitted.
fn unshared(
    globals: &Globals,
    workspace: &Workspace,
    journal: &Journal,
) -> Result<Vec<DisputeNumber>, CommandError> {
    let bindings = review::disputes::rulings::known(Some(journal), &[], &max_age(globals)?)?;
    let binds = bindings
        .iter()
        .filter(|binding| binding.disposition.is_some() && binding.ended.is_none());
    let unshared = binds.filter(|binding| !rulings::path(workspace.root(), &binding.id()).exists());
    let gone = common::gone(globals, journal)?;
    let mut numbers: Vec<DisputeNumber> = unshared
        .filter_map(|binding| binding.number())
        .filter(|number| !gone.contains(number))
        .collect();
    numbers.sort();
    Ok(numbers)
}

fn form(
    args: &Args,
    globals: &Globals,
    journal: &Journal,
    number: DisputeNumber,
) -> Result<SharedRuling, CommandError> {
    let record = journal
        .dispute(number)?
        .ok_or(JournalError::UnknownDispute(number))?;
    let Some(settlement) = &record.settlement else {
        return Err(
            CommandError::usage(format!("dispute {number} is open")).hint(format!(
                "settle the dispute first: `glee disputes resolve {number}`"
            )),
        );
    };
    if let (Ruler::Human(person), Some(_)) = (&settlement.by, &args.by) {
        let person = printable::line(&person.to_string());
        globals.say(format!(
            "note: {person} ruled on dispute {number}, so `--by` does not apply to it"
        ));
    }
    let plan = journal.events(&record.run)?;
    let ruling = review::disputes::rulings::shared_form(&record, &plan, args.by.clone())
        .ok_or_else(|| {
            CommandError::usage(format!(
                "the ruling on dispute {number} cannot be shared: the dispute has no location in \
                                     the code"
            ))
        })?;
    // The fields `id`, `run` and `anchor` are not redacted, because redaction could mistake their values for
    // secrets.
    let mut shared = SharedRuling {
        id: ruling.id.clone(),
        run: ruling.run.clone(),
        ..secrets::redact_value(ruling.clone())
    };
    for (shown, known) in shared.findings_mut().zip(ruling.findings()) {
        for (shown, known) in shown.places_mut().zip(known.places()) {
            shown.anchor.clone_from(&known.anchor);
        }
    }
    Ok(shared)
}

fn line(number: DisputeNumber, ruling: &SharedRuling) -> String {
    let place = format!("{} ", ruling.head.place.location());
    let title = printable::line(&ruling.head.title.labelled(&place));
    format!(
        "{number:>4}  {}  {title}\n",
        printable::line(&outcome(&ruling.disposition))
    )
}

fn write(
    args: &Args,
    globals: &Globals,
    workspace: &Workspace,
    due: &[(DisputeNumber, SharedRuling)],
) -> Result<(), CommandError> {
    let mut written = 0;
    for (number, ruling) in due {
        let did = match rulings::share(workspace.root(), ruling, args.force)? {
            Shared::Written => "written",
            Shared::Unchanged => "unchanged",
        };
        written += usize::from(did == "written");
        let file = format!("{FOLDER}/{}.yml", ruling.id);
        tell(globals, format!("Dispute {number}: {file}, {did}\n"))?;
    }
    if written > 0 {
        let files = style::count(written, "file");
        let binds = if workspace.is_git() {
            "a ruling applies to changes whose base commit contains the file of the ruling"
        } else {
            "rulings apply only in git repositories"
        };
        globals.say(format!("Next: commit {files}; {binds}"));
    }
    Ok(())
}
