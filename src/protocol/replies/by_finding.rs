//! Parses answers that have one entry per finding, either as prose like `[F1] WORD: text` or as a JSON list. The
//! tasks respond, examine, defend, recheck and compare require one entry per finding.
//!
//! Reviewed code can contain lines that look like entries, and an agent can quote these lines. The parser
//! therefore accepts an entry only in the part of the answer that the nonce confirms, the signed end. In prose,
//! the last closing line with the right nonce states the number of entries. If this number is N, the signed end
//! consists of the N entries directly before the closing line. In JSON, the signed end consists of the items of
//! all objects with the nonce. An entry outside the signed end of an answer is never accepted, but can make the
//! answer invalid. Entries for findings outside the request are never accepted.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, BufRead};

use crate::domain::{FindingId, number_of};
use crate::protocol::replies::reply::{Closing, ReplyLine, Walk, is_nonce};
use crate::protocol::text::{LenientValue, LineKind, ScanState, markdown, tag};

const TEXT_CAP: usize = 256 << 10;

const ANSWERS_CAP: usize = 6 << 20;

const PROBLEMS_CAP: usize = 20;

pub(crate) trait AnswerWord: Copy + Eq + std::fmt::Debug + 'static {
    const WORDS: &'static [(&'static str, Self)];
    const CLOSING: &'static str;
    const LIST: &'static str;
    const EVIDENCE: bool = false;

    /// Whether the caller checks each word against the tree. If the caller checks the words, contradictory words
    /// for a finding do not make the answer unreliable.
    const CHECKED: bool = false;

    /// Whether a finding with this word in its entry stays open. The parser keeps an entry with such a word even
    /// if the entry contradicts an earlier entry.
    fn keeps_open(self) -> bool {
        false
    }

    fn from_json(answer: &LenientValue, _resolved: &LenientValue) -> Option<Self> {
        Self::from_word(answer)
    }

    fn from_word(answer: &LenientValue) -> Option<Self> {
        let word = answer.word()?;
        Self::WORDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(&word)).map(|(_, word)| *word)
    }

    fn name(self) -> &'static str {
        Self::WORDS.iter().find(|(_, word)| *word == self).map_or("", |(name, _)| name)
    }

    fn names() -> String {
        Self::WORDS.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FindingAnswer<W> {
    pub(crate) finding: FindingId,
    pub(crate) word: W,
    pub(crate) text: String,
    pub(crate) evidence: Vec<String>,
    pub(crate) more: More,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct More {
    pub(crate) adjustment: Option<String>,
    pub(crate) severity: Option<String>,
    pub(crate) description: Option<String>,
}

/// A parsed answer. The entries are reliable only if `complete` is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswersByFinding<T> {
    pub entries: Vec<T>,
    /// Whether the answer is signed with the nonce, contains the announced number of entries, and is neither
    /// truncated nor contradictory.
    pub complete: bool,
    /// The findings of the request for which the answer contains no accepted entry, in the order of the request.
    pub missing: Vec<FindingId>,
    /// The problems of the answer, in one line each. Glee can send the lines in `problems` back to the agent.
    pub problems: Vec<String>,
}

impl<T> AnswersByFinding<T> {
    pub(crate) fn map<U>(self, entry: impl FnMut(T) -> U) -> AnswersByFinding<U> {
        let Self { entries, complete, missing, problems } = self;
        AnswersByFinding { entries: entries.into_iter().map(entry).collect(), complete, missing, problems }
    }
}

/// Maps names of findings, such as `path:line:title` in JSON answers, to the ids of the findings.
pub type Names = BTreeMap<String, FindingId>;

pub(crate) fn name(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Reads entries for the findings in `asked`, or for any finding if `asked` is `None`. A JSON item can identify its
/// finding by a name in `names`.
pub(crate) fn read<W: AnswerWord>(
    input: impl BufRead,
    nonce: Option<&str>,
    asked: Option<&[FindingId]>,
    names: &Names,
) -> io::Result<AnswersByFinding<FindingAnswer<W>>> {
    let mut walk = Walk::new(input, nonce);
    let mut closing = Closing::new(W::CLOSING, "answers", nonce);
    let mut prose = Prose::new();
    let mut signed: Option<Gathered<W>> = None;
    let take = |text: &str, signed: &mut Option<Gathered<W>>| {
        if let Some(found) = from_json(text, names).filter(|found| found.is_signed(nonce)) {
            match signed {
                Some(before) => before.add(found),
                None => *signed = Some(found),
            }
        }
    };
    while let Some(step) = walk.next(0)? {
        if step.is_prose() && closing.take(step.text) {
            prose.sign();
            continue;
        }
        if let ScanState::Found(object) = &step.json {
            take(&object.text, &mut signed);
        }
        prose.take(&step);
    }
    if let Some(object) = walk.end() {
        take(&object.text, &mut signed);
    }
    let mut answers = settle(prose.finish(), signed, &closing, walk.json.too_large, asked);
    if let Some(fault) = walk.json.fault.filter(|_| !answers.complete) {
        answers.problems.insert(0, fault);
    }
    Ok(answers)
}

struct Gathered<W> {
    entries: Vec<Placed<W>>,
    problems: BTreeSet<String>,
    truncated: bool,
    nonce: Option<String>,
    /// The number of entries before the last closing line. `None` if the answer has no closing line.
    signed: Option<usize>,
}

struct Placed<W> {
    entry: FindingAnswer<W>,
    adjacent: bool,
}

impl<W: AnswerWord> Gathered<W> {
    fn new() -> Self {
        Self { entries: Vec::new(), problems: BTreeSet::new(), truncated: false, nonce: None, signed: None }
    }

    fn is_signed(&self, nonce: Option<&str>) -> bool {
        self.nonce.as_deref().is_some_and(|given| is_nonce(nonce, given))
    }

    fn add(&mut self, other: Self) {
        self.entries.extend(other.entries);
        self.problems.extend(other.problems);
        self.truncated |= other.truncated;
    }

    fn problem(&mut self, problem: impl FnOnce() -> String) {
        if self.problems.len() < PROBLEMS_CAP {
            self.problems.insert(problem());
        }
    }

    fn unknown_word(&mut self, finding: FindingId, word: &str) {
        self.problem(|| format!("`{word}` for {finding} is not one of {}", W::names()));
    }

    fn count(&self, end: usize) -> u64 {
        let ids: HashSet<FindingId> = self.entries[..end].iter().map(id_of).collect();
        ids.len() as u64
    }

    /// Returns the index of the first signed entry. The signed entries are the last entries before the index
    /// `end` that answer `wanted` different findings.
    fn block(&self, wanted: u64, end: usize) -> usize {
        let mut ids = HashSet::new();
        let mut start = end;
        while start > 0 && (ids.len() as u64) < wanted {
            start -= 1;
            ids.insert(id_of(&self.entries[start]));
        }
        while start > 0
            && self.entries.get(start).is_some_and(|placed| placed.adjacent)
            && ids.contains(&id_of(&self.entries[start - 1]))
        {
            start -= 1;
        }
        start
    }
}

fn id_of<W>(placed: &Placed<W>) -> FindingId {
    placed.entry.finding
}

fn settle<W: AnswerWord>(
    prose: Gathered<W>,
    json: Option<Gathered<W>>,
    closing: &Closing<'_>,
    passed_over: bool,
    asked: Option<&[FindingId]>,
) -> AnswersByFinding<FindingAnswer<W>> {
    let known: Option<HashSet<FindingId>> = asked.map(|asked| asked.iter().copied().collect());
    let is_asked = |id: &FindingId| known.as_ref().is_none_or(|known| known.contains(id));
    let truncated = passed_over || prose.truncated || json.as_ref().is_some_and(|json| json.truncated);
    let is_json = json.is_some();
    let (block, others, mut problems, read) = match json {
        Some(json) => {
            let (read, mut problems) = (json.count(json.entries.len()), json.problems);
            problems.extend(prose.problems);
            (json.entries, prose.entries, problems, read)
        }
        None => {
            let end = prose.signed.unwrap_or(prose.entries.len());
            let read = prose.count(end);
            let start = prose.block(closing.number().unwrap_or(read).min(read), end);
            let mut block = prose.entries;
            let behind = block.split_off(end);
            let mut others: Vec<Placed<W>> = block.drain(..start).collect();
            others.extend(behind);
            (block, others, prose.problems, read)
        }
    };
    let ids: HashSet<FindingId> = block.iter().map(id_of).collect();
    // The requested findings that have an entry in the answer, but no entry in the signed end of the answer.
    let left_over: BTreeSet<FindingId> =
        others.iter().map(id_of).filter(|id| is_asked(id) && !ids.contains(id)).collect();
    let is_signed = is_json || prose.signed.is_some();
    let is_counted = match closing.number() {
        Some(number) => number == ids.len() as u64,
        None => is_json && !closing.is_given(),
    };
    for id in ids.iter().filter(|id| !is_asked(id)).take(PROBLEMS_CAP) {
        problems.insert(format!("{id} was not asked about"));
    }
    let (mut entries, conflicts) = merge(block, &others);
    for (id, [one, other]) in conflicts.iter().filter(|(id, _)| is_asked(id)).take(PROBLEMS_CAP) {
        problems.insert(format!("{id} has two answers, {} and {}", one.name(), other.name()));
    }
    if !W::CHECKED && !conflicts.is_empty() {
        problems.insert("text that is quoted has to be in a code fence".to_owned());
    }
    entries.retain(|entry| is_asked(&entry.finding));
    let is_consistent = left_over.is_empty() && (W::CHECKED || conflicts.keys().all(|id| !is_asked(id)));
    let complete = is_signed && is_counted && is_consistent && !truncated;
    if truncated {
        problems.insert("the answer is too long to be kept".to_owned());
    } else if !is_signed {
        problems.insert(
            closing
                .problem()
                .unwrap_or_else(|| format!("the answers do not precede the closing line `{}`", W::CLOSING)),
        );
    } else if !is_counted {
        problems.insert(format!(
            "the closing line `{}` does not announce the {} that {} read",
            W::CLOSING,
            number_of(read, "answer"),
            if read == 1 { "was" } else { "were" }
        ));
    }
    for id in left_over.iter().take(PROBLEMS_CAP) {
        problems.insert(format!("the answer to {id} is not one of those that the end of the answer announces"));
    }
    let given: HashSet<_> = entries.iter().map(|entry| entry.finding).collect();
    let missing = asked.unwrap_or_default().iter().copied().filter(|id| !given.contains(id)).collect();
    AnswersByFinding { entries, complete, missing, problems: problems.into_iter().collect() }
}

/// Returns the last entry for each finding in `block`, except for findings with contradictory entries. The returned
/// map contains two contradictory words for each omitted finding.
fn merge<W: AnswerWord>(
    block: Vec<Placed<W>>,
    others: &[Placed<W>],
) -> (Vec<FindingAnswer<W>>, BTreeMap<FindingId, [W; 2]>) {
    let mut places: BTreeMap<FindingId, usize> = BTreeMap::new();
    let mut entries: Vec<FindingAnswer<W>> = Vec::new();
    let mut before: BTreeMap<FindingId, Vec<W>> = BTreeMap::new();
    for Placed { entry, .. } in block {
        match places.get(&entry.finding) {
            None => {
                places.insert(entry.finding, entries.len());
                entries.push(entry);
            }
            Some(place) => {
                let last = std::mem::replace(&mut entries[*place], entry);
                before.entry(last.finding).or_default().push(last.word);
            }
        }
    }
    for other in others.iter().filter(|_| !W::CHECKED) {
        before.entry(id_of(other)).or_default().push(other.entry.word);
    }
    let mut conflicts = BTreeMap::new();
    for entry in entries.iter().filter(|entry| !entry.word.keeps_open()) {
        let different = before.get(&entry.finding).and_then(|words| words.iter().find(|word| **word != entry.word));
        if let Some(different) = different {
            conflicts.insert(entry.finding, [*different, entry.word]);
        }
    }
    entries.retain(|entry| !conflicts.contains_key(&entry.finding));
    (entries, conflicts)
}

struct Prose<W> {
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
    /// The flag `gap` is true after a blank line. After a blank line, only a list item continues the evidence.
    Evidence {
        gap: bool,
    },
}

impl<W: AnswerWord> Prose<W> {
    fn new() -> Self {
        Self { gathered: Gathered::new(), weight: 0, mode: Mode::Closed, apart: true }
    }

    fn sign(&mut self) {
        self.gathered.signed = Some(self.gathered.entries.len());
        self.apart = true;
        self.mode = Mode::Closed;
    }

    fn finish(self) -> Gathered<W> {
        let mut gathered = self.gathered;
        for Placed { entry, .. } in &mut gathered.entries {
            let (first, rest) = entry.text.split_once('\n').unwrap_or((&entry.text, ""));
            let text = format!("{}\n{}", first.trim(), markdown::dedent(rest));
            text.trim().clone_into(&mut entry.text);
        }
        gathered
    }

    fn take(&mut self, step: &ReplyLine<'_>) {
        let entries = self.gathered.entries.len();
        self.read(step);
        self.apart = self.gathered.entries.len() == entries && (self.apart || !continues::<W>(step));
    }

    fn read(&mut self, step: &ReplyLine<'_>) {
        match step.kind {
            LineKind::Text | LineKind::Heading if step.is_prose() => match head::<W>(step.text) {
                Some(Head::Answer { finding, word, text, row }) => self.begin(finding, word, &text, row),
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

    fn begin(&mut self, finding: FindingId, word: W, text: &str, row: bool) {
        self.weight += size_of::<FindingAnswer<W>>() + text.len().min(TEXT_CAP);
        if self.weight > ANSWERS_CAP {
            self.gathered.truncated = true;
            self.mode = Mode::Closed;
            return;
        }
        let text = text[..text.floor_char_boundary(TEXT_CAP)].to_owned();
        let entry = FindingAnswer { finding, word, text, evidence: Vec::new(), more: More::default() };
        self.gathered.entries.push(Placed { entry, adjacent: !self.apart });
        self.mode = if row { Mode::Closed } else { Mode::Text };
    }

    fn go_on(&mut self, step: &ReplyLine<'_>) {
        let last = self.gathered.entries.last_mut().filter(|_| self.mode != Mode::Closed);
        let Some(Placed { entry, .. }) = last else { return };
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
            entry.evidence.extend(Some(evidence.to_owned()).filter(|text| !text.is_empty()));
            self.mode = Mode::Evidence { gap: false };
            return;
        }
        match self.mode {
            Mode::Evidence { .. } if step.kind == LineKind::Blank => self.mode = Mode::Evidence { gap: true },
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

/// Whether a line certainly belongs to the entry above the line, and cannot be a quotation.
fn continues<W: AnswerWord>(step: &ReplyLine<'_>) -> bool {
    let is_inner = || step.text.starts_with([' ', '\t']) || markdown::peel(step.text).listed;
    match step.kind {
        LineKind::Blank => true,
        LineKind::Text => is_inner() || W::EVIDENCE && evidence(step.text).is_some(),
        _ => false,
    }
}

enum Head<W> {
    Answer {
        finding: FindingId,
        word: W,
        text: String,
        row: bool,
    },
    Unknown {
        finding: FindingId,
        word: String,
    },
    /// The example of an entry in the prompt, such as `[F1] IMPLEMENTED: <what you changed>`.
    Form,
}

const MARKS: [char; 3] = ['*', '_', '`'];

fn head<W: AnswerWord>(line: &str) -> Option<Head<W>> {
    let row = markdown::table_row(line);
    let mark = tag::read(markdown::peel_item(row.map_or(line, |(first, _)| first)).rest)?;
    let finding = FindingId::parse(mark.word)?;
    let cells = row.map(|(_, cells)| format!("{} | {}", mark.rest, markdown::join_cells(cells)));
    let rest = tag::title(cells.as_deref().unwrap_or(mark.rest), None).trim_start_matches(MARKS);
    let Some((word, written, behind)) = word::<W>(rest) else {
        let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-')).collect();
        let shouts = word.len() > 1 && !word.contains(char::is_lowercase) && word.starts_with(char::is_alphabetic);
        return shouts.then_some(Head::Unknown { finding, word });
    };
    let plain = behind.trim_start_matches(MARKS);
    let text = tag::title(plain, None);
    // A lower-case answer word without a separator after it can be the first word of an ordinary sentence.
    let separated = text.is_empty() || text.len() < plain.trim().len() || plain.len() < behind.len();
    if !separated && written.contains(char::is_lowercase) {
        return None;
    }
    let text = without_emphasis(text);
    if tag::is_placeholder(text) {
        return Some(Head::Form);
    }
    Some(Head::Answer { finding, word, text: text.to_owned(), row: row.is_some() })
}

fn word<W: AnswerWord>(text: &str) -> Option<(W, &str, &str)> {
    W::WORDS.iter().find_map(|(name, word)| {
        let written = text.get(..name.len()).filter(|written| written.eq_ignore_ascii_case(name))?;
        let behind = &text[name.len()..];
        let ends = !behind.starts_with(|c: char| c.is_alphanumeric() || c == '-');
        ends.then_some((*word, written, behind))
    })
}

/// Removes closing emphasis marks whose opening marks are before the text.
fn without_emphasis(text: &str) -> &str {
    let open = text.trim_start_matches('*');
    let text = if open.starts_with(char::is_whitespace) { open.trim_start() } else { text };
    if text.matches("**").count() % 2 == 1 { text.strip_suffix("**").unwrap_or(text) } else { text }
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

fn from_json<W: AnswerWord>(text: &str, names: &Names) -> Option<Gathered<W>> {
    let object: LenientValue = serde_json::from_str(text).ok()?;
    let LenientValue::List(items) = object.get(&[W::LIST]) else { return None };
    if items.iter().any(|item| !matches!(item, LenientValue::Object(_))) {
        return None;
    }
    let mut gathered = Gathered::new();
    gathered.nonce = object.get(&["nonce"]).word();
    for item in items {
        let named = item.get(&["finding", "finding_id"]).word().unwrap_or_default();
        let by_id = FindingId::parse(&named).or_else(|| FindingId::parse(&format!("F{named}")));
        let Some(finding) = by_id.or_else(|| names.get(&name(&named)).copied()) else {
            gathered.problem(|| format!("`{named}` is not a finding id such as `F1`"));
            continue;
        };
        let answer = item.get(&["answer", "action"]);
        let Some(word) = W::from_json(answer, item.get(&["resolved"])) else {
            gathered.unknown_word(finding, &answer.word().unwrap_or_default());
            continue;
        };
        let text = item.get(&["text", "reason", "reasoning", "justification"]).string().unwrap_or_default();
        let more = More {
            adjustment: item.get(&["confidence_adjustment"]).word(),
            severity: item.get(&["revised_severity"]).word(),
            description: item.get(&["revised_description"]).string(),
        };
        let (text, evidence) = (text.trim().to_owned(), item.get(&["evidence"]).texts());
        let entry = FindingAnswer { finding, word, text, evidence, more };
        gathered.entries.push(Placed { entry, adjacent: true });
    }
    Some(gathered)
}
