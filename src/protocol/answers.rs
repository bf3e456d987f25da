//! Answers finding by finding, as coders and re-checking reviewers give them: `[F1] WORD: text`, or a list in JSON.
//!
//! Both kinds differ in their words, the name of their closing line and of their JSON list; everything else is here.
//! An id that was not asked about is never an answer, and an id with two different words has none.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, BufRead};
use std::marker::PhantomData;

use serde::de::MapAccess;

use super::answer::{Closing, Step, Walk};
use super::json::{self, Fields, List, Loose, State};
use super::markdown::{self, Kind};
use super::tag;
use crate::domain::FindingId;

/// The most text that is kept of one answer to a finding.
const TEXT_CAP: usize = 256 << 10;

/// The most memory that all answers take up.
const ANSWERS_CAP: usize = 6 << 20;

/// The most problems that are told.
const PROBLEMS_CAP: usize = 20;

/// The words of one kind of answer.
pub(super) trait Word: Copy + Eq + std::fmt::Debug + 'static {
    /// The words as they are written.
    const WORDS: &'static [(&'static str, Self)];
    /// The name of the closing line.
    const CLOSING: &'static str;
    /// The name of the list in JSON.
    const LIST: &'static str;
    /// Whether `Evidence:` lines are told apart from the text.
    const EVIDENCE: bool;

    /// Reads the word of an item in JSON: the value of `answer`, and of `resolved`.
    fn from_json(answer: &Loose, resolved: &Loose) -> Option<Self>;

    /// The first way the word is written.
    fn name(self) -> &'static str {
        Self::WORDS.iter().find(|(_, word)| *word == self).map_or("", |(name, _)| name)
    }

    /// The words as a problem names them.
    fn names() -> String {
        Self::WORDS.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }
}

/// An answer to one finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry<W> {
    pub(super) finding: FindingId,
    pub(super) word: W,
    pub(super) text: String,
    pub(super) evidence: Vec<String>,
    /// What only a debate's answers in JSON say.
    pub(super) more: More,
}

/// Fields of a debate's answer in JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct More {
    pub(super) adjustment: Option<String>,
    pub(super) severity: Option<String>,
    pub(super) description: Option<String>,
}

/// What was read.
#[derive(Debug)]
pub(super) struct Answers<W> {
    pub(super) entries: Vec<Entry<W>>,
    pub(super) complete: bool,
    pub(super) missing: Vec<FindingId>,
    pub(super) problems: Vec<String>,
}

/// Reads answers to the findings `asked`; without a list to any finding.
pub(super) fn read<W: Word, R: BufRead>(
    input: R,
    nonce: Option<&str>,
    asked: Option<&[FindingId]>,
) -> io::Result<Answers<W>> {
    let mut walk = Walk::new(input, nonce);
    let mut closing = Closing::new(W::CLOSING, "answers", nonce);
    let mut prose = Prose::new();
    let mut result: Option<Gathered<W>> = None;
    while let Some(step) = walk.next(0)? {
        if step.is_prose() && closing.take(step.text) {
            prose.close();
            continue;
        }
        if let State::Found(object) = step.json {
            result = from_json(object.bytes).or(result);
        }
        prose.take(&step);
    }
    if let Some(object) = walk.end() {
        result = from_json(object.bytes).or(result);
    }
    let gathered = result.unwrap_or_else(|| prose.finish());
    Ok(settle(gathered, &closing, asked, walk.passed_over()))
}

/// Answers as they stand in the text, before anything is held against what was asked.
struct Gathered<W> {
    entries: Vec<Entry<W>>,
    problems: BTreeSet<String>,
    /// Whether there were more than are kept.
    truncated: bool,
    nonce: Option<String>,
}

impl<W: Word> Gathered<W> {
    fn new() -> Self {
        Self { entries: Vec::new(), problems: BTreeSet::new(), truncated: false, nonce: None }
    }

    fn problem(&mut self, problem: impl FnOnce() -> String) {
        if self.problems.len() < PROBLEMS_CAP {
            self.problems.insert(problem());
        }
    }

    fn unknown_word(&mut self, finding: FindingId, word: &str) {
        self.problem(|| format!("`{word}` for {finding} is none of {}", W::names()));
    }
}

fn settle<W: Word>(
    gathered: Gathered<W>,
    closing: &Closing<'_>,
    asked: Option<&[FindingId]>,
    passed_over: bool,
) -> Answers<W> {
    let Gathered { entries, mut problems, truncated, nonce } = gathered;
    let known: Option<HashSet<FindingId>> = asked.map(|asked| asked.iter().copied().collect());
    let mut answered: BTreeMap<FindingId, usize> = BTreeMap::new();
    let mut conflicts = BTreeSet::new();
    let mut kept: Vec<Entry<W>> = Vec::new();
    for entry in entries {
        let id = entry.finding;
        match answered.get(&id) {
            None => {
                answered.insert(id, kept.len());
                kept.push(entry);
            }
            Some(before) => {
                let before = &mut kept[*before];
                if before.word == entry.word {
                    *before = entry;
                } else {
                    problems.insert(format!(
                        "{id} has two answers, {} and {}",
                        before.word.name(),
                        entry.word.name()
                    ));
                    conflicts.insert(id);
                }
            }
        }
    }
    let read = answered.len() as u64;
    let is_asked = |id: &FindingId| known.as_ref().is_none_or(|known| known.contains(id));
    for id in answered.keys().filter(|id| !is_asked(id)).take(PROBLEMS_CAP) {
        problems.insert(format!("{id} was not asked about"));
    }
    kept.retain(|entry| is_asked(&entry.finding) && !conflicts.contains(&entry.finding));
    let complete = closing.confirms(read, nonce.as_deref()) && !truncated && !passed_over;
    if truncated || passed_over {
        problems.insert("the answer is too long to be kept".to_owned());
    } else if !closing.stands(nonce.as_deref()) {
        problems.insert(format!("the closing line `{}` is missing, or its nonce is another one", W::CLOSING));
    } else if !complete {
        problems.insert(format!(
            "the closing line `{}` does not announce the {read} answers that were read",
            W::CLOSING
        ));
    }
    let given: HashSet<_> = kept.iter().map(|entry| entry.finding).collect();
    let missing = asked.unwrap_or_default().iter().copied().filter(|id| !given.contains(id)).collect();
    Answers { entries: kept, complete, missing, problems: problems.into_iter().collect() }
}

/// Gathers answers in prose.
struct Prose<W> {
    gathered: Gathered<W>,
    weight: usize,
    mode: Mode,
}

/// Where the next line goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// To nobody.
    Closed,
    /// To the text of the last answer.
    Text,
    /// To its evidence. `gap`: a blank line went before, so only a bullet goes on.
    Evidence { gap: bool },
}

impl<W: Word> Prose<W> {
    fn new() -> Self {
        Self { gathered: Gathered::new(), weight: 0, mode: Mode::Closed }
    }

    fn close(&mut self) {
        self.mode = Mode::Closed;
    }

    fn finish(self) -> Gathered<W> {
        let mut gathered = self.gathered;
        for entry in &mut gathered.entries {
            let (first, rest) = entry.text.split_once('\n').unwrap_or((&entry.text, ""));
            let text = format!("{}\n{}", first.trim(), markdown::dedent(rest));
            text.trim().clone_into(&mut entry.text);
        }
        gathered
    }

    fn take(&mut self, step: &Step<'_>) {
        match step.kind {
            Kind::Text | Kind::Heading if step.is_prose() => match head::<W>(step.text) {
                Some(Head::Answer { finding, word, text, row }) => self.begin(finding, word, &text, row),
                Some(Head::Unknown { finding, word }) => {
                    self.gathered.unknown_word(finding, &word);
                    self.close();
                }
                Some(Head::Form) => self.close(),
                None if step.kind == Kind::Heading => self.close(),
                None => self.go_on(step),
            },
            Kind::Rule => self.close(),
            _ => self.go_on(step),
        }
    }

    fn begin(&mut self, finding: FindingId, word: W, text: &str, row: bool) {
        self.weight += size_of::<Entry<W>>() + text.len().min(TEXT_CAP);
        if self.weight > ANSWERS_CAP {
            self.gathered.truncated = true;
            return self.close();
        }
        let text = text[..text.floor_char_boundary(TEXT_CAP)].to_owned();
        self.gathered.entries.push(Entry { finding, word, text, evidence: Vec::new(), more: More::default() });
        self.mode = if row { Mode::Closed } else { Mode::Text };
    }

    /// Adds a line to the last answer.
    fn go_on(&mut self, step: &Step<'_>) {
        let Some(entry) = self.gathered.entries.last_mut().filter(|_| self.mode != Mode::Closed) else { return };
        let line = step.text;
        self.weight += line.len() + 1;
        if self.weight > ANSWERS_CAP || entry.text.len() + line.len() > TEXT_CAP {
            // What does not fit is left out; the word and what stands before it stay.
            self.mode = Mode::Closed;
            entry.text.push_str("\n[...]");
            return;
        }
        if W::EVIDENCE
            && step.is_prose()
            && let Some(evidence) = evidence(line)
        {
            entry.evidence.extend(Some(evidence.to_owned()).filter(|text| !text.is_empty()));
            self.mode = Mode::Evidence { gap: false };
            return;
        }
        match self.mode {
            Mode::Evidence { .. } if step.kind == Kind::Blank => self.mode = Mode::Evidence { gap: true },
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

/// What a line that begins with `[F<n>]` says.
enum Head<W> {
    Answer {
        finding: FindingId,
        word: W,
        text: String,
        row: bool,
    },
    /// A word in capitals that is none of the words.
    Unknown {
        finding: FindingId,
        word: String,
    },
    /// A form that nobody filled in: `[F1] IMPLEMENTED: <what you changed>`.
    Form,
}

/// Emphasis and code marks around a word.
const DRESS: [char; 3] = ['*', '_', '`'];

fn head<W: Word>(line: &str) -> Option<Head<W>> {
    let row = markdown::table_row(line);
    let mark = tag::read(markdown::peel_item(row.map_or(line, |(first, _)| first)).rest)?;
    let finding = FindingId::parse(mark.word)?;
    let cells = row.map(|(_, cells)| format!("{} | {}", mark.rest, markdown::join_cells(cells)));
    let rest = tag::title(cells.as_deref().unwrap_or(mark.rest), None).trim_start_matches(DRESS);
    let Some((word, written, behind)) = word::<W>(rest) else {
        let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-')).collect();
        let shouts = word.len() > 1 && !word.contains(char::is_lowercase) && word.starts_with(char::is_alphabetic);
        return shouts.then_some(Head::Unknown { finding, word });
    };
    let undressed = behind.trim_start_matches(DRESS);
    let text = tag::title(undressed, None);
    // In small letters the word may be the beginning of a sentence.
    let separated = text.is_empty() || text.len() < undressed.trim().len() || undressed.len() < behind.len();
    if !separated && written.contains(char::is_lowercase) {
        return None;
    }
    let text = undress(text);
    if tag::is_placeholder(text) {
        return Some(Head::Form);
    }
    Some(Head::Answer { finding, word, text: text.to_owned(), row: row.is_some() })
}

/// Reads one of the words at the beginning of a text: the word, how it is written, and what follows.
fn word<W: Word>(text: &str) -> Option<(W, &str, &str)> {
    W::WORDS.iter().find_map(|(name, word)| {
        let written = text.get(..name.len()).filter(|written| written.eq_ignore_ascii_case(name))?;
        let behind = &text[name.len()..];
        let ends = !behind.starts_with(|c: char| c.is_alphanumeric() || c == '-');
        ends.then_some((*word, written, behind))
    })
}

/// Text without the emphasis that closes before it or, opened before the mark, at its end.
fn undress(text: &str) -> &str {
    let open = text.trim_start_matches('*');
    let text = if open.starts_with(char::is_whitespace) { open.trim_start() } else { text };
    if text.matches("**").count() % 2 == 1 { text.strip_suffix("**").unwrap_or(text) } else { text }
}

/// What follows `Evidence:`, bulleted or emphasised or not.
fn evidence(line: &str) -> Option<&str> {
    let text = markdown::peel(line).rest.trim_start_matches(DRESS);
    let (name, rest) = text.split_at_checked("evidence".len())?;
    let rest = rest
        .trim_start_matches(DRESS)
        .strip_prefix([':', '：'])
        .filter(|_| name.eq_ignore_ascii_case("evidence"))?;
    Some(undress(rest.trim_start_matches(['*', '_']).trim()))
}

fn from_json<W: Word>(bytes: &[u8]) -> Option<Gathered<W>> {
    let Answered { nonce, list, .. } = json::object::<Answered<W>>(bytes)?;
    let list = list?;
    let mut gathered = Gathered::new();
    gathered.nonce = nonce.word();
    gathered.truncated = list.count > list.items.len() as u64;
    for JsonItem(fields) in list.items {
        let named = fields.finding.word().unwrap_or_default();
        let Some(finding) = FindingId::parse(&named).or_else(|| FindingId::parse(&format!("F{named}"))) else {
            gathered.problem(|| format!("`{named}` is no finding id such as `F1`"));
            continue;
        };
        let Some(word) = W::from_json(&fields.answer, &fields.resolved) else {
            gathered.unknown_word(finding, &fields.answer.word().unwrap_or_default());
            continue;
        };
        let text = fields.text.string().unwrap_or_default().trim().to_owned();
        let more = More {
            adjustment: fields.adjustment.word(),
            severity: fields.severity.word(),
            description: fields.description.string(),
        };
        gathered.entries.push(Entry { finding, word, text, evidence: fields.evidence.texts(), more });
    }
    Some(gathered)
}

/// The object of a JSON answer.
struct Answered<W> {
    nonce: Loose,
    list: Option<List<JsonItem>>,
    words: PhantomData<W>,
}

impl<W> Default for Answered<W> {
    fn default() -> Self {
        Self { nonce: Loose::Nothing, list: None, words: PhantomData }
    }
}

impl<W: Word> Fields for Answered<W> {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "nonce" => self.nonce = map.next_value()?,
            _ if name == W::LIST => self.list = map.next_value()?,
            _ => json::skip(map)?,
        }
        Ok(())
    }
}

/// An item of the list, as it stands there.
struct JsonItem(ItemFields);

#[derive(Default)]
struct ItemFields {
    finding: Loose,
    answer: Loose,
    resolved: Loose,
    text: Loose,
    evidence: Loose,
    adjustment: Loose,
    severity: Loose,
    description: Loose,
}

impl Fields for ItemFields {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        let field = match name {
            "finding" | "finding_id" => &mut self.finding,
            "answer" | "action" => &mut self.answer,
            "resolved" => &mut self.resolved,
            "text" | "reason" | "reasoning" | "justification" => &mut self.text,
            "evidence" => &mut self.evidence,
            "confidence_adjustment" => &mut self.adjustment,
            "revised_severity" => &mut self.severity,
            "revised_description" => &mut self.description,
            _ => return json::skip(map),
        };
        *field = map.next_value()?;
        Ok(())
    }
}

impl From<ItemFields> for JsonItem {
    fn from(fields: ItemFields) -> Self {
        Self(fields)
    }
}

impl json::Item for JsonItem {
    type Fields = ItemFields;

    fn weight(&self) -> usize {
        let ItemFields { finding, answer, resolved, text, evidence, adjustment, severity, description } = &self.0;
        let all = [finding, answer, resolved, text, evidence, adjustment, severity, description];
        all.map(Loose::weight).iter().sum()
    }
}
