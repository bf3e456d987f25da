//! The findings, grouped by file: what blocks with its code, the others in one line each.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::cli::report::options::{Detail, RenderOptions};
use crate::cli::report::text::layout::{lines, list};
use crate::cli::style::snippet::{self, Code, Heading, SnippetNote};
use crate::cli::style::{self, Color, Glyph, Style};
use crate::domain::{Class, Corroboration, FindingState, Outcome, Position, SettledFinding, Untrusted};
use crate::protocol::text::printable;

/// The files in the order of their paths, what has no place last.
pub(crate) fn section(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let mut findings: Vec<&SettledFinding> = outcome.findings.iter().collect();
    findings.sort_by_key(|finding| {
        let raw = &finding.finding.raw;
        (raw.file.is_none(), raw.file.clone(), !is_full(finding, options.detail), raw.line, finding.finding.id)
    });
    let asked = outcome.findings.iter().any(|finding| finding.response.is_some()) || outcome.undoable;
    let run = Run { outcome, asked };
    findings
        .chunk_by(|a, b| a.finding.raw.file == b.finding.raw.file)
        .map(|group| file(group, run, options))
        .collect::<Vec<_>>()
        .join("\n")
}

/// What is told of a finding from the run as a whole.
#[derive(Clone, Copy)]
struct Run<'a> {
    outcome: &'a Outcome,
    /// Whether a coder was asked.
    asked: bool,
}

/// Whether a finding is shown with its code.
fn is_full(finding: &SettledFinding, detail: Detail) -> bool {
    let settled_before = matches!(finding.state, FindingState::AlreadyRuled { .. });
    let was_mandatory = finding.finding.mandatory || finding.lowered.is_some();
    detail == Detail::Full || was_mandatory && !settled_before
}

fn file(group: &[&SettledFinding], run: Run<'_>, options: &RenderOptions<'_>) -> String {
    let look = options.look;
    let path = group.first().and_then(|finding| finding.finding.raw.file.as_deref());
    let name = path.map_or_else(|| "General".to_owned(), printable::line);
    let number = look.paint(Color::Faint, &style::count(group.len(), "finding"));
    let mut text = format!("{}  {number}\n", look.paint(Color::Strong, &name));
    let mut sources: BTreeMap<u32, Option<String>> = BTreeMap::new();
    let (full, short): (Vec<&SettledFinding>, Vec<&SettledFinding>) =
        group.iter().copied().partition(|finding| is_full(finding, options.detail));
    for finding in full {
        let round = finding.finding.round;
        let source = sources.entry(round).or_insert_with(|| path.and_then(|path| (options.source)(path, round)));
        let _ = writeln!(text, "\n{}", diagnostic(finding, source.as_deref(), run, options));
    }
    if !short.is_empty() {
        text.push('\n');
    }
    let tags: Vec<String> = short.iter().map(|finding| tag(finding)).collect();
    let tag_width = tags.iter().map(|tag| style::columns(tag)).max().unwrap_or(0);
    let places: Vec<String> = short.iter().map(|finding| line_of(finding)).collect();
    let place_width = places.iter().map(|place| style::columns(place)).max().unwrap_or(0);
    for ((finding, tag), place) in short.iter().zip(&tags).zip(&places) {
        let raw = &finding.finding.raw;
        let state = state(look, finding, run).map_or_else(String::new, |note| {
            let what =
                if note.text.is_empty() { note.name.to_owned() } else { format!("{}: {}", note.name, note.text) };
            look.paint(Color::Faint, &printable::line(&what))
        });
        let line = look.facts(&[
            format!(
                "  {}  {}{}",
                style::pad(&look.paint(Color::of(&raw.severity), tag), tag_width),
                if place_width > 0 { style::pad(place, place_width + 2) } else { String::new() },
                printable::line(&raw.title)
            ),
            look.paint(Color::Faint, &standing(finding)),
            state,
        ]);
        let _ = writeln!(text, "{}", look.cut(&line, look.width));
    }
    text
}

fn tag(finding: &SettledFinding) -> String {
    format!("{}[{}]", printable::line(&finding.finding.raw.severity.to_string()), finding.finding.id)
}

fn line_of(finding: &SettledFinding) -> String {
    finding.finding.raw.line.map_or_else(String::new, |line| format!("line {line}"))
}

fn diagnostic(finding: &SettledFinding, source: Option<&str>, run: Run<'_>, options: &RenderOptions<'_>) -> String {
    let look = options.look;
    let raw = &finding.finding.raw;
    let heading = Heading {
        level: raw.severity.to_string(),
        id: finding.finding.id.to_string(),
        title: printable::line(&raw.title),
        tone: Color::of(&raw.severity),
    };
    let quoted = format!("{}\n{}", printable::line(&raw.title), printable::block(&raw.body));
    let excerpt = source.zip(raw.line).and_then(|(source, first)| excerpt(source, first, raw.end_line));
    let code = raw.file.as_deref().zip(raw.line).map(|(file, line)| {
        let end = raw.end_line.unwrap_or(line);
        Code { file, text: excerpt.unwrap_or(""), first_line: line, lines: (line, end), quoted }
    });
    snippet::diagnostic(look, &heading, code.as_ref(), &notes(finding, run, options))
}

/// The lines from `first` to `last`, each with its end.
fn excerpt(source: &str, first: u32, last: Option<u32>) -> Option<&str> {
    let start = usize::try_from(first.checked_sub(1)?).ok()?;
    let number = usize::try_from(last.unwrap_or(first).max(first) - first).ok()? + 1;
    let from = source.split_inclusive('\n').take(start).map(str::len).sum::<usize>();
    let length: usize = source[from..].split_inclusive('\n').take(number).map(str::len).sum();
    (length > 0).then(|| &source[from..from + length])
}

fn notes(finding: &SettledFinding, run: Run<'_>, options: &RenderOptions<'_>) -> Vec<SnippetNote> {
    let look = options.look;
    let raw = &finding.finding.raw;
    let mut notes = Vec::new();
    let mut add = |name, tone, text: &Untrusted, most| {
        let text = lines(look, text, 10, most, options.detail).join("\n");
        if !text.is_empty() {
            notes.push(SnippetNote { name, text, tone });
        }
    };
    add("why", Color::Plain, &raw.body, 5);
    for evidence in &raw.evidence {
        add("evidence", Color::Plain, evidence, 1);
    }
    if let Some(suggestion) = &raw.suggestion {
        add("fix", Color::Good, suggestion, 3);
    }
    let mut by = vec![list(&finding.finding.raised_by)];
    by.extend(raw.rule.clone().or_else(|| raw.category.clone()));
    by.extend(raw.confidence.map(|confidence| format!("{}% sure", confidence.get())));
    if raw.severity.tag.is_none_or(|tag| !tag.as_str().eq_ignore_ascii_case(&raw.severity.raw)) {
        by.push(format!("written as [{}]", raw.severity.raw));
    }
    if finding.finding.round > 1 {
        by.push(format!("round {}", finding.finding.round));
    }
    add("by", Color::Plain, &by.join(&format!(" {} ", look.glyph(Glyph::Dot))).into(), 2);
    if let Some(consensus) = &finding.finding.consensus {
        let dot = format!(" {} ", look.glyph(Glyph::Dot));
        let mut said = match consensus.class {
            // Why they are at odds says that they are.
            Class::Disputed => vec![consensus.why.clone(), positions(consensus)],
            _ => vec![standing(finding), positions(consensus)],
        };
        match consensus.class {
            Class::Accepted => said.push(match consensus.confidence {
                Some(confidence) => format!("{}% together", confidence.get()),
                None => "no confidence stated".to_owned(),
            }),
            Class::Uncorroborated => said.push(format!("would decide: {}", consensus.would_decide)),
            Class::Rejected => said.push(consensus.why.clone()),
            Class::Disputed => {}
        }
        said.extend(consensus.notes.iter().cloned());
        let tone = if consensus.class == Class::Accepted { Color::Plain } else { Color::Warn };
        add("reviewers", tone, &said.join(&dot).into(), 4);
    }
    if let Some(earlier) = finding.finding.reverses {
        add("reversal", Color::Warn, &format!("asks to undo what {earlier} asked for").into(), 2);
    }
    for earlier in &finding.earlier {
        add("earlier", Color::Warn, &earlier.sentence(), 2);
        add("decided", Color::Plain, &earlier.decided(), 2);
        if let Some(diff) = earlier.diff() {
            add("difference", Color::Plain, diff, 12);
        }
    }
    notes.extend(state(look, finding, run));
    notes
}

/// How the reviewers stand to a finding, in a few words; nothing where one reviewed alone.
fn standing(finding: &SettledFinding) -> String {
    let Some(consensus) = &finding.finding.consensus else { return String::new() };
    let raised = consensus.positions.iter().filter(|position| !position.denies).count();
    match consensus.class {
        Class::Accepted if !consensus.confirmed_by.is_empty() => {
            let raisers = list(&finding.finding.raised_by);
            format!("raised by {raisers}, confirmed by {}", list(&consensus.confirmed_by))
        }
        Class::Accepted => format!("{raised} of {} reviewers", consensus.reviewers),
        Class::Uncorroborated => "uncorroborated".to_owned(),
        Class::Disputed => "reviewers contradict each other".to_owned(),
        Class::Rejected if consensus.withdrawn => "withdrawn".to_owned(),
        Class::Rejected => "rejected".to_owned(),
    }
}

/// Each reviewer's own word, so that a split is seen.
fn positions(consensus: &Corroboration) -> String {
    let position = |position: &Position| {
        let word = if position.denies { "no issue".to_owned() } else { position.severity.to_string() };
        let sure = position.confidence.map_or_else(String::new, |confidence| format!(" {}%", confidence.get()));
        format!("{} {word}{sure}", position.reviewer)
    };
    consensus.positions.iter().map(position).collect::<Vec<_>>().join(", ")
}

/// `now SHOULD, was MUST, by dispute 3`, where a ruling gave it a lower tag.
fn now_was(finding: &SettledFinding) -> String {
    finding.lowered.as_ref().map_or_else(String::new, |lowered| {
        let now = &finding.finding.raw.severity;
        format!("now {now}, was {}, by dispute {}", lowered.was, lowered.dispute)
    })
}

/// Who discarded a disputed finding; nothing where the coder did, who may discard what is optional.
fn discarded(outcome: &Outcome, finding: &SettledFinding) -> Option<String> {
    let disputes = &outcome.disputes;
    let dispute = disputes.iter().find(|dispute| dispute.finding.id == finding.finding.id)?;
    let by = dispute.discarded_by.as_ref()?;
    Some(format!("by {by} in dispute {}", dispute.number))
}

/// Where a finding stands; nothing for an open one that nobody was asked to do anything about.
fn state(look: Style, finding: &SettledFinding, run: Run<'_>) -> Option<SnippetNote> {
    let said =
        finding.response.as_ref().map(|response| printable::block(&response.text.trimmed())).unwrap_or_default();
    let raisers = list(&finding.finding.raised_by);
    let and =
        |fact: String| if said.is_empty() { fact } else { format!("{said} {} {fact}", look.glyph(Glyph::Dot)) };
    let (name, tone, text) = match &finding.state {
        FindingState::Open if !run.asked && finding.lowered.is_none() => return None,
        FindingState::Open if finding.lowered.is_some() => ("open", Color::Warn, now_was(finding)),
        FindingState::Open => ("open", Color::Bad, String::from("nobody has answered it")),
        FindingState::Unanswered => ("open", Color::Bad, String::from("the coder gave no answer")),
        FindingState::Claimed => {
            ("claimed", Color::Bad, and("said to be done, but nothing changed here".to_owned()))
        }
        FindingState::Unchecked => ("changed", Color::Good, and("unchecked".to_owned())),
        FindingState::Unconfirmed => (
            "not confirmed",
            Color::Bad,
            and(format!("changed, but there is no answer of {raisers} to the change")),
        ),
        FindingState::NotResolved => ("not resolved", Color::Bad, and(format!("{raisers} checked the change"))),
        FindingState::Resolved => ("fixed", Color::Good, and(format!("checked by {raisers}"))),
        FindingState::Discarded => ("discarded", Color::Minor, discarded(run.outcome, finding).unwrap_or(said)),
        FindingState::Disputed { dispute } => ("disputed", Color::Warn, format!("dispute {dispute} waits for you")),
        FindingState::Enforced { dispute } => {
            ("enforced", Color::Bad, format!("by dispute {dispute}, not implemented yet"))
        }
        FindingState::Dismissed { dispute } => ("dismissed", Color::Good, format!("by dispute {dispute}")),
        FindingState::AlreadyRuled { dispute, disposition } if finding.insisted => (
            "insisted",
            Color::Minor,
            format!("on dispute {dispute} without new evidence: {}", disposition.as_str()),
        ),
        FindingState::AlreadyRuled { dispute, disposition } => {
            ("already ruled", Color::Minor, format!("{} in dispute {dispute}", disposition.as_str()))
        }
    };
    Some(SnippetNote { name, tone, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_the_lines_named_and_nothing_else() {
        let source = "a\nb\nc";
        assert_eq!(excerpt(source, 2, None), Some("b\n"));
        assert_eq!(excerpt(source, 2, Some(9)), Some("b\nc"));
        assert_eq!(excerpt(source, 3, Some(1)), Some("c"));
        assert_eq!([excerpt(source, 0, None), excerpt(source, 4, None), excerpt("", 1, None)], [None; 3]);
        assert_eq!(excerpt(source, 1, Some(u32::MAX)), Some(source));
    }
}
