//! The section of the text report that shows the findings, grouped by file. A short report shows no code for
//! optional findings.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::cli::report::options::{Detail, RenderOptions};
use crate::cli::report::text::layout::{at_most, list, wrapped};
use crate::cli::report::view::{self, StateNote, View};
use crate::cli::style::links::linked;
use crate::cli::style::snippet::{self, Code, Heading, SnippetNote};
use crate::cli::style::{self, Color, Glyph, Style, behind, columns, count, pad, widest};
use glee_model::domain::{
    Class, Cwe, Finding, FindingState, Outcome, RawFinding, SettledFinding, Untrusted,
};
use glee_protocol::text::{markdown, printable};

/// Lists the findings that are neither closed nor rejected, in one line each.
pub(crate) fn open(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let style = options.style;
    let mut open: Vec<&SettledFinding> = outcome
        .findings
        .iter()
        .filter(|finding| finding.is_open() || finding.blocks())
        .collect();
    open.sort_by_key(|finding| (!finding.blocks(), finding.finding.id));
    let mut text = String::new();
    for SettledFinding { finding, .. } in open {
        let parts = [
            Some(style.tag(finding)),
            place(&finding.raw, options),
            Some(printable::line(&finding.raw.title)),
        ];
        wrapped(
            &mut text,
            style,
            "",
            &parts.into_iter().flatten().collect::<Vec<_>>().join(" "),
        );
    }
    text
}

/// Returns the location of a finding, with a link to the file if links are enabled, and the number of further places.
pub(crate) fn place(raw: &RawFinding, options: &RenderOptions<'_>) -> Option<String> {
    let place = raw.location()?;
    let main = linked(
        options.text.links,
        printable::line(&place.to_string()),
        &place.file,
        place.line,
    );
    Some(match raw.places.len() {
        0 => main,
        more => format!("{main} (and {})", count(more, "more place")),
    })
}

/// Returns the section. The findings are sorted by file. Findings without a file come last.
pub(crate) fn section(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let report = Report {
        view: View::of(outcome),
        options,
        style: options.style,
    };
    let mut groups: Vec<&[SettledFinding]> = outcome.groups().collect();
    groups.sort_by_key(|group| {
        let finding = &group[0].finding;
        let raw = &finding.raw;
        (
            raw.file.is_none(),
            raw.file.clone(),
            !report.is_full(group),
            raw.line,
            finding.id,
        )
    });
    let files = groups.chunk_by(|a, b| a[0].finding.raw.file == b[0].finding.raw.file);
    files
        .map(|groups| report.file(groups))
        .collect::<Vec<_>>()
        .join("\n")
}

struct Report<'a> {
    view: View<'a>,
    options: &'a RenderOptions<'a>,
    style: Style,
}

impl Report<'_> {
    fn is_full(&self, group: &[SettledFinding]) -> bool {
        self.options.detail == Detail::Full
            || group.iter().any(|finding| {
                let is_settled_before = matches!(finding.state, FindingState::AlreadyRuled { .. });
                let was_mandatory = finding.finding.mandatory || finding.lowered.is_some();
                was_mandatory && !is_settled_before
            })
    }

    fn file(&self, groups: &[&[SettledFinding]]) -> String {
        let style = self.style;
        let path = groups
            .first()
            .and_then(|group| group[0].finding.raw.file.as_deref());
        let name = path.map_or_else(|| "General".to_owned(), printable::line);
        let number = count(groups.len(), "finding");
        // If the path and the number of findings do not fit on one line, the number is omitted.
        let fits = columns(&name) + 2 + columns(&number) <= style.width;
        let number = if fits {
            format!("  {}", style.faint(number))
        } else {
            String::new()
        };
        let links = self.options.text.links.filter(|_| path.is_some());
        let name = linked(links, style.strong(name), path.unwrap_or_default(), None);
        let mut text = format!("{name}{number}\n");
        let mut sources: BTreeMap<u32, Option<String>> = BTreeMap::new();
        let (full, short): (Vec<&[SettledFinding]>, Vec<&[SettledFinding]>) = groups
            .iter()
            .copied()
            .partition(|group| self.is_full(group));
        for group in full {
            let round = group[0].finding.round;
            let source = sources
                .entry(round)
                .or_insert_with(|| path.and_then(|path| (self.options.source)(path, round)));
            let _ = writeln!(text, "\n{}", self.diagnostic(group, source.as_deref()));
        }
        if !short.is_empty() {
            text.push('\n');
        }
        let places = Vec::from_iter(short.iter().map(|group| match group[0].finding.raw.line {
            Some(line) => {
                let word = format!("line {line}");
                linked(links, word, path.unwrap_or_default(), Some(line)) + "  "
            }
            None => String::new(),
        }));
        let tag_width = widest(short.iter().map(|group| style::tag(&group[0].finding)));
        let place_width = widest(&places);
        for (group, place) in short.into_iter().zip(places) {
            let finding = &group[0];
            let raw = &finding.finding.raw;
            let tag = pad(&style.tag(&finding.finding), tag_width);
            let head = format!("  {tag}  {}", pad(&place, place_width));
            wrapped(&mut text, style, &head, &printable::line(&raw.title));
            if !finding.state.is_closed() {
                let most = at_most(self.options, 3);
                for line in behind(style, "      ", 6, &printable::block(&raw.body), most) {
                    let _ = writeln!(text, "{line}");
                }
            }
            let agreement = printable::line(&view::agreement(&finding.finding));
            let mut facts = vec![agreement, self.state_word(finding)];
            facts.extend(view::marks(&finding.finding));
            let facts = style.facts(&facts);
            wrapped(&mut text, style, "      ", &style.faint(facts));
            for member in &group[1..] {
                let head = format!("      also {}  ", style.tag(&member.finding));
                wrapped(&mut text, style, &head, &self.member(member));
            }
        }
        text
    }

    fn state_word(&self, finding: &SettledFinding) -> String {
        let state = self.state(finding);
        state.map_or_else(String::new, |SnippetNote { name, text, .. }| {
            let text = if text.is_empty() {
                name.to_owned()
            } else {
                format!("{name}: {text}")
            };
            printable::line(&text)
        })
    }

    /// A further member of a group: its place, title, reviewers and state, then its text.
    fn member(&self, member: &SettledFinding) -> String {
        let Finding { raw, raised_by, .. } = &member.finding;
        let title = printable::line(&raw.title);
        let place = place(raw, self.options);
        let title = place.map_or(title.clone(), |place| format!("{place} {title}"));
        let by = format!("by {}", list(raised_by));
        let others = member.finding.other_ids().unwrap_or_default();
        let facts = [title, by, others, self.state_word(member)];
        let mut text = self.style.facts(&facts);
        let fix = member.finding.exact_fix.as_ref();
        let fix = fix.map(|fix| markdown::dedent(&printable::block(&fix.shown())));
        let more = std::iter::once(&raw.body)
            .chain(&raw.evidence)
            .chain(member.finding.other_suggestion());
        let restated = member.finding.restated.iter().map(|again| {
            let said = Untrusted::joined(&[again.title.clone(), again.body.clone()], "\n");
            printable::block(&said.labelled(&format!("{} also says: ", again.by)))
        });
        let more = more.map(printable::block).chain(fix).chain(restated);
        for more in more.filter(|more| !more.trim().is_empty()) {
            text.push('\n');
            text.push_str(&more);
        }
        text
    }

    fn diagnostic(&self, group: &[SettledFinding], source: Option<&str>) -> String {
        let finding = &group[0];
        let raw = &finding.finding.raw;
        let heading = Heading {
            tag: style::tag(&finding.finding),
            title: printable::line(&raw.title),
            color: Color::of(&raw.severity),
        };
        let quoted = format!(
            "{}\n{}",
            printable::line(&raw.title),
            printable::block(&raw.body)
        );
        let excerpt = source
            .zip(raw.line)
            .and_then(|(source, first)| excerpt(source, first, raw.end_line));
        let code = raw.file.as_deref().zip(raw.line).map(|(file, line)| {
            let end = raw.end_line.unwrap_or(line);
            let links = self.options.text.links;
            Code {
                file,
                text: excerpt.unwrap_or(""),
                first_line: line,
                lines: (line, end),
                quoted,
                links,
            }
        });
        let mut notes = self.notes(finding);
        // A member that joined the group in a later round has a consensus of its own.
        let mut denials: Vec<_> = finding.finding.denials().collect();
        for member in &group[1..] {
            notes.list.push(SnippetNote {
                name: "also",
                text: format!("{} {}", style::tag(&member.finding), self.member(member)),
                color: Color::of(&member.finding.raw.severity),
                most: at_most(self.options, 5),
                is_code: false,
            });
            for denial in member.finding.denials() {
                if !denials.contains(&denial) {
                    let (by, why) = denial;
                    let text = why.labelled(&format!("{by}: "));
                    notes.add("against", Color::Warn, &text, 3);
                    denials.push(denial);
                }
            }
        }
        snippet::diagnostic(self.style, &heading, code.as_ref(), &notes.list)
    }

    fn notes(&self, finding: &SettledFinding) -> Notes<'_> {
        let raw = &finding.finding.raw;
        let mut notes = Notes {
            list: Vec::new(),
            options: self.options,
        };
        let dot = format!(" {} ", self.style.glyph(Glyph::Dot));
        let further = finding.finding.further_places();
        notes.add("also at", Color::Plain, &further.join(&dot).into(), 3);
        notes.add("why", Color::Plain, &raw.body, 5);
        for evidence in &raw.evidence {
            notes.add("evidence", Color::Plain, evidence, 1);
        }
        let shown = view::demonstrations(finding).into_iter();
        for ((shown, color), one) in shown.zip(&finding.demonstrations) {
            notes.add("test", color, &shown, 2);
            if self.options.detail == Detail::Full {
                notes.list.push(SnippetNote {
                    name: "code",
                    text: printable::block(&one.demonstration.code),
                    color: Color::Plain,
                    most: usize::MAX,
                    is_code: true,
                });
                if let Some(output) = one.output() {
                    notes.add("printed", Color::Faint, output, 20);
                }
            }
        }
        let suggestion = finding.finding.other_suggestion();
        if let Some(suggestion) = suggestion {
            notes.add("fix", Color::Good, suggestion, 3);
        }
        if let Some(fix) = &finding.finding.exact_fix {
            let name = if suggestion.is_some() { "code" } else { "fix" };
            notes.list.push(SnippetNote {
                name,
                text: markdown::dedent(&printable::block(&fix.shown())),
                color: Color::Good,
                most: at_most(self.options, 3),
                is_code: true,
            });
        }
        let mut by = vec![list(&finding.finding.raised_by)];
        by.extend(view::facts(&finding.finding));
        let mut reviewers = view::opinions(&finding.finding);
        let consensus = finding.finding.consensus.as_ref();
        let is_accepted = consensus.is_none_or(|known| known.class == Class::Accepted);
        let is_confirmed = consensus.is_some_and(|known| !known.confirmed_by.is_empty());
        let raisers = finding.finding.raised_by.len();
        if reviewers.len() == 1 && is_accepted && raisers > 1 && !is_confirmed {
            by.insert(1, reviewers.remove(0));
        }
        notes.add("by", Color::Plain, &by.join(&dot).into(), 2);
        if let Some(name) = raw.cwe.and_then(Cwe::name)
            && self.options.detail == Detail::Full
        {
            notes.add("weakness", Color::Plain, &name.into(), 2);
        }
        let color = if is_accepted {
            Color::Plain
        } else {
            Color::Warn
        };
        notes.add("reviewers", color, &reviewers.join(&dot).into(), 4);
        for (by, why) in finding.finding.denials() {
            notes.add("against", Color::Warn, &why.labelled(&format!("{by}: ")), 3);
        }
        if self.options.detail == Detail::Full {
            for again in &finding.finding.restated {
                let text = again.title.labelled(&format!("{}: ", again.by));
                notes.add("again", Color::Plain, &text, 2);
                notes.add("", Color::Plain, &again.body, 5);
            }
        }
        if let Some(was) = finding.finding.was {
            notes.add("formerly", Color::Plain, &format!("was {was}").into(), 1);
        }
        if let Some(undecided) = finding.finding.undecided() {
            notes.add("undecided", Color::Warn, &undecided.into(), 2);
        }
        if let Some(earlier) = finding.finding.reverses {
            notes.add(
                "reversal",
                Color::Warn,
                &format!("reverses the change that {earlier} requested").into(),
                2,
            );
        }
        for earlier in &finding.earlier {
            notes.add("earlier", Color::Warn, &earlier.sentence(), 2);
            notes.add("decided", Color::Plain, &earlier.decided(), 2);
            if let Some(diff) = earlier.diff() {
                notes.add("difference", Color::Plain, diff, 12);
            }
        }
        notes.list.extend(self.state(finding));
        notes
    }

    /// Returns a note about the state of a finding, or `None` if there is nothing to say about an open finding.
    fn state(&self, finding: &SettledFinding) -> Option<SnippetNote> {
        let StateNote { word, color, note } = self.view.state(finding);
        if finding.state == FindingState::Open && note.is_empty() {
            return None;
        }
        let mut facts = Vec::new();
        // The decider of a dispute is shown in place of the coder's words.
        let is_decided = finding.state == FindingState::Discarded && !note.is_empty();
        if shows_answer(&finding.state) && !is_decided {
            facts.push(printable::block(&view::answer(finding)));
        }
        facts.push(printable::line(&note));
        facts.retain(|fact| !fact.is_empty());
        Some(SnippetNote {
            name: word,
            color,
            text: facts.join(&format!(" {} ", self.style.glyph(Glyph::Dot))),
            most: usize::MAX,
            is_code: false,
        })
    }
}

struct Notes<'a> {
    list: Vec<SnippetNote>,
    options: &'a RenderOptions<'a>,
}

impl Notes<'_> {
    /// Adds a note in at most `short` lines, unless the text is blank.
    fn add(&mut self, name: &'static str, color: Color, text: &Untrusted, short: usize) {
        let text = printable::block(text);
        if !text.trim().is_empty() {
            self.list.push(SnippetNote {
                name,
                text,
                color,
                most: at_most(self.options, short),
                is_code: false,
            });
        }
    }
}

/// Whether the coder's answer stands beside the state. The answer to a disputed finding stands in the dispute.
fn shows_answer(state: &FindingState) -> bool {
    matches!(
        state,
        FindingState::Claimed
            | FindingState::Unchecked
            | FindingState::Unconfirmed
            | FindingState::NotResolved
            | FindingState::Resolved
            | FindingState::Discarded
    )
}

fn excerpt(source: &str, first: u32, last: Option<u32>) -> Option<&str> {
    let start = usize::try_from(first.checked_sub(1)?).ok()?;
    let number = usize::try_from(last.unwrap_or(first).max(first) - first).ok()? + 1;
    let from = source
        .split_inclusive('\n')
        .take(start)
        .map(str::len)
        .sum::<usize>();
    let length: usize = source[from..]
        .split_inclusive('\n')
        .take(number)
        .map(str::len)
        .sum();
    (length > 0).then(|| &source[from..from + length])
}
