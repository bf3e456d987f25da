//! `glee disputes show`: prints everything that a person needs to decide a dispute.

use serde::Serialize;

use crate::cli::commands::history::disputes::common::outcome;
use crate::cli::context::{
    CommandResult, Globals, JsonFlag, history, local_time, place, pretty, stream,
};
use crate::cli::report::text::layout;
use crate::cli::report::text::page::Page;
use crate::cli::style::{Color, Style};
use glee_model::domain::{
    Advice as _, Demonstrated, DisputeId, DisputeNumber, ExitReason, RulingRef,
};
use glee_protocol::calls::judge::RequestedDemonstration;
use glee_protocol::text::printable;
use glee_store::config::files::rulings;
use glee_store::history::queries::rows::DisputeRecord;
use glee_store::history::store::Journal;
use glee_store::history::{FoundDispute, JournalError};
use glee_workflows::review::code::coder_changes::Trees;
use glee_workflows::review::disputes::rulings::succession;
use glee_workflows::review::recorded::dispute_code::DisputeCode;
use glee_workspace::root::Workspace;

/// The maximum width of a line, in columns. Longer lines would be hard to read.
const WIDEST: usize = 100;

/// Show the finding, objection and rulings of a dispute
#[derive(clap::Args)]
#[command(after_help = "Examples:
  glee disputes show 7
  glee disputes show 5f3a91c2   show the dispute whose id begins with these digits")]
pub(crate) struct Args {
    /// The number of the dispute, its id, or at least the first four digits of the id
    dispute: String,
    #[command(flatten)]
    output: JsonFlag,
}

#[derive(Serialize)]
struct Shown<'a> {
    schema: u32,
    /// The id of the dispute, which is the same in all histories.
    id: DisputeId,
    #[serde(flatten)]
    record: &'a DisputeRecord,
    /// The history from which the dispute was copied; `None` for a dispute of this history.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    supersedes: Vec<RulingRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<RulingRef>,
    /// The tests of both sides, and what they did.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    demonstrations: &'a [Demonstrated],
    /// The test that a judge asked one side for before its ruling, and what the side answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    requested: Option<&'a RequestedDemonstration>,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let (found, damage) = history::read_here(globals, |journal| {
        match journal.find_dispute(&args.dispute) {
            Ok(FoundDispute::Own(record)) => {
                let succession = succession(&journal.bindings()?, &record.dispute.number.into());
                Ok(Ok((FoundDispute::Own(record), succession)))
            }
            Ok(found) => Ok(Ok((found, Default::default()))),
            Err(error) if error.exit() == ExitReason::Usage => Ok(Err(error)),
            Err(error) => Err(error),
        }
    })?
    .map_or((None, None), |(found, damage)| (Some(found), damage));
    let (found, (supersedes, superseded_by)) = match found {
        Some(Ok(found)) => found,
        Some(Err(error)) => return Err(damage.unwrap_or_else(|| error.into())),
        None => return Err(unknown(&args.dispute).into()),
    };
    let (mut record, source) = match found {
        FoundDispute::Own(record) => (*record, None),
        FoundDispute::Shared(shared) => (shared.record, Some(shared.source)),
    };
    let id = DisputeId::of(&record.run, record.dispute.finding.id);
    let workspace = place::workspace(globals).ok();
    let mut code = code(&record, source.is_some(), workspace.as_ref(), globals);
    if !args.output.json
        && let Some(workspace) = &workspace
    {
        let folder = place::work_folder(globals, workspace);
        folder.dispute(&mut record.dispute);
        code.finding
            .iter_mut()
            .chain(&mut code.cited)
            .for_each(|excerpt| folder.path(&mut excerpt.file));
    }
    let shown = Shown {
        schema: 1,
        id,
        record: &record,
        source: source.as_deref(),
        supersedes,
        superseded_by,
        demonstrations: &code.demonstrated,
        requested: code.requested.as_ref(),
    };
    if args.output.json {
        stream::out(pretty(&shown))?;
    } else {
        let path = workspace
            .as_ref()
            .map(|workspace| rulings::path(workspace.root(), &shown.id));
        let is_shared = path.is_some_and(|path| path.exists());
        stream::out(Page::of(&shown, &code, is_shared, globals.table_style()))?;
    }
    damage.map_or(Ok(ExitReason::Clean), Err)
}

fn unknown(text: &str) -> JournalError {
    match text.parse() {
        Ok(number) => JournalError::UnknownDispute(DisputeNumber(number)),
        Err(_) => JournalError::UnknownDisputeId(text.to_owned()),
    }
}

/// The source code that was recorded for the dispute. The code is empty if the dispute comes from another history,
/// or if the recorded run cannot be read.
fn code(
    record: &DisputeRecord,
    is_shared: bool,
    workspace: Option<&Workspace>,
    globals: &Globals,
) -> DisputeCode {
    let run = &record.run;
    let read = |journal: &Journal| Ok((journal.events(run)?, journal.folder_of(run)));
    let recorded = if is_shared {
        None
    } else {
        history::read_here(globals, read).ok().flatten()
    };
    let Some(((events, folder), _)) = recorded else {
        return DisputeCode::default();
    };
    let state_dir = place::state_dir().ok();
    let trees = workspace
        .zip(state_dir.as_deref())
        .map(|(workspace, state_dir)| Trees {
            workspace,
            state_dir,
        });
    DisputeCode::of(&record.dispute, &events, &folder, trees)
}

impl Page {
    fn of(shown: &Shown<'_>, code: &DisputeCode, is_shared: bool, look: Style) -> String {
        let record = shown.record;
        let source = shown.source;
        // The lines of a diff are cut at the right edge of the terminal, because wrapped lines would be hard to
        // read.
        let columns = look.width;
        let look = Style {
            width: look.width.min(WIDEST),
            ..look
        };
        let mut page = Self::new(look);
        page.head(record, source);
        page.dispute(&record.dispute, code.finding.as_ref(), &code.cited, columns);
        page.requested(code.requested.as_ref());
        page.demonstrated(&code.demonstrated);
        page.end(record, source.is_some());
        page.later(shown, is_shared);
        page.text
    }

    fn head(&mut self, record: &DisputeRecord, source: Option<&str>) {
        let DisputeRecord {
            run,
            opened_at,
            dispute,
            ..
        } = record;
        let id = DisputeId::of(&record.run, dispute.finding.id);
        let name = if source.is_some() {
            id.to_string()
        } else {
            dispute.number.to_string()
        };
        let title = self.look.paint(Color::Strong, &format!("Dispute {name}"));
        let state = match &dispute.disposition {
            None => self.look.paint(Color::Warn, "open"),
            Some(ended) => printable::line(&outcome(ended)),
        };
        let run = printable::line(run.short());
        let from = match source {
            None => format!("id {id}"),
            Some(source) => format!("from {}", printable::line(source)),
        };
        let opened = format!("opened {}", local_time(*opened_at));
        layout::facts(
            &mut self.text,
            self.look,
            "",
            &[title, state, opened, format!("run {run}"), from],
        );
    }

    fn end(&mut self, record: &DisputeRecord, is_elsewhere: bool) {
        let number = record.dispute.number;
        match (&record.settlement, record.settled_at) {
            (Some(settlement), Some(at)) => {
                let ended = outcome(&settlement.disposition);
                self.section(&format!(
                    "Settled {} by {}: {ended}",
                    local_time(at),
                    settlement.by
                ));
                let ruled = record
                    .dispute
                    .rulings
                    .last()
                    .map(|last| &last.ruling.rationale);
                if ruled != Some(&settlement.reason) {
                    self.body(2, &settlement.reason);
                }
            }
            _ if is_elsewhere => {}
            _ => {
                self.text.push('\n');
                self.line(&format!("To settle the dispute: `glee disputes resolve {number}`, optionally with `judge`, `discard`, `enforce` or `dismiss`"));
            }
        }
    }

    fn later(&mut self, shown: &Shown<'_>, is_shared: bool) {
        let DisputeRecord {
            settlement,
            reopened,
            ended_at,
            ..
        } = shown.record;
        let number = shown.record.dispute.number;
        let id = &shown.id;
        let mut lines = Vec::new();
        if let Some(reopened) = reopened {
            let why = if reopened.reason.is_blank() { "" } else { ": " };
            let label = format!("Reopened {}{why}", local_time(reopened.at));
            lines.push(printable::line(&reopened.reason.labelled(&label)));
        }
        let until = settlement.as_ref().and_then(|settlement| settlement.until);
        lines.extend(until.map(|day| format!("Applies until {day}")));
        lines.extend(ended_at.map(|at| format!("Ended {}: the code was removed", local_time(at))));
        lines.extend(
            shown
                .supersedes
                .iter()
                .map(|other| format!("Dispute {number} supersedes {other}")),
        );
        lines.extend(
            shown
                .superseded_by
                .iter()
                .map(|other| format!("Dispute {number} is superseded by {other}")),
        );
        lines.extend(is_shared.then(|| format!("Shared as {}/{id}.yml", rulings::FOLDER)));
        if !lines.is_empty() {
            self.text.push('\n');
        }
        lines.iter().for_each(|line| self.line(line));
    }
}
