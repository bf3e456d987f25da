//! The pages of a repository. The server reads the history again for each request.

use axum::http::StatusCode;
use axum::response::Response;
use clap::ValueEnum as _;
use minijinja::value::Value;
use serde::Deserialize;

use super::error_page::ErrorPage;
use super::feed::{self, StartedCall};
use super::site::Site;
use super::views::tree_findings::{self, FindingsQuery};
use super::views::{self, RulingForm};
use crate::cli::commands::history::disputes::decision::{DismissalKind, RulingChoice};
use crate::cli::commands::history::{runs::lookup, stats};
use crate::cli::commands::work::findings::list;
use crate::cli::context::{CommandError, place};
use crate::cli::report::html::environment::{self, values};
use crate::cli::report::html::page::page;
use crate::cli::report::options::{Detail, RenderOptions, TextOptions};
use crate::cli::style::Style;
use glee_model::domain::{DisputeNumber, FindingId, RunId};
use glee_model::rules::measures::ReviewStatistics;
use glee_protocol::{secrets, text::printable};
use glee_store::history::JournalError;
use glee_store::history::queries::rows::{DisputeFilter, DisputeRecord};
use glee_store::history::store::Journal;
use glee_workflows::review::recorded::view::{self, Recorded};

/// The default number of rows of a list, and the maximum number of rows that a request can set.
const ROWS: (u32, u32) = (50, 5_000);

/// The maximum number of recorded events that the live view of a run shows at first.
const TAIL: u64 = 300;

pub(crate) fn runs(site: &Site, recent: Option<u32>) -> Result<Response, ErrorPage> {
    let shown = recent.unwrap_or(ROWS.0).clamp(1, ROWS.1);
    let mut rows = match site.source.journal()? {
        Some(journal) => journal.runs(Some(shown + 1))?,
        None => Vec::new(),
    };
    let is_cut = rows.len() > shown as usize;
    rows.truncate(shown as usize);
    let page = values! {
        rows => rows.iter().map(views::run).collect::<Vec<_>>(),
        is_cut,
        more => (is_cut && shown < ROWS.1).then(|| shown.saturating_mul(4).min(ROWS.1)),
    };
    Ok(site.page(StatusCode::OK, "serve/runs.html", "runs", values! { page }))
}

/// Returns the page of a run, which contains the same report as `--format html`.
pub(crate) fn run(site: &Site, text: &str) -> Result<Response, ErrorPage> {
    let (journal, run) = found(site, text)?;
    let run = journal.find_run(&run.0)?;
    let live = site.path(&format!("runs/{run}/live"));
    let page = report(site, &journal, &run, &[])?;
    let short = run.short();
    Ok(site.page(
        StatusCode::OK,
        "serve/report.html",
        "runs",
        values! { page, live, short },
    ))
}

/// If the list `only` is not empty, the report shows only the findings in this list.
fn report(
    site: &Site,
    journal: &Journal,
    run: &RunId,
    only: &[FindingId],
) -> Result<Value, CommandError> {
    let events = journal.events(run)?;
    let fix = site.source.fix_command(&lookup::plan(&events, run)?);
    let Recorded { outcome, reviewed } = view::recorded(
        &site.source.workspace()?,
        &place::state_dir()?,
        journal,
        run,
    )?;
    let outcome = secrets::redact_value(outcome);
    let options = RenderOptions {
        style: Style {
            color: false,
            unicode: true,
            width: usize::MAX,
        },
        detail: Detail::Full,
        source: &|path, round| reviewed.shown(round, path),
        events: &events,
        fix: &fix,
        only,
        whole: &outcome,
        text: TextOptions::default(),
    };
    let report = page(&outcome, &options);
    Ok(match site.source.is_here() {
        true => report,
        // The next steps are commands for where the run was made.
        false => values! { next => Vec::<String>::new(), ..report },
    })
}

fn found(site: &Site, text: &str) -> Result<(Journal, RunId), ErrorPage> {
    let journal = site
        .source
        .journal()?
        .ok_or_else(|| JournalError::UnknownRun(text.to_owned()))?;
    let run = journal.find_any_run(text)?;
    Ok((journal, run))
}

pub(crate) fn live(site: &Site, text: &str) -> Result<Response, ErrorPage> {
    let (journal, run) = found(site, text)?;
    let hidden = journal.length(&run)?.saturating_sub(TAIL);
    let events = feed::events(&journal, &run, hidden, TAIL as u32)?;
    let mut working: Vec<StartedCall> = Vec::new();
    let mut ended = None;
    for event in &events {
        if let Some(call) = &event.started {
            working.push(call.clone());
            ended = None;
        }
        working.retain(|call| Some(&call.call) != event.finished.as_ref());
        if let Some(end) = &event.ended {
            ended = Some(end.clone());
            working.clear();
        }
    }
    let page = values! {
        run => run.0,
        run_short => run.short(),
        is_review => journal.plan(&run)?.is_some(),
        // The number of the last event on the page.
        last => events.last().map_or(hidden, |event| event.seq),
        age => journal.last_at(&run)?.map(views::age),
        events,
        hidden,
        working,
        ended,
    };
    Ok(site.page(StatusCode::OK, "serve/live.html", "runs", values! { page }))
}

pub(crate) fn findings(site: &Site, query: &FindingsQuery) -> Result<Response, ErrorPage> {
    let found = match site.source.journal()? {
        Some(journal) => list::all(
            &site.source.settings()?,
            &site.source.workspace()?,
            &journal,
        )?,
        None => Vec::new(),
    };
    let page = tree_findings::view(&found, query)?;
    let has_tree = site.source.is_here();
    Ok(site.page(
        StatusCode::OK,
        "serve/findings.html",
        "findings",
        values! { page, has_tree },
    ))
}

/// The query parameters of the page. The list of open disputes shows only disputes with a number below
/// `open_before`. Without `open_before`, the list begins with the newest dispute. The parameter `settled_before`
/// has the same effect on the list of settled disputes.
#[derive(Default, Deserialize)]
pub(crate) struct DisputePosition {
    open_before: Option<u64>,
    settled_before: Option<u64>,
}

pub(crate) fn disputes(site: &Site, position: &DisputePosition) -> Result<Response, ErrorPage> {
    let journal = site.source.journal()?;
    let of_open = DisputeFilter {
        open_only: true,
        before: position.open_before.map(DisputeNumber),
        ..DisputeFilter::default()
    };
    let of_settled = DisputeFilter {
        settled_only: true,
        before: position.settled_before.map(DisputeNumber),
        ..DisputeFilter::default()
    };
    let page = values! {
        open => part(journal.as_ref(), of_open)?,
        settled => part(journal.as_ref(), of_settled)?,
    };
    Ok(site.page(
        StatusCode::OK,
        "serve/disputes.html",
        "disputes",
        values! { page },
    ))
}

/// The part of a list of disputes that one page shows, and the number of the last dispute for the link to older ones.
fn part(journal: Option<&Journal>, filter: DisputeFilter) -> Result<Value, ErrorPage> {
    let is_later = filter.before.is_some();
    let filter = DisputeFilter {
        recent: Some(ROWS.0 + 1),
        ..filter
    };
    let mut rows = match journal {
        Some(journal) => journal.disputes(&filter)?,
        None => Vec::new(),
    };
    let is_cut = rows.len() > ROWS.0 as usize;
    rows.truncate(ROWS.0 as usize);
    Ok(values! {
        older => rows.last().filter(|_| is_cut).map(|row| row.number),
        rows => rows.iter().map(views::dispute_row).collect::<Vec<_>>(),
        is_later,
    })
}

pub(crate) fn dispute(site: &Site, number: u64) -> Result<Response, ErrorPage> {
    dispute_with(site, number, &RulingForm::default(), None)
}

/// Returns the page of a dispute. If the dispute is open, the page contains the form; `refused` is the error in what a
/// person entered there.
pub(crate) fn dispute_with(
    site: &Site,
    number: u64,
    form: &RulingForm,
    refused: Option<&CommandError>,
) -> Result<Response, ErrorPage> {
    let unknown = || JournalError::UnknownDispute(DisputeNumber(number));
    let journal = site.source.journal()?.ok_or_else(unknown)?;
    let record = journal
        .dispute(DisputeNumber(number))?
        .ok_or_else(unknown)?;
    let is_open = record.dispute.is_open();
    let form = site.person.as_ref().filter(|_| is_open).map(|person| {
        values! {
            token => site.forms.token,
            person => printable::line(&person.name),
            words => views::choices(&[
                RulingChoice::Enforce,
                RulingChoice::Dismiss,
                RulingChoice::Discard,
            ]),
            kinds => views::choices(DismissalKind::value_variants()),
            error => refused.map(CommandError::message),
            hint => refused.and_then(CommandError::advice),
            ..environment::value(form)
        }
    });
    // If the report cannot be made, the page shows the error in place of the disputed code. A person can rule on
    // the dispute even without this code.
    let (report, failure) = match report_of(site, &journal, &record) {
        Ok(report) => (report, None),
        Err(error) => (None, Some(error.message())),
    };
    let next = if is_open || !site.source.is_here() {
        None
    } else {
        view::after_ruling(&record.run, &journal.events(&record.run)?).map(|(command, _)| command)
    };
    let page = views::dispute(record, next);
    let status = match refused {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    Ok(site.page(
        status,
        "serve/dispute.html",
        "disputes",
        values! { page, report, failure, form, is_open },
    ))
}

fn report_of(
    site: &Site,
    journal: &Journal,
    record: &DisputeRecord,
) -> Result<Option<Value>, CommandError> {
    match journal.plan(&record.run)? {
        Some(_) => report(site, journal, &record.run, &[record.dispute.finding.id]).map(Some),
        None => Ok(None),
    }
}

pub(crate) fn statistics(site: &Site) -> Result<Response, ErrorPage> {
    let found = match site.source.journal()? {
        Some(journal) => stats::all(&journal)?,
        None => ReviewStatistics::default(),
    };
    let page = environment::value(&found);
    Ok(site.page(
        StatusCode::OK,
        "serve/statistics.html",
        "statistics",
        values! { page },
    ))
}
