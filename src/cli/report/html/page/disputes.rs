//! The disputes of the report, each with its finding, its objection and its rulings.

use minijinja::value::Value;

use super::cast::Cast;
use super::code::{CodePlace, Excerpts};
use super::findings::{code_place, earlier};
use crate::cli::report::html::environment::{tone, value, values};
use crate::cli::report::text::disputes::{ending, own};
use crate::cli::report::view::ruler;
use crate::cli::style::Color;
use glee_model::domain::{
    AgentName, Dispute, Objector, Outcome, PanelVote, RulingRecord, Untrusted,
};
use glee_model::rules::review::objections;
use glee_protocol::text::{location, printable};

/// Returns the locations of two kinds of source code: the code that is disputed, and the code that rulings cite.
pub(crate) fn code_places(outcome: &Outcome) -> Vec<CodePlace> {
    let mut places = Vec::new();
    for dispute in &outcome.disputes {
        let round = dispute.finding.round;
        places.extend(code_place(&dispute.finding.raw, round));
        for record in &dispute.rulings {
            let citations = record.ruling.citations.iter();
            places.extend(citations.filter_map(|cited| cited_place(cited, round)));
        }
    }
    places
}

fn cited_place(citation: &Untrusted, round: u32) -> Option<CodePlace> {
    let citation = printable::line(citation);
    let (file, line, end_line) = location::split(&citation)?;
    Some(CodePlace {
        file: file.to_owned(),
        round,
        line,
        end_line,
    })
}

pub(crate) fn views(outcome: &Outcome, cast: &Cast, excerpts: &Excerpts) -> Vec<Value> {
    let mut disputes: Vec<&Dispute> = outcome.disputes.iter().collect();
    disputes.sort_by_key(|dispute| (!dispute.is_open(), dispute.number));
    let mut views = Vec::new();
    for dispute in disputes {
        let finding = outcome.findings.iter().find(|settled| {
            outcome
                .dispute_of(settled)
                .is_some_and(|known| known.number == dispute.number)
        });
        let coder = match finding {
            Some(settled) => cast.coder_of(settled),
            None => cast.only_coder(),
        };
        views.push(values! {
            own => own(outcome, dispute).unwrap_or(&dispute.finding),
            link => finding.map(|settled| settled.finding.id),
            ..view(dispute, coder, excerpts)
        });
    }
    views
}

/// `coder` is the coder that received the finding.
pub(crate) fn view(dispute: &Dispute, coder: Option<&AgentName>, excerpts: &Excerpts) -> Value {
    let finding = &dispute.finding;
    let (color, word, detail) = ending(dispute);
    let detail = if dispute.is_open() {
        "waits for a person".to_owned()
    } else {
        detail
    };
    let (objector, role) = objector(dispute, coder);
    // The objection of a person is not shown, because the person's ruling contains the same text.
    let is_person = dispute.objector == Objector::Person;
    let place = code_place(&finding.raw, finding.round);
    let rulings = dispute.rulings.iter();
    let rulings: Vec<Value> = rulings
        .map(|record| ruling(record, finding.round, place.as_ref(), excerpts))
        .collect();
    values! {
        word,
        detail,
        tone => tone(color),
        is_open => dispute.is_open(),
        heading => objections::heading(dispute),
        objector,
        role,
        said => (!is_person).then_some(&dispute.objection.text),
        code => place.and_then(|place| excerpts.view(&place)),
        earlier => earlier(&dispute.earlier),
        rulings,
        discarded_by => dispute.discarded_by.as_ref().map(ruler),
        ..value(dispute)
    }
}

/// `disputed` is the disputed code.
fn ruling(
    record: &RulingRecord,
    round: u32,
    disputed: Option<&CodePlace>,
    excerpts: &Excerpts,
) -> Value {
    let mut citations = Vec::new();
    for text in &record.ruling.citations {
        // No excerpt is shown if a ruling cites the disputed code, because the page already shows that code
        // above the ruling.
        let place = cited_place(text, round).filter(|place| Some(place) != disputed);
        let code = place.and_then(|place| excerpts.view(&place));
        citations.push(values! { text, code });
    }
    values! {
        tone => tone(Color::of_ruling(record.ruling.ruling)),
        by => ruler(&record.by),
        citations,
        votes => record.votes.iter().map(PanelVote::said).collect::<Vec<_>>(),
        ..value(record)
    }
}

/// Returns the name of the objector, and the CSS class of the objector's role.
fn objector(dispute: &Dispute, coder: Option<&AgentName>) -> (String, &'static str) {
    let (who, role) = match dispute.objector {
        Objector::Coder => {
            let name = coder.map_or("the coder", |name| &name.0);
            return (name.to_owned(), "coder");
        }
        Objector::Participant => {
            let participant = dispute.participant.as_ref();
            let login = participant.map(|participant| participant.logins.join(", "));
            return (login.unwrap_or_else(|| "a person".to_owned()), "person");
        }
        Objector::Reviewers => ("reviewers", "reviewer"),
        Objector::Unconfirmed => ("no other reviewer", "reviewer"),
        Objector::Earlier => ("an earlier finding", "reviewer"),
        Objector::Person => ("a person", "person"),
    };
    (who.to_owned(), role)
}
