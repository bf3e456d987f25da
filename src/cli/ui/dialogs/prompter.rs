//! Asks the user about deadlocks, and about questions that the agents could not settle. The dialog about a
//! deadlock shows the positions side by side. The dialog about a question shows the agents' opinions. If the user
//! leaves a dialog, Glee records no decision.

use std::fmt::Write as _;

use super::questions::{self, LEAVES_OPEN};
use crate::cli::style::{self, Color, Style, paragraph};
use crate::cli::ui::terminal::Terminal;
use glee_model::domain::Approach;
use glee_protocol::text::printable;
use glee_workflows::consensus::OpenQuestion;
use glee_workflows::run::ports::{Deadlock, PersonAnswer, Prompter};

/// A dialog shows at most this number of lines of each agent's position. The files of the stage contain the
/// complete positions.
const SHOWN: usize = 30;

/// The minimum width of a column. If the screen is too narrow, the positions are shown one below the other.
const NARROWEST: usize = 30;

#[derive(Debug)]
pub struct PersonDialog {
    terminal: Terminal,
}

impl PersonDialog {
    pub fn new(terminal: &Terminal) -> Self {
        Self {
            terminal: terminal.clone(),
        }
    }
}

impl Prompter for PersonDialog {
    fn decide(&mut self, deadlock: &Deadlock) -> PersonAnswer<Approach> {
        let sheet = deadlock_sheet(self.terminal.screen().style(), deadlock);
        let answer = questions::open(&self.terminal, &sheet, |form| {
            let positions = &deadlock.positions;
            let approach = |name| format!("Take the approach of {}", printable::line(name));
            let mut items: Vec<String> = positions
                .iter()
                .map(|position| approach(&position.agent.0))
                .collect();
            items.push(
                "Combine several approaches (hybrid); give the details as the reason".to_owned(),
            );
            items.push("Leave it open".to_owned());
            form.print(Color::Strong, "Your decision?")?;
            form.with_reason(match form.choose(&items, 0, LEAVES_OPEN)? {
                Some(index) if index < positions.len() => {
                    Some(Approach::Of(positions[index].agent.clone()))
                }
                Some(index) if index == positions.len() => Some(Approach::Hybrid),
                Some(_) | None => None,
            })
        });
        answer.unwrap_or(PersonAnswer::Stopped)
    }

    fn answer(&mut self, open: &OpenQuestion) -> PersonAnswer<String> {
        let sheet = question_sheet(self.terminal.screen().style(), open);
        let answer = questions::open(&self.terminal, &sheet, |form| {
            let is_free = open.question.options.is_empty();
            let answers: Vec<String> = if is_free {
                open.opinions
                    .iter()
                    .map(|opinion| printable::line(&opinion.answer))
                    .collect()
            } else {
                open.question.options.clone()
            };
            let mut items: Vec<String> = answers.iter().map(printable::line).collect();
            items.extend(is_free.then(|| "Another answer".to_owned()));
            items.push("Leave it open".to_owned());
            form.print(Color::Strong, "Your answer?")?;
            form.with_reason(match form.choose(&items, 0, LEAVES_OPEN)? {
                Some(index) if index < answers.len() => Some(answers[index].clone()),
                Some(index) if is_free && index == answers.len() => {
                    Some(form.line("Answer:")?).filter(|answer| !answer.is_empty())
                }
                Some(_) | None => None,
            })
        });
        answer.unwrap_or(PersonAnswer::Stopped)
    }
}

fn text(content: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(content) {
        Ok(value) if value.is_object() => format!("{value:#}"),
        _ => content.to_owned(),
    }
}

fn deadlock_sheet(style: Style, deadlock: &Deadlock) -> String {
    let stage = style.strong(format!(
        "Deadlock in stage {}",
        printable::line(&deadlock.stage)
    ));
    let mut sheet = format!("\n{stage}\n");
    paragraph(&mut sheet, style, "  ", &printable::line(&deadlock.reason));
    let _ = writeln!(sheet, "\n{}", style.strong("Conflicts"));
    for conflict in &deadlock.conflicts {
        paragraph(&mut sheet, style, "  - ", &printable::block(conflict));
    }
    let positions = deadlock.positions.iter();
    let positions: Vec<(String, String)> = positions
        .map(|position| {
            (
                printable::line(&position.agent.0),
                text(&printable::block(&position.content)),
            )
        })
        .collect();
    sheet.push('\n');
    side_by_side(&mut sheet, style, &positions);
    if let Some(decision) = &deadlock.arbiter {
        let choice = printable::line(&decision.decision.to_string());
        let heading = format!(
            "The arbiter prefers {choice}, confidence {}",
            decision.confidence.as_str()
        );
        let _ = writeln!(sheet, "\n{}", style.strong(heading));
        paragraph(
            &mut sheet,
            style,
            "  ",
            &printable::block(&decision.rationale),
        );
    }
    sheet + "\n"
}

fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = style::wrap(text, width);
    if lines.len() > SHOWN {
        let more = style::count(lines.len() - SHOWN, "line");
        lines.truncate(SHOWN);
        lines.push(format!("({more} more)"));
    }
    lines
}

/// Appends texts side by side, or one below the other if the screen is too narrow.
fn side_by_side(sheet: &mut String, style: Style, texts: &[(String, String)]) {
    let gap = 2;
    let width = ((style.width.saturating_sub(1) + gap) / texts.len().max(1)).saturating_sub(gap);
    if width < NARROWEST {
        for (name, text) in texts {
            let _ = writeln!(sheet, "{}", style.paint(Color::Key, name));
            for line in lines(text, style.width.saturating_sub(3)) {
                let _ = writeln!(sheet, "  {line}");
            }
        }
        return;
    }
    let columns: Vec<Vec<String>> = texts.iter().map(|(_, text)| lines(text, width)).collect();
    let heads = texts.iter().map(|(name, _)| style.cut(name, width));
    let heads = row(heads, width);
    let _ = writeln!(sheet, "{}", style.paint(Color::Key, &heads));
    for index in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        let cells = columns
            .iter()
            .map(|lines| lines.get(index).cloned().unwrap_or_default());
        let _ = writeln!(sheet, "{}", row(cells, width));
    }
}

fn row(cells: impl Iterator<Item = String>, width: usize) -> String {
    Vec::from_iter(cells.map(|cell| style::pad(&cell, width)))
        .join("  ")
        .trim_end()
        .to_owned()
}

fn question_sheet(style: Style, open: &OpenQuestion) -> String {
    let heading = style.strong(format!("Question {}", printable::line(&open.question.id)));
    let mut sheet = format!("\n{heading}\n");
    paragraph(
        &mut sheet,
        style,
        "  ",
        &printable::block(&open.question.question),
    );
    for opinion in &open.opinions {
        let head = format!(
            "{} ({})",
            printable::line(&opinion.answer),
            style::names(&opinion.by)
        );
        let _ = writeln!(sheet, "\n{}", style.paint(Color::Key, &head));
        for reason in opinion.reasons.iter().filter(|reason| !reason.is_blank()) {
            paragraph(&mut sheet, style, "  - ", &printable::block(reason));
        }
    }
    if open.opinions.is_empty() {
        paragraph(
            &mut sheet,
            style,
            "  ",
            "no agent gave an answer that the question allows",
        );
    }
    if let Some(reason) = &open.validator {
        let _ = writeln!(
            sheet,
            "\n{}",
            style.strong("The validator does not agree with the majority")
        );
        paragraph(&mut sheet, style, "  ", &printable::block(reason));
    }
    sheet + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use glee_model::domain::{Certainty, Decision, Opinion, Question};
    use glee_protocol::request::StagePosition;

    const LOOK: Style = Style {
        color: false,
        unicode: true,
        width: 72,
    };

    fn deadlock(text: &str) -> Deadlock {
        let position = |name: &str, text: &str| StagePosition {
            agent: name.into(),
            content: text.into(),
        };
        Deadlock {
            stage: "plan".to_owned(),
            reason: "the arbiter's confidence is low".to_owned(),
            conflicts: vec![
                "claude keeps the queue in SQLite, gemini in Redis".into(),
                text.into(),
            ],
            positions: vec![
                position(
                    "claude",
                    r#"{"work_breakdown":["a table `job`","a worker"],"risks":["locks"]}"#,
                ),
                position(
                    "gemini",
                    "Use Redis streams. They scale, and the worker blocks on them without polling.",
                ),
            ],
            arbiter: Some(Decision {
                decision: Approach::Of("claude".into()),
                rationale: "Nothing else needs Redis.".into(),
                modifications: Vec::new(),
                confidence: Certainty::Low,
            }),
        }
    }

    #[test]
    fn positions_are_side_by_side() {
        insta::assert_snapshot!(deadlock_sheet(LOOK, &deadlock("who deploys it")));
    }

    #[test]
    fn on_a_narrow_screen_positions_are_stacked() {
        insta::assert_snapshot!(deadlock_sheet(
            Style { width: 40, ..LOOK },
            &deadlock("who deploys it")
        ));
    }

    #[test]
    fn a_question_is_shown_with_the_opinions_on_it() {
        let opinion = |answer: &str, by: &[&str]| Opinion {
            answer: answer.into(),
            by: by.iter().map(|name| (*name).into()).collect(),
            reasons: by
                .iter()
                .map(|name| format!("{name} says so").into())
                .collect(),
        };
        let question = Question {
            id: "db".to_owned(),
            question: "Which database?".to_owned(),
            options: Vec::new(),
        };
        let open = OpenQuestion {
            question,
            opinions: vec![
                opinion("SQLite", &["claude", "codex"]),
                opinion("PostgreSQL", &["gemini"]),
            ],
            validator: Some("There will be two writers.".into()),
        };
        insta::assert_snapshot!(question_sheet(LOOK, &open));
    }

    #[test]
    fn hostile_text_stays_text() {
        let evil = "\x1b[2J\u{202e}\u{9b}31m\r\n\x07";
        let mut deadlock = deadlock(evil);
        deadlock.positions[0].content = evil.into();
        deadlock.positions[1].agent = evil.into();
        let sheet = deadlock_sheet(LOOK, &deadlock);
        assert_eq!(
            sheet
                .chars()
                .find(|c| *c != '\n' && printable::is_unsafe(*c)),
            None,
            "{sheet}"
        );
    }
}
