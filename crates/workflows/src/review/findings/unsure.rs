//! Finds the pairs of findings that may name the same defect, and builds the one request that asks the aggregator about
//! them. Both findings are of the round, or one is an earlier finding without a dispute. The judge is asked about earlier
//! disputes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

use crate::review::findings::debate::{self, MergedRound};
use crate::review::findings::pairing::{self, Pair};
use crate::review::findings::round::RoundContext;
use crate::review::findings::round::TextOf;
use crate::review::findings::{numbers, pairs};
use glee_model::domain::event::{EventKind, Purpose, ReviewEvent};
use glee_model::domain::{Anchor, Finding, PairAnswer, PairId, RaisedIn, RawFinding, UnsurePair};
use glee_model::rules::consensus::{self, Answers, Group, Member};
use glee_protocol::calls::same::{ComparedFinding, FindingPair, SameCall};
use glee_protocol::request::{SourceFile, Task};
use glee_store::history::queries::problems::KnownFinding;
use glee_store::history::queries::rows::Binding;
use glee_workspace::code::anchors::Blocks;
use glee_workspace::diff::delta;

/// The maximum number of pairs in a request.
pub const PAIRS: usize = 40;

/// The maximum size of the findings and the code in a request, in bytes.
pub const BYTES: usize = 32 << 10;

/// The maximum size of a finding's description in a request, in bytes. Reviewers name the defect first.
pub const TEXT: usize = 1200;

/// If a block is longer, only this number of lines before and after the line of the finding is shown.
const AROUND: u32 = 30;

/// The pairs of findings of a round that may name the same defect: the unmerged findings of the reviews, or the findings
/// that were raised in the debate, with all others. `known` finds the recorded answer about a pair of an earlier run, by
/// the key of the pair. `ruled` does the same for a pair that the rules take for the same: a ruling can have separated
/// it. Returns `None` if there is no pair to be asked about, and no recorded answer.
pub fn unsure<E>(
    context: &RoundContext<'_>,
    raised_in: RaisedIn,
    bindings: &[Binding],
    known: impl Fn(&str) -> Result<Option<PairAnswer>, E>,
    ruled: impl Fn(&str) -> Result<Option<PairAnswer>, E>,
) -> Result<Option<EventKind>, E> {
    let Compared {
        mut members,
        together,
        unsure,
        earlier,
    } = match raised_in {
        RaisedIn::Review => Compared::raised(context, bindings),
        RaisedIn::Debate => {
            let (members, unsure) = MergedRound::of(context).observed();
            Compared {
                members,
                unsure,
                ..Compared::default()
            }
        }
    };
    let mut pairs = Vec::new();
    for (one, other) in together {
        let one = &members[one];
        let other = &members[other];
        let key = pairs::key(one, other);
        let apart = ruled(&key)?.filter(|answer| !answer.same);
        pairs.extend(apart.map(|answer| pairs::pair(one, other, key, Some(answer))));
    }
    for (one, other) in unsure {
        let one = &members[one];
        let other = &members[other];
        let key = pairs::key(one, other);
        let known = known(&key)?;
        pairs.push(pairs::pair(one, other, key, known));
    }
    for (one, finding) in earlier {
        let other = member(&finding);
        let key = pairs::key(&members[one], &other);
        let known = known(&key)?;
        pairs.push(UnsurePair {
            earlier: Some(Box::new(finding)),
            ..pairs::pair(&members[one], &other, key, known)
        });
        members.push(other);
    }
    if context.state.aggregator().is_some() {
        choose(context, &members, &mut pairs);
    }
    pairs.retain(|pair| pair.earlier.is_none() || pair.asked.is_some() || pair.known.is_some());
    let round = context.round;
    let is_used = pairs
        .iter()
        .any(|pair| pair.asked.is_some() || pair.known.is_some());
    let event = ReviewEvent::PairsUnsure {
        round,
        raised_in,
        pairs,
    };
    Ok(is_used.then(|| event.into()))
}

#[derive(Default)]
struct Compared {
    members: Vec<Member>,
    /// The pairs that the rules take for the same.
    together: Vec<(usize, usize)>,
    /// The pairs that may name the same defect.
    unsure: Vec<(usize, usize)>,
    /// The earlier findings that a finding may continue.
    earlier: Vec<(usize, Finding)>,
}

impl Compared {
    fn raised(context: &RoundContext<'_>, bindings: &[Binding]) -> Self {
        let members = context.unmerged();
        let merged = consensus::merge(
            &members,
            &context.debate(),
            &context.tree(&members),
            context.lists.policy,
            &Answers::default(),
        );
        let mut together = Vec::new();
        for group in &merged.groups {
            for (at, one) in group.members.iter().enumerate() {
                together.extend(group.members[at + 1..].iter().map(|other| (*one, *other)));
            }
        }
        Self {
            earlier: earlier(context, bindings, &members, &merged.groups),
            unsure: merged.unsure,
            members,
            together,
        }
    }
}

/// The earlier findings without a dispute that may name the same defect as an unmerged finding, with the index of the
/// unmerged finding, the likeliest first. The earlier findings are at their present places in the code. A group has at
/// most one pair for each problem. If it is certain which problem a group continues, neither of them is in a pair.
fn earlier(
    context: &RoundContext<'_>,
    bindings: &[Binding],
    members: &[Member],
    groups: &[Group],
) -> Vec<(usize, Finding)> {
    let known = &context.known.findings;
    let text_of = |path: &str| context.text(path);
    let wordings = numbers::wordings(known);
    let before: Vec<&Anchor> = wordings.iter().map(|(_, anchor)| *anchor).collect();
    let anchored: Vec<(usize, &Anchor)> = members
        .iter()
        .enumerate()
        .filter(|(_, member)| !member.denies)
        .filter_map(|(index, member)| Some((index, member.anchor.as_ref()?)))
        .collect();
    let after: Vec<&Anchor> = anchored.iter().map(|(_, anchor)| *anchor).collect();
    let pairs = pairing::pairs(&before, &after, &text_of);
    let (same, unsure): (Vec<Pair>, Vec<Pair>) = pairs.into_iter().partition(Pair::is_same);
    let mut group_of = vec![0; members.len()];
    for (number, group) in groups.iter().enumerate() {
        for index in group.members.iter().chain(&group.repeats) {
            group_of[*index] = number;
        }
    }
    let mut continued = BTreeSet::new();
    let mut numbers = disputed(known, bindings);
    for pair in same {
        continued.insert(group_of[anchored[pair.found].0]);
        numbers.insert(known[wordings[pair.known].0].number);
    }
    let origins = context.origins();
    for (index, member) in members.iter().enumerate() {
        if let Some(origin) = origins.get(&member.id) {
            continued.insert(group_of[index]);
            numbers.insert(origin.number);
        }
    }
    let mut pairs = Vec::new();
    let mut seen = BTreeSet::new();
    for pair in unsure {
        let earlier = &known[wordings[pair.known].0];
        let (index, anchor) = anchored[pair.found];
        let group = group_of[index];
        if !continued.contains(&group)
            && !numbers.contains(&earlier.number)
            && seen.insert((group, earlier.number))
        {
            let present = present(&earlier.finding, &anchor.file, &text_of);
            pairs.extend(present.map(|finding| (index, finding)));
        }
    }
    pairs
}

/// The numbers of the problems with a dispute.
fn disputed(known: &[KnownFinding], bindings: &[Binding]) -> BTreeSet<u32> {
    let disputed = known.iter().filter(|earlier| {
        let mut bindings = bindings.iter();
        bindings.any(|binding| {
            binding.problem.as_ref() == Some(&earlier.key)
                || binding.number().is_some() && binding.finding.number == earlier.finding.id.number
        })
    });
    disputed.map(|earlier| earlier.number).collect()
}

/// An earlier finding in the file that has its block now.
fn present(earlier: &Finding, file: &str, text_of: TextOf<'_>) -> Option<Finding> {
    let anchor = earlier.anchor.clone()?;
    let block = Blocks::of(file, &text_of(file)).place(&anchor)?;
    Some(Finding {
        raw: RawFinding {
            file: Some(file.to_owned()),
            line: Some(block.start() + anchor.offset.unwrap_or(0)),
            end_line: None,
            places: Vec::new(),
            ..earlier.raw.clone()
        },
        anchor: Some(Anchor {
            file: file.to_owned(),
            ..anchor
        }),
        also: Vec::new(),
        consensus: None,
        ..earlier.clone()
    })
}

/// An earlier finding as a finding of the request.
fn member(earlier: &Finding) -> Member {
    Member {
        id: earlier.id.to_string(),
        raw: earlier.raw.clone(),
        anchor: earlier.anchor.clone(),
        ..Member::default()
    }
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

pub fn task(context: &RoundContext<'_>, raised_in: RaisedIn) -> Task {
    let mut members = context
        .raised(|id| matches!(id.purpose, Purpose::Review { round, .. } if round == context.round));
    members.extend(context.own());
    members.extend(debate::observations(context));
    let asked = || context.state.asked_pairs(context.round, raised_in);
    let earlier = asked().filter_map(|pair| pair.earlier.as_deref());
    members.extend(earlier.map(member));
    let by_id = by_id(&members);
    let mut shown = Shown::new(context);
    let mut pairs = Vec::new();
    for pair in asked() {
        if let Some(id) = pair.asked
            && let Some(one) = by_id.get(pair.one.as_str())
            && let Some(other) = by_id.get(pair.other.as_str())
        {
            shown.add([one, other]);
            let one = shown.number(one);
            let other = shown.number(other);
            pairs.push(FindingPair { id, one, other });
        }
    }
    Task::Same(SameCall {
        pairs,
        findings: shown.findings(),
        files: shown.files(),
    })
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
            lines.extend(
                block
                    .filter(|line| known.is_none_or(|known| !known.contains(line)))
                    .map(|line| (path, line)),
            );
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
            let file = SourceFile::whole(*path, self.texts[path].clone());
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
