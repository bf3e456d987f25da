//! Resolves disputes in a dialog with the user. Without a terminal, the configured default route applies to all
//! disputes. The terminal is restored after every dialog. If the user leaves a dialog, Glee records no decision.

use super::questions::{self, AskError, DialogForm, LEAVES_OPEN};
use crate::cli::report::paths::WorkFolder;
use crate::cli::report::text::page::Page;
use crate::cli::style::{Color, Style};
use crate::cli::ui::terminal::Terminal;
use glee_model::domain::{DisputeNumber, Route, RulingWord};
use glee_protocol::text::printable;
use glee_workflows::run::ports::{
    Choice, DisputeResolver, PersonAnswer, PersonDecision, PersonQuestion,
};

const TIP: &str = "Tip: You can assign a judge with: glee connect <agent> --role judge";

/// The text that explains the effect of Esc in the prompt for a route.
const STOPS: &str = "stops the run here";

#[derive(Debug)]
pub struct Dialog {
    terminal: Terminal,
    /// The number of the displayed dispute, and the counts of its displayed rulings and answers.
    shown: Option<(DisputeNumber, usize, usize)>,
    folder: WorkFolder,
}

impl Dialog {
    pub fn new(terminal: &Terminal) -> Self {
        Self {
            terminal: terminal.clone(),
            shown: None,
            folder: WorkFolder::default(),
        }
    }

    /// Shows paths relative to `folder`.
    pub(crate) fn seen_from(self, folder: WorkFolder) -> Self {
        Self { folder, ..self }
    }

    fn sheet(&self, question: &PersonQuestion) -> String {
        let style = self.terminal.screen().style();
        if self.folder.is_root() {
            return sheet(style, question);
        }
        let mut question = question.clone();
        self.folder.dispute(&mut question.dispute);
        let code = question.excerpt.iter_mut().chain(&mut question.cited);
        code.for_each(|excerpt| self.folder.path(&mut excerpt.file));
        sheet(style, &question)
    }

    /// Draws the dispute above the dialog. A dispute that is already on the screen is not drawn again.
    fn open<T>(
        &mut self,
        question: &PersonQuestion,
        ask: impl FnOnce(&DialogForm<'_>) -> Result<T, AskError>,
    ) -> Result<T, AskError> {
        let dispute = &question.dispute;
        let now = Some((
            dispute.number,
            dispute.rulings.len(),
            dispute.answered.len(),
        ));
        let sheet = if self.shown == now {
            String::new()
        } else {
            self.sheet(question)
        };
        self.shown = now;
        questions::open(&self.terminal, &sheet, ask)
    }
}

impl DisputeResolver for Dialog {
    fn choose(&mut self, question: &PersonQuestion) -> Option<Choice> {
        let choice = self.open(question, |form| {
            let routes = routes(question);
            let labels: Vec<String> = routes
                .iter()
                .map(|route| format!("{}: {}", label(*route), effect(*route, question)))
                .collect();
            let cursor = routes
                .iter()
                .position(|route| *route == preselected(question))
                .unwrap_or(0);
            form.print(Color::Strong, "How to resolve?")?;
            if question.judge.is_none() {
                form.print(Color::Warn, TIP)?;
            }
            let Some(index) = form.choose(&labels, cursor, STOPS)? else {
                return Ok(None);
            };
            let choice = Choice {
                route: routes[index],
                by_person: true,
                for_all: false,
            };
            let all = match question.waiting {
                0 => return Ok(Some(choice)),
                1 => "the same for the other pending dispute".to_owned(),
                many => format!("the same for the {many} other pending disputes"),
            };
            let which = form.choose(&["only this dispute", &all], 0, STOPS)?;
            let for_all = which.map(|which| which == 1);
            Ok(for_all.map(|for_all| Choice { for_all, ..choice }))
        });
        // Ctrl-C and terminal errors count as leaving the dialog without an answer.
        choice.ok().flatten()
    }

    fn rule(&mut self, question: &PersonQuestion) -> PersonAnswer<PersonDecision> {
        let answer = self.open(question, |form| {
            let enforce = PersonDecision::Rule(RulingWord::Enforce);
            let dismiss = PersonDecision::Rule(RulingWord::Dismiss);
            let mut items = vec![
                (
                    "Enforce: the coder must implement the finding",
                    Some(enforce),
                ),
                (
                    "Dismiss: the finding is rejected, the coder continues",
                    Some(dismiss),
                ),
                ("Leave it open", None),
            ];
            if question.can_answer {
                let answer = "Answer the coder: it implements the finding or objects again";
                items.insert(2, (answer, Some(PersonDecision::Answer)));
            }
            let labels: Vec<&str> = items.iter().map(|(label, _)| *label).collect();
            form.print(
                Color::Strong,
                &format!("Your ruling on dispute {}?", question.dispute.number),
            )?;
            let chosen = form.choose(&labels, 0, LEAVES_OPEN)?;
            match chosen.and_then(|index| items[index].1) {
                Some(PersonDecision::Answer) => {
                    let mut answer = String::new();
                    while answer.is_empty() {
                        answer = form.line("Your answer:")?;
                    }
                    Ok(PersonAnswer::Given((PersonDecision::Answer, answer)))
                }
                ruling => form.with_reason(ruling),
            }
        });
        answer.unwrap_or(PersonAnswer::Stopped)
    }
}

/// Applies the configured default route without asking a person.
#[derive(Debug)]
pub struct NonInteractive {
    terminal: Terminal,
    is_noted: bool,
}

impl NonInteractive {
    pub fn new(terminal: &Terminal) -> Self {
        Self {
            terminal: terminal.clone(),
            is_noted: false,
        }
    }
}

impl DisputeResolver for NonInteractive {
    fn choose(&mut self, question: &PersonQuestion) -> Option<Choice> {
        if !self.is_noted {
            self.is_noted = true;
            self.terminal.line(&not_asked(question));
        }
        Some(Choice {
            route: preselected(question),
            by_person: false,
            for_all: true,
        })
    }

    fn rule(&mut self, _question: &PersonQuestion) -> PersonAnswer<PersonDecision> {
        PersonAnswer::Nobody
    }
}

fn not_asked(question: &PersonQuestion) -> String {
    let route = preselected(question);
    let configured = question.configured;
    let outcome = match route {
        Route::Judge => "the judge rules",
        Route::Human => "disputes stay open; settle them with `glee disputes resolve`",
        Route::Discard => "disputed findings are discarded",
    };
    let missing = if route == configured {
        ""
    } else {
        ", but no judge is connected"
    };
    format!(
        "note: not asking how to settle disputes; the default is `{configured}`{missing}: {outcome}"
    )
}

fn routes(question: &PersonQuestion) -> Vec<Route> {
    Route::ALL
        .into_iter()
        .filter(|route| *route != Route::Judge || question.judge.is_some())
        .collect()
}

/// Returns the default route. If the default is `Route::Judge` but no judge is connected, returns `Route::Human`.
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

/// What a choice does, and to whom.
fn effect(route: Route, question: &PersonQuestion) -> String {
    let finding = question.dispute.finding.id;
    match route {
        Route::Judge => {
            let judge = question.judge.as_deref().unwrap_or_default();
            format!("{} rules on {finding}", printable::line(judge))
        }
        Route::Human if question.can_answer => {
            format!("enforce {finding}, dismiss it, or answer the coder")
        }
        Route::Human => format!("enforce {finding}, or dismiss it"),
        Route::Discard => format!("{finding} is dropped, the code stays as it is"),
    }
}

fn sheet(style: Style, question: &PersonQuestion) -> String {
    // The last column stays free.
    let style = Style {
        width: style.width.saturating_sub(1),
        ..style
    };
    let dispute = &question.dispute;
    let place = dispute.finding.raw.location();
    let place = place.map_or_else(String::new, |place| printable::line(&place.to_string()));
    let number = style.strong(format!("Dispute {}", dispute.number));
    let head = style.facts(&[number, style.paint(Color::Key, &place)]);
    let mut page = Page::new(style);
    page.text = format!("\n{head}\n");
    page.dispute(
        dispute,
        question.excerpt.as_ref(),
        &question.cited,
        style.width,
    );
    page.text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::style::fixture::{dispute, finding, ruling};
    use crate::cli::ui::screen::{Screen, Verbosity};
    use glee_model::domain::Tag;
    use glee_workspace::code::anchors::Excerpt;

    const LOOK: Style = Style {
        color: false,
        unicode: true,
        width: 72,
    };

    fn question(judge: Option<&str>, default: Route) -> PersonQuestion {
        let mut raised = finding(
            2,
            Tag::High,
            "shop/tag.py:12",
            "MD5 is broken: `hashlib.md5`",
        );
        raised.raw.body =
            "Use SHA-256.\n\nCollisions are found in seconds on a laptop, and the tag decides who may \
                           see an order."
                .into();
        raised.raw.rule = Some("python-weak-hash".to_owned());
        let evidence = [
            "tests/tag.py:3",
            "docs/protocol.md says that the tag is sixteen bytes long, see its section 4",
        ];
        let text = "import hashlib\n\ndef tag(order):\n\treturn hashlib.md5(order).digest()\n\n";
        PersonQuestion {
            dispute: dispute(
                7,
                raised,
                "The tag is no secret; old clients compare it.",
                &evidence,
            ),
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
            can_answer: true,
            waiting: 0,
        }
    }

    fn labels(question: &PersonQuestion) -> (Vec<&'static str>, &'static str) {
        (
            routes(question).into_iter().map(label).collect(),
            label(preselected(question)),
        )
    }

    #[test]
    fn the_two_flows_of_the_specification() {
        let with = ["Use AI judge", "I'll decide", "Discard opinion"].to_vec();
        let without = ["I'll decide", "Discard opinion"].to_vec();
        assert_eq!(
            labels(&question(Some("referee"), Route::Judge)),
            (with.clone(), "Use AI judge")
        );
        assert_eq!(
            labels(&question(Some("referee"), Route::Human)),
            (with.clone(), "I'll decide")
        );
        assert_eq!(
            labels(&question(Some("referee"), Route::Discard)),
            (with, "Discard opinion")
        );
        assert_eq!(
            labels(&question(None, Route::Judge)),
            (without.clone(), "I'll decide")
        );
        assert_eq!(
            labels(&question(None, Route::Human)),
            (without.clone(), "I'll decide")
        );
        assert_eq!(
            labels(&question(None, Route::Discard)),
            (without, "Discard opinion")
        );
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
        question.dispute.rulings = vec![ruling(
            RulingWord::Escalate,
            "The clients are outside the tree.",
        )];
        insta::assert_snapshot!(
            sheet(
                Style {
                    color: true,
                    ..LOOK
                },
                &question
            )
            .replace('\x1b', "␛")
        );
    }

    #[test]
    fn twenty_columns_are_enough() {
        insta::assert_snapshot!(sheet(
            Style { width: 20, ..LOOK },
            &question(None, Route::Human)
        ));
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
        dispute.finding.raised_by = vec![glee_model::domain::AgentName(evil.clone())];
        dispute.objection.text = evil.as_str().into();
        dispute.objection.evidence = vec![evil.as_str().into()];
        dispute.rulings = vec![ruling(RulingWord::Escalate, &evil)];
        question.excerpt = Some(Excerpt {
            file: evil.clone(),
            first_line: 1,
            text: evil,
            lines: (1, 9),
        });
        let sheet = sheet(LOOK, &question);
        assert_eq!(
            sheet
                .chars()
                .find(|c| *c != '\n' && printable::is_unsafe(*c)),
            None,
            "{sheet}"
        );
    }

    #[test]
    fn without_a_terminal_the_default_applies_and_rulings_are_left_to_people() {
        let screen = Screen {
            terminal: false,
            color: false,
            unicode: true,
            columns: Some(80),
            verbosity: Verbosity::Quiet,
        };
        let mut resolver = NonInteractive::new(&Terminal::new(screen));
        let mut takes = |judge: Option<&str>, default| {
            let question = question(judge, default);
            let choice = resolver
                .choose(&question)
                .map(|choice| (choice.route, choice.by_person, choice.for_all));
            (choice, resolver.rule(&question))
        };
        let route = |route| (Some((route, false, true)), PersonAnswer::Nobody);
        assert_eq!(takes(Some("referee"), Route::Judge), route(Route::Judge));
        assert_eq!(
            takes(Some("referee"), Route::Discard),
            route(Route::Discard)
        );
        assert_eq!(takes(None, Route::Judge), route(Route::Human));
        assert_eq!(
            not_asked(&question(None, Route::Judge)),
            "note: not asking how to settle disputes; the default is `judge`, but no judge is connected: \
             disputes stay open; settle them with `glee disputes resolve`"
        );
    }
}
