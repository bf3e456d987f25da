//! Who decides a dispute: a person at the dialog of the specification, or nobody and the configured default.
//!
//! Whatever ends a dialog, the terminal is left as it was found; leaving it decides nothing.

use std::fmt::Write as _;
use std::io;

use console::Term;

use super::menu::{self, Menu, taken};
use crate::cli::style::snippet::{self, Code};
use crate::cli::style::{self, Color, Style, paragraph};
use crate::cli::ui::terminal::Terminal;
use crate::domain::{DisputeNumber, Route, Ruler, RulingWord};
use crate::protocol::text::printable;
use crate::workflows::run::ports::{Choice, DisputeResolver, Excerpt, PersonAnswer, PersonQuestion};

/// The line under the selection when no judge is connected.
const TIP: &str = "Tip: You can assign a judge with: glee connect <agent> --role judge";

/// What Esc does where a way to resolve is asked for.
const STOPS: &str = "stops the run here";

/// Asks the person at the terminal.
#[derive(Debug)]
pub struct Dialog {
    terminal: Terminal,
    /// The dispute on the screen, and how many of its rulings are shown.
    shown: Option<(DisputeNumber, usize)>,
}

impl Dialog {
    pub fn new(terminal: &Terminal) -> Self {
        Self { terminal: terminal.clone(), shown: None }
    }

    /// Opens a dialog over the dispute, which is drawn unless it stands there already.
    fn over<T>(
        &mut self,
        question: &PersonQuestion,
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

impl DisputeResolver for Dialog {
    fn choose(&mut self, question: &PersonQuestion) -> Option<Choice> {
        self.over(question, |term, terminal| {
            let look = || terminal.screen().look();
            let routes = routes(question);
            let labels: Vec<&str> = routes.iter().map(|route| label(*route)).collect();
            let cursor = routes.iter().position(|route| *route == preselected(question)).unwrap_or(0);
            term.write_line(&look().paint(Color::Strong, "How to resolve?"))?;
            if question.judge.is_none() {
                for line in style::wrap(TIP, look().width.saturating_sub(1)) {
                    term.write_line(&look().paint(Color::Warn, &line))?;
                }
            }
            let Some(index) = (Menu { items: &labels, cursor, escape: STOPS }).ask(term, look)? else {
                return Ok(None);
            };
            term.write_line(&taken(look(), label(routes[index])))?;
            let for_all = match question.waiting {
                0 => false,
                waiting => {
                    let all = match waiting {
                        1 => "the same for the other dispute that waits".to_owned(),
                        many => format!("the same for the {many} other disputes that wait"),
                    };
                    let items = ["only this dispute", all.as_str()];
                    let Some(which) = (Menu { items: &items, cursor: 0, escape: STOPS }).ask(term, look)? else {
                        return Ok(None);
                    };
                    term.write_line(&taken(look(), items[which]))?;
                    which == 1
                }
            };
            Ok(Some(Choice { route: routes[index], by_person: true, for_all }))
        })
    }

    fn rule(&mut self, question: &PersonQuestion) -> PersonAnswer<RulingWord> {
        let answer = self.over(question, |term, terminal| {
            let look = || terminal.screen().look();
            let items = [
                "Enforce: the coder must implement the finding",
                "Dismiss: the finding does not hold, the coder goes on",
                "Leave it open",
            ];
            let title = format!("Your ruling on dispute {}?", question.dispute.number);
            term.write_line(&look().paint(Color::Strong, &title))?;
            let taken_item = (Menu { items: &items, cursor: 0, escape: "leaves it open" }).ask(term, look)?;
            let ruling = match taken_item {
                Some(0) => RulingWord::Enforce,
                Some(1) => RulingWord::Dismiss,
                Some(_) | None => {
                    term.write_line(&taken(look(), "left open"))?;
                    return Ok(Some(PersonAnswer::LeftOpen));
                }
            };
            term.write_line(&taken(look(), &ruling.as_str().to_lowercase()))?;
            let prompt = look().paint(Color::Strong, "Reason (optional):");
            let Some(reason) = menu::line(term, &prompt, look)? else {
                return Ok(Some(PersonAnswer::LeftOpen));
            };
            Ok(Some(PersonAnswer::Given((ruling, reason))))
        });
        // Ctrl-C, and a terminal that is gone.
        answer.unwrap_or(PersonAnswer::Stopped)
    }
}

/// Takes the configured default where nobody can or shall be asked.
#[derive(Debug)]
pub struct NonInteractive {
    terminal: Terminal,
    said: bool,
}

impl NonInteractive {
    pub fn new(terminal: &Terminal) -> Self {
        Self { terminal: terminal.clone(), said: false }
    }
}

impl DisputeResolver for NonInteractive {
    fn choose(&mut self, question: &PersonQuestion) -> Option<Choice> {
        let route = preselected(question);
        if !self.said {
            self.said = true;
            self.terminal.line(&unattended(question));
        }
        Some(Choice { route, by_person: false, for_all: true })
    }

    fn rule(&mut self, _question: &PersonQuestion) -> PersonAnswer<RulingWord> {
        PersonAnswer::LeftOpen
    }
}

/// What is said when nobody is asked.
fn unattended(question: &PersonQuestion) -> String {
    let outcome = match preselected(question) {
        Route::Judge => "the judge rules",
        Route::Human => "disputes stay open; settle them with `glee disputes resolve`",
        Route::Discard => "disputed findings are discarded",
    };
    let route = preselected(question);
    let configured = question.configured;
    let missing = if route == configured { "" } else { ", and no judge is connected" };
    format!("note: nobody is asked how to settle disputes; the default is `{configured}`{missing}: {outcome}")
}

/// The routes that are offered, in the order of the specification.
fn routes(question: &PersonQuestion) -> Vec<Route> {
    Route::ALL.into_iter().filter(|route| *route != Route::Judge || question.judge.is_some()).collect()
}

/// The configured default; without a judge, `judge` becomes `human`.
fn preselected(question: &PersonQuestion) -> Route {
    match question.default {
        Route::Judge if question.judge.is_none() => Route::Human,
        route => route,
    }
}

fn label(route: Route) -> &'static str {
    match route {
        Route::Judge => "Use AI judge",
        Route::Human => "I'll decide",
        Route::Discard => "Discard opinion",
    }
}

/// Everything a person needs to decide: the finding, the code, the objection with its evidence, earlier rulings.
fn sheet(look: Style, question: &PersonQuestion) -> String {
    let dispute = &question.dispute;
    let finding = &dispute.finding;
    let mut sheet = String::new();
    let place = finding.raw.location().map(|place| printable::line(&place.to_string())).unwrap_or_default();
    let _ = writeln!(
        sheet,
        "\n{}",
        look.facts(&[
            look.paint(Color::Strong, &format!("Dispute {}", dispute.number)),
            finding.id.to_string(),
            look.paint(Color::Key, &place),
        ])
    );
    let severity = printable::line(&finding.raw.severity.to_string());
    let tag = look.paint(Color::of(&finding.raw.severity), &format!("[{severity}]"));
    let title = printable::line(&finding.raw.title);
    push(&mut sheet, look, &tag, &title);
    let class = finding.raw.rule.as_ref().or(finding.raw.category.as_ref()).map(printable::line);
    let raised = format!("raised by {}", style::names(&finding.raised_by));
    let facts = [raised, class.unwrap_or_default()].map(|fact| look.paint(Color::Faint, &fact));
    let _ = writeln!(sheet, "{}", look.facts(&facts));
    paragraph(&mut sheet, look, "  ", &printable::block(&finding.raw.body));

    let code = |tone: Color, Excerpt { file, text, first_line, lines }: &Excerpt, quoted: String| {
        let code = Code { file, text, first_line: *first_line, lines: *lines, quoted };
        format!("\n{}\n", snippet::code(look, tone, &code))
    };
    if let Some(excerpt) = &question.excerpt {
        let quoted = format!("{title}\n{}", printable::block(&finding.raw.body));
        sheet.push_str(&code(Color::of(&finding.raw.severity), excerpt, quoted));
    }

    let _ = writeln!(sheet, "\n{}", look.paint(Color::Strong, dispute.objector.heading()));
    paragraph(&mut sheet, look, "  ", &printable::block(&dispute.objection.text));
    for evidence in &dispute.objection.evidence {
        push(&mut sheet, look, &format!("  {}", look.paint(Color::Key, "evidence:")), &printable::line(evidence));
    }
    if dispute.objection.evidence.is_empty() && dispute.objector.is_coder() {
        let _ = writeln!(sheet, "  {}", look.paint(Color::Faint, "no evidence given"));
    }
    for cited in &question.cited {
        sheet.push_str(&code(Color::Key, cited, String::new()));
    }
    for earlier in &dispute.earlier {
        let _ = writeln!(sheet, "\n{}", look.paint(Color::Strong, &format!("Earlier dispute {}", earlier.dispute)));
        paragraph(&mut sheet, look, "  ", &printable::block(&earlier.sentence()));
        paragraph(&mut sheet, look, "  ", &printable::block(&earlier.decided().labelled("decided then: ")));
        let diff = earlier.diff().map(printable::block).unwrap_or_default();
        for line in diff.lines() {
            let _ = writeln!(sheet, "  {}", look.cut(line, look.width.saturating_sub(2)));
        }
    }
    for record in &dispute.rulings {
        let by = match &record.by {
            Ruler::Judge { name } => format!("The judge {}", printable::line(&name.0)),
            Ruler::Panel => "The panel".to_owned(),
            Ruler::Human => "A person".to_owned(),
            Ruler::Policy => "The policy".to_owned(),
        };
        let heading = format!("{by} says {}", record.ruling.ruling);
        let _ = writeln!(sheet, "\n{}", look.paint(Color::Strong, &heading));
        paragraph(&mut sheet, look, "  ", &printable::block(&record.ruling.rationale));
        for vote in &record.votes {
            push(
                &mut sheet,
                look,
                &format!("  {}", look.paint(Color::Key, "vote:")),
                &printable::line(&vote.said()),
            );
        }
    }
    sheet.push('\n');
    sheet
}

/// A line that begins with `head`; what does not fit goes below, indented as far as the head reaches. A head that
/// takes more than half of the screen has a line of its own.
fn push(sheet: &mut String, look: Style, head: &str, text: &str) {
    let head_width = style::columns(head);
    let indent = if head_width > look.width / 2 { 4 } else { head_width + 1 };
    let mut lines = style::wrap(text, look.width.saturating_sub(indent + 1)).into_iter();
    let first = if indent > head_width { lines.next() } else { None };
    let _ = writeln!(sheet, "{head}{}", first.map_or_else(String::new, |line| format!(" {line}")));
    for line in lines {
        let _ = writeln!(sheet, "{:indent$}{line}", "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::style::fixture::{dispute, finding, ruling};
    use crate::cli::ui::screen::{Screen, Verbosity};
    use crate::domain::Tag;

    const LOOK: Style = Style { color: false, unicode: true, width: 72 };

    fn question(judge: Option<&str>, default: Route) -> PersonQuestion {
        let mut raised = finding(2, Tag::High, "shop/tag.py:12", "MD5 is broken: `hashlib.md5`");
        raised.raw.body =
            "Use SHA-256.\n\nCollisions are found in seconds on a laptop, and the tag decides who may \
                           see an order."
                .into();
        raised.raw.rule = Some("python-weak-hash".to_owned());
        let evidence =
            ["tests/tag.py:3", "docs/protocol.md says that the tag is sixteen bytes long, see its section 4"];
        let text = "import hashlib\n\ndef tag(order):\n\treturn hashlib.md5(order).digest()\n\n";
        PersonQuestion {
            dispute: dispute(7, raised, "The tag is no secret; old clients compare it.", &evidence),
            excerpt: Some(Excerpt {
                file: "shop/tag.py".to_owned(),
                first_line: 9,
                text: text.to_owned(),
                lines: (12, 12),
            }),
            judge: judge.map(str::to_owned),
            default,
            configured: default,
            cited: Vec::new(),
            waiting: 0,
        }
    }

    fn labels(question: &PersonQuestion) -> (Vec<&'static str>, &'static str) {
        (routes(question).into_iter().map(label).collect(), label(preselected(question)))
    }

    #[test]
    fn the_two_flows_of_the_specification() {
        let with = ["Use AI judge", "I'll decide", "Discard opinion"].to_vec();
        let without = ["I'll decide", "Discard opinion"].to_vec();
        assert_eq!(labels(&question(Some("referee"), Route::Judge)), (with.clone(), "Use AI judge"));
        assert_eq!(labels(&question(Some("referee"), Route::Human)), (with.clone(), "I'll decide"));
        assert_eq!(labels(&question(Some("referee"), Route::Discard)), (with, "Discard opinion"));
        assert_eq!(labels(&question(None, Route::Judge)), (without.clone(), "I'll decide"));
        assert_eq!(labels(&question(None, Route::Human)), (without.clone(), "I'll decide"));
        assert_eq!(labels(&question(None, Route::Discard)), (without, "Discard opinion"));
    }

    #[test]
    fn finding_code_and_objection_stand_above_the_choice() {
        insta::assert_snapshot!(sheet(LOOK, &question(Some("referee"), Route::Judge)));
    }

    #[test]
    fn an_escalated_dispute_shows_what_the_judge_said() {
        let mut question = question(Some("referee"), Route::Judge);
        question.excerpt = None;
        question.dispute.finding.raw.body = "".into();
        question.dispute.objection.evidence.clear();
        question.dispute.rulings = vec![ruling(RulingWord::Escalate, "The clients are outside the tree.")];
        insta::assert_snapshot!(sheet(Style { color: true, ..LOOK }, &question).replace('\x1b', "␛"));
    }

    #[test]
    fn twenty_columns_are_enough() {
        insta::assert_snapshot!(sheet(Style { width: 20, ..LOOK }, &question(None, Route::Human)));
    }

    #[test]
    fn hostile_text_stays_text() {
        let evil = "\x1b[2J\u{202e}\u{9b}31m\r\n\x07".to_owned();
        let mut question = question(None, Route::Human);
        let dispute = &mut question.dispute;
        dispute.finding.raw.title = evil.as_str().into();
        dispute.finding.raw.body = evil.as_str().into();
        dispute.finding.raw.file = Some(evil.clone());
        dispute.finding.raw.rule = Some(evil.clone());
        dispute.finding.raised_by = vec![crate::domain::AgentName(evil.clone())];
        dispute.objection.text = evil.as_str().into();
        dispute.objection.evidence = vec![evil.as_str().into()];
        dispute.rulings = vec![ruling(RulingWord::Escalate, &evil)];
        question.excerpt = Some(Excerpt { file: evil.clone(), first_line: 1, text: evil, lines: (1, 9) });
        let sheet = sheet(LOOK, &question);
        assert_eq!(sheet.chars().find(|c| *c != '\n' && printable::is_unsafe(*c)), None, "{sheet}");
    }

    #[test]
    fn nobody_asked_takes_the_default_and_leaves_rulings_to_people() {
        let screen =
            Screen { terminal: false, color: false, unicode: true, columns: Some(80), verbosity: Verbosity::Quiet };
        let mut nobody = NonInteractive::new(&Terminal::new(screen));
        let mut takes = |judge: Option<&str>, default| {
            let question = question(judge, default);
            let choice = nobody.choose(&question).map(|choice| (choice.route, choice.by_person, choice.for_all));
            (choice, nobody.rule(&question))
        };
        let route = |route| (Some((route, false, true)), PersonAnswer::LeftOpen);
        assert_eq!(takes(Some("referee"), Route::Judge), route(Route::Judge));
        assert_eq!(takes(Some("referee"), Route::Discard), route(Route::Discard));
        assert_eq!(takes(None, Route::Judge), route(Route::Human));
        assert_eq!(
            unattended(&question(None, Route::Judge)),
            "note: nobody is asked how to settle disputes; the default is `judge`, and no judge is connected: \
             disputes stay open; settle them with `glee disputes resolve`"
        );
    }
}
