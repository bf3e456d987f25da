//! What agents cannot agree on, put to the person at the terminal: a deadlock's positions side by side, a question with
//! what is said of it. Leaving a dialog decides nothing.

use std::fmt::Write as _;
use std::io;

use console::Term;

use super::menu::{self, Menu};
use crate::cli::style::{self, Color, Style, paragraph};
use crate::cli::ui::terminal::Terminal;
use crate::domain::Approach;
use crate::protocol::text::printable;
use crate::workflows::consensus::OpenQuestion;
use crate::workflows::run::ports::{Deadlock, PersonAnswer, Prompter};

/// The lines of one position that are shown; the whole of it is in the stage's files.
const SHOWN: usize = 30;

/// The columns below which positions stand one below the other.
const NARROWEST: usize = 30;

const LEAVES: &str = "leaves it open";

/// Asks the person at the terminal.
#[derive(Debug)]
pub struct PersonDialog {
    terminal: Terminal,
}

impl PersonDialog {
    pub fn new(terminal: &Terminal) -> Self {
        Self { terminal: terminal.clone() }
    }

    /// Shows `sheet` and asks; what cannot be read any more is a person who went away.
    fn over<T>(
        &self,
        sheet: &str,
        ask: impl FnOnce(&Term, &dyn Fn() -> Style) -> io::Result<PersonAnswer<T>>,
    ) -> PersonAnswer<T> {
        let look = || self.terminal.screen().look();
        self.terminal
            .dialog(|term| term.write_str(sheet).and_then(|()| ask(term, &look)).unwrap_or(PersonAnswer::Stopped))
    }
}

impl Prompter for PersonDialog {
    fn decide(&mut self, deadlock: &Deadlock) -> PersonAnswer<Approach> {
        self.over(&deadlock_sheet(self.terminal.screen().look(), deadlock), |term, look| {
            let names: Vec<String> =
                deadlock.positions.iter().map(|position| printable::line(&position.agent.0)).collect();
            let mut items: Vec<String> = names.iter().map(|name| format!("Take the approach of {name}")).collect();
            items.push("Take parts of several (hybrid); the reason says which".to_owned());
            items.push("Leave it open".to_owned());
            let Some(taken) = choose(term, look, "Your decision?", &items)? else {
                return left_open(term, look);
            };
            let approach = match deadlock.positions.get(taken) {
                Some(position) => Approach::Of(position.agent.clone()),
                None if taken == names.len() => Approach::Hybrid,
                None => return left_open(term, look),
            };
            with_reason(term, look, approach)
        })
    }

    fn answer(&mut self, open: &OpenQuestion) -> PersonAnswer<String> {
        self.over(&question_sheet(self.terminal.screen().look(), open), |term, look| {
            let answers = answers(open);
            let free = open.question.options.is_empty();
            let mut items = answers.iter().map(printable::line).collect::<Vec<_>>();
            if free {
                items.push("Another answer".to_owned());
            }
            items.push("Leave it open".to_owned());
            let Some(taken) = choose(term, look, "Your answer?", &items)? else {
                return left_open(term, look);
            };
            if let Some(answer) = answers.get(taken) {
                return with_reason(term, look, answer.clone());
            }
            if !free || taken > answers.len() {
                return left_open(term, look);
            }
            let prompt = look().paint(Color::Strong, "Answer:");
            match menu::line(term, &prompt, look)?.filter(|answer| !answer.trim().is_empty()) {
                Some(answer) => with_reason(term, look, answer),
                None => left_open(term, look),
            }
        })
    }
}

/// The answers to choose from: those the question allows, or those that were given.
fn answers(open: &OpenQuestion) -> Vec<String> {
    if open.question.options.is_empty() {
        open.opinions.iter().map(|opinion| printable::line(&opinion.answer)).collect()
    } else {
        open.question.options.clone()
    }
}

fn choose(term: &Term, look: &dyn Fn() -> Style, title: &str, items: &[String]) -> io::Result<Option<usize>> {
    term.write_line(&look().paint(Color::Strong, title))?;
    let items: Vec<&str> = items.iter().map(String::as_str).collect();
    let taken = (Menu { items: &items, cursor: 0, escape: LEAVES }).ask(term, look)?;
    if let Some(index) = taken {
        term.write_line(&menu::taken(look(), items[index]))?;
    }
    Ok(taken)
}

fn with_reason<T>(term: &Term, look: &dyn Fn() -> Style, word: T) -> io::Result<PersonAnswer<T>> {
    let prompt = look().paint(Color::Strong, "Reason (optional):");
    match menu::line(term, &prompt, look)? {
        Some(reason) => Ok(PersonAnswer::Given((word, reason))),
        None => left_open(term, look),
    }
}

fn left_open<T>(term: &Term, look: &dyn Fn() -> Style) -> io::Result<PersonAnswer<T>> {
    term.write_line(&look().paint(Color::Faint, "left open"))?;
    Ok(PersonAnswer::LeftOpen)
}

/// Everything a person needs to end a deadlock.
fn deadlock_sheet(look: Style, deadlock: &Deadlock) -> String {
    let mut sheet = String::new();
    let stage = format!("Deadlock in stage {}", printable::line(&deadlock.stage));
    let _ = writeln!(sheet, "\n{}", look.paint(Color::Strong, &stage));
    paragraph(&mut sheet, look, "  ", &printable::line(&deadlock.reason));
    let _ = writeln!(sheet, "\n{}", look.paint(Color::Strong, "The conflicts"));
    for conflict in &deadlock.conflicts {
        paragraph(&mut sheet, look, "  - ", &printable::block(conflict));
    }
    let positions: Vec<(String, String)> = deadlock
        .positions
        .iter()
        .map(|position| (printable::line(&position.agent.0), readable(&printable::block(&position.content))))
        .collect();
    sheet.push('\n');
    sheet.push_str(&side_by_side(look, &positions));
    if let Some(decision) = &deadlock.arbiter {
        let heading = format!(
            "The arbiter would take {}, confidence {}",
            printable::line(&decision.decision.to_string()),
            decision.confidence.as_str()
        );
        let _ = writeln!(sheet, "\n{}", look.paint(Color::Strong, &heading));
        paragraph(&mut sheet, look, "  ", &printable::block(&decision.rationale));
    }
    sheet.push('\n');
    sheet
}

/// JSON by lines; anything else as it is.
fn readable(text: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) if value.is_object() => format!("{value:#}"),
        _ => text.to_owned(),
    }
}

/// Texts in columns beside each other, or below each other where the screen is too narrow.
fn side_by_side(look: Style, texts: &[(String, String)]) -> String {
    let gap = 2;
    let each = (look.width.saturating_sub(1) + gap) / texts.len().max(1);
    let width = each.saturating_sub(gap);
    let lines = |text: &str, width: usize| {
        let mut lines = style::wrap(text, width);
        if lines.len() > SHOWN {
            let more = lines.len() - SHOWN;
            lines.truncate(SHOWN);
            lines.push(format!("({} more)", style::count(more, "line")));
        }
        lines
    };
    let mut sheet = String::new();
    if width < NARROWEST {
        for (name, text) in texts {
            let _ = writeln!(sheet, "{}", look.paint(Color::Key, name));
            for line in lines(text, look.width.saturating_sub(3)) {
                let _ = writeln!(sheet, "  {line}");
            }
        }
        return sheet;
    }
    let columns: Vec<Vec<String>> = texts.iter().map(|(_, text)| lines(text, width)).collect();
    let heads: Vec<String> = texts.iter().map(|(name, _)| style::pad(&look.cut(name, width), width)).collect();
    let _ = writeln!(sheet, "{}", look.paint(Color::Key, heads.join("  ").trim_end()));
    for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        let cells = columns.iter().map(|lines| style::pad(lines.get(row).map_or("", String::as_str), width));
        let _ = writeln!(sheet, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    sheet
}

/// A question with what is said of it.
fn question_sheet(look: Style, open: &OpenQuestion) -> String {
    let mut sheet = String::new();
    let heading = format!("Question {}", printable::line(&open.question.id));
    let _ = writeln!(sheet, "\n{}", look.paint(Color::Strong, &heading));
    paragraph(&mut sheet, look, "  ", &printable::block(&open.question.question));
    for opinion in &open.opinions {
        let head = format!("{} ({})", printable::line(&opinion.answer), style::names(&opinion.by));
        let _ = writeln!(sheet, "\n{}", look.paint(Color::Key, &head));
        for reason in opinion.reasons.iter().filter(|reason| !reason.is_blank()) {
            paragraph(&mut sheet, look, "  - ", &printable::block(reason));
        }
    }
    if open.opinions.is_empty() {
        paragraph(&mut sheet, look, "  ", "no agent gave an answer that the question allows");
    }
    if let Some(reason) = &open.validator {
        let _ =
            writeln!(sheet, "\n{}", look.paint(Color::Strong, "The validator does not agree with the majority"));
        paragraph(&mut sheet, look, "  ", &printable::block(reason));
    }
    sheet.push('\n');
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Certainty, Decision, Opinion, Question};
    use crate::protocol::request::StagePosition;

    const LOOK: Style = Style { color: false, unicode: true, width: 72 };

    fn deadlock(text: &str) -> Deadlock {
        let position = |name: &str, text: &str| StagePosition { agent: name.into(), content: text.into() };
        Deadlock {
            stage: "plan".to_owned(),
            reason: "the arbiter's confidence is low".to_owned(),
            conflicts: vec!["claude keeps the queue in SQLite, gemini in Redis".into(), text.into()],
            positions: vec![
                position("claude", r#"{"work_breakdown":["a table `job`","a worker"],"risks":["locks"]}"#),
                position("gemini", "Use Redis streams. They scale, and the worker blocks on them without polling."),
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
    fn positions_stand_side_by_side() {
        insta::assert_snapshot!(deadlock_sheet(LOOK, &deadlock("who deploys it")));
    }

    #[test]
    fn on_a_narrow_screen_they_stand_below_each_other() {
        insta::assert_snapshot!(deadlock_sheet(Style { width: 40, ..LOOK }, &deadlock("who deploys it")));
    }

    #[test]
    fn a_question_is_shown_with_what_is_said_of_it() {
        let opinion = |answer: &str, by: &[&str]| Opinion {
            answer: answer.into(),
            by: by.iter().map(|name| (*name).into()).collect(),
            reasons: by.iter().map(|name| format!("{name} says so").into()).collect(),
        };
        let question =
            Question { id: "db".to_owned(), question: "Which database?".to_owned(), options: Vec::new() };
        let open = OpenQuestion {
            question,
            opinions: vec![opinion("SQLite", &["claude", "codex"]), opinion("PostgreSQL", &["gemini"])],
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
        assert_eq!(sheet.chars().find(|c| *c != '\n' && printable::is_unsafe(*c)), None, "{sheet}");
    }
}
