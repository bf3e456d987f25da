//! A dispute with all that a person needs for a decision: `glee disputes show` prints it, and the dialog shows it.

use crate::cli::report::text::layout;
use crate::cli::report::view;
use crate::cli::style::{self, Color, Style, snippet};
use glee_model::domain::{
    Demonstrated, Dispute, Finding, Objector, Route, RulingRecord, Untrusted,
};
use glee_model::rules::review::objections;
use glee_protocol::calls::judge::RequestedDemonstration;
use glee_protocol::text::{markdown, printable};
use glee_workspace::code::anchors::Excerpt;

/// Text for a terminal, written part by part.
pub(crate) struct Page {
    pub(crate) look: Style,
    pub(crate) text: String,
}

impl Page {
    pub(crate) fn new(look: Style) -> Self {
        Self {
            look,
            text: String::new(),
        }
    }

    /// Appends the finding, the objection, earlier disputes and the rulings. The lines of diffs are cut to `columns`.
    pub(crate) fn dispute(
        &mut self,
        dispute: &Dispute,
        excerpt: Option<&Excerpt>,
        cited: &[Excerpt],
        columns: usize,
    ) {
        self.finding(&dispute.finding, excerpt);
        for member in &dispute.members {
            self.finding(member, None);
        }
        self.section(&objections::heading(dispute));
        // The objection of a person is not shown, because the person's ruling contains the same text.
        if dispute.objector != Objector::Person {
            self.body(2, &dispute.objection.text);
        }
        for evidence in &dispute.objection.evidence {
            self.body(2, &evidence.labelled("Evidence: "));
        }
        for earlier in &dispute.earlier {
            self.section(&format!("Earlier dispute {}", earlier.dispute));
            self.body(2, &earlier.sentence());
            self.body(2, &earlier.decided().labelled("Decided then: "));
            let diff = earlier.diff().map(printable::block).unwrap_or_default();
            for line in diff.lines() {
                let line = self.look.cut(line, columns.saturating_sub(2));
                self.text.push_str(&format!("  {line}\n"));
            }
        }
        if let Some(route) = dispute.route {
            self.section(route_words(route));
        }
        for ruling in &dispute.rulings {
            self.ruling(ruling);
        }
        for answered in &dispute.answered {
            self.section(&format!("{} answers", answered.by));
            self.body(2, &answered.answer);
            if let Some(reply) = &answered.reply {
                self.section(&format!("The coder replies {}", reply.answer.as_str()));
                self.body(2, &reply.text);
                for evidence in &reply.evidence {
                    self.body(2, &evidence.labelled("Evidence: "));
                }
            }
        }
        if !cited.is_empty() {
            self.section("Cited code");
        }
        for (index, excerpt) in cited.iter().enumerate() {
            let gap = if index > 0 { "\n" } else { "" };
            let code = snippet::excerpt(self.look, Color::Key, excerpt, String::new());
            self.text.push_str(&format!("{gap}{code}\n"));
        }
    }

    /// Appends the question of a judge to one side, and what the side answered.
    pub(crate) fn requested(&mut self, requested: Option<&RequestedDemonstration>) {
        let Some(RequestedDemonstration { request, answer }) = requested else {
            return;
        };
        self.section(&format!("A judge asked the {} for a test", request.from));
        self.body(2, &request.question);
        self.body(2, answer);
    }

    /// Appends the tests of both sides, with their code and the end of their output.
    pub(crate) fn demonstrated(&mut self, all: &[Demonstrated]) {
        for one in all {
            self.section(&printable::line(&one.summary().labelled("Test ")));
            self.code("", &one.demonstration.code);
            if let Some(output) = one.output() {
                self.body(2, &output.labelled("It printed: "));
            }
        }
    }

    fn finding(&mut self, finding: &Finding, excerpt: Option<&Excerpt>) {
        let tag = self.look.tag(finding);
        let title = &finding.raw.title;
        self.text.push('\n');
        if let Some(excerpt) = excerpt {
            self.line(&format!("{tag}: {}", printable::line(title)));
            let quoted = format!(
                "{}\n{}",
                printable::line(title),
                printable::block(&finding.raw.body)
            );
            let code =
                snippet::excerpt(self.look, Color::of(&finding.raw.severity), excerpt, quoted);
            self.text.push_str(&format!("{code}\n\n"));
        } else {
            let place = finding
                .raw
                .location()
                .map(|place| format!("{place} "))
                .unwrap_or_default();
            self.line(&format!(
                "{tag} {}",
                printable::line(&title.labelled(&place))
            ));
        }
        self.body(2, &finding.raw.body);
        if let Some(fix) = &finding.exact_fix {
            self.code("Fix:", &fix.shown());
        }
        if let Some(suggestion) = finding.other_suggestion() {
            self.body(2, &suggestion.labelled("Suggestion: "));
        }
        for evidence in &finding.raw.evidence {
            self.body(2, &evidence.labelled("Evidence: "));
        }
        let by = format!("raised by {}", style::names(&finding.raised_by));
        let mut facts = vec![by];
        facts.extend(view::facts(finding));
        self.body(2, &format!("({})", facts.join("; ")));
    }

    fn ruling(&mut self, record: &RulingRecord) {
        let RulingRecord {
            ruling, by, votes, ..
        } = record;
        self.section(&format!("{} by {by}", ruling.ruling));
        self.body(2, &ruling.rationale);
        if !ruling.citations.is_empty() {
            self.body(
                2,
                &Untrusted::joined(&ruling.citations, ", ").labelled("Citations: "),
            );
        }
        if let Some(why) = &ruling.coder_evidence {
            self.body(2, &why.labelled("Coder evidence: "));
        }
        for vote in votes {
            self.body(2, &vote.said().labelled("Vote: "));
        }
    }

    pub(crate) fn section(&mut self, title: &str) {
        self.text.push('\n');
        for line in style::wrap(&printable::line(title), self.look.width) {
            self.text
                .push_str(&format!("{}\n", self.look.paint(Color::Strong, &line)));
        }
    }

    pub(crate) fn body(&mut self, indent: usize, text: &(impl printable::Shown + ?Sized)) {
        for line in style::wrap(
            &printable::block(text),
            self.look.width.saturating_sub(indent),
        ) {
            self.text
                .push_str(format!("{:indent$}{line}", "").trim_end());
            self.text.push('\n');
        }
    }

    /// Code is neither wrapped nor cut.
    fn code(&mut self, head: &str, code: &Untrusted) {
        let code = markdown::dedent(&printable::block(code));
        let between = if code.contains('\n') { "\n" } else { " " };
        for line in format!("{head}{between}{code}").trim().lines() {
            self.text.push_str(format!("  {line}").trim_end());
            self.text.push('\n');
        }
    }

    pub(crate) fn line(&mut self, line: &str) {
        layout::wrapped(&mut self.text, self.look, "", line);
    }
}

fn route_words(route: Route) -> &'static str {
    match route {
        Route::Judge => "The judge was asked to rule",
        Route::Human => "A person was asked to decide",
        Route::Discard => "The chosen route was to discard the finding without a ruling",
    }
}
