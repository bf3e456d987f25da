//! The findings of all runs and their state in the current tree, as listed by `glee findings`.

use minijinja::value::Value;
use serde::{Deserialize, Serialize};

use super::value;
use crate::cli::commands::work::findings::list;
use crate::cli::context::CommandError;
use crate::cli::report::filter::FindingFilter;
use crate::cli::report::html::environment::values;
use glee_model::domain::{FindingState, Location, RulingRef, Tag};
use glee_system::uri;
use glee_workflows::review::TreeFinding;

/// The number of findings on one page.
const ROWS: usize = 200;

/// The query parameters of the list: the filters, and the number of findings to skip.
#[derive(Debug, Default, Serialize, Deserialize)]
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

/// The list that the query selects. `found` contains all findings, open ones first. Fails if the query has an invalid
/// filter.
pub(crate) fn view(found: &[TreeFinding], query: &FindingsQuery) -> Result<Value, CommandError> {
    let filter = FindingFilter::of(&query.severity, &query.path).map_err(|error| {
        CommandError::usage(format!("the filter is not valid: {error}"))
            .hint("go back and change the filter")
    })?;
    let mut shown: Vec<&TreeFinding> = found.iter().collect();
    shown.retain(|finding| {
        let is_in_state = match query.state {
            ShownState::Open => finding.standing.is_open(),
            ShownState::Closed => !finding.standing.is_open(),
            ShownState::All => true,
        };
        let place = location(finding);
        let path = place.as_ref().map(|place| place.file.as_str());
        is_in_state && filter.shows(&finding.settled.finding, path)
    });
    let from = query.from.min(shown.len().saturating_sub(1) / ROWS * ROWS);
    let end = shown.len().min(from + ROWS);
    let rows: Vec<Value> = shown[from..end]
        .iter()
        .map(|finding| row(finding))
        .collect();
    Ok(values! {
        rows,
        from,
        end,
        previous => (from > 0).then(|| query.address(from.saturating_sub(ROWS))),
        next => (end < shown.len()).then(|| query.address(end)),
        hidden => found.len() - shown.len(),
        shown => shown.len(),
        severities => Tag::ALL.map(|tag| tag.as_str().to_lowercase()),
        ..value(query)
    })
}

impl FindingsQuery {
    /// The query parameters of the part of the list that begins with the finding `from`.
    fn address(&self, from: usize) -> String {
        let state = serde_json::json!(self.state);
        let state = state.as_str().unwrap_or_default();
        let severity = uri::path(&self.severity);
        let path = uri::path(&self.path);
        format!("state={state}&severity={severity}&path={path}&from={from}")
    }
}

fn row(finding: &TreeFinding) -> Value {
    let settled = &finding.settled;
    let tone = match (finding.standing.is_open(), settled.finding.mandatory) {
        (true, true) => "bad",
        (true, false) => "warn",
        (false, _) => "minor",
    };
    let dispute = match &settled.state {
        FindingState::Disputed { dispute }
        | FindingState::Enforced { dispute }
        | FindingState::Dismissed { dispute }
        | FindingState::AlreadyRuled {
            dispute: RulingRef::Number(dispute),
            ..
        } => Some(*dispute),
        _ => None,
    };
    values! {
        state => list::state(finding),
        tone,
        place => location(finding).map(|place| place.to_string()),
        dispute,
        ..value(finding)
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
