//! `glee findings`: lists the findings that are open in the current tree, from all runs.

use serde::Serialize;

use crate::cli::commands::history::runs::lookup;
use crate::cli::context::{
    CommandError, CommandResult, Globals, JsonFlag, OutputParser, Outputs, Viewer, execute,
    history, place, pretty, print, settings,
};
use crate::cli::report::options::FixCommand;
use crate::cli::report::outputs::ReportOutput;
use crate::cli::report::{filter::FindingFilter, paths::WorkFolder};
use crate::cli::style::links::{PlaceLinks, linked};
use crate::cli::style::{self, Color, Style};
use glee_model::domain::{ExitReason, FindingState, Location};
use glee_protocol::{secrets, text::printable};
use glee_store::config::settings::Settings;
use glee_store::history::queries::rows::RunRow;
use glee_store::history::store::Journal;
use glee_workflows::review::recorded::view::Recorded;
use glee_workflows::review::{Standing, TreeFinding, TreeQuery};
use glee_workspace::root::Workspace;

/// List what is open in this tree, from all runs
#[derive(clap::Args)]
#[command(after_help = "\
A finding is open until the finding is fixed, discarded or dismissed, or until its code is removed from the \
tree. If several runs raised a finding, its state in the newest run applies. A finding whose fix was undone is \
open again. Moved code is recognised if it has at least three lines.

Examples:
  glee findings                          list the open findings, severe ones first
  glee findings --severity must,high     list only findings of these severities
  glee findings --path src --json        list the findings in a folder as JSON
  glee findings --format sarif=a.sarif   write them for an editor; html=a.html is a page that can be mailed")]
pub(crate) struct Args {
    #[command(flatten)]
    filter: FindingFilter,
    /// Also list fixed, discarded and dismissed findings, and findings whose code was changed later
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    output: JsonFlag,
    /// Write a report about these findings, to standard output or to a file (repeatable)
    #[arg(long, value_parser = OutputParser, value_name = "FORMAT[=FILE]", conflicts_with = "json", help_heading = "Output")]
    format: Vec<ReportOutput>,
}

#[derive(Serialize)]
struct Listing {
    schema: u32,
    findings: Vec<TreeFinding>,
    /// The number of findings that the filters hide.
    hidden: usize,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let journal = history::open_read(globals, &workspace)?;
    let found = match &journal {
        Some(journal) => {
            let loaded = settings::load(globals)?;
            all(&loaded.settings, &workspace, journal)?
        }
        None => Vec::new(),
    };
    let folder = place::work_folder(globals, &workspace);
    let listed = found
        .into_iter()
        .filter(|finding| args.all || finding.standing.is_open());
    let (findings, hidden): (Vec<TreeFinding>, Vec<TreeFinding>) = listed.partition(|finding| {
        let path = location(finding, &folder).map(|place| place.file);
        args.filter.shows(&finding.settled.finding, path.as_deref())
    });
    let listing = Listing {
        schema: 1,
        findings,
        hidden: hidden.len(),
    };
    if args.output.json {
        return print(pretty(&listing));
    }
    if !args.format.is_empty() {
        return report(
            args,
            globals,
            &workspace,
            journal.as_ref(),
            listing.findings,
        );
    }
    let viewer = Viewer::new(globals, false);
    let newest = match &journal {
        Some(journal) => journal.runs(Some(1))?.pop(),
        None => None,
    };
    let mut text = summary(&listing, &args.filter, newest.as_ref());
    if !listing.findings.is_empty() {
        text = format!(
            "{}\n{text}",
            table(
                &listing.findings,
                &folder,
                globals.table_style(),
                viewer.links()
            )
        );
    }
    text.extend(newest.as_ref().and_then(incomplete));
    viewer.show(&text)?;
    if let Some(TreeFinding { settled, .. }) = listing.findings.first() {
        globals.say(format!(
            "Next: `glee show {}` shows a finding",
            settled.finding.id
        ));
    }
    Ok(ExitReason::Clean)
}

fn report(
    args: &Args,
    globals: &Globals,
    workspace: &Workspace,
    journal: Option<&Journal>,
    findings: Vec<TreeFinding>,
) -> CommandResult {
    let outputs = Outputs::check(&args.format, &globals.directory())?;
    if let Some(format) = outputs.formats().find(|format| format.is_record()) {
        let name = format.as_str();
        let message = format!("`{name}` has the events of one run");
        let hint = format!("print them with `glee runs show --format {name}`");
        return Err(CommandError::usage(message).hint(hint));
    }
    let none = || CommandError::usage("no run is recorded yet").hint("`glee review` begins");
    let journal = journal.ok_or_else(none)?;
    let loaded = settings::load(globals)?;
    let query = TreeQuery {
        workspace,
        journal,
        settings: &loaded.settings,
    };
    let Recorded { outcome, reviewed } = query
        .report(findings, &place::state_dir()?)?
        .ok_or_else(none)?;
    let report = execute::reports::RunReport {
        outcome: &outcome,
        reviewed: &reviewed,
        events: &[],
        fix: &FixCommand::default(),
        only: &[],
        filter: None,
        was_asked: false,
    };
    report.write(globals, &outputs, workspace.root())?;
    Ok(ExitReason::Clean)
}

/// The findings of all runs, open ones first, without secrets. Paths are relative to the root of the tree.
pub(crate) fn all(
    settings: &Settings,
    workspace: &Workspace,
    journal: &Journal,
) -> Result<Vec<TreeFinding>, CommandError> {
    let found = TreeQuery {
        workspace,
        journal,
        settings,
    }
    .findings()?;
    Ok(found.into_iter().map(secrets::redact_value).collect())
}

/// Returns the current location of the finding. If the current location is unknown, returns the location in the
/// reviewed code. The path is relative to `folder`.
fn location(finding: &TreeFinding, folder: &WorkFolder) -> Option<Location> {
    let mut place = finding
        .now
        .clone()
        .or_else(|| finding.settled.finding.raw.location())?;
    folder.path(&mut place.file);
    Some(place)
}

fn table(
    findings: &[TreeFinding],
    folder: &WorkFolder,
    look: Style,
    links: Option<&PlaceLinks>,
) -> String {
    let heads = ["RUN", "FINDING", "SEVERITY", "STATE", "PLACE", "TITLE"];
    let rows = findings.iter().map(|finding| {
        let raw = &finding.settled.finding.raw;
        let place = location(finding, folder).map_or_else(String::new, |mut place| {
            place.end_line = None;
            linked(
                links,
                printable::line(&place.to_string()),
                &place.file,
                place.line,
            )
        });
        let is_open = finding.standing.is_open();
        let tone = |open| if is_open { open } else { Color::Faint };
        let severity = look.cut(&printable::line(&raw.severity.to_string()), 12);
        [
            look.faint(finding.run.short()),
            look.strong(finding.settled.finding.id.to_string()),
            look.paint(tone(Color::of(&raw.severity)), &severity),
            look.paint(tone(Color::Plain), &state(finding)),
            place,
            printable::line(&raw.title),
        ]
    });
    look.listing(heads.map(|head| look.faint(head)), rows, &[])
}

pub(crate) fn state(finding: &TreeFinding) -> String {
    match finding.standing {
        Standing::Open | Standing::Closed => finding.settled.state.to_string(),
        Standing::Reverted => FindingState::Reverted.to_string(),
        Standing::Gone => "code changed".to_owned(),
    }
}

/// Says that the newest run did not review everything: without that, no open finding would look like a clean review.
fn incomplete(newest: &RunRow) -> Option<String> {
    let ends = [
        ExitReason::Clean,
        ExitReason::FindingsOpen,
        ExitReason::DisputeOpen,
    ];
    if newest.exit.is_some_and(|exit| ends.contains(&exit)) {
        return None;
    }
    let run = newest.run.short();
    let how = lookup::ended(newest);
    Some(format!(
        "The newest review is not complete ({how}): `glee runs show {run}`\n"
    ))
}

fn summary(listing: &Listing, filter: &FindingFilter, newest: Option<&RunRow>) -> String {
    let open: Vec<&TreeFinding> = listing
        .findings
        .iter()
        .filter(|finding| finding.standing.is_open())
        .collect();
    let mandatory = open
        .iter()
        .filter(|finding| finding.settled.finding.mandatory)
        .count();
    let hidden = match listing.hidden {
        0 => String::new(),
        hidden => format!(
            "; {} hidden by {}",
            style::count(hidden, "finding"),
            filter.flags().join(" and ")
        ),
    };
    match open.len() {
        0 if listing.hidden > 0 => format!("No finding matches{hidden}.\n"),
        0 if newest.is_none() => "No findings yet: nothing was reviewed.\n".to_owned(),
        0 => "No open findings.\n".to_owned(),
        open => format!(
            "{}, {mandatory} mandatory{hidden}.\n",
            style::count(open, "open finding")
        ),
    }
}
