//! The disputes of the report, each with its finding, its objection and its rulings.

use serde::Serialize;

use super::cast::{Cast, tone};
use super::code::{CodePlace, CodeView, Excerpts};
use super::findings::{EarlierView, anchor, code_place, earlier, place};
use super::thread::{objector, ruler, ruling_tone};
use crate::cli::report::text::disputes::{ending, own};
use crate::cli::style::{self, Color};
use glee_model::domain::{AgentName, Dispute, Finding, Outcome, RulingRecord};
use glee_model::rules::review::objections;
use glee_protocol::text::{location, printable};

#[derive(Debug, Serialize)]
pub(crate) struct DisputeView {
    number: String,
    anchor: String,
    title: String,
    tag: String,
    severity_tone: &'static str,
    place: String,
    ending: String,
    tone: &'static str,
    facts: Vec<String>,
    finding: String,
    finding_anchor: Option<String>,
    sides: Vec<SideView>,
    code: Option<CodeView>,
    earlier: Vec<EarlierView>,
    rulings: Vec<RulingView>,
    discarded_by: Option<String>,
    command: Option<String>,
}

#[derive(Debug, Serialize)]
struct SideView {
    heading: String,
    who: String,
    role: &'static str,
    text: String,
    evidence: Vec<String>,
}

#[derive(Debug, Serialize)]
struct RulingView {
    word: String,
    tone: &'static str,
    by: String,
    rationale: String,
    facts: Vec<String>,
    coder_evidence: Option<String>,
    citations: Vec<CitationView>,
    votes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CitationView {
    text: String,
    code: Option<CodeView>,
}

/// Returns the locations of two kinds of source code: the code that is disputed, and the code that rulings cite.
pub(crate) fn code_places(outcome: &Outcome) -> Vec<CodePlace> {
    let places = outcome.disputes.iter().flat_map(|dispute| {
        let cited = dispute
            .rulings
            .iter()
            .flat_map(|record| &record.ruling.citations);
        let cited = cited
            .filter_map(|citation| cited_place(&printable::line(citation), dispute.finding.round));
        code_place(&dispute.finding.raw, dispute.finding.round)
            .into_iter()
            .chain(cited)
    });
    places.collect()
}

fn cited_place(citation: &str, round: u32) -> Option<CodePlace> {
    let (file, line, end_line) = location::split(citation)?;
    Some(CodePlace {
        file: file.to_owned(),
        round,
        line,
        end_line,
    })
}

pub(crate) fn views(outcome: &Outcome, cast: &Cast, excerpts: &Excerpts) -> Vec<DisputeView> {
    let mut disputes: Vec<&Dispute> = outcome.disputes.iter().collect();
    disputes.sort_by_key(|dispute| (!dispute.is_open(), dispute.number));
    disputes
        .into_iter()
        .map(|dispute| view(outcome, dispute, cast, excerpts))
        .collect()
}

fn view(outcome: &Outcome, dispute: &Dispute, cast: &Cast, excerpts: &Excerpts) -> DisputeView {
    let disputed = own(outcome, dispute).unwrap_or(&dispute.finding);
    let raw = &dispute.finding.raw;
    let (color, word, detail) = ending(dispute);
    let detail = if dispute.is_open() {
        "waits for a person".to_owned()
    } else {
        detail
    };
    let ending = if detail.is_empty() {
        word.to_owned()
    } else {
        format!("{word} ({detail})")
    };
    let finding = outcome.findings.iter().find(|settled| {
        outcome
            .dispute_of(settled)
            .is_some_and(|known| known.number == dispute.number)
    });
    let mut facts = Vec::new();
    facts.extend(dispute.route.map(|route| format!("route: {route}")));
    facts.extend(
        dispute
            .opened_by
            .as_ref()
            .map(|run| format!("opened by run {}", printable::line(run.short()))),
    );
    let number = dispute.number.to_string();
    DisputeView {
        anchor: format!("dispute-{number}"),
        title: printable::line(&raw.title),
        tag: style::tag(disputed),
        severity_tone: tone(Color::of(&raw.severity)),
        place: place(raw),
        ending: printable::line(&ending),
        tone: tone(color),
        facts,
        finding: finding
            .map(|settled| settled.finding.id.to_string())
            .unwrap_or_default(),
        finding_anchor: finding.map(anchor),
        sides: sides(
            dispute,
            finding.map_or_else(|| cast.only_coder(), |settled| cast.coder_of(settled)),
        ),
        code: code_place(raw, dispute.finding.round).and_then(|place| excerpts.view(&place)),
        earlier: earlier(&dispute.earlier),
        rulings: dispute
            .rulings
            .iter()
            .map(|record| ruling(dispute, record, excerpts))
            .collect(),
        discarded_by: dispute.discarded_by.as_ref().map(ruler),
        command: dispute
            .is_open()
            .then(|| format!("glee disputes resolve {number}")),
        number,
    }
}

fn sides(dispute: &Dispute, coder: Option<&AgentName>) -> Vec<SideView> {
    let raw = &dispute.finding.raw;
    let (who, role) = objector(dispute, coder);
    let body = if raw.body.is_blank() {
        &raw.title
    } else {
        &raw.body
    };
    let mut sides = vec![SideView {
        heading: "The finding".to_owned(),
        who: style::names(&dispute.finding.raised_by),
        role: "reviewer",
        text: printable::block(body),
        evidence: raw.evidence.iter().map(printable::block).collect(),
    }];
    for Finding {
        id, raw, raised_by, ..
    } in &dispute.members
    {
        sides.push(SideView {
            heading: format!("Also {id}"),
            who: style::names(raised_by),
            role: "reviewer",
            text: printable::block(&raw.text()),
            evidence: raw.evidence.iter().map(printable::block).collect(),
        });
    }
    sides.push(SideView {
        heading: objections::heading(dispute),
        who,
        role,
        text: printable::block(&dispute.objection.text),
        evidence: dispute
            .objection
            .evidence
            .iter()
            .map(printable::block)
            .collect(),
    });
    sides
}

fn ruling(dispute: &Dispute, record: &RulingRecord, excerpts: &Excerpts) -> RulingView {
    let (ruling, round) = (&record.ruling, dispute.finding.round);
    let disputed = code_place(&dispute.finding.raw, round);
    let mut facts = Vec::new();
    facts.extend(
        ruling
            .grounds
            .map(|grounds| format!("grounds: {}", grounds.as_str().replace('_', " "))),
    );
    facts.extend(ruling.new_tag.map(|tag| format!("new severity: {tag}")));
    facts.extend(ruling.duplicate_of.map(|of| format!("duplicate of {of}")));
    let citation = |text: String| {
        // No excerpt is shown if a ruling cites the disputed code, because the page already shows that code
        // above the ruling.
        let place = cited_place(&text, round).filter(|place| Some(place) != disputed.as_ref());
        let code = place.and_then(|place| excerpts.view(&place));
        CitationView { text, code }
    };
    RulingView {
        word: ruling.ruling.to_string(),
        tone: ruling_tone(ruling.ruling),
        by: ruler(&record.by),
        rationale: printable::block(&ruling.rationale),
        facts,
        coder_evidence: ruling.coder_evidence.as_ref().map(printable::block),
        citations: ruling
            .citations
            .iter()
            .map(|cited| citation(printable::line(cited)))
            .collect(),
        votes: record
            .votes
            .iter()
            .map(|vote| printable::block(&vote.said()))
            .collect(),
    }
}
