//! Parses answers that have one entry per finding, either as prose like `[F1] WORD: text` or as a JSON list. The
//! tasks respond, examine, defend, recheck and compare require one entry per finding. The task same requires one
//! entry per pair of findings, such as `[P1] WORD: text`.
//!
//! Reviewed code can contain lines that look like entries, and an agent can quote these lines. The parser
//! therefore accepts only *signed* entries, which the nonce of the call confirms. In prose, the last closing
//! line with the right nonce states a number N. The closing line signs the entries for the last N findings above
//! the closing line. In JSON, all items of an object with the right nonce are signed. An entry without a
//! signature is never accepted, but can make the answer invalid. Entries for findings outside the request are
//! never accepted.

mod entry;
mod prose;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, BufRead};

use crate::replies::closing::Closing;
use crate::replies::reply::Walk;
use crate::text::{LenientValue, ScanState, demonstration};
use entry::{EntryId, Gathered, PROBLEMS_CAP, Placed, id_of};
use glee_model::domain::{FindingId, fold, number_of};
use prose::Prose;

pub use entry::{AnswerWord, FindingAnswer, More};

/// A parsed answer. The entries are reliable only if `complete` is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswersByFinding<T, I = FindingId> {
    pub entries: Vec<T>,
    /// Whether the answer is signed with the nonce, contains the announced number of entries, and is neither
    /// truncated nor contradictory.
    pub complete: bool,
    /// The requested findings without an accepted entry in the answer, in the order of the request.
    pub missing: Vec<I>,
    /// The problems of the answer, in one line each. Glee can send the lines in `problems` back to the agent.
    pub problems: Vec<String>,
}

impl<T, I> AnswersByFinding<T, I> {
    pub fn map<U>(self, entry: impl FnMut(T) -> U) -> AnswersByFinding<U, I> {
        let Self {
            entries,
            complete,
            missing,
            problems,
        } = self;
        AnswersByFinding {
            entries: entries.into_iter().map(entry).collect(),
            complete,
            missing,
            problems,
        }
    }
}

/// Maps names of findings, such as `path:line:title` in JSON answers, to the ids of the findings.
pub type Names<I = FindingId> = BTreeMap<String, I>;

pub fn name(text: &str) -> String {
    fold(text).to_lowercase()
}

/// Reads entries for the findings in `asked`, or for any finding if `asked` is `None`. A JSON item can identify its
/// finding by a name in `names`.
pub fn read<W: AnswerWord>(
    input: impl BufRead,
    nonce: Option<&str>,
    asked: Option<&[W::Id]>,
    names: &Names<W::Id>,
) -> io::Result<AnswersByFinding<FindingAnswer<W>, W::Id>> {
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
        if closing.take(&step) {
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

fn settle<W: AnswerWord>(
    prose: Gathered<W>,
    json: Option<Gathered<W>>,
    closing: &Closing<'_>,
    passed_over: bool,
    asked: Option<&[W::Id]>,
) -> AnswersByFinding<FindingAnswer<W>, W::Id> {
    let of_asked = asked.map(Groups::of);
    let groups = of_asked.as_ref();
    let is_asked = |id: &W::Id| groups.is_none_or(|groups| !groups.meant(*id).is_empty());
    let truncated =
        passed_over || prose.truncated || json.as_ref().is_some_and(|json| json.truncated);
    let is_json = json.is_some();
    let (block, others, mut problems, read) = match json {
        Some(json) => {
            let read = json.count(json.entries.len());
            let mut problems = json.problems;
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
    let ids: HashSet<W::Id> = block.iter().map(id_of).collect();
    // The requested findings that have an unsigned entry, but no signed entry.
    let left_over: BTreeSet<W::Id> = others
        .iter()
        .map(id_of)
        .filter(|id| is_asked(id) && !ids.contains(id))
        .collect();
    let is_signed = is_json || prose.signed.is_some();
    let is_counted = match closing.number() {
        // An answer to a group can count as one answer, or as one for each member.
        Some(number) => {
            number == ids.len() as u64
                || groups.is_some_and(|groups| number == groups.count(&ids) as u64)
        }
        None => is_json && !closing.is_given(),
    };
    for id in ids.iter().filter(|id| !is_asked(id)).take(PROBLEMS_CAP) {
        problems.insert(format!("{id} was not asked about"));
    }
    let (mut entries, conflicts) = merge(block, &others);
    for (id, [one, other]) in conflicts
        .iter()
        .filter(|(id, _)| is_asked(id))
        .take(PROBLEMS_CAP)
    {
        problems.insert(format!(
            "{id} has two answers, {} and {}",
            one.name(),
            other.name()
        ));
    }
    if !W::CHECKED && !conflicts.is_empty() {
        problems.insert("text that is quoted has to be in a code fence".to_owned());
    }
    entries.retain(|entry| is_asked(&entry.finding));
    if let Some(groups) = groups {
        entries = groups.expand(entries);
    }
    let is_consistent =
        left_over.is_empty() && (W::CHECKED || conflicts.keys().all(|id| !is_asked(id)));
    let complete = is_signed && is_counted && is_consistent && !truncated;
    if truncated {
        problems.insert("the answer is too long to be kept".to_owned());
    } else if !is_signed {
        problems.insert(closing.problem().unwrap_or_else(|| {
            format!(
                "the answers do not precede the closing line `{}`",
                W::CLOSING
            )
        }));
    } else if !is_counted {
        problems.insert(format!(
            "the closing line `{}` does not announce the {} that {} read",
            W::CLOSING,
            number_of(read, "answer"),
            if read == 1 { "was" } else { "were" }
        ));
    }
    for id in left_over.iter().take(PROBLEMS_CAP) {
        problems.insert(format!(
            "the answer to {id} is outside of the part that the nonce confirms"
        ));
    }
    let given: HashSet<_> = entries.iter().map(|entry| entry.finding).collect();
    let missing = asked
        .unwrap_or_default()
        .iter()
        .copied()
        .filter(|id| !given.contains(id))
        .collect();
    AnswersByFinding {
        entries,
        complete,
        missing,
        problems: problems.into_iter().collect(),
    }
}

/// The findings that an answer is asked about, by the numbers of their groups.
struct Groups<I>(BTreeMap<u32, Vec<I>>);

impl<I: EntryId> Groups<I> {
    fn of(asked: &[I]) -> Self {
        let mut groups: BTreeMap<u32, Vec<I>> = BTreeMap::new();
        for id in asked {
            groups.entry(id.group()).or_default().push(*id);
        }
        Self(groups)
    }

    /// The findings that `id` addresses.
    fn meant(&self, id: I) -> Vec<I> {
        let group = self.0.get(&id.group()).into_iter().flatten().copied();
        group.filter(|asked| id.addresses(*asked)).collect()
    }

    fn count(&self, ids: &HashSet<I>) -> usize {
        let meant = ids.iter().map(|id| match self.meant(*id).as_slice() {
            [] => vec![*id],
            meant => meant.to_vec(),
        });
        meant.flatten().collect::<HashSet<_>>().len()
    }

    /// Gives each addressed finding an entry. An entry for a member precedes an entry for its group.
    fn expand<W: AnswerWord<Id = I>>(
        &self,
        entries: Vec<FindingAnswer<W>>,
    ) -> Vec<FindingAnswer<W>> {
        let own: HashSet<I> = entries.iter().map(|entry| entry.finding).collect();
        let mut expanded = Vec::new();
        for entry in entries {
            for finding in self.meant(entry.finding) {
                if finding == entry.finding || !own.contains(&finding) {
                    let entry = entry.clone();
                    expanded.push(FindingAnswer { finding, ..entry });
                }
            }
        }
        expanded
    }
}

type Conflicts<W> = BTreeMap<<W as AnswerWord>::Id, [W; 2]>;

/// Returns the last entry in the list `block` for each finding. A finding whose entries contradict each other gets
/// no entry. For each finding with contradictory entries, the map contains the words of two such entries.
fn merge<W: AnswerWord>(
    block: Vec<Placed<W>>,
    others: &[Placed<W>],
) -> (Vec<FindingAnswer<W>>, Conflicts<W>) {
    let mut places: BTreeMap<W::Id, usize> = BTreeMap::new();
    let mut entries: Vec<FindingAnswer<W>> = Vec::new();
    let mut before: BTreeMap<W::Id, Vec<W>> = BTreeMap::new();
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
        before
            .entry(id_of(other))
            .or_default()
            .push(other.entry.word);
    }
    let mut conflicts = BTreeMap::new();
    for entry in entries.iter().filter(|entry| !entry.word.keeps_open()) {
        let different = before
            .get(&entry.finding)
            .and_then(|words| words.iter().find(|word| **word != entry.word));
        if let Some(different) = different {
            conflicts.insert(entry.finding, [*different, entry.word]);
        }
    }
    entries.retain(|entry| !conflicts.contains_key(&entry.finding));
    (entries, conflicts)
}

fn from_json<W: AnswerWord>(text: &str, names: &Names<W::Id>) -> Option<Gathered<W>> {
    let object: LenientValue = serde_json::from_str(text).ok()?;
    let LenientValue::List(items) = object.get(&[W::LIST]) else {
        return None;
    };
    if items
        .iter()
        .any(|item| !matches!(item, LenientValue::Object(_)))
    {
        return None;
    }
    let mut gathered = Gathered::new();
    gathered.nonce = object.get(&["nonce"]).word();
    for item in items {
        let named = item.get(W::Id::FIELDS).word().unwrap_or_default();
        let by_id = W::Id::parse(&named);
        let Some(finding) = by_id.or_else(|| names.get(&name(&named)).copied()) else {
            gathered.problem(|| format!("`{named}` is not {}", W::Id::KIND));
            continue;
        };
        let answer = item.get(&["answer", "action"]);
        let Some(word) = W::from_json(answer, item.get(&["resolved"])) else {
            gathered.unknown_word(finding, &answer.word().unwrap_or_default());
            continue;
        };
        let text = item
            .get(&["text", "reason", "reasoning", "justification"])
            .string()
            .unwrap_or_default();
        let more = More {
            adjustment: item.get(&["confidence_adjustment"]).word(),
            severity: item.get(&["revised_severity"]).word(),
            description: item.get(&["revised_description"]).string(),
            same_as: item.get(&["same_as"]).word(),
            demonstration: demonstration::of_field(item.get(demonstration::FIELD)),
        };
        let text = text.trim().to_owned();
        let evidence = item.get(&["evidence"]).texts();
        let entry = FindingAnswer {
            finding,
            word,
            text,
            evidence,
            more,
        };
        gathered.entries.push(Placed {
            entry,
            adjacent: true,
        });
    }
    Some(gathered)
}
