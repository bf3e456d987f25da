//! What stages and checkpoints came to, for people and as JSON; and how often they end in a deadlock.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::cli::report::json::pretty;
use crate::cli::style::{self, Color, Glyph, Style, paragraph};
use crate::domain::{Decision, ExitReason, StageStatus, Synthesis, Untrusted};
use crate::protocol::text::printable;
use crate::workflows::consensus::stats::{BOUND, Counts, Deadlocks};
use crate::workflows::consensus::{NextStep, OpenQuestion, ResolvedQuestion, StageOutcome, files};

/// How a stage or a checkpoint ended, in a word or two.
pub fn state(outcome: &StageOutcome) -> String {
    match (&outcome.step, outcome.exit) {
        _ if !outcome.ended => "interrupted".to_owned(),
        (_, ExitReason::ReadOnlyViolation) => "an agent wrote".to_owned(),
        (NextStep::Stage { decision: Some((_, by)), status: Some(status), .. }, _) => {
            format!("{status}, decided by {}", style::settler(by))
        }
        (NextStep::Stage { deadlock: Some(_), .. }, _) => "deadlock".to_owned(),
        (NextStep::Stage { status, .. }, _) => status.map_or("not asked", StageStatus::as_str).to_owned(),
        (NextStep::Checkpoint { open, .. }, _) if open.is_empty() => "resolved".to_owned(),
        (NextStep::Checkpoint { open, .. }, _) => format!("{} open", style::count(open.len(), "question")),
    }
}

pub fn text(look: Style, outcome: &StageOutcome) -> String {
    let mut out = String::new();
    let (glyph, tone) = match outcome.exit {
        ExitReason::Clean => (Glyph::Done, Color::Good),
        ExitReason::DisputeOpen => (Glyph::Attention, Color::Warn),
        _ => (Glyph::Failed, Color::Bad),
    };
    let what = match outcome.step {
        NextStep::Stage { .. } => "Stage",
        NextStep::Checkpoint { .. } => "Checkpoint",
    };
    let name = format!("{what} {} of {}", printable::line(&outcome.stage), printable::line(&outcome.id));
    let head = format!("{} {}", look.paint(tone, look.glyph(glyph)), look.paint(Color::Strong, &name));
    let _ = writeln!(out, "{}", look.facts(&[head, state(outcome)]));
    match &outcome.step {
        NextStep::Stage { synthesis, verdict, deadlock, decision, uncertain, .. } => {
            if let Some(synthesis) = synthesis.as_ref().filter(|synthesis| !synthesis.summary.is_blank()) {
                paragraph(&mut out, look, "  ", &printable::block(&synthesis.summary));
            }
            if let Some(verdict) = verdict {
                list(&mut out, look, "Agreed", &verdict.agreements);
                list(&mut out, look, "In conflict", &verdict.conflicts);
                if !verdict.required_fields_ok {
                    let _ = writeln!(out);
                    let lacks = lacking(outcome, synthesis.as_deref());
                    let line = format!("Required fields are absent: {lacks}");
                    paragraph(&mut out, look, "  ", &look.paint(Color::Warn, &line));
                }
            }
            if synthesis.is_none() {
                answers(&mut out, look, outcome);
            }
            if let Some((decision, by)) = decision {
                decided(&mut out, look, &format!("{} decided", style::settler(by)), decision, "Modifications");
            } else if let Some(deadlock) = deadlock {
                let line = format!("Deadlock: {}", printable::line(deadlock));
                let _ = writeln!(out, "\n  {}", look.paint(Color::Warn, &line));
                if let Some((said, name)) = uncertain.as_deref() {
                    let who = format!("{} would decide", printable::line(&name.0));
                    decided(&mut out, look, &who, said, "Modifications it would make");
                }
                let id = printable::line(&outcome.id);
                hint(&mut out, look, &format!("decide with `glee consensus resolve {id} <agent or hybrid>`"));
            }
        }
        NextStep::Checkpoint { resolved, open } => {
            for ResolvedQuestion { resolution, .. } in resolved {
                let line = format!(
                    "{}: {} ({}, confidence {})",
                    printable::line(&resolution.question),
                    printable::line(&resolution.answer),
                    style::settler(&resolution.by),
                    resolution.confidence.as_str()
                );
                paragraph(&mut out, look, &format!("  {} ", look.glyph(Glyph::Done)), &line);
            }
            for open in open {
                waiting(&mut out, look, &outcome.id, open);
            }
        }
    }
    for (agent, why) in &outcome.failures {
        let line = format!("{}: {}", printable::line(&agent.0), printable::line(why));
        paragraph(&mut out, look, &format!("  {} ", look.glyph(Glyph::Failed)), &line);
    }
    for notice in &outcome.notices {
        paragraph(&mut out, look, "  note: ", &printable::line(notice));
    }
    if outcome.ended {
        let folder =
            format!("{}/{}/{}", files::FOLDER, printable::line(&outcome.id), printable::line(&outcome.stage));
        let _ = writeln!(out, "  {}", look.paint(Color::Faint, &format!("files: {folder}")));
    }
    out
}

/// Who lacks which required fields: `steps (b), risks (the synthesis)`.
fn lacking(outcome: &StageOutcome, synthesis: Option<&Synthesis>) -> String {
    let mut lacks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut take = |who: String, fields: &[String]| {
        for field in fields {
            lacks.entry(printable::line(field)).or_default().push(who.clone());
        }
    };
    for (agent, answer) in &outcome.answers {
        take(printable::line(&agent.0), answer.as_ref().map_or(&[], |answer| &answer.missing_fields));
    }
    take("the synthesis".to_owned(), synthesis.map_or(&[], |synthesis| &synthesis.missing_fields));
    lacks.iter().map(|(field, who)| format!("{field} ({})", who.join(", "))).collect::<Vec<_>>().join(", ")
}

/// The answers themselves, where nobody has put them together.
fn answers(out: &mut String, look: Style, outcome: &StageOutcome) {
    for (agent, answer) in &outcome.answers {
        let Some(answer) = answer else { continue };
        let head = format!("{} answers", printable::line(&agent.0));
        let _ = writeln!(out, "\n  {}", look.paint(Color::Strong, &head));
        paragraph(out, look, "  ", &printable::block(&answer.content));
    }
}

fn waiting(out: &mut String, look: Style, id: &str, open: &OpenQuestion) {
    let question = &open.question;
    let line = format!("{}: {}", printable::line(&question.id), printable::line(&question.question));
    paragraph(out, look, &format!("  {} ", look.glyph(Glyph::Attention)), &line);
    for opinion in &open.opinions {
        let line = format!("{} ({})", printable::line(&opinion.answer), style::names(&opinion.by));
        paragraph(out, look, "    - ", &line);
    }
    if let Some(reason) = &open.validator {
        paragraph(out, look, "    validator: ", &printable::line(reason));
    }
    let (id, question) = (printable::line(id), printable::line(&question.id));
    hint(out, look, &format!("answer with `glee gate answer {id} {question} <answer>`"));
}

fn decided(out: &mut String, look: Style, who: &str, decision: &Decision, modifications: &str) {
    let choice = printable::line(&decision.decision.to_string());
    let line = format!("{who}: {choice} (confidence {})", decision.confidence);
    let _ = writeln!(out, "\n  {}", look.paint(Color::Strong, &line));
    paragraph(out, look, "  ", &printable::block(&decision.rationale));
    list(out, look, modifications, &decision.modifications);
}

fn list(out: &mut String, look: Style, title: &str, items: &[Untrusted]) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n  {}", look.paint(Color::Strong, title));
    for item in items {
        paragraph(out, look, "  - ", &printable::block(item));
    }
}

fn hint(out: &mut String, look: Style, text: &str) {
    let _ = writeln!(out, "  {} {text}", look.paint(Color::Key, "hint:"));
}

/// How often stages end in a deadlock, for people.
pub fn deadlocks(found: &Deadlocks) -> String {
    let Some(rate) = found.all.rate() else {
        return "No stage was run yet. Run one with `glee consensus ask`.\n".to_owned();
    };
    let stages = found.by_stage.iter().map(|(name, counts)| (format!("stage {name}"), counts));
    let agents = found.by_agent.iter().map(|(name, counts)| (format!("agent {name}"), counts));
    let rows: Vec<(String, &Counts)> =
        std::iter::once(("all".to_owned(), &found.all)).chain(stages).chain(agents).collect();
    let width = rows.iter().map(|(name, _)| style::columns(&printable::line(name))).max().unwrap_or(0);
    let mut out =
        format!("{:<width$}  STAGES  CONFLICTS  AGGREGATOR  ARBITER  PERSON  DEADLOCKS  RATE (95% INTERVAL)\n", "");
    for (name, counts) in rows {
        let _ = writeln!(
            out,
            "{}  {:>6}  {:>9}  {:>10}  {:>7}  {:>6}  {:>9}  {}",
            style::pad(&printable::line(&name), width),
            counts.stages,
            counts.conflicts,
            counts.by_aggregator,
            counts.by_arbiter,
            counts.by_person,
            counts.deadlocks,
            share(counts)
        );
    }
    let word = if rate > BOUND { "above" } else { "within" };
    let _ = write!(out, "\nThe rate is {word} the specification's bound of 5%");
    let _ = match found.all.interval() {
        Some((low, high)) if low <= BOUND && high > BOUND => {
            writeln!(out, "; so few stages do not show on which side of it the true rate lies.")
        }
        _ => writeln!(out, "."),
    };
    out
}

fn share(counts: &Counts) -> String {
    match (counts.rate(), counts.interval()) {
        (Some(rate), Some((low, high))) => {
            format!("{:.1}% ({:.1} to {:.1})", rate * 100.0, low * 100.0, high * 100.0)
        }
        _ => "-".to_owned(),
    }
}

/// The same as JSON, with rate and interval.
pub fn deadlocks_json(found: &Deadlocks) -> String {
    let one = |counts: &Counts| {
        let mut value = serde_json::to_value(counts).unwrap_or_default();
        value["rate"] = serde_json::json!(counts.rate());
        value["interval"] = serde_json::json!(counts.interval());
        value
    };
    let many = |all: &std::collections::BTreeMap<String, Counts>| -> serde_json::Map<String, serde_json::Value> {
        all.iter().map(|(name, counts)| (name.clone(), one(counts))).collect()
    };
    pretty(&serde_json::json!({
        "all": one(&found.all),
        "by_stage": many(&found.by_stage),
        "by_agent": many(&found.by_agent),
        "bound": BOUND,
    }))
}
