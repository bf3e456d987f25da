//! Finds the pairs of findings of different reviewers that may name the same defect, and builds the one request that
//! asks the aggregator about them. Keeps the answers for later runs, also those about earlier disputes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

use crate::domain::event::{CallAnswer, CallId, EventKind, Purpose, ReviewEvent};
use crate::domain::{
    AgentName, Anchor, Comparison, EarlierDispute, Finding, FindingId, KeyedAnswer, PairAnswer,
    PairId, RawFinding, UnsurePair, Untrusted,
};
use crate::protocol::request::{ComparedFinding, FindingPair, SourceFile, Task};
use crate::protocol::text::printable;
use crate::rules::consensus::{self, Answers, Group, Member};
use crate::workflows::review::findings::merge::RoundContext;
use crate::workflows::review::state::ReviewState;
use crate::workspace::code::anchors::Blocks;
use crate::workspace::diff::delta;

/// The maximum number of pairs in a request.
const PAIRS: usize = 40;

/// The maximum size of the findings and the code in a request, in bytes.
const BYTES: usize = 32 << 10;

/// The maximum size of a finding's description in a request, in bytes. Reviewers name the defect first.
const TEXT: usize = 1200;

/// If a block is longer, only this number of lines before and after the line of the finding is shown.
const AROUND: u32 = 30;

/// The pairs of the unmerged findings of a round that may name the same defect. `known` finds the recorded answer
/// about a pair of an earlier run, by the key of the pair. Returns `None` if there is no pair to be asked about, and
/// no recorded answer.
pub(crate) fn unsure<E>(
    context: &RoundContext<'_>,
    known: impl Fn(&str) -> Result<Option<PairAnswer>, E>,
) -> Result<Option<EventKind>, E> {
    let members = context.unmerged();
    let merged = consensus::merge(
        &members,
        &context.debate(),
        &context.tree(&members),
        context.lists.policy,
        &Answers::default(),
    );
    let mut pairs = Vec::new();
    for (one, other) in merged.unsure {
        let (one, other) = (&members[one], &members[other]);
        let key = key(one, other);
        pairs.push(UnsurePair {
            one: one.id.clone(),
            other: other.id.clone(),
            known: known(&key)?,
            key,
            asked: None,
        });
    }
    if context.state.aggregator().is_some() {
        choose(context, &members, &mut pairs);
    }
    let round = context.round;
    let is_used = pairs
        .iter()
        .any(|pair| pair.asked.is_some() || pair.known.is_some());
    Ok(is_used.then(|| ReviewEvent::PairsUnsure { round, pairs }.into()))
}

fn key(one: &Member, other: &Member) -> String {
    let mut parts = [one, other].map(|member| described(&member.raw, member.anchor.as_ref()));
    parts.sort();
    hash(&parts)
}

fn dispute_key(finding: &Finding, earlier: &EarlierDispute) -> String {
    let parts = [
        described(&finding.raw, finding.anchor.as_ref()),
        format!("dispute {}", earlier.dispute),
    ];
    hash(&parts)
}

/// The text, the place in the code, and the code of a finding.
fn described(raw: &RawFinding, anchor: Option<&Anchor>) -> String {
    serde_json::json!([
        raw.file,
        anchor.map(|anchor| &anchor.block),
        anchor.and_then(|anchor| anchor.offset),
        raw.title,
        raw.body
    ])
    .to_string()
}

fn hash(parts: &[String; 2]) -> String {
    blake3::hash(parts.join("\n").as_bytes())
        .to_hex()
        .to_string()
}

/// The event that keeps the answers of a call for later runs.
pub(crate) fn kept(
    state: &ReviewState,
    call: &CallId,
    by: &AgentName,
    answer: &CallAnswer,
) -> Option<EventKind> {
    let round = call.purpose.round()?;
    let keyed = |key, same, reason: &Untrusted| KeyedAnswer {
        key,
        answer: PairAnswer {
            by: by.clone(),
            same,
            reason: reason.clone(),
        },
    };
    let mut answers = Vec::new();
    match answer {
        CallAnswer::Same { pairs: said } => {
            for pair in state.asked_pairs(round) {
                let said = said.iter().find(|said| Some(said.pair) == pair.asked);
                answers.extend(said.map(|said| keyed(pair.key.clone(), said.same, &said.reason)));
            }
        }
        CallAnswer::Compare { comparisons } => {
            for (finding, earlier) in state.uncertain(round) {
                let said = comparisons.iter().find(|said| said.finding == finding.id);
                let key = dispute_key(finding, earlier);
                answers.extend(said.map(|said| keyed(key, said.same, &said.reason)));
            }
        }
        _ => return None,
    }
    let call = call.clone();
    Some(ReviewEvent::FindingsCompared { call, answers }.into())
}

/// The answers of earlier runs about the findings of a round that may repeat an earlier dispute.
pub(crate) fn reused<E>(
    state: &ReviewState,
    round: u32,
    known: impl Fn(&str) -> Result<Option<PairAnswer>, E>,
) -> Result<Option<EventKind>, E> {
    let mut comparisons = Vec::new();
    for (finding, earlier) in state.uncompared(round) {
        if let Some(answer) = known(&dispute_key(finding, earlier))? {
            comparisons.push(Comparison {
                finding: finding.id,
                same: answer.same,
                reason: answer.reason,
            });
        }
    }
    let is_known = !comparisons.is_empty();
    Ok(is_known.then(|| ReviewEvent::ComparisonsReused { round, comparisons }.into()))
}

/// Gives ids to the pairs that fit into the request, the likeliest pairs first.
fn choose(context: &RoundContext<'_>, members: &[Member], pairs: &mut [UnsurePair]) {
    let by_id: HashMap<&str, &Member> = by_id(members);
    let mut shown = Shown::new(context);
    let mut next = 1;
    for pair in pairs.iter_mut().filter(|pair| pair.known.is_none()) {
        let both = [by_id[pair.one.as_str()], by_id[pair.other.as_str()]];
        if next as usize <= PAIRS && shown.add(both) {
            pair.asked = Some(PairId(next));
            next += 1;
        }
    }
}

pub(crate) fn task(context: &RoundContext<'_>) -> Task {
    let mut members = context
        .raised(|id| matches!(id.purpose, Purpose::Review { round, .. } if round == context.round));
    members.extend(context.own());
    let by_id = by_id(&members);
    let mut shown = Shown::new(context);
    let mut pairs = Vec::new();
    for pair in context.state.asked_pairs(context.round) {
        let (Some(id), Some(one), Some(other)) = (
            pair.asked,
            by_id.get(pair.one.as_str()),
            by_id.get(pair.other.as_str()),
        ) else {
            continue;
        };
        shown.add([one, other]);
        let (one, other) = (shown.number(one), shown.number(other));
        pairs.push(FindingPair { id, one, other });
    }
    Task::Same {
        pairs,
        findings: shown.findings(),
        files: shown.files(),
    }
}

fn by_id(members: &[Member]) -> HashMap<&str, &Member> {
    members
        .iter()
        .map(|member| (member.id.as_str(), member))
        .collect()
}

/// The findings and the code of a request. Each finding and each line is shown once.
struct Shown<'a> {
    context: &'a RoundContext<'a>,
    members: Vec<&'a Member>,
    texts: BTreeMap<&'a str, String>,
    lines: BTreeMap<&'a str, BTreeSet<u32>>,
    bytes: usize,
}

impl<'a> Shown<'a> {
    fn new(context: &'a RoundContext<'a>) -> Self {
        Self {
            context,
            members: Vec::new(),
            texts: BTreeMap::new(),
            lines: BTreeMap::new(),
            bytes: 0,
        }
    }

    /// Adds the findings of a pair, or returns false if the request would become too large.
    fn add(&mut self, pair: [&'a Member; 2]) -> bool {
        let new: Vec<&Member> = pair
            .into_iter()
            .filter(|member| self.members.iter().all(|known| known.id != member.id))
            .collect();
        let mut bytes = self.bytes;
        let mut lines: BTreeSet<(&str, u32)> = BTreeSet::new();
        for member in &new {
            bytes += member.raw.title.as_written().len() + description(&member.raw).len();
            let Some((path, block)) = self.block(member) else {
                continue;
            };
            let known = self.lines.get(path);
            let is_new = |line: &u32| known.is_none_or(|known| !known.contains(line));
            lines.extend(block.filter(is_new).map(|line| (path, line)));
        }
        for (path, line) in &lines {
            let text = self.texts[path].lines().nth(*line as usize - 1);
            bytes += text.unwrap_or_default().len() + 1;
        }
        // The first pair is always asked, however long its lines are.
        if bytes > BYTES && !self.members.is_empty() {
            return false;
        }
        self.bytes = bytes;
        self.members.extend(new);
        for (path, line) in lines {
            self.lines.entry(path).or_default().insert(line);
        }
        true
    }

    /// The lines of code that are shown for a finding.
    fn block(&mut self, member: &'a Member) -> Option<(&'a str, RangeInclusive<u32>)> {
        let path = member.anchor.as_ref()?.file.as_str();
        let line = member.raw.line?;
        let context = self.context;
        let text = self.texts.entry(path).or_insert_with(|| context.text(path));
        let block = Blocks::of(path, text).enclosing(line);
        let first = line.saturating_sub(AROUND).max(*block.start());
        let last = line.saturating_add(AROUND).min(*block.end());
        Some((path, first..=last))
    }

    /// The number of a finding in the request, counted from 1.
    fn number(&self, member: &Member) -> u32 {
        let at = self.members.iter().position(|known| known.id == member.id);
        u32::try_from(at.map_or(0, |at| at + 1)).unwrap_or(u32::MAX)
    }

    fn findings(&self) -> Vec<ComparedFinding> {
        let findings = self.members.iter().map(|member| ComparedFinding {
            number: self.number(member),
            raw: RawFinding {
                body: description(&member.raw).into(),
                suggestion: None,
                evidence: Vec::new(),
                ..member.raw.clone()
            },
        });
        findings.collect()
    }

    fn files(&self) -> Vec<SourceFile> {
        let files = self.lines.iter().map(|(path, lines)| {
            let file = SourceFile {
                path: (*path).to_owned(),
                text: self.texts[path].clone(),
                changed: Vec::new(),
                diff: None,
            };
            let lines: Vec<(u32, u32)> = lines.iter().map(|line| (*line, *line)).collect();
            delta::part(&file, &[], &lines)
        });
        files.collect()
    }
}

fn description(raw: &RawFinding) -> &str {
    let body = raw.body.as_written();
    &body[..body.floor_char_boundary(TEXT)]
}

/// One sentence for each answer that joined two findings of a group.
pub(crate) fn reasons(
    context: &RoundContext<'_>,
    members: &[Member],
    group: &Group,
) -> Vec<String> {
    let find = |id: &str| {
        let mut of_group = group.members.iter().map(|at| &members[*at]);
        of_group.find(|member| member.id == id)
    };
    let mut reasons = Vec::new();
    for ((one, other), answer) in &context.state.same {
        let (Some(one), Some(other), true) = (find(one), find(other), answer.same) else {
            continue;
        };
        let reason = if answer.reason.is_blank() {
            String::new()
        } else {
            format!(": {}", printable::line(answer.reason.as_written()))
        };
        reasons.push(format!(
            "{} and {} name the same defect, says {}{reason}",
            one.model, other.model, answer.by
        ));
    }
    reasons
}

/// Records in each finding which other findings may name the same defect.
pub(crate) fn mark(findings: &mut [Finding], members: &[Member], unsure: &[(usize, usize)]) {
    let mut ids: HashMap<String, FindingId> = HashMap::new();
    for finding in findings.iter() {
        ids.extend(finding.sources().map(|said| (said.to_owned(), finding.id)));
    }
    let mut pairs: BTreeSet<(FindingId, FindingId)> = BTreeSet::new();
    for (one, other) in unsure {
        let one = ids.get(&members[*one].id);
        let other = ids.get(&members[*other].id);
        if let (Some(one), Some(other)) = (one, other)
            && one.group() != other.group()
        {
            pairs.extend([(*one, *other), (*other, *one)]);
        }
    }
    for finding in findings {
        let others = pairs.iter().filter(|(one, _)| *one == finding.id);
        finding.may_be = others.map(|(_, other)| *other).collect();
    }
}
