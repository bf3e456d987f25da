//! Tagged prose to findings.
//!
//! The text of an answer is kept once, in order, with the places where findings and notes begin; bodies and notes are
//! cut out of it at the end. What goes beyond the caps is counted, not kept.

use super::insists;
use super::sure::{self, Sure};
use crate::domain::{RawFinding, RulingRef, Severity, Tag};
use crate::protocol::replies::reply::ReplyLine;
use crate::protocol::text::location::{self, Paths};
use crate::protocol::text::markdown::{self, LineKind, Structure};
use crate::protocol::text::tag;

/// The most text that is kept of one answer, in bytes.
const TEXT_CAP: usize = 6 << 20;

/// The most text that is kept of one body or one piece of notes.
const SEGMENT_CAP: usize = 1 << 20;

const TITLE_CAP: usize = 256 << 10;

/// The most memory that findings take up, their bodies apart.
const FINDINGS_CAP: usize = 3 << 20;

#[derive(Debug)]
pub(crate) struct Draft<'a> {
    paths: &'a Paths,
    /// The rulings that the reviewer was told of.
    shown: &'a [RulingRef],
    text: String,
    segments: Vec<Segment>,
    findings: Vec<RawFinding>,
    weight: usize,
    /// All findings, also those that are not kept.
    count: u64,
    previous: Previous,
    form: Option<Form>,
}

/// The findings in prose that stand before the form of the closing line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// Those that are kept.
    pub(crate) kept: usize,
    pub(crate) count: u64,
}

/// A stretch of the text, up to the next one's start.
#[derive(Debug)]
struct Segment {
    start: usize,
    /// Where the body of a finding begins.
    body: usize,
    owner: Owner,
    left_out: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Notes,
    Finding(usize),
    /// A finding in a table row: what follows belongs to no finding.
    Row(usize),
}

/// What the line before was, as far as the next one can change its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Previous {
    Other,
    /// A line of a paragraph that begins here in the text: a heading, if it gets underlined.
    Paragraph(usize),
    /// The line of a finding, without a list marker: a heading, if it gets underlined.
    Item,
    /// The first row of a table: its header, if a delimiter row follows. `item`: it was read as a finding.
    FirstRow {
        item: bool,
    },
    /// A later row of a table.
    Row,
}

/// A finding in one line.
struct Item {
    finding: RawFinding,
    row: bool,
    listed: bool,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(paths: &'a Paths, shown: &'a [RulingRef]) -> Self {
        let notes = Segment { start: 0, body: 0, owner: Owner::Notes, left_out: 0 };
        Self {
            paths,
            shown,
            text: String::new(),
            segments: vec![notes],
            findings: Vec::new(),
            weight: 0,
            count: 0,
            previous: Previous::Other,
            form: None,
        }
    }

    /// The position in the kept text, as a name for the next line.
    pub(crate) fn mark(&self) -> usize {
        self.text.len()
    }

    /// How many findings were read, also those that are not kept.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Ends the finding that is being read.
    pub(crate) fn close(&mut self) {
        if self.last().owner != Owner::Notes {
            self.begin(Owner::Notes, self.text.len());
        }
    }

    /// Notes that the closing line stands here as the prompt shows it, without a number: up to here the agent may have
    /// repeated its prompt.
    pub(crate) fn form_ends(&mut self) {
        self.close();
        self.form = Some(Form { kept: self.findings.len(), count: self.count });
    }

    /// What stands before the form of the closing line, where it may be a repeated prompt: examples name no place.
    pub(crate) fn form(&self) -> Option<Form> {
        self.form
            .filter(|form| form.count > 0 && self.findings[..form.kept].iter().all(|found| found.file.is_none()))
    }

    /// Makes notes of the findings before the form of the closing line.
    pub(crate) fn forget(&mut self, form: Form) {
        self.count -= form.count;
        self.findings.drain(..form.kept);
        for segment in &mut self.segments {
            segment.owner = match segment.owner {
                Owner::Finding(number) if number >= form.kept => Owner::Finding(number - form.kept),
                Owner::Row(number) if number >= form.kept => Owner::Row(number - form.kept),
                Owner::Notes | Owner::Finding(_) | Owner::Row(_) => Owner::Notes,
            };
        }
    }

    pub(crate) fn take(&mut self, step: &ReplyLine<'_>) {
        let start = self.text.len();
        let is_header = step.kind == LineKind::Delimiter && self.previous == (Previous::FirstRow { item: true });
        if is_header {
            self.retract();
        } else if matches!(self.last().owner, Owner::Row(_)) {
            self.close();
        }
        let item = if step.is_prose() { item(step.text, self.paths, self.shown) } else { None };
        self.previous = match (step.kind, &item) {
            (LineKind::Text, _) if step.text.contains('|') => match self.previous {
                Previous::FirstRow { .. } | Previous::Row => Previous::Row,
                _ => Previous::FirstRow { item: item.is_some() },
            },
            (LineKind::Delimiter, _) => Previous::Row,
            (LineKind::Text, Some(item)) if !item.listed => Previous::Item,
            (LineKind::Text, None) => Previous::Paragraph(start),
            (LineKind::Rule, _) if self.previous == Previous::Item => {
                return;
            }
            (LineKind::Underline, _) => return self.underline(),
            _ => Previous::Other,
        };
        if let Some(item) = item {
            self.begin_finding(item);
            self.keep(step.text);
            self.last_mut().body = self.text.len();
            return;
        }
        if matches!(step.kind, LineKind::Heading | LineKind::Rule) {
            self.close();
        }
        self.keep(step.text);
    }

    fn last(&self) -> &Segment {
        self.segments.last().expect("a draft begins with notes")
    }

    fn last_mut(&mut self) -> &mut Segment {
        self.segments.last_mut().expect("a draft begins with notes")
    }

    fn begin(&mut self, owner: Owner, start: usize) {
        self.segments.push(Segment { start, body: start, owner, left_out: 0 });
    }

    fn begin_finding(&mut self, item: Item) {
        self.count += 1;
        self.weight += weight(&item.finding) + size_of::<Segment>();
        if self.weight > FINDINGS_CAP {
            return self.close();
        }
        let number = self.findings.len();
        self.findings.push(item.finding);
        self.begin(if item.row { Owner::Row(number) } else { Owner::Finding(number) }, self.text.len());
    }

    /// The line before is a heading: it and what follows belong to no finding, unless it begins one itself.
    fn underline(&mut self) {
        if let Previous::Paragraph(start) = self.previous
            && self.last().owner != Owner::Notes
        {
            self.begin(Owner::Notes, start);
        }
        self.previous = Previous::Other;
    }

    /// The line before was the header of a table, no finding.
    fn retract(&mut self) {
        if let Owner::Finding(_) | Owner::Row(_) = self.last().owner {
            self.findings.pop();
            self.last_mut().owner = Owner::Notes;
        }
        self.count -= 1;
    }

    /// Keeps a line, as far as there is room.
    fn keep(&mut self, line: &str) {
        let room = TEXT_CAP.saturating_sub(self.text.len() + 1);
        let taken = self.text.len() - self.last().start;
        let room = room.min(SEGMENT_CAP.saturating_sub(taken + 1));
        let kept = if self.last().left_out > 0 { 0 } else { line.floor_char_boundary(room) };
        self.text.push_str(&line[..kept]);
        if kept == line.len() && room > 0 {
            self.text.push('\n');
        } else {
            self.last_mut().left_out += (line.len() - kept) as u64 + 1;
        }
    }

    /// How many findings are kept.
    pub(crate) fn kept(&self) -> usize {
        self.findings.len()
    }

    /// The findings that are kept; their bodies are cut out of the text at the end.
    pub(crate) fn findings(&self) -> &[RawFinding] {
        &self.findings
    }

    /// Takes the text back that was kept since a mark, and ends the finding that is being read.
    pub(crate) fn cut(&mut self, mark: usize) {
        self.text.truncate(mark.max(self.last().body));
        self.close();
        self.previous = Previous::Other;
    }

    /// All text, for an answer whose findings stand elsewhere.
    pub(crate) fn into_notes(self) -> String {
        let left_out: u64 = self.segments.iter().map(|segment| segment.left_out).sum();
        let starts: Vec<usize> = self.segments.iter().map(|segment| segment.start).collect();
        let ends = starts.iter().skip(1).copied().chain([self.text.len()]);
        let parts = starts.iter().zip(ends).map(|(start, end)| markdown::trim_blank_lines(&self.text[*start..end]));
        let mut notes = paragraphs(parts);
        say_left_out(&mut notes, left_out);
        notes
    }

    /// The findings with their bodies, and what belongs to none.
    pub(crate) fn into_findings(mut self) -> (Vec<RawFinding>, String) {
        let ends = self.segments.iter().skip(1).map(|segment| segment.start).chain([self.text.len()]);
        let mut notes = Vec::new();
        for (segment, end) in self.segments.iter().zip(ends) {
            match segment.owner {
                Owner::Notes => {
                    let mut text = markdown::trim_blank_lines(&self.text[segment.start..end]).to_owned();
                    say_left_out(&mut text, segment.left_out);
                    notes.push(text);
                }
                Owner::Finding(number) | Owner::Row(number) => {
                    let finding = &mut self.findings[number];
                    let mut body = markdown::dedent(&self.text[segment.body.min(end)..end]);
                    if finding.title.is_empty() {
                        title_from_body(finding, &mut body, self.paths);
                    }
                    if finding.confidence.is_none() {
                        sure_from_body(finding, &mut body);
                    }
                    say_left_out(&mut body, segment.left_out);
                    finding.body = body.into();
                }
            }
        }
        (self.findings, paragraphs(notes))
    }
}

fn paragraphs<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    let mut joined = String::new();
    for text in texts {
        let text = text.as_ref();
        if !joined.is_empty() && !text.is_empty() {
            joined.push_str("\n\n");
        }
        joined.push_str(text);
    }
    joined
}

fn say_left_out(text: &mut String, bytes: u64) {
    if bytes > 0 {
        text.push_str(&format!("\n[... {bytes} bytes left out]"));
    }
}

/// The memory a finding takes up.
pub(crate) fn weight(finding: &RawFinding) -> usize {
    let names = [&finding.category, &finding.file, &finding.rule].into_iter().flatten().map(String::len);
    let texts = finding.suggestion.iter().chain(&finding.evidence).map(|text| text.as_written().len());
    let lengths = names.chain(texts).map(|length| length + size_of::<String>()).sum::<usize>();
    let told = [&finding.title, &finding.body].map(|text| text.as_written().len());
    size_of::<RawFinding>() + finding.severity.raw.len() + told[0] + told[1] + lengths
}

/// Reads the finding that a line begins, if it begins one.
fn item(line: &str, paths: &Paths, shown: &[RulingRef]) -> Option<Item> {
    let row = markdown::table_row(line);
    let peeled = markdown::peel_item(row.map_or(line, |(first, _)| first));
    let mark = tag::read(peeled.rest)?;
    let cells = row.map(|(_, cells)| format!("{} | {}", mark.rest, markdown::join_cells(cells)));
    let rest = cells.as_deref().unwrap_or(mark.rest);
    let (without, insists_on) = insists::split(rest, paths, shown).unzip();
    let rest = without.as_deref().unwrap_or(rest);
    let (rest, sure) = match sure::split(rest) {
        Some((rest, sure)) => (rest, Some(sure)),
        None => (rest, None),
    };
    let tag = Tag::parse(mark.word);
    if tag::is_log_level(mark.word) || tag::is_legend(rest) || (tag.is_none() && tag::is_link_definition(rest)) {
        return None;
    }
    // Emphasis that began before the tag ends behind it: `**2) [MUST]** a`.
    let rest = rest.strip_prefix("** ").or_else(|| rest.strip_prefix("__ ")).unwrap_or(rest);
    let place = location::find_of(rest, paths);
    let title = tag::title(rest, place.as_ref());
    if tag::is_placeholder(title) {
        return None;
    }
    let title = markdown::plain(title);
    let mut finding = RawFinding {
        severity: Severity { tag, raw: mark.word.to_owned() },
        title: shorten(title).into(),
        insists_on,
        ..RawFinding::default()
    };
    put(&mut finding, place);
    put_sure(&mut finding, sure);
    Some(Item { finding, row: row.is_some(), listed: peeled.listed })
}

fn put(finding: &mut RawFinding, place: Option<location::NamedPlace>) {
    if let Some(place) = place {
        finding.file = Some(place.file);
        finding.line = Some(place.line);
        finding.end_line = place.end_line;
    }
}

fn put_sure(finding: &mut RawFinding, sure: Option<Sure>) {
    if let Some(sure) = sure {
        finding.confidence = Some(sure.confidence);
        finding.category = sure.category;
    }
}

fn shorten(mut title: String) -> String {
    if title.len() > TITLE_CAP {
        title.truncate(title.floor_char_boundary(TITLE_CAP));
        title.push('…');
        title.shrink_to_fit();
    }
    title
}

/// A tag alone on its line, or with a place only, is followed by its title.
fn title_from_body(finding: &mut RawFinding, body: &mut String, paths: &Paths) {
    let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
    if Structure::default().classify(first) != LineKind::Text {
        return;
    }
    let text = markdown::peel(first).rest;
    let (text, sure) = match sure::split(text) {
        Some((text, sure)) => (text, Some(sure)),
        None => (text, None),
    };
    let place = if finding.file.is_none() { location::find_of(text, paths) } else { None };
    let title = markdown::plain(tag::title(text, place.as_ref()));
    if title.is_empty() {
        return;
    }
    finding.title = shorten(title).into();
    *body = markdown::dedent(rest);
    put(finding, place);
    put_sure(finding, sure);
}

/// A title that is broken over two lines may leave the brackets on the second one.
fn sure_from_body(finding: &mut RawFinding, body: &mut String) {
    let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
    if let Some(("", sure)) = sure::split(first.trim_start()) {
        put_sure(finding, Some(sure));
        *body = markdown::dedent(rest);
    }
}
