//! Reads entries in prose, such as `[F1] WORD: text`, line by line.

use super::entry::{
    ANSWERS_CAP, AnswerWord, EntryId as _, FindingAnswer, Gathered, More, Placed, TEXT_CAP,
};
use crate::replies::reply::ReplyLine;
use crate::text::{LineKind, demonstration, markdown, tag};

pub(crate) struct Prose<W: AnswerWord> {
    gathered: Gathered<W>,
    weight: usize,
    mode: Mode,
    /// Whether the last entry is followed by text that does not belong to the entry.
    apart: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Closed,
    Text,
    /// The flag `gap` is true after a blank line. After the blank line, a list item continues the evidence. Other
    /// text ends the evidence if the evidence is not empty.
    Evidence {
        gap: bool,
    },
}

impl<W: AnswerWord> Prose<W> {
    pub(super) fn new() -> Self {
        Self {
            gathered: Gathered::new(),
            weight: 0,
            mode: Mode::Closed,
            apart: true,
        }
    }

    pub(super) fn sign(&mut self) {
        self.gathered.signed = Some(self.gathered.entries.len());
        self.apart = true;
        self.mode = Mode::Closed;
    }

    pub(super) fn finish(self) -> Gathered<W> {
        let mut gathered = self.gathered;
        for Placed { entry, .. } in &mut gathered.entries {
            let (first, rest) = entry.text.split_once('\n').unwrap_or((&entry.text, ""));
            let text = format!("{}\n{}", first.trim(), markdown::dedent(rest));
            text.trim().clone_into(&mut entry.text);
        }
        gathered
    }

    pub(super) fn take(&mut self, step: &ReplyLine<'_>) {
        let entries = self.gathered.entries.len();
        self.read(step);
        self.apart =
            self.gathered.entries.len() == entries && (self.apart || !continues::<W>(step));
    }

    fn read(&mut self, step: &ReplyLine<'_>) {
        match step.kind {
            LineKind::Text | LineKind::Heading if step.is_prose() => match head::<W>(step.text) {
                Some(Head::Answer {
                    finding,
                    word,
                    text,
                    row,
                }) => self.begin(finding, word, &text, row),
                Some(Head::Unknown { finding, word }) => {
                    self.gathered.unknown_word(finding, &word);
                    self.mode = Mode::Closed;
                }
                Some(Head::Form) => self.mode = Mode::Closed,
                None if step.kind == LineKind::Heading => self.mode = Mode::Closed,
                None => self.go_on(step),
            },
            LineKind::Rule => self.mode = Mode::Closed,
            _ => self.go_on(step),
        }
    }

    fn begin(&mut self, finding: W::Id, word: W, text: &str, row: bool) {
        self.weight += size_of::<FindingAnswer<W>>() + text.len().min(TEXT_CAP);
        if self.weight > ANSWERS_CAP {
            self.gathered.truncated = true;
            self.mode = Mode::Closed;
            return;
        }
        let text = text[..text.floor_char_boundary(TEXT_CAP)].to_owned();
        let entry = FindingAnswer {
            finding,
            word,
            text,
            evidence: Vec::new(),
            more: More::default(),
        };
        self.gathered.entries.push(Placed {
            entry,
            adjacent: !self.apart,
        });
        self.mode = if row { Mode::Closed } else { Mode::Text };
    }

    fn go_on(&mut self, step: &ReplyLine<'_>) {
        let last = self
            .gathered
            .entries
            .last_mut()
            .filter(|_| self.mode != Mode::Closed);
        let Some(Placed { entry, .. }) = last else {
            return;
        };
        let line = step.text;
        self.weight += line.len() + 1;
        if self.weight > ANSWERS_CAP || entry.text.len() + line.len() > TEXT_CAP {
            self.mode = Mode::Closed;
            entry.text.push_str("\n[...]");
            return;
        }
        if W::EVIDENCE
            && step.is_prose()
            && let Some(evidence) = evidence(line)
        {
            entry
                .evidence
                .extend(Some(evidence.to_owned()).filter(|text| !text.is_empty()));
            self.mode = Mode::Evidence { gap: false };
            return;
        }
        // Evidence loses its indentation, and the code of a demonstration must not.
        if step.kind == LineKind::FenceOpen && demonstration::opens(line) {
            self.mode = Mode::Text;
        }
        match self.mode {
            Mode::Evidence { .. } if step.kind == LineKind::Blank => {
                self.mode = Mode::Evidence { gap: true }
            }
            Mode::Evidence { gap } => {
                let item = markdown::peel(line);
                if item.listed && step.is_prose() {
                    entry.evidence.push(item.rest.to_owned());
                    self.mode = Mode::Evidence { gap: false };
                } else if gap && !entry.evidence.is_empty() {
                    self.mode = Mode::Text;
                    entry.text.push('\n');
                    entry.text.push_str(line);
                } else {
                    self.mode = Mode::Evidence { gap: false };
                    match entry.evidence.last_mut() {
                        Some(last) => {
                            last.push('\n');
                            last.push_str(line.trim());
                        }
                        None => entry.evidence.push(line.trim().to_owned()),
                    }
                }
            }
            Mode::Closed | Mode::Text => {
                entry.text.push('\n');
                entry.text.push_str(line);
            }
        }
    }
}

/// Whether the line continues the entry that began above the line. Blank lines, indented lines, list items and
/// evidence continue an entry.
fn continues<W: AnswerWord>(step: &ReplyLine<'_>) -> bool {
    match step.kind {
        LineKind::Blank => true,
        LineKind::Text => {
            (step.text.starts_with([' ', '\t']) || markdown::peel(step.text).listed)
                || W::EVIDENCE && evidence(step.text).is_some()
        }
        _ => false,
    }
}

enum Head<W: AnswerWord> {
    Answer {
        finding: W::Id,
        word: W,
        text: String,
        row: bool,
    },
    Unknown {
        finding: W::Id,
        word: String,
    },
    /// The example of an entry that the prompt contains, such as `[F1] IMPLEMENTED: <what you changed>`.
    Form,
}

const MARKS: [char; 3] = ['*', '_', '`'];

fn head<W: AnswerWord>(line: &str) -> Option<Head<W>> {
    let row = markdown::table_row(line);
    let mark = tag::read(markdown::peel_item(row.map_or(line, |(first, _)| first)).rest)?;
    let finding = W::Id::parse(mark.word)?;
    let cells = row.map(|(_, cells)| format!("{} | {}", mark.rest, markdown::join_cells(cells)));
    let rest = tag::title(cells.as_deref().unwrap_or(mark.rest), None).trim_start_matches(MARKS);
    let Some((word, written, behind)) = word::<W>(rest) else {
        let word: String = rest
            .chars()
            .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
            .collect();
        let shouts = word.len() > 1
            && !word.contains(char::is_lowercase)
            && word.starts_with(char::is_alphabetic);
        return shouts.then_some(Head::Unknown { finding, word });
    };
    let plain = behind.trim_start_matches(MARKS);
    let text = tag::title(plain, None);
    // If no separator follows a lower-case answer word, the word can be the first word of an ordinary sentence.
    let separated =
        text.is_empty() || text.len() < plain.trim().len() || plain.len() < behind.len();
    if !separated && written.contains(char::is_lowercase) {
        return None;
    }
    let text = without_emphasis(text);
    if tag::is_placeholder(text) {
        return Some(Head::Form);
    }
    Some(Head::Answer {
        finding,
        word,
        text: text.to_owned(),
        row: row.is_some(),
    })
}

fn word<W: AnswerWord>(text: &str) -> Option<(W, &str, &str)> {
    W::WORDS.iter().find_map(|(name, word)| {
        let written = text
            .get(..name.len())
            .filter(|written| written.eq_ignore_ascii_case(name))?;
        let behind = &text[name.len()..];
        let ends = !behind.starts_with(|c: char| c.is_alphanumeric() || c == '-');
        ends.then_some((*word, written, behind))
    })
}

/// Removes closing emphasis marks from the start and from the end of the text if their opening marks are before
/// the text.
fn without_emphasis(text: &str) -> &str {
    let open = text.trim_start_matches('*');
    let text = if open.starts_with(char::is_whitespace) {
        open.trim_start()
    } else {
        text
    };
    if text.matches("**").count() % 2 == 1 {
        text.strip_suffix("**").unwrap_or(text)
    } else {
        text
    }
}

fn evidence(line: &str) -> Option<&str> {
    let text = markdown::peel(line).rest.trim_start_matches(MARKS);
    let (name, rest) = text.split_at_checked("evidence".len())?;
    let rest = rest
        .trim_start_matches(MARKS)
        .strip_prefix([':', '：'])
        .filter(|_| name.eq_ignore_ascii_case("evidence"))?;
    Some(without_emphasis(rest.trim_start_matches(['*', '_']).trim()))
}
