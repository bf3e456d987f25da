//! Finds the pairs of findings of different reviewers that may name the same defect, and builds the one request that
//! asks the aggregator about them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

use crate::domain::event::{EventKind, Purpose, ReviewEvent};
use crate::domain::{PairAnswer, PairId, RawFinding, UnsurePair};
use crate::protocol::request::{ComparedFinding, FindingPair, SourceFile, Task};
use crate::rules::consensus::{self, Answers, Member};
use crate::workflows::review::findings::merge::RoundContext;
use crate::workflows::review::findings::pairs;
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
/// about a pair of an earlier run, by the key of the pair. `ruled` does the same for a pair that the rules take for the
/// same: a ruling can have separated it. Returns `None` if there is no pair to be asked about, and
/// no recorded answer.
pub(crate) fn unsure<E>(
    context: &RoundContext<'_>,
    known: impl Fn(&str) -> Result<Option<PairAnswer>, E>,
    ruled: impl Fn(&str) -> Result<Option<PairAnswer>, E>,
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
    for group in &merged.groups {
        for (at, one) in group.members.iter().enumerate() {
            for other in &group.members[at + 1..] {
                let (one, other) = (&members[*one], &members[*other]);
                let key = pairs::key(one, other);
                let apart = ruled(&key)?.filter(|answer| !answer.same);
                pairs.extend(apart.map(|answer| UnsurePair {
                    one: one.id.clone(),
                    other: other.id.clone(),
                    known: Some(answer),
                    key,
                    asked: None,
                }));
            }
        }
    }
    for (one, other) in merged.unsure {
        let (one, other) = (&members[one], &members[other]);
        let key = pairs::key(one, other);
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
