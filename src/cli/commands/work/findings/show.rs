//! `glee show`: prints a finding with its text, its code and its dispute.

use serde::Serialize;

use super::{RunFindings, RunOption, finding_word};
use crate::cli::commands::history::disputes::decision;
use crate::cli::context::{CommandResult, Globals, JsonFlag, Viewer, place, pretty, print};
use crate::cli::report::options::{Detail, FixCommand, RenderOptions, TextOptions};
use crate::cli::report::{text, view};
use crate::cli::style;
use glee_model::domain::event::Settlement;
use glee_model::domain::{Dispute, ExitReason, FindingState, RulingRef, RunId, SettledFinding};
use glee_protocol::{secrets, text::printable};
use glee_store::history::FoundDispute;

/// Show the text, code, reviewers and dispute of a finding
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  glee show F3                  a finding, as the newest run that raised it left it
  glee show F3 --run 5f3a91c2   the same finding in another run
  glee show F3b                 one member of the group F3")]
pub(crate) struct Args {
    /// The number of the finding, such as F3, or at least four digits of its id
    #[arg(value_name = "FINDING", value_parser = finding_word)]
    finding: String,
    #[command(flatten)]
    run: RunOption,
    #[command(flatten)]
    output: JsonFlag,
}

#[derive(Serialize)]
struct Shown<'a> {
    schema: u32,
    run: &'a RunId,
    #[serde(flatten)]
    finding: &'a SettledFinding,
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<&'a Dispute>,
    /// The further members of the group, if the group was named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    members: Vec<&'a SettledFinding>,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let (mut found, ids) = RunFindings::with(globals, [&args.finding], &args.run)?;
    found.recorded.outcome = secrets::redact_value(found.recorded.outcome);
    let finding = found.finding(ids[0])?;
    let about = found.outcome().dispute_of(finding);
    if args.output.json {
        return print(pretty(&Shown {
            schema: 1,
            run: &found.run,
            finding,
            about,
            members: ids[1..]
                .iter()
                .map(|id| found.finding(*id))
                .collect::<Result<_, _>>()?,
        }));
    }
    let viewer = Viewer::new(globals, false);
    let folder = place::work_folder(globals, &found.workspace);
    let mut outcome = found.outcome().clone();
    folder.outcome(&mut outcome);
    let options = RenderOptions {
        style: globals.style(),
        detail: Detail::Full,
        source: &|path, round| found.recorded.reviewed.shown(round, &folder.in_tree(path)),
        events: &[],
        fix: &FixCommand::default(),
        only: &[],
        whole: found.outcome(),
        text: TextOptions {
            links: viewer.links(),
            ..TextOptions::default()
        },
    };
    let shown: Vec<String> = ids
        .iter()
        .filter_map(|id| text::finding(&outcome, *id, &options))
        .collect();
    let mut shown = shown.join("\n");
    if let FindingState::AlreadyRuled { dispute, .. } = &finding.state {
        shown += &ruled_earlier(&found, dispute, globals);
    }
    viewer.show(&shown)?;
    let of_run = match args.run.run {
        Some(_) => format!(" --run {}", found.run.short()),
        None => String::new(),
    };
    if let Some(next) = view::next(finding, &found.run, &of_run) {
        globals.say(format!("Next: {next}"));
    }
    Ok(ExitReason::Clean)
}

/// Who ruled in the earlier dispute that applies to a finding, how, and why.
fn ruled_earlier(found: &RunFindings, dispute: &RulingRef, globals: &Globals) -> String {
    // A ruling in a file of the project has no record in this history.
    let record = match found.journal.find_dispute(&dispute.to_string()) {
        Ok(FoundDispute::Own(record)) => *record,
        Ok(FoundDispute::Shared(shared)) => shared.record,
        Err(_) => return String::new(),
    };
    let Some(Settlement {
        disposition,
        by,
        reason,
        until,
    }) = record.settlement
    else {
        return String::new();
    };
    let style = globals.style();
    let sentence = decision::sentence(dispute, &disposition, until, &view::ruler(&by));
    let mut text = String::new();
    style::paragraph(&mut text, style, "  ", &sentence);
    let reason = secrets::redact(&printable::block(&reason)).into_owned();
    style::paragraph(&mut text, style, "  ", &reason);
    text
}
