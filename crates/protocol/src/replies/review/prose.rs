//! Reads findings from tagged prose, such as `[MUST] app.py:12 Replace the weak hash`.
//!
//! The reader stores the text of an answer once, together with the positions at which findings and notes begin. At
//! the end, the reader extracts notes and the bodies of findings from the stored text. Text that exceeds a size
//! limit is counted, but not stored.

use super::confidence::{self, Sure};
use super::insisted_ruling;
use super::untagged::{self, Mark};
use crate::replies::reply::ReplyLine;
use crate::text::location::{self, Paths};
use crate::text::{LineKind, Structure, demonstration, markdown, suggestion, tag};
use glee_model::domain::{Cwe, Location, RawFinding, RulingRef, Severity, Tag, Untrusted};

const TEXT_CAP: usize = 6 << 20;

const SEGMENT_CAP: usize = 1 << 20;

const TITLE_CAP: usize = 256 << 10;

const FINDINGS_CAP: usize = 4 << 20;

#[derive(Debug)]
pub(crate) struct ProseReader<'a> {
    paths: &'a Paths,
    shown: &'a [RulingRef],
    text: String,
    segments: Vec<Segment>,
    findings: Vec<RawFinding>,
    weight: usize,
    count: u64,
    previous: Previous,
    form: Option<Form>,
    /// The length of the text that repeats the prompt. It is none of the reviewer's own words.
    prompt: usize,
    title: Option<Title>,
}

/// A line of the notes that can be the title of a finding, and its position.
#[derive(Debug)]
struct Title {
    start: usize,
    end: usize,
    line: String,
}

/// If an answer repeats the prompt, findings from the prompt precede the prompt's example of the closing line.
/// `kept` counts the stored findings before the example, and `count` counts all findings before the example.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub kept: usize,
    pub count: u64,
}

#[derive(Debug)]
struct Segment {
    start: usize,
    body: usize,
    owner: Owner,
    left_out: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Notes,
    Finding(usize),
    /// A finding in a table row. Text after the table row does not belong to the finding.
    Row(usize),
}

/// The kind of the previous line. The next line can show that the previous line is a heading or the header of a
/// table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Previous {
    Other,
    /// A line of text, with the position of the line. The line is a heading if the next line is an underline.
    Paragraph(usize),
    /// A line that begins a finding, but has no list marker. If an underline follows, the line is a heading.
    Item,
    /// The first row of a table. The row is the header if a delimiter row follows. The field `item` is true if the
    /// row was read as a finding.
    FirstRow {
        item: bool,
    },
    Row,
}

struct Item {
    finding: RawFinding,
    row: bool,
    listed: bool,
}

impl<'a> ProseReader<'a> {
    pub(super) fn new(paths: &'a Paths, shown: &'a [RulingRef]) -> Self {
        let notes = Segment {
            start: 0,
            body: 0,
            owner: Owner::Notes,
            left_out: 0,
        };
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
            prompt: 0,
            title: None,
        }
    }

    pub(super) fn mark(&self) -> usize {
        self.text.len()
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn close(&mut self) {
        if self.last().owner != Owner::Notes {
            self.begin(Owner::Notes, self.text.len());
        }
    }

    /// Records that the answer repeats the prompt's example of the closing line. The text before this example is
    /// possibly also a copy of the prompt; it is one if it repeats the fenced data of this prompt.
    pub(crate) fn form_ends(&mut self, repeats_prompt: bool) {
        self.close();
        self.title = None;
        self.form = Some(Form {
            kept: self.findings.len(),
            count: self.count,
        });
        if repeats_prompt {
            self.begin(Owner::Notes, self.text.len());
            self.prompt = self.text.len();
        }
    }

    /// Counts the findings before the prompt's example of the closing line. Returns `None` if no finding precedes
    /// the example, or if a preceding finding names a file. The example findings in the prompt name no file.
    pub(super) fn form(&self) -> Option<Form> {
        self.form.filter(|form| {
            form.count > 0
                && self.findings[..form.kept]
                    .iter()
                    .all(|found| found.file.is_none())
        })
    }

    pub(super) fn forget(&mut self, form: Form) {
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

    pub(super) fn take(&mut self, step: &ReplyLine<'_>) {
        let start = self.text.len();
        let is_header = step.kind == LineKind::Delimiter
            && self.previous == (Previous::FirstRow { item: true });
        if is_header {
            self.retract();
        } else if matches!(self.last().owner, Owner::Row(_)) {
            self.close();
        }
        let item = if step.is_prose() {
            item(step.text, step.kind, self.paths, self.shown)
        } else {
            None
        };
        self.previous = match (step.kind, &item) {
            (LineKind::Text, _) if step.text.contains('|') => match self.previous {
                Previous::FirstRow { .. } | Previous::Row => Previous::Row,
                _ => Previous::FirstRow {
                    item: item.is_some(),
                },
            },
            (LineKind::Delimiter, _) => Previous::Row,
            (LineKind::Text, Some(item)) if !item.listed => Previous::Item,
            (LineKind::Text, None) => Previous::Paragraph(start),
            (LineKind::Rule, _) if self.previous == Previous::Item => return,
            (LineKind::Underline, _) => return self.underline(),
            _ => Previous::Other,
        };
        if let Some(item) = item {
            self.begin_finding(item);
            self.keep(step.text);
            self.last_mut().body = self.text.len();
            return;
        }
        if step.is_prose() && self.begin_above(step.text) {
            self.keep(step.text);
            return;
        }
        if matches!(step.kind, LineKind::Heading | LineKind::Rule) {
            self.close();
        }
        self.keep(step.text);
        if step.is_prose() && untagged::is_title(step.text, step.kind) {
            self.title = Some(Title {
                start,
                end: self.text.len(),
                line: step.text.to_owned(),
            });
        }
    }

    /// If a line of the notes is a field with a severity, the title above it begins a finding.
    fn begin_above(&mut self, line: &str) -> bool {
        if self.last().owner != Owner::Notes {
            return false;
        }
        let Some(word) = untagged::severity_field(line) else {
            return false;
        };
        let Some(Title { start, end, line }) = self.title.take() else {
            return false;
        };
        let tagged = format!(
            "[{word}] {}",
            markdown::plain(markdown::peel_item(&line).rest)
        );
        let Some(item) = item(&tagged, LineKind::Text, self.paths, self.shown) else {
            return false;
        };
        self.begin_finding(item);
        let segment = self.last_mut();
        segment.start = start;
        segment.body = end;
        true
    }

    fn last(&self) -> &Segment {
        self.segments
            .last()
            .expect("the first segment contains notes")
    }

    fn last_mut(&mut self) -> &mut Segment {
        self.segments
            .last_mut()
            .expect("the first segment contains notes")
    }

    fn begin(&mut self, owner: Owner, start: usize) {
        self.segments.push(Segment {
            start,
            body: start,
            owner,
            left_out: 0,
        });
    }

    fn begin_finding(&mut self, item: Item) {
        self.count += 1;
        self.weight += weight(&item.finding) + size_of::<Segment>();
        if self.weight > FINDINGS_CAP {
            return self.close();
        }
        let number = self.findings.len();
        self.findings.push(item.finding);
        self.begin(
            if item.row {
                Owner::Row(number)
            } else {
                Owner::Finding(number)
            },
            self.text.len(),
        );
    }

    fn underline(&mut self) {
        if let Previous::Paragraph(start) = self.previous
            && self.last().owner != Owner::Notes
        {
            self.begin(Owner::Notes, start);
        }
        self.previous = Previous::Other;
    }

    fn retract(&mut self) {
        if let Owner::Finding(_) | Owner::Row(_) = self.last().owner {
            self.findings.pop();
            self.last_mut().owner = Owner::Notes;
        }
        self.count -= 1;
    }

    fn keep(&mut self, line: &str) {
        let room = TEXT_CAP.saturating_sub(self.text.len() + 1);
        let taken = self.text.len() - self.last().start;
        let room = room.min(SEGMENT_CAP.saturating_sub(taken + 1));
        let kept = if self.last().left_out > 0 {
            0
        } else {
            line.floor_char_boundary(room)
        };
        self.text.push_str(&line[..kept]);
        if kept == line.len() && room > 0 {
            self.text.push('\n');
        } else {
            self.last_mut().left_out += (line.len() - kept) as u64 + 1;
        }
    }

    pub(super) fn findings(&self) -> &[RawFinding] {
        &self.findings
    }

    pub(super) fn cut(&mut self, mark: usize) {
        self.title = None;
        self.text.truncate(mark.max(self.last().body));
        self.close();
        self.previous = Previous::Other;
    }

    pub(crate) fn into_notes(self) -> String {
        let left_out: u64 = self.segments.iter().map(|segment| segment.left_out).sum();
        let ends = self
            .segments
            .iter()
            .skip(1)
            .map(|segment| segment.start)
            .chain([self.text.len()]);
        let parts = self.segments.iter().zip(ends);
        let own = parts.filter(|(segment, _)| segment.start >= self.prompt);
        let parts =
            own.map(|(segment, end)| markdown::trim_blank_lines(&self.text[segment.start..end]));
        let mut notes = paragraphs(parts);
        note_left_out(&mut notes, left_out);
        notes
    }

    pub(crate) fn into_findings(mut self) -> (Vec<RawFinding>, String) {
        let ends = self
            .segments
            .iter()
            .skip(1)
            .map(|segment| segment.start)
            .chain([self.text.len()]);
        let mut notes = Vec::new();
        for (segment, end) in self.segments.iter().zip(ends) {
            match segment.owner {
                Owner::Notes if segment.start < self.prompt => {}
                Owner::Notes => {
                    let mut text =
                        markdown::trim_blank_lines(&self.text[segment.start..end]).to_owned();
                    note_left_out(&mut text, segment.left_out);
                    notes.push(text);
                }
                Owner::Finding(number) | Owner::Row(number) => {
                    let finding = &mut self.findings[number];
                    let mut body = markdown::dedent(&self.text[segment.body.min(end)..end]);
                    if finding.title.is_empty() {
                        title_from_body(finding, &mut body, self.paths);
                    }
                    untagged::place_from_fields(finding, &body, self.paths);
                    if finding.confidence.is_none() {
                        sure_from_body(finding, &mut body);
                    }
                    if finding.cwe.is_none() {
                        finding.cwe = Cwe::find(finding.title.as_written());
                    }
                    finding.demonstration = demonstration::take(&mut body).map(Box::new);
                    if finding.line.is_some() {
                        finding.replacement = suggestion::take(&mut body).map(Untrusted::from);
                    }
                    note_left_out(&mut body, segment.left_out);
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

fn note_left_out(text: &mut String, bytes: u64) {
    if bytes > 0 {
        text.push_str(&format!("\n[... {bytes} bytes left out]"));
    }
}

pub(super) fn weight(finding: &RawFinding) -> usize {
    let names = [&finding.category, &finding.file, &finding.rule]
        .into_iter()
        .flatten()
        .map(String::len)
        .chain(finding.places.iter().map(|place| place.file.len() + 16));
    let texts = finding
        .suggestion
        .iter()
        .chain(&finding.replacement)
        .chain(finding.demonstration.iter().map(|given| &given.code))
        .chain(&finding.evidence)
        .map(|text| text.as_written().len());
    let lengths = names
        .chain(texts)
        .map(|length| length + size_of::<String>())
        .sum::<usize>();
    let own = finding.title.as_written().len() + finding.body.as_written().len();
    size_of::<RawFinding>() + finding.severity.raw.len() + own + lengths
}

fn item(line: &str, kind: LineKind, paths: &Paths, shown: &[RulingRef]) -> Option<Item> {
    let row = markdown::table_row(line);
    let peeled = markdown::peel_item(row.map_or(line, |(first, _)| first));
    let cells = row.map_or_else(String::new, |(_, cells)| {
        format!(" | {}", markdown::join_cells(cells))
    });
    let first = peeled
        .rest
        .trim_start_matches(untagged::is_symbol)
        .trim_start();
    let mark = match tag::read(first) {
        Some(tag) => Mark {
            word: tag.word,
            rest: format!("{}{cells}", tag.rest),
        },
        None => untagged::read(first, &cells, kind, paths)?,
    };
    let rest = mark.rest.as_str();
    let (without, insists_on) = insisted_ruling::split(rest, paths, shown).unzip();
    let rest = without.as_deref().unwrap_or(rest);
    let (rest, sure) = confidence::split(rest);
    let tag = Tag::parse(mark.word);
    if tag::is_log_level(mark.word)
        || tag::is_legend(rest)
        || (tag.is_none() && tag::is_link_definition(rest))
    {
        return None;
    }
    // Emphasis that begins before the tag can end after the tag, as in `**2) [MUST]** a`.
    let rest = rest
        .strip_prefix("** ")
        .or_else(|| rest.strip_prefix("__ "))
        .unwrap_or(rest);
    let (place, places) = location::all_of(rest, paths);
    let title = tag::title(rest, place.as_ref());
    if tag::is_placeholder(title) {
        return None;
    }
    let title = markdown::plain(title);
    let mut finding = RawFinding {
        severity: Severity {
            tag,
            raw: mark.word.to_owned(),
        },
        title: shorten(title).into(),
        insists_on,
        ..RawFinding::default()
    };
    put(&mut finding, place, places);
    put_sure(&mut finding, sure);
    Some(Item {
        finding,
        row: row.is_some(),
        listed: peeled.listed,
    })
}

fn put(finding: &mut RawFinding, place: Option<location::NamedPlace>, places: Vec<Location>) {
    if let Some(place) = place {
        finding.file = Some(place.file);
        finding.line = Some(place.line);
        finding.end_line = place.end_line;
        finding.places = places;
    }
}

fn put_sure(finding: &mut RawFinding, sure: Option<Sure>) {
    let Some(sure) = sure else { return };
    finding.confidence = finding.confidence.or(sure.confidence);
    finding.category = finding.category.take().or(sure.category);
    finding.cwe = finding.cwe.or(sure.cwe);
    finding.rule = finding.rule.take().or(sure.rule);
    if !sure.other_ids.is_empty() {
        let ids = sure.other_ids.join(", ");
        finding.title = format!("{} ({ids})", finding.title.as_written()).into();
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

fn title_from_body(finding: &mut RawFinding, body: &mut String, paths: &Paths) {
    let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
    if Structure::default().classify(first) != LineKind::Text {
        return;
    }
    let text = markdown::peel(first).rest;
    let (text, sure) = confidence::split(text);
    let (place, places) = if finding.file.is_none() {
        location::all_of(text, paths)
    } else {
        (None, Vec::new())
    };
    let title = markdown::plain(tag::title(text, place.as_ref()));
    if title.is_empty() {
        return;
    }
    finding.title = shorten(title).into();
    *body = markdown::dedent(rest);
    put(finding, place, places);
    put_sure(finding, sure);
}

/// If the first line of the body contains only a confidence in brackets, moves the confidence from the body to
/// the finding.
fn sure_from_body(finding: &mut RawFinding, body: &mut String) {
    let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
    if let ("", sure @ Some(_)) = confidence::split(first.trim_start()) {
        put_sure(finding, sure);
        *body = markdown::dedent(rest);
    }
}
