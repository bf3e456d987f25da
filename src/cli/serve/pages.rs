//! The pages of the server. The server reads the history again for each request.

use axum::http::StatusCode;
use axum::response::Response;
use minijinja::context;
use serde::{Deserialize, Serialize};

use super::error_page::ErrorPage;
use super::feed::{self, LiveEvent, StartedCall};
use super::site::Site;
use super::views::tree_findings::{FindingsQuery, FindingsView};
use super::views::{self, DisputeDetails, DisputeLine, FormView, RunView};
use crate::cli::commands::history::{runs::lookup, stats};
use crate::cli::commands::work::findings::list;
use crate::cli::context::{CommandError, execute, place};
use crate::cli::report::html::page::Page;
use crate::cli::report::html::statistics::StatisticsView;
use crate::cli::report::options::{Detail, RenderOptions, TextOptions};
use crate::cli::style::Style;
use glee_model::domain::{DisputeNumber, FindingId, RunId};
use glee_model::rules::measures::ReviewStatistics;
use glee_protocol::secrets;
use glee_store::history::JournalError;
use glee_store::history::queries::rows::{DisputeFilter, DisputeRecord};
use glee_store::history::store::Journal;
use glee_workflows::review::recorded::view::{self, Recorded};

/// The default number of rows of a list, and the maximum number of rows that a request can set.
const ROWS: (u32, u32) = (50, 5_000);

/// The maximum number of recorded events that the live view of a run shows at first.
const TAIL: u64 = 300;

#[derive(Serialize)]
struct ListPage<T> {
    rows: Vec<T>,
    /// The number of rows that the page shows after the user follows the link to older rows. `None` if the page
    /// has no such link.
    more: Option<u32>,
    /// Whether the history has older rows.
    is_cut: bool,
}

impl<T> ListPage<T> {
    /// Reads the rows of a list. The argument of the function `read` is the maximum number of rows to read.
    fn read(
        recent: Option<u32>,
        read: impl FnOnce(u32) -> Result<Vec<T>, ErrorPage>,
    ) -> Result<Self, ErrorPage> {
        let shown = recent.unwrap_or(ROWS.0).clamp(1, ROWS.1);
        let mut rows = read(shown + 1)?;
        let is_cut = rows.len() > shown as usize;
        rows.truncate(shown as usize);
        Ok(Self {
            rows,
            is_cut,
            more: (is_cut && shown < ROWS.1).then(|| shown.saturating_mul(4).min(ROWS.1)),
        })
    }
}

pub(crate) fn runs(site: &Site, recent: Option<u32>) -> Result<Response, ErrorPage> {
    let page = ListPage::read(recent, |most| match site.journal()? {
        Some(journal) => Ok(journal.runs(Some(most))?.iter().map(RunView::of).collect()),
        None => Ok(Vec::new()),
    })?;
    Ok(site.page(
        StatusCode::OK,
        "serve/runs.html",
        "runs",
        &page,
        context! {},
    ))
}

/// Returns the page of a run, which contains the same report as `--format html`.
pub(crate) fn run(site: &Site, text: &str) -> Result<Response, ErrorPage> {
    let (journal, run) = found(site, text)?;
    let run = journal.find_run(&run.0)?;
    let live = site.path(&format!("runs/{run}/live"));
    let page = report(site, &journal, &run, &[])?;
    Ok(site.page(
        StatusCode::OK,
        "serve/report.html",
        "runs",
        &page,
        context! { live, short => run.short() },
    ))
}

/// If the list `only` is not empty, the report shows only the findings in this list.
fn report(
    site: &Site,
    journal: &Journal,
    run: &RunId,
    only: &[FindingId],
) -> Result<Page, CommandError> {
    let events = journal.events(run)?;
    let fix = execute::fix_command(&site.globals, &lookup::plan(&events, run)?);
    let Recorded { outcome, reviewed } = view::recorded(
        &place::workspace(&site.globals)?,
        &place::state_dir()?,
        journal,
        run,
    )?;
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
        text: TextOptions::default(),
    };
    Ok(Page::of(&secrets::redact_value(outcome), &options))
}

fn found(site: &Site, text: &str) -> Result<(Journal, RunId), ErrorPage> {
    let journal = site
        .journal()?
        .ok_or_else(|| JournalError::UnknownRun(text.to_owned()))?;
    let run = journal.find_any_run(text)?;
    Ok((journal, run))
}

#[derive(Serialize)]
struct LivePage {
    run: String,
    run_short: String,
    is_review: bool,
    events: Vec<LiveEvent>,
    /// The number of earlier events that the page does not show.
    hidden: u64,
    /// The number of the last event on the page.
    last: u64,
    working: Vec<StartedCall>,
    ended: Option<String>,
    age: Option<String>,
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
    let page = LivePage {
        run_short: run.short().to_owned(),
        is_review: journal.plan(&run)?.is_some(),
        last: events.last().map_or(hidden, |event| event.seq),
        age: journal.last_at(&run)?.map(views::age),
        run: run.0,
        events,
        hidden,
        working,
        ended,
    };
    Ok(site.page(
        StatusCode::OK,
        "serve/live.html",
        "runs",
        &page,
        context! {},
    ))
}

pub(crate) fn findings(site: &Site, query: &FindingsQuery) -> Result<Response, ErrorPage> {
    let workspace = place::workspace(&site.globals)?;
    let found = list::all(&site.globals, &workspace, site.journal()?.as_ref())?;
    let page = FindingsView::of(&found, query)?;
    Ok(site.page(
        StatusCode::OK,
        "serve/findings.html",
        "findings",
        &page,
        context! {},
    ))
}

/// The part of a list of disputes that one page shows.
#[derive(Default, Serialize)]
struct DisputePart {
    rows: Vec<DisputeLine>,
    /// The number of the last dispute in `rows`, for the link to older disputes. `None` if no older disputes
    /// exist.
    older: Option<u64>,
    /// Whether the list has disputes that are newer than the disputes in `rows`.
    is_later: bool,
}

#[derive(Default, Serialize)]
struct DisputesPage {
    open: DisputePart,
    settled: DisputePart,
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
    let page = match site.journal()? {
        None => DisputesPage::default(),
        Some(journal) => {
            let part =
                |before: Option<u64>, filter: DisputeFilter| -> Result<DisputePart, ErrorPage> {
                    let before = before.map(DisputeNumber);
                    let mut rows = journal.disputes(&DisputeFilter {
                        recent: Some(ROWS.0 + 1),
                        before,
                        ..filter
                    })?;
                    let is_cut = rows.len() > ROWS.0 as usize;
                    rows.truncate(ROWS.0 as usize);
                    Ok(DisputePart {
                        older: rows.last().filter(|_| is_cut).map(|row| row.number.0),
                        rows: rows.iter().map(DisputeLine::of).collect(),
                        is_later: before.is_some(),
                    })
                };
            let of_open = DisputeFilter {
                open_only: true,
                ..DisputeFilter::default()
            };
            let of_settled = DisputeFilter {
                settled_only: true,
                ..DisputeFilter::default()
            };
            DisputesPage {
                open: part(position.open_before, of_open)?,
                settled: part(position.settled_before, of_settled)?,
            }
        }
    };
    Ok(site.page(
        StatusCode::OK,
        "serve/disputes.html",
        "disputes",
        &page,
        context! {},
    ))
}

#[derive(Serialize)]
struct DisputePage {
    dispute: DisputeDetails,
    /// The report on the run in which the dispute was opened. The page takes the disputed source code from this
    /// report. `None` if no report can be made, for example for a watch.
    report: Option<Page>,
    /// The error message that the page shows if the report cannot be made.
    failure: Option<String>,
    form: Option<FormView>,
}

pub(crate) fn dispute(site: &Site, number: u64) -> Result<Response, ErrorPage> {
    dispute_with(
        site,
        number,
        StatusCode::OK,
        FormView::empty(site.access.form_token()),
    )
}

/// Returns the page of a dispute. If the dispute is open, the page contains the form in the parameter `form`.
pub(crate) fn dispute_with(
    site: &Site,
    number: u64,
    status: StatusCode,
    form: FormView,
) -> Result<Response, ErrorPage> {
    let unknown = || JournalError::UnknownDispute(DisputeNumber(number));
    let journal = site.journal()?.ok_or_else(unknown)?;
    let record = journal
        .dispute(DisputeNumber(number))?
        .ok_or_else(unknown)?;
    let form = record.dispute.is_open().then_some(form);
    // If the report cannot be made, the page shows the error in place of the disputed code. A person can rule on
    // the dispute even without this code.
    let (report, failure) = match report_of(site, &journal, &record) {
        Ok(report) => (report, None),
        Err(error) => (None, Some(views::line(&error.message()))),
    };
    let next = if record.dispute.is_open() {
        None
    } else {
        view::after_ruling(&record.run, &journal.events(&record.run)?).map(|(command, _)| command)
    };
    let page = DisputePage {
        dispute: DisputeDetails::of(&record, next),
        report,
        failure,
        form,
    };
    Ok(site.page(status, "serve/dispute.html", "disputes", &page, context! {}))
}

fn report_of(
    site: &Site,
    journal: &Journal,
    record: &DisputeRecord,
) -> Result<Option<Page>, CommandError> {
    match journal.plan(&record.run)? {
        Some(_) => report(site, journal, &record.run, &[record.dispute.finding.id]).map(Some),
        None => Ok(None),
    }
}

pub(crate) fn statistics(site: &Site) -> Result<Response, ErrorPage> {
    let found = match site.journal()? {
        Some(journal) => stats::all(&journal)?,
        None => ReviewStatistics::default(),
    };
    let page = StatisticsView::of(&found);
    Ok(site.page(
        StatusCode::OK,
        "serve/statistics.html",
        "statistics",
        &page,
        context! {},
    ))
}
