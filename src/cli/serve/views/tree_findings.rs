//! The findings of all runs and their state in the current tree, as listed by `glee findings`.

use serde::{Deserialize, Serialize};

use super::{line, tag_tone};
use crate::cli::commands::work::findings::list;
use crate::cli::context::{CommandError, local_time};
use crate::cli::report::filter::FindingFilter;
use crate::cli::report::html::page::findings::anchor;
use glee_model::domain::{FindingState, Location, RulingRef, Tag};
use glee_system::uri;
use glee_workflows::review::TreeFinding;

/// The number of findings on one page.
const ROWS: usize = 200;

/// The query parameters of the list: the filters, and the number of findings to skip.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct FindingsQuery {
    #[serde(default)]
    state: ShownState,
    #[serde(default)]
    severity: String,
    #[serde(default)]
    path: String,
    /// The number of findings to skip, because the preceding parts of the list show them.
    #[serde(default)]
    from: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ShownState {
    #[default]
    Open,
    Closed,
    All,
}

#[derive(Debug, Serialize)]
pub(crate) struct FindingsView {
    rows: Vec<FindingRow>,
    /// The number of findings that match the filters.
    shown: usize,
    /// The number of findings that the filters hide.
    hidden: usize,
    /// The number of the first row on this page. The rows of all pages are counted from 1.
    first: usize,
    last: usize,
    /// The query parameters in the addresses of the previous page and the next page.
    previous: Option<String>,
    next: Option<String>,
    state: ShownState,
    severity: String,
    path: String,
    severities: Vec<String>,
}

#[derive(Debug, Serialize)]
struct FindingRow {
    id: String,
    /// The URL fragment of the finding in the HTML report, such as `f3`.
    anchor: String,
    run: String,
    run_short: String,
    started: String,
    tag: String,
    tag_tone: &'static str,
    state: String,
    tone: &'static str,
    title: String,
    place: String,
    mandatory: bool,
    raised_by: String,
    /// The number of the dispute in this history.
    dispute: Option<u64>,
}

impl FindingsView {
    /// `found` contains all findings, open ones first. Fails if the query has an invalid filter.
    pub(crate) fn of(found: &[TreeFinding], query: &FindingsQuery) -> Result<Self, CommandError> {
        let filter = FindingFilter::of(&query.severity, &query.path).map_err(|error| {
            CommandError::usage(format!("the filter is not valid: {error}"))
                .hint("go back and change the filter")
        })?;
        let shown: Vec<&TreeFinding> = found
            .iter()
            .filter(|finding| match query.state {
                ShownState::Open => finding.standing.is_open(),
                ShownState::Closed => !finding.standing.is_open(),
                ShownState::All => true,
            })
            .filter(|finding| {
                let place = location(finding);
                filter.shows(
                    &finding.settled.finding,
                    place.as_ref().map(|place| place.file.as_str()),
                )
            })
            .collect();
        let from = query.from.min(shown.len().saturating_sub(1) / ROWS * ROWS);
        let rows: Vec<FindingRow> = shown
            .iter()
            .skip(from)
            .take(ROWS)
            .map(|finding| FindingRow::of(finding))
            .collect();
        let end = from + rows.len();
        let state = match query.state {
            ShownState::Open => "open",
            ShownState::Closed => "closed",
            ShownState::All => "all",
        };
        let address = |from: usize| {
            let (severity, path) = (uri::path(&query.severity), uri::path(&query.path));
            format!("state={state}&severity={severity}&path={path}&from={from}")
        };
        Ok(Self {
            first: (from + 1).min(end),
            last: end,
            previous: (from > 0).then(|| address(from.saturating_sub(ROWS))),
            next: (end < shown.len()).then(|| address(end)),
            hidden: found.len() - shown.len(),
            shown: shown.len(),
            state: query.state,
            severity: line(&query.severity),
            path: line(&query.path),
            severities: Tag::ALL
                .iter()
                .map(|tag| tag.as_str().to_lowercase())
                .collect(),
            rows,
        })
    }
}

impl FindingRow {
    fn of(finding: &TreeFinding) -> Self {
        let settled = &finding.settled;
        let raw = &settled.finding.raw;
        let tag = raw.severity.to_string();
        let is_open = finding.standing.is_open();
        Self {
            id: settled.finding.id.to_string(),
            anchor: anchor(settled),
            run: finding.run.0.clone(),
            run_short: finding.run.short().to_owned(),
            started: local_time(finding.started),
            tag_tone: tag_tone(&tag),
            tag: line(&tag),
            state: line(&list::state(finding)),
            tone: match (is_open, settled.finding.mandatory) {
                (true, true) => "bad",
                (true, false) => "warn",
                (false, _) => "minor",
            },
            title: line(&raw.title),
            place: location(finding)
                .map(|place| line(&place.to_string()))
                .unwrap_or_default(),
            mandatory: settled.finding.mandatory,
            raised_by: super::names(&settled.finding),
            dispute: match &settled.state {
                FindingState::Disputed { dispute }
                | FindingState::Enforced { dispute }
                | FindingState::Dismissed { dispute }
                | FindingState::AlreadyRuled {
                    dispute: RulingRef::Number(dispute),
                    ..
                } => Some(dispute.0),
                _ => None,
            },
        }
    }
}

/// Returns the current location of the finding. If the current location is unknown, returns the location in the
/// reviewed code.
fn location(finding: &TreeFinding) -> Option<Location> {
    finding
        .now
        .clone()
        .or_else(|| finding.settled.finding.raw.location())
}
