//! Who decides a dispute: a person at the dialog of the specification, or nobody and the configured default.
//!
//! Whatever ends a dialog, the terminal is left as it was found; leaving it decides nothing.

use std::fmt::Write as _;
use std::io;

use console::Term;

use crate::domain::{DisputeNumber, Route, Ruler, RulingWord};
use crate::draw::snippet::{self, Code};
use crate::draw::{self, Glyph, Look, Tone};
use crate::pipeline::ports::{Choice, Decider, HumanRuling, Question};
use crate::protocol::printable;

use super::menu::{self, Menu};
use super::terminal::Terminal;

/// The line under the selection when no judge is connected.
const TIP: &str = "Tip: You can assign a judge with: glee connect <agent> --role judge";

/// Asks the person at the terminal.
#[derive(Debug)]
pub struct Dialog {
    terminal: Terminal,
    /// The dispute on the screen, and how many of its rulings are shown.
    shown: Option<(DisputeNumber, usize)>,
}

impl Dialog {
    /// A dialog on a terminal, which the live display shares.
    pub fn new(terminal: &Terminal) -> Self {
        Self { terminal: terminal.clone(), shown: None }
    }

    /// Opens a dialog over the dispute, which is drawn unless it stands there already.
    fn over<T>(
        &mut self,
        question: &Question,
        ask: impl FnOnce(&Term, &Terminal) -> io::Result<Option<T>>,
    ) -> Option<T> {
        let terminal = &self.terminal;
        let now = (question.dispute.number, question.dispute.rulings.len());
        let draws = self.shown != Some(now);
        self.shown = Some(now);
        terminal.dialog(|term| {
            if draws {
                term.write_str(&sheet(terminal.screen().look(), question)).ok()?;
            }
            // A terminal that cannot be read any more is a person who went away.
            ask(term, terminal).ok().flatten()
        })
    }
}

impl Decider for Dialog {
    fn choose(&mut self, question: &Question) -> Option<Choice> {
        self.over(question, |term, terminal| {
            let look = || terminal.screen().look();
            let routes = routes(question);
            let labels: Vec<&str> = routes.iter().map(|route| label(*route)).collect();
            let cursor = routes.iter().position(|route| *route == preselected(question)).unwrap_or(0);
            term.write_line(&look().paint(Tone::Strong, "How to resolve?"))?;
            if question.judge.is_none() {
                for line in draw::wrap(TIP, look().width.saturating_sub(1)) {
                    term.write_line(&look().paint(Tone::Warn, &line))?;
                }
            }
            let Some(index) = (Menu { items: &labels, cursor }).ask(term, look)? else {
                return Ok(None);
            };
            term.write_line(&taken(look(), label(routes[index])))?;
            let for_all = match question.waiting {
                0 => false,
                waiting => {
                    let all = format!("the same for {} that wait", draw::count(waiting, "more dispute"));
                    let items = ["only this dispute", all.as_str()];
                    let Some(which) = (Menu { items: &items, cursor: 0 }).ask(term, look)? else {
                        return Ok(None);
                    };
                    term.write_line(&taken(look(), items[which]))?;
                    which == 1
                }
            };
            Ok(Some(Choice { route: routes[index], by_person: true, for_all }))
        })
    }

    fn rule(&mut self, question: &Question) -> Option<HumanRuling> {
        self.over(question, |term, terminal| {
            let look = || terminal.screen().look();
            let items = [
                "Enforce: the coder must implement the finding",
                "Dismiss: the finding does not hold, the coder goes on",
                "Leave it open",
            ];
            let title = format!("Your ruling on dispute {}?", question.dispute.number);
            term.write_line(&look().paint(Tone::Strong, &title))?;
            let taken_item = (Menu { items: &items, cursor: 0 }).ask(term, look)?;
            let ruling = match taken_item {
                Some(0) => RulingWord::Enforce,
                Some(1) => RulingWord::Dismiss,
                Some(_) | None => {
                    term.write_line(&taken(look(), "left open"))?;
                    return Ok(None);
                }
            };
            term.write_line(&taken(look(), &ruling.as_str().to_lowercase()))?;
            let prompt = look().paint(Tone::Strong, "Reason (optional):");
            let Some(reason) = menu::line(term, &prompt, look)? else {
                return Ok(None);
            };
            Ok(Some(HumanRuling { ruling, reason }))
        })
    }
}

/// Takes the configured default where nobody can or shall be asked.
#[derive(Debug)]
pub struct Unattended {
    terminal: Terminal,
    said: bool,
}

impl Unattended {
    /// Says once on the terminal which default it takes.
    pub fn new(terminal: &Terminal) -> Self {
        Self { terminal: terminal.clone(), said: false }
    }
}

impl Decider for Unattended {
    fn choose(&mut self, question: &Question) -> Option<Choice> {
        let route = preselected(question);
        if !self.said {
            self.said = true;
            self.terminal.line(&unattended(question));
        }
        Some(Choice { route, by_person: false, for_all: false })
    }

    fn rule(&mut self, _question: &Question) -> Option<HumanRuling> {
        None
    }
}

/// What is said when nobody is asked.
fn unattended(question: &Question) -> String {
    let outcome = match preselected(question) {
        Route::Judge => "the judge rules",
        Route::Human => "disputes stay open; settle them with `glee disputes resolve`",
        Route::Discard => "disputed findings are discarded",
    };
    let route = preselected(question);
    let missing = if route == question.default { "" } else { " (no judge is connected)" };
    format!("note: nobody is asked how to settle disputes; the default is `{route}`{missing}: {outcome}")
}

/// The routes that are offered, in the order of the specification.
fn routes(question: &Question) -> Vec<Route> {
    Route::ALL.into_iter().filter(|route| *route != Route::Judge || question.judge.is_some()).collect()
}

/// The configured default; without a judge, `judge` becomes `human`.
fn preselected(question: &Question) -> Route {
    match question.default {
        Route::Judge if question.judge.is_none() => Route::Human,
        route => route,
    }
}

/// The specification's words.
fn label(route: Route) -> &'static str {
    match route {
        Route::Judge => "Use AI judge",
        Route::Human => "I'll decide",
        Route::Discard => "Discard opinion",
    }
}

/// A choice as it stays on the screen.
fn taken(look: Look, what: &str) -> String {
    let mark = look.paint(Tone::Good, look.glyph(Glyph::Done));
    format!("{mark} {}", look.cut(what, look.width.saturating_sub(3)))
}

/// Everything a person needs to decide: the finding, the code, the objection with its evidence, earlier rulings.
fn sheet(look: Look, question: &Question) -> String {
    let dispute = &question.dispute;
    let finding = &dispute.finding;
    let mut sheet = String::new();
    let place = finding.raw.location().map(|place| printable::line(&place.to_string())).unwrap_or_default();
    let _ = writeln!(
        sheet,
        "\n{}",
        look.facts(&[
            look.paint(Tone::Strong, &format!("Dispute {}", dispute.number)),
            finding.id.to_string(),
            look.paint(Tone::Key, &place),
        ])
    );
    let severity = printable::line(&finding.raw.severity.to_string());
    let tag = look.paint(Tone::of(&finding.raw.severity), &format!("[{severity}]"));
    let title = printable::line(&finding.raw.title);
    push(&mut sheet, look, &format!("{tag} "), &title);
    let names: Vec<String> = finding.raised_by.iter().map(|name| printable::line(&name.0)).collect();
    let class = finding.raw.rule.as_ref().or(finding.raw.category.as_ref()).map(|class| printable::line(class));
    let raised = format!("raised by {}", names.join(", "));
    let _ = writeln!(sheet, "{}", look.paint(Tone::Faint, &look.facts(&[raised, class.unwrap_or_default()])));
    paragraph(&mut sheet, look, &finding.raw.body);

    if let Some(excerpt) = &question.excerpt {
        let code = Code {
            file: &excerpt.file,
            text: &excerpt.text,
            first_line: excerpt.first_line,
            lines: excerpt.lines,
            quoted: format!("{}\n{}", finding.raw.title, finding.raw.body),
        };
        let _ = writeln!(sheet, "\n{}", snippet::code(look, Tone::of(&finding.raw.severity), &code));
    }

    let _ = writeln!(sheet, "\n{}", look.paint(Tone::Strong, "The coder objects"));
    paragraph(&mut sheet, look, &dispute.objection.text);
    for evidence in &dispute.objection.evidence {
        push(&mut sheet, look, &format!("  {} ", look.paint(Tone::Key, "evidence:")), &printable::line(evidence));
    }
    if dispute.objection.evidence.is_empty() {
        let _ = writeln!(sheet, "  {}", look.paint(Tone::Faint, "no evidence given"));
    }
    for record in &dispute.rulings {
        let by = match &record.by {
            Ruler::Judge { name } => format!("The judge {}", printable::line(&name.0)),
            Ruler::Human => "A person".to_owned(),
            Ruler::Policy => "The policy".to_owned(),
        };
        let heading = format!("{by} says {}", record.ruling.ruling);
        let _ = writeln!(sheet, "\n{}", look.paint(Tone::Strong, &heading));
        paragraph(&mut sheet, look, &record.ruling.rationale);
    }
    sheet.push('\n');
    sheet
}

/// Text of others, escaped, wrapped and indented.
fn paragraph(sheet: &mut String, look: Look, text: &str) {
    for line in draw::wrap(&printable::block(text), look.width.saturating_sub(3)) {
        let _ = writeln!(sheet, "{}", if line.is_empty() { line } else { format!("  {line}") });
    }
}

/// A line that begins with `head`; what does not fit goes below, indented as far as the head reaches.
fn push(sheet: &mut String, look: Look, head: &str, text: &str) {
    let indent = draw::columns(head).min(look.width / 2);
    let lines = draw::wrap(text, look.width.saturating_sub(indent + 1));
    for (index, line) in lines.iter().enumerate() {
        let _ = if index == 0 { writeln!(sheet, "{head}{line}") } else { writeln!(sheet, "{:indent$}{line}", "") };
    }
}
