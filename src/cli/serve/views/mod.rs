//! The content of pages as values that templates insert. Secrets are redacted, and control characters are
//! escaped.

pub(crate) mod templates;
pub(crate) mod tree_findings;

use clap::ValueEnum;
use jiff::Timestamp;
use serde::Serialize;

use crate::cli::commands::history::disputes::common::outcome;
use crate::cli::commands::history::disputes::decision::{DismissalKind, RulingChoice};
use crate::cli::commands::history::disputes::list;
use crate::cli::commands::history::runs::lookup;
use crate::cli::context::local_time;
use crate::cli::style::{Color, count};
use glee_model::domain::{
    DisputeId, EarlierDispute, ExitReason, Finding, Objector, Ruler, RulingRecord, Severity, Tag,
    Untrusted,
};
use glee_model::rules::review::objections;
use glee_protocol::secrets;
use glee_protocol::text::printable::{self, Shown};
use glee_store::history::queries::rows::{DisputeRecord, DisputeRow, RunRow};

pub(crate) fn line(text: &(impl Shown + ?Sized)) -> String {
    secrets::redact(&printable::line(text)).into_owned()
}

pub(crate) fn block(text: &(impl Shown + ?Sized)) -> String {
    secrets::redact(&printable::block(text)).into_owned()
}

fn lines(texts: &[Untrusted]) -> Vec<String> {
    texts.iter().map(block).collect()
}

/// Returns the CSS class of a colour.
fn tone(color: Color) -> &'static str {
    match color {
        Color::Good => "good",
        Color::Warn => "warn",
        Color::Bad => "bad",
        Color::Minor | Color::Plain | Color::Strong | Color::Faint | Color::Key => "minor",
    }
}

fn tag_tone(tag: &str) -> &'static str {
    tone(Color::of(&Severity {
        tag: Tag::parse(tag),
        raw: tag.to_owned(),
    }))
}

#[derive(Debug, Serialize)]
pub(crate) struct RunView {
    pub(crate) id: String,
    pub(crate) short: String,
    started: String,
    mode: String,
    findings: String,
    disputes: String,
    ended: String,
    target: String,
    tone: &'static str,
    /// True if the run is in progress, and also true if the run was interrupted.
    pub(crate) is_unended: bool,
}

impl RunView {
    pub(crate) fn of(row: &RunRow) -> Self {
        let [short, started, mode, findings, disputes, ended, target] = lookup::cells(row);
        let (ended, tone) = match row.exit {
            None if row.undone => (ended, "minor"),
            None => ("running or interrupted".to_owned(), "minor"),
            Some(ExitReason::Clean) => (ended, "good"),
            Some(ExitReason::FindingsOpen | ExitReason::DisputeOpen) => (ended, "warn"),
            Some(_) => (ended, "bad"),
        };
        let target = line(&target);
        Self {
            id: row.run.0.clone(),
            short,
            started,
            mode,
            findings,
            disputes,
            ended,
            target,
            tone,
            is_unended: row.exit.is_none(),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct DisputeLine {
    number: u64,
    opened: String,
    tag: String,
    tag_tone: &'static str,
    title: String,
    place: String,
    raised_by: String,
    ruling: String,
    tone: &'static str,
    by: String,
    run: String,
}

impl DisputeLine {
    pub(crate) fn of(row: &DisputeRow) -> Self {
        let (color, ruling) = list::ruling(row);
        Self {
            number: row.number.0,
            opened: local_time(row.opened_at),
            tag: line(&row.tag),
            tag_tone: tag_tone(&row.tag),
            title: line(&row.title),
            place: row
                .location
                .as_ref()
                .map(|place| line(&place.to_string()))
                .unwrap_or_default(),
            raised_by: line(&row.raised_by.join(", ")),
            ruling: line(&ruling),
            tone: tone(color),
            by: row
                .ruled_by
                .as_ref()
                .map(|by| line(&by.to_string()))
                .unwrap_or_default(),
            run: row.run.short().to_owned(),
        }
    }
}

fn names(finding: &Finding) -> String {
    let names: Vec<String> = finding.raised_by.iter().map(|name| line(&name.0)).collect();
    names.join(", ")
}

#[derive(Debug, Serialize)]
pub(crate) struct DisputeDetails {
    number: String,
    id: String,
    run: String,
    run_short: String,
    state: String,
    tone: &'static str,
    tag: String,
    tag_tone: &'static str,
    title: String,
    place: String,
    finding: String,
    opened: String,
    is_open: bool,
    raised_by: String,
    body: String,
    suggestion: String,
    evidence: Vec<String>,
    members: Vec<MemberView>,
    objector: String,
    /// The role whose colour marks the objection.
    objector_role: &'static str,
    objection: String,
    objection_evidence: Vec<String>,
    earlier: Vec<EarlierView>,
    rulings: Vec<RulingView>,
    settlement: Option<SettlementView>,
    reopened: Option<String>,
    /// The command that resumes the run. `None` while the dispute is open.
    next: Option<String>,
}

/// A further member of the disputed group.
#[derive(Debug, Serialize)]
struct MemberView {
    id: String,
    tag: String,
    title: String,
    place: String,
    raised_by: String,
    body: String,
    suggestion: String,
    evidence: Vec<String>,
}

#[derive(Debug, Serialize)]
struct EarlierView {
    sentence: String,
    decided: String,
    diff: Option<String>,
}

#[derive(Debug, Serialize)]
struct RulingView {
    word: String,
    tone: &'static str,
    by: String,
    rationale: String,
    citations: Vec<String>,
    coder_evidence: String,
    votes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct SettlementView {
    at: String,
    by: String,
    outcome: String,
    reason: String,
    until: Option<String>,
    ended: Option<String>,
}

impl DisputeDetails {
    /// `next` is the command that continues the run of a settled dispute.
    pub(crate) fn of(record: &DisputeRecord, next: Option<String>) -> Self {
        let DisputeRecord {
            run,
            opened_at,
            dispute,
            ..
        } = record;
        let (finding, raw) = (&dispute.finding, &dispute.finding.raw);
        let is_open = dispute.is_open();
        let (state, tone_of_state) = match &dispute.disposition {
            None => ("open".to_owned(), "warn"),
            Some(ended) => (
                line(&outcome(ended)),
                if ended.closes() { "good" } else { "bad" },
            ),
        };
        let tag = raw.severity.to_string();
        // The objection of a person is not shown, because the person's ruling contains the same text.
        let is_person = dispute.objector == Objector::Person;
        Self {
            number: dispute.number.to_string(),
            id: DisputeId::of(run, finding.id).0,
            run: run.0.clone(),
            run_short: run.short().to_owned(),
            state,
            tone: tone_of_state,
            tag_tone: tone(Color::of(&raw.severity)),
            tag: line(&tag),
            title: line(&raw.title),
            place: raw
                .location()
                .map(|place| line(&place.to_string()))
                .unwrap_or_default(),
            finding: finding.id.to_string(),
            opened: local_time(*opened_at),
            is_open,
            raised_by: names(finding),
            body: block(if raw.body.is_blank() {
                &raw.title
            } else {
                &raw.body
            }),
            suggestion: raw.suggestion.as_ref().map(block).unwrap_or_default(),
            evidence: lines(&raw.evidence),
            members: dispute.members.iter().map(MemberView::of).collect(),
            objector: objections::heading(dispute),
            objector_role: match dispute.objector {
                Objector::Coder => "coder",
                Objector::Person | Objector::Participant => "person",
                Objector::Reviewers | Objector::Unconfirmed | Objector::Earlier => "reviewer",
            },
            objection: if is_person {
                String::new()
            } else {
                block(&dispute.objection.text)
            },
            objection_evidence: lines(&dispute.objection.evidence),
            earlier: dispute.earlier.iter().map(EarlierView::of).collect(),
            rulings: dispute.rulings.iter().map(RulingView::of).collect(),
            settlement: SettlementView::of(record),
            reopened: record.reopened.as_ref().map(|reopened| {
                let why = if reopened.reason.is_blank() { "" } else { ": " };
                line(
                    &reopened
                        .reason
                        .labelled(&format!("Reopened {}{why}", local_time(reopened.at))),
                )
            }),
            next,
        }
    }
}

impl MemberView {
    fn of(finding: &Finding) -> Self {
        let raw = &finding.raw;
        let place = raw.location().map(|place| line(&place.to_string()));
        Self {
            id: finding.id.to_string(),
            tag: line(&raw.severity.to_string()),
            title: line(&raw.title),
            place: place.unwrap_or_default(),
            raised_by: names(finding),
            body: block(&raw.body),
            suggestion: raw.suggestion.as_ref().map(block).unwrap_or_default(),
            evidence: lines(&raw.evidence),
        }
    }
}

impl EarlierView {
    fn of(earlier: &EarlierDispute) -> Self {
        Self {
            sentence: line(&earlier.sentence()),
            decided: line(&earlier.decided()),
            diff: earlier.diff().map(block),
        }
    }
}

impl RulingView {
    fn of(record: &RulingRecord) -> Self {
        let RulingRecord {
            ruling, by, votes, ..
        } = record;
        Self {
            word: ruling.ruling.to_string(),
            tone: tone(Color::of_ruling(ruling.ruling)),
            by: ruler(by),
            rationale: block(&ruling.rationale),
            citations: lines(&ruling.citations),
            coder_evidence: ruling
                .coder_evidence
                .as_ref()
                .map(block)
                .unwrap_or_default(),
            votes: votes.iter().map(|vote| line(&vote.said())).collect(),
        }
    }
}

impl SettlementView {
    fn of(record: &DisputeRecord) -> Option<Self> {
        let (settlement, at) = (record.settlement.as_ref()?, record.settled_at?);
        let ruled = record
            .dispute
            .rulings
            .last()
            .map(|last| &last.ruling.rationale);
        Some(Self {
            at: local_time(at),
            by: ruler(&settlement.by),
            outcome: line(&outcome(&settlement.disposition)),
            reason: if ruled == Some(&settlement.reason) {
                String::new()
            } else {
                block(&settlement.reason)
            },
            until: settlement.until.map(|day| day.to_string()),
            ended: record.ended_at.map(local_time),
        })
    }
}

fn ruler(by: &Ruler) -> String {
    line(&by.to_string())
}

/// An option of a form, with its help text.
#[derive(Debug, Serialize)]
pub(crate) struct ChoiceView {
    value: String,
    help: String,
}

fn choices<T: ValueEnum>(offered: &[T]) -> Vec<ChoiceView> {
    let values = offered.iter().filter_map(ValueEnum::to_possible_value);
    let view = |value: clap::builder::PossibleValue| ChoiceView {
        value: value.get_name().to_owned(),
        help: value
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default(),
    };
    values.map(view).collect()
}

/// The HTML form in which a person rules on a dispute, with the values that the person entered so far.
#[derive(Debug, Default, Serialize)]
pub(crate) struct FormView {
    pub(crate) token: String,
    pub(crate) words: Vec<ChoiceView>,
    pub(crate) kinds: Vec<ChoiceView>,
    pub(crate) word: String,
    pub(crate) kind: String,
    pub(crate) reference: String,
    pub(crate) reason: String,
    pub(crate) until: String,
    pub(crate) error: Option<String>,
    pub(crate) hint: Option<String>,
}

impl FormView {
    pub(crate) fn empty(token: &str) -> Self {
        Self {
            token: token.to_owned(),
            words: choices(&[
                RulingChoice::Enforce,
                RulingChoice::Dismiss,
                RulingChoice::Discard,
            ]),
            kinds: choices(DismissalKind::value_variants()),
            ..Self::default()
        }
    }
}

/// Formats the time since an event, as in `3 minutes ago`.
pub(crate) fn age(at: Timestamp) -> String {
    let seconds = (Timestamp::now() - at)
        .total(jiff::Unit::Second)
        .unwrap_or_default()
        .max(0.0) as u64;
    match seconds {
        0..60 => "less than a minute ago".to_owned(),
        60..3600 => format!("{} ago", count(seconds / 60, "minute")),
        3600..86_400 => format!("{} ago", count(seconds / 3600, "hour")),
        _ => format!("{} ago", count(seconds / 86_400, "day")),
    }
}
