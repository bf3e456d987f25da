//! The section of the text report with the disputes of the run: objections, rulings and results.

use std::fmt::Write as _;

use crate::cli::report::options::RenderOptions;
use crate::cli::report::text::findings;
use crate::cli::report::text::layout::{at_most, facts, heading};
use crate::cli::style::{Color, behind};
use glee_model::domain::{
    AgentName, Disposition, Dispute, Finding, FindingState, Objector, Outcome, Untrusted,
};
use glee_model::rules::review::objections;
use glee_protocol::text::printable;

const LABELS: usize = 11;

pub(crate) fn section(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    if outcome.disputes.is_empty() {
        return String::new();
    }
    let title = format!("Disputes ({})", outcome.disputes.len());
    let disputes = outcome
        .disputes
        .iter()
        .map(|dispute| one(outcome, dispute, options));
    heading(options.style, &title, "") + &disputes.collect::<String>()
}

fn one(outcome: &Outcome, dispute: &Dispute, options: &RenderOptions<'_>) -> String {
    let style = options.style;
    let raw = &dispute.finding.raw;
    let (color, word, detail) = ending(dispute);
    let ending = if detail.is_empty() {
        word.to_owned()
    } else {
        format!("{word} ({detail})")
    };
    let place = findings::place(raw, options).map(|place| format!(" {place}"));
    let parts = [
        style.paint(color, &printable::line(&ending)),
        style.tag(own(outcome, dispute).unwrap_or(&dispute.finding)) + &place.unwrap_or_default(),
        printable::line(&raw.title),
        dispute.opened_by.as_ref().map_or_else(String::new, |run| {
            style.faint(format!("opened by run {}", printable::line(run.short())))
        }),
    ];
    let mut text = String::new();
    let head = format!("  {} ", style.strong(dispute.number.to_string()));
    facts(&mut text, style, &head, &parts);
    let mut details = Details { text, options };
    for member in &dispute.members {
        let place = findings::place(&member.raw, options).map(|place| format!("{place} "));
        let text = member.raw.title.labelled(&format!(
            "{} {}",
            style.tag(member),
            place.unwrap_or_default()
        ));
        details.add("also", Color::of(&member.raw.severity), &text, 4);
    }
    // The objection is shown in at most 4 lines. The opinions of several reviewers get up to 12 lines.
    let objection = match dispute.objector {
        Objector::Coder => Some(("objection", 4)),
        Objector::Reviewers => Some(("reviewers", 12)),
        Objector::Unconfirmed => Some(("alone", 12)),
        Objector::Earlier => Some(("undoes", 4)),
        Objector::Participant => Some(("objection", 4)),
        // The objection of a person is not shown, because the person's ruling contains the same text.
        Objector::Person => None,
    };
    if let Some((label, most)) = objection {
        let text = match (dispute.objector, coder(outcome, dispute)) {
            (Objector::Coder, Some(name)) => dispute.objection.text.labelled(&format!("{name}: ")),
            _ => dispute.objection.text.clone(),
        };
        details.add(label, Color::Faint, &text, most);
    }
    for evidence in &dispute.objection.evidence {
        details.add("evidence", Color::Faint, evidence, 2);
    }
    if objections::lacks_evidence(dispute.objector, &dispute.objection) {
        let none = Untrusted::from("none: the objection names nothing that can be looked up");
        details.add("evidence", Color::Warn, &none, 2);
    }
    for earlier in &dispute.earlier {
        details.add("earlier", Color::Warn, &earlier.sentence(), 2);
        details.add("decided", Color::Faint, &earlier.decided(), 2);
    }
    for record in &dispute.rulings {
        let ruling = &record.ruling;
        let colon = if ruling.rationale.is_blank() {
            ""
        } else {
            ": "
        };
        let said = ruling
            .rationale
            .trimmed()
            .labelled(&format!("{} by {}{colon}", ruling.ruling, record.by));
        details.add("ruling", Color::of_ruling(ruling.ruling), &said, 4);
        if !ruling.citations.is_empty() {
            details.add(
                "cites",
                Color::Faint,
                &Untrusted::joined(&ruling.citations, ", "),
                2,
            );
        }
        if let Some(why) = &ruling.coder_evidence {
            details.add("the coder's own evidence counts", Color::Faint, why, 2);
        }
        for vote in &record.votes {
            details.add("vote", Color::Faint, &vote.said(), 2);
        }
    }
    details.text
}

/// The labelled lines below the first lines of a dispute.
struct Details<'a> {
    text: String,
    options: &'a RenderOptions<'a>,
}

impl Details<'_> {
    fn add(&mut self, label: &str, color: Color, what: &Untrusted, most: usize) {
        let style = self.options.style;
        let mut head = format!("    {}", style.paint(color, &format!("{label:<LABELS$}")));
        if label.len() >= LABELS {
            head.push(' ');
        }
        let most = at_most(self.options, most);
        for line in behind(style, &head, 6, &printable::block(what), most) {
            let _ = writeln!(self.text, "{line}");
        }
    }
}

/// Returns the coder that received the disputed finding, or `None` if the run has only one coder.
fn coder<'a>(outcome: &'a Outcome, dispute: &Dispute) -> Option<&'a AgentName> {
    let is_of_run = dispute.opened_by.is_none();
    let mut findings = outcome.findings.iter();
    let about = findings.find(|settled| is_of_run && dispute.is_about(settled.finding.id));
    about?.coder.as_ref()
}

/// If a finding of this run repeats the finding of an earlier dispute, returns the finding of this run. In the
/// earlier dispute, the finding has another id.
pub(crate) fn own<'a>(outcome: &'a Outcome, dispute: &Dispute) -> Option<&'a Finding> {
    let waits = FindingState::Disputed {
        dispute: dispute.number,
    };
    let repeated = outcome
        .findings
        .iter()
        .find(|finding| dispute.opened_by.is_some() && finding.state == waits);
    repeated.map(|finding| &finding.finding)
}

pub(crate) fn ending(dispute: &Dispute) -> (Color, &'static str, String) {
    match &dispute.disposition {
        None => (Color::Warn, "OPEN", "waits for you".to_owned()),
        Some(Disposition::Enforced) => (Color::Bad, "ENFORCED", String::new()),
        Some(Disposition::Refuted) => (Color::Good, "DISMISSED", String::new()),
        Some(Disposition::Discarded) => {
            let by = dispute.discarded_by.as_ref().map(|by| format!("by {by}"));
            (Color::Minor, "DISCARDED", by.unwrap_or_default())
        }
        Some(Disposition::AcceptedRisk) => (Color::Warn, "DISMISSED", "accepted risk".to_owned()),
        Some(Disposition::Deferred { reference }) => {
            (Color::Warn, "DISMISSED", format!("deferred to {reference}"))
        }
        Some(Disposition::Duplicate { of }) => {
            (Color::Good, "DISMISSED", format!("duplicate of {of}"))
        }
        Some(Disposition::NotMandatory) => {
            let what = match dispute
                .rulings
                .last()
                .and_then(|record| record.ruling.new_tag)
            {
                Some(tag) => format!("now {tag}, was {}", dispute.finding.raw.severity),
                None => "not mandatory".to_owned(),
            };
            (Color::Good, "DISMISSED", what)
        }
    }
}

/// Counts the disputes by result, as in `1 enforced, 1 dismissed, 1 open`.
pub(crate) fn counts(disputes: &[Dispute]) -> String {
    let parts: Vec<String> = ["ENFORCED", "DISMISSED", "DISCARDED", "OPEN"]
        .iter()
        .filter_map(|word| {
            let number = disputes
                .iter()
                .filter(|dispute| ending(dispute).1 == *word)
                .count();
            (number > 0).then(|| format!("{number} {}", word.to_lowercase()))
        })
        .collect();
    parts.join(", ")
}
