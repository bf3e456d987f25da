//! Formats the outcomes of stages and checkpoints as text, and the statistics of deadlocks as text or JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::cli::report::formats::json::pretty;
use crate::cli::style::{self, Color, Glyph, Style, count, paragraph, settler};
use glee_model::domain::{Decision, ExitReason, StageStatus, Synthesis, Untrusted};
use glee_protocol::text::printable;
use glee_workflows::consensus::stats::{BOUND, Counts, Deadlocks};
use glee_workflows::consensus::{NextStep, OpenQuestion, ResolvedQuestion, StageOutcome, files};

pub fn state(outcome: &StageOutcome) -> String {
    match (&outcome.step, outcome.exit) {
        _ if !outcome.ended => "interrupted".to_owned(),
        (_, ExitReason::ReadOnlyViolation) => "an agent may have modified files".to_owned(),
        (
            NextStep::Stage {
                decision: Some((_, by)),
                status: Some(status),
                ..
            },
            _,
        ) => {
            format!("{status}, decided by {}", settler(by))
        }
        (
            NextStep::Stage {
                deadlock: Some(_), ..
            },
            _,
        ) => "deadlock".to_owned(),
        (NextStep::Stage { status, .. }, _) => {
            status.map_or("not asked", StageStatus::as_str).to_owned()
        }
        (NextStep::Checkpoint { open, .. }, _) if open.is_empty() => "resolved".to_owned(),
        (NextStep::Checkpoint { open, .. }, _) => format!("{} open", count(open.len(), "question")),
    }
}

pub fn text(style: Style, outcome: &StageOutcome) -> String {
    let mut out = String::new();
    let glyph = match outcome.exit {
        ExitReason::Clean => Glyph::Done,
        ExitReason::DisputeOpen => Glyph::Attention,
        _ => Glyph::Failed,
    };
    let what = match outcome.step {
        NextStep::Stage { .. } => "Stage",
        NextStep::Checkpoint { .. } => "Checkpoint",
    };
    let name = format!(
        "{what} {} of {}",
        printable::line(&outcome.stage),
        printable::line(&outcome.id)
    );
    let head = format!("{} {}", style.mark(glyph), style.strong(name));
    let _ = writeln!(out, "{}", style.facts(&[head, state(outcome)]));
    match &outcome.step {
        NextStep::Stage {
            synthesis,
            verdict,
            deadlock,
            decision,
            uncertain,
            ..
        } => {
            if let Some(synthesis) = synthesis
                .as_ref()
                .filter(|synthesis| !synthesis.summary.is_blank())
            {
                paragraph(&mut out, style, "  ", &printable::block(&synthesis.summary));
            }
            if let Some(verdict) = verdict {
                list(&mut out, style, "Agreed", &verdict.agreements);
                list(&mut out, style, "In conflict", &verdict.conflicts);
                // Without a synthesis the fields are not complete, and none is missing.
                let missing = missing_fields(outcome, synthesis.as_deref());
                if !missing.is_empty() {
                    let line =
                        style.paint(Color::Warn, &format!("Missing required fields: {missing}"));
                    out.push('\n');
                    paragraph(&mut out, style, "  ", &line);
                }
            }
            let answers = outcome.answers.iter().filter(|_| synthesis.is_none());
            for (agent, answer) in
                answers.filter_map(|(agent, answer)| Some((agent, answer.as_ref()?)))
            {
                let head = format!("{} answers", printable::line(&agent.0));
                let _ = writeln!(out, "\n  {}", style.strong(head));
                paragraph(&mut out, style, "  ", &printable::block(&answer.content));
            }
            if let Some((decision, by)) = decision {
                decided(
                    &mut out,
                    style,
                    &format!("{} decided", settler(by)),
                    decision,
                    "Modifications",
                );
            } else if let Some(deadlock) = deadlock {
                let line = format!("Deadlock: {}", printable::line(deadlock));
                out.push('\n');
                paragraph(&mut out, style, "  ", &style.paint(Color::Warn, &line));
                if let Some((said, name)) = uncertain.as_deref() {
                    let who = format!("{} would decide", printable::line(&name.0));
                    decided(&mut out, style, &who, said, "Proposed modifications");
                }
                let id = printable::line(&outcome.id);
                hint(
                    &mut out,
                    style,
                    &format!("decide with `glee consensus resolve {id} <agent or hybrid>`"),
                );
            }
        }
        NextStep::Checkpoint { resolved, open } => {
            for ResolvedQuestion { resolution, .. } in resolved {
                let line = format!(
                    "{}: {} ({}, confidence {})",
                    printable::line(&resolution.question),
                    printable::line(&resolution.answer),
                    settler(&resolution.by),
                    resolution.confidence.as_str()
                );
                paragraph(
                    &mut out,
                    style,
                    &format!("  {} ", style.glyph(Glyph::Done)),
                    &line,
                );
            }
            for open in open {
                waiting(&mut out, style, &outcome.id, open);
            }
        }
    }
    for (agent, why) in &outcome.failures {
        let line = format!("{}: {}", printable::line(&agent.0), printable::line(why));
        paragraph(
            &mut out,
            style,
            &format!("  {} ", style.glyph(Glyph::Failed)),
            &line,
        );
    }
    for notice in &outcome.notices {
        paragraph(&mut out, style, "  note: ", &printable::line(notice));
    }
    if outcome.ended {
        let folder = format!(
            "{}/{}/{}",
            files::FOLDER,
            printable::line(&outcome.id),
            printable::line(&outcome.stage)
        );
        let _ = writeln!(out, "  {}", style.faint(format!("files: {folder}")));
    }
    out
}

/// Lists each missing required field. After each field, the answers without this field are listed in brackets, as
/// in `steps (b), risks (the synthesis)`.
fn missing_fields(outcome: &StageOutcome, synthesis: Option<&Synthesis>) -> String {
    let answers = outcome.answers.iter().filter_map(|(agent, answer)| {
        Some((printable::line(&agent.0), &answer.as_ref()?.missing_fields))
    });
    let synthesis =
        synthesis.map(|synthesis| ("the synthesis".to_owned(), &synthesis.missing_fields));
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (place, fields) in answers.chain(synthesis) {
        for field in fields {
            missing
                .entry(printable::line(field))
                .or_default()
                .push(place.clone());
        }
    }
    let fields = missing
        .iter()
        .map(|(field, places)| format!("{field} ({})", places.join(", ")));
    fields.collect::<Vec<_>>().join(", ")
}

fn waiting(out: &mut String, style: Style, id: &str, open: &OpenQuestion) {
    let question = &open.question;
    let line = format!(
        "{}: {}",
        printable::line(&question.id),
        printable::line(&question.question)
    );
    paragraph(
        out,
        style,
        &format!("  {} ", style.glyph(Glyph::Attention)),
        &line,
    );
    for opinion in &open.opinions {
        let line = format!(
            "{} ({})",
            printable::line(&opinion.answer),
            style::names(&opinion.by)
        );
        paragraph(out, style, "    - ", &line);
    }
    if let Some(reason) = &open.validator {
        paragraph(out, style, "    validator: ", &printable::line(reason));
    }
    let id = printable::line(id);
    let question = printable::line(&question.id);
    hint(
        out,
        style,
        &format!("answer with `glee gate answer {id} {question} <answer>`"),
    );
}

fn decided(out: &mut String, style: Style, who: &str, decision: &Decision, modifications: &str) {
    let choice = printable::line(&decision.decision.to_string());
    let line = format!("{who}: {choice} (confidence {})", decision.confidence);
    let _ = writeln!(out, "\n  {}", style.strong(line));
    paragraph(out, style, "  ", &printable::block(&decision.rationale));
    list(out, style, modifications, &decision.modifications);
}

fn list(out: &mut String, style: Style, title: &str, items: &[Untrusted]) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n  {}", style.strong(title));
    for item in items {
        paragraph(out, style, "  - ", &printable::block(item));
    }
}

fn hint(out: &mut String, style: Style, text: &str) {
    let line = format!("  {} {text}", style.paint(Color::Key, "hint:"));
    let _ = writeln!(out, "{}", style::fit(&line, style.width));
}

fn row(name: &str, counts: &Counts) -> [String; 8] {
    let share = match (counts.rate(), counts.interval()) {
        (Some(rate), Some((low, high))) => {
            format!(
                "{:.1}% ({:.1} to {:.1})",
                rate * 100.0,
                low * 100.0,
                high * 100.0
            )
        }
        _ => "-".to_owned(),
    };
    let Counts {
        stages,
        conflicts,
        by_aggregator,
        by_arbiter,
        by_person,
        deadlocks,
    } = counts;
    let [stages, conflicts, aggregator, arbiter, person, deadlocks] = [
        stages,
        conflicts,
        by_aggregator,
        by_arbiter,
        by_person,
        deadlocks,
    ]
    .map(ToString::to_string);
    [
        printable::line(name),
        stages,
        conflicts,
        aggregator,
        arbiter,
        person,
        deadlocks,
        share,
    ]
}

pub fn deadlocks(found: &Deadlocks, style: Style) -> String {
    let Some(rate) = found.all.rate() else {
        return style::fit(
            "No stage was run yet. Run one with `glee consensus ask`.\n",
            style.width,
        );
    };
    let head = [
        "",
        "STAGES",
        "CONFLICTS",
        "AGGREGATOR",
        "ARBITER",
        "PERSON",
        "DEADLOCKS",
        "RATE (95% INTERVAL)",
    ];
    let mut rows = vec![head.map(str::to_owned), row("all", &found.all)];
    rows.extend(
        found
            .by_stage
            .iter()
            .map(|(name, counts)| row(&format!("stage {name}"), counts)),
    );
    rows.extend(
        found
            .by_agent
            .iter()
            .map(|(name, counts)| row(&format!("agent {name}"), counts)),
    );
    let table = style.rows(&rows, &[1, 2, 3, 4, 5, 6]).concat();
    let word = if rate > BOUND { "above" } else { "within" };
    let rest = match found.all.interval() {
        Some((low, high)) if low <= BOUND && high > BOUND => {
            "; with so few stages, the true rate may be on either side of it."
        }
        _ => ".",
    };
    let rate = format!("The rate is {word} the specification's bound of 5%{rest}\n");
    format!("{table}\n{}", style::fit(&rate, style.width))
}

fn one(counts: &Counts) -> Value {
    let mut value = json!(counts);
    value["rate"] = json!(counts.rate());
    value["interval"] = json!(counts.interval());
    value
}

fn many(all: &BTreeMap<String, Counts>) -> Map<String, Value> {
    all.iter()
        .map(|(name, counts)| (name.clone(), one(counts)))
        .collect()
}

pub fn deadlocks_json(found: &Deadlocks) -> String {
    pretty(&json!({
        "all": one(&found.all),
        "by_stage": many(&found.by_stage),
        "by_agent": many(&found.by_agent),
        "bound": BOUND,
    }))
}
