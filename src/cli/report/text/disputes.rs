//! The disputes of the run, each with its objection, every ruling on it and how it ended.

use std::fmt::Write as _;

use crate::cli::report::options::RenderOptions;
use crate::cli::report::text::layout::{heading, lines};
use crate::cli::style::{Color, Style};
use crate::domain::{Disposition, Dispute, Objector, Outcome, Untrusted};
use crate::protocol::text::printable;

/// The columns of the names in front of what was said.
const NAMES: usize = 11;

pub(crate) fn section(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    if outcome.disputes.is_empty() {
        return String::new();
    }
    let mut text = heading(options.look, &format!("Disputes ({})", outcome.disputes.len()), "");
    for dispute in &outcome.disputes {
        text.push_str(&one(dispute, options));
    }
    text
}

fn one(dispute: &Dispute, options: &RenderOptions<'_>) -> String {
    let look = options.look;
    let finding = &dispute.finding;
    let (tone, word, detail) = ending(dispute);
    let ending = if detail.is_empty() { word.to_owned() } else { format!("{word} ({detail})") };
    let severity = printable::line(&finding.raw.severity.to_string());
    let place = finding.raw.location().map(|place| format!(" {}", printable::line(&place.to_string())));
    let facts = look.facts(&[
        look.paint(tone, &printable::line(&ending)),
        format!(
            "{}{}",
            look.paint(Color::of(&finding.raw.severity), &format!("{severity}[{}]", finding.id)),
            place.unwrap_or_default()
        ),
        printable::line(&finding.raw.title),
    ]);
    let number = look.paint(Color::Strong, &format!("{}", dispute.number));
    let mut text = format!("  {number} {}\n", look.cut(&facts, look.width.saturating_sub(6)));
    let mut say = |name: &str, tone: Color, what: &Untrusted, most: usize| {
        let room = NAMES + 5;
        for (index, line) in lines(look, what, room, most, options.detail).iter().enumerate() {
            let name = if index == 0 { name } else { "" };
            let _ = writeln!(text, "    {}{line}", look.paint(tone, &format!("{name:<NAMES$}")));
        }
    };
    // What several reviewers said takes more lines than one coder's objection.
    let (name, most) = match dispute.objector {
        Objector::Coder => ("objection", 4),
        Objector::Reviewers => ("reviewers", 12),
        Objector::Unconfirmed => ("alone", 12),
        Objector::Earlier => ("undoes", 4),
    };
    say(name, Color::Faint, &dispute.objection.text, most);
    for evidence in &dispute.objection.evidence {
        say("evidence", Color::Faint, evidence, 2);
    }
    for earlier in &dispute.earlier {
        say("earlier", Color::Warn, &earlier.sentence(), 2);
        say("decided", Color::Faint, &earlier.decided(), 2);
    }
    for record in &dispute.rulings {
        let ruling = &record.ruling;
        let colon = if ruling.rationale.is_blank() { "" } else { ": " };
        let said = ruling.rationale.trimmed().labelled(&format!("{} by {}{colon}", ruling.ruling, record.by));
        say("ruling", Color::of_ruling(ruling.ruling), &said, 4);
        if !ruling.citations.is_empty() {
            say("cites", Color::Faint, &Untrusted::joined(&ruling.citations, ", "), 2);
        }
        if let Some(why) = &ruling.coder_evidence {
            say("the coder's own evidence counts", Color::Faint, why, 2);
        }
        for vote in &record.votes {
            say("vote", Color::Faint, &vote.said(), 2);
        }
    }
    text
}

/// The word a dispute ended with, and what else is to be said of it.
fn ending(dispute: &Dispute) -> (Color, &'static str, String) {
    match &dispute.disposition {
        None => (Color::Warn, "OPEN", "waits for you".to_owned()),
        Some(Disposition::Enforced) => (Color::Bad, "ENFORCED", String::new()),
        Some(Disposition::Refuted) => (Color::Good, "DISMISSED", "refuted".to_owned()),
        Some(Disposition::Discarded) => {
            let by = dispute.discarded_by.as_ref().map(|by| format!("by {by}"));
            (Color::Minor, "DISCARDED", by.unwrap_or_default())
        }
        Some(Disposition::AcceptedRisk) => (Color::Warn, "DISMISSED", "accepted risk".to_owned()),
        Some(Disposition::Deferred { reference }) => (Color::Warn, "DISMISSED", format!("deferred to {reference}")),
        Some(Disposition::Duplicate { of }) => (Color::Good, "DISMISSED", format!("duplicate of {of}")),
        Some(Disposition::NotMandatory) => {
            let tag = dispute.rulings.last().and_then(|record| record.ruling.new_tag);
            let what = tag.map_or_else(
                || "not mandatory".to_owned(),
                |tag| format!("now {tag}, was {}", dispute.finding.raw.severity),
            );
            (Color::Good, "DISMISSED", what)
        }
    }
}

/// How the disputes ended, counted: `3: 1 enforced, 1 dismissed, 1 open`.
pub(crate) fn tally(look: Style, disputes: &[Dispute]) -> String {
    let ended = |word: &str| disputes.iter().filter(|dispute| ending(dispute).1 == word).count();
    let parts: Vec<String> =
        [("ENFORCED", "enforced"), ("DISMISSED", "dismissed"), ("DISCARDED", "discarded"), ("OPEN", "open")]
            .into_iter()
            .filter_map(|(word, shown)| match ended(word) {
                0 => None,
                number => Some(format!("{number} {shown}")),
            })
            .collect();
    let tone = if disputes.iter().any(Dispute::is_open) { Color::Warn } else { Color::Plain };
    let all = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    look.paint(tone, &format!("Disputed ({}{all})", disputes.len()))
}
