//! Pairs anchors of earlier findings with anchors of new findings that describe the same problem.
//!
//! Findings are compared only if their blocks of code exist in the code under review. Glee also recognises a block
//! that has moved to another file. If two findings are in the same block, the distance between them is the
//! difference of their line offsets in the block. If one block encloses the other block, the distance is the
//! difference between the line numbers of the findings. [`Wordings`] compares the words of two findings.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use crate::review::findings::round::TextOf;
use glee_model::domain::{Anchor, Finding};
use glee_model::rules::consensus::similarity::identity::Wordings;
use glee_model::rules::consensus::similarity::likeness::{Likeness, NEAR};
use glee_workspace::code::anchors::Blocks;

/// The indices of an earlier and of a new anchor that certainly or possibly describe the same problem.
pub(crate) struct Pair {
    pub(crate) likeness: Likeness,
    pub(crate) known: usize,
    pub(crate) found: usize,
}

impl Pair {
    pub(crate) fn is_same(&self) -> bool {
        self.likeness.same().is_some()
    }
}

struct Placed<'a> {
    anchor: &'a Anchor,
    block: Option<RangeInclusive<u32>>,
}

impl Placed<'_> {
    fn line(&self) -> Option<u32> {
        Some(self.block.as_ref()?.start() + self.anchor.offset?)
    }

    fn encloses(&self, line: u32) -> bool {
        self.block
            .as_ref()
            .is_some_and(|block| block.contains(&line))
    }

    /// Whether a ruling on this anchor can bind the other anchor although the words differ: the other anchor has to be
    /// inside the block, and must not state another weakness.
    fn covers(&self, other: &Self) -> bool {
        let is_other_weakness =
            matches!((self.anchor.cwe, other.anchor.cwe), (Some(a), Some(b)) if a != b);
        !is_other_weakness
            && (self.anchor.block == other.anchor.block
                || other.line().is_some_and(|line| self.encloses(line)))
    }

    /// Returns the number of lines between two anchors. Returns `None` if the anchors have different blocks, and
    /// neither block contains the other anchor's line. Returns `Some(None)` if the anchors have the same block,
    /// but at least one anchor has no line offset.
    fn distance(&self, other: &Self) -> Option<Option<u32>> {
        if self.anchor.block == other.anchor.block {
            let offsets = self.anchor.offset.zip(other.anchor.offset);
            return Some(offsets.map(|(ours, theirs)| ours.abs_diff(theirs)));
        }
        let ours = self.line()?;
        let theirs = other.line()?;
        (self.encloses(theirs) || other.encloses(ours)).then(|| Some(ours.abs_diff(theirs)))
    }
}

/// The hashes of the blocks in the files where findings were raised. Each file is divided once.
pub(super) struct Originals<'a> {
    text_of: TextOf<'a>,
    blocks: RefCell<HashMap<String, HashSet<String>>>,
}

impl<'a> Originals<'a> {
    pub(super) fn of(text_of: TextOf<'a>) -> Self {
        Self {
            text_of,
            blocks: RefCell::default(),
        }
    }

    /// Whether the file of an anchor no longer contains the block. Only then can the block have moved to another file.
    pub(super) fn lost(&self, anchor: &Anchor) -> bool {
        let mut known = self.blocks.borrow_mut();
        let blocks = known.entry(anchor.file.clone()).or_insert_with(|| {
            let text = (self.text_of)(&anchor.file);
            Blocks::of(&anchor.file, &text).hashes().cloned().collect()
        });
        !blocks.contains(&anchor.block)
    }
}

/// The earlier anchors that can be in a file, by their blocks and by their lines.
struct Earlier<'p> {
    placed: &'p [Placed<'p>],
    in_block: BTreeMap<(&'p str, Option<u32>), Vec<usize>>,
    at_line: BTreeMap<u32, Vec<usize>>,
}

impl<'p> Earlier<'p> {
    fn of(placed: &'p [Placed<'p>]) -> Self {
        let mut earlier = Self {
            placed,
            in_block: BTreeMap::new(),
            at_line: BTreeMap::new(),
        };
        for (index, known) in placed.iter().enumerate() {
            let block = (known.anchor.block.as_str(), known.anchor.offset);
            earlier.in_block.entry(block).or_default().push(index);
            if let Some(line) = known.line() {
                earlier.at_line.entry(line).or_default().push(index);
            }
        }
        earlier
    }

    /// The indices of the anchors that are close enough to a new anchor to be compared with it.
    fn candidates(&self, new: &Placed<'_>) -> Vec<usize> {
        let block = new.anchor.block.as_str();
        let mut candidates: Vec<usize> = Vec::new();
        let offsets = match (new.anchor.offset, new.anchor.cwe) {
            // A finding of the same weakness can be anywhere in the block.
            (None, _) | (_, Some(_)) => None..=Some(u32::MAX),
            (Some(offset), None) => {
                // An anchor without an offset can be anywhere in the block, too.
                candidates.extend(self.in_block.get(&(block, None)).into_iter().flatten());
                Some(offset.saturating_sub(NEAR))..=Some(offset.saturating_add(NEAR))
            }
        };
        let in_block = self
            .in_block
            .range((block, *offsets.start())..=(block, *offsets.end()));
        candidates.extend(in_block.flat_map(|(_, indices)| indices));
        if let Some(line) = new.line() {
            let lines = line.saturating_sub(NEAR)..=line.saturating_add(NEAR);
            for (_, indices) in self.at_line.range(lines) {
                candidates.extend(
                    indices
                        .iter()
                        .filter(|known| self.placed[**known].anchor.block != block),
                );
            }
        }
        candidates
    }
}

/// The pairs of earlier and new anchors that certainly or possibly describe the same problem, the surest first.
pub(crate) fn pairs(known: &[&Anchor], found: &[&Anchor], text_of: TextOf<'_>) -> Vec<Pair> {
    let mut by_file: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, anchor) in found.iter().enumerate() {
        by_file.entry(&anchor.file).or_default().push(index);
    }
    let mut known_in: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut known_as: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, anchor) in known.iter().enumerate() {
        known_in.entry(&anchor.file).or_default().push(index);
        known_as.entry(&anchor.block).or_default().push(index);
    }
    let originals = Originals::of(text_of);
    let mut pairs = Vec::new();
    for (file, new) in by_file {
        let text = text_of(file);
        let blocks = Blocks::of(file, &text);
        let mut old = known_in.get(file).cloned().unwrap_or_default();
        let moved_here = blocks
            .hashes()
            .filter_map(|block| known_as.get(block.as_str()));
        old.extend(moved_here.flatten().filter(|index| {
            let was = known[**index];
            was.file != file && originals.lost(was)
        }));
        old.sort_unstable();
        if old.is_empty() {
            continue;
        }
        let placed = |anchor| Placed {
            anchor,
            block: blocks.place(anchor),
        };
        let of_old: Vec<Placed<'_>> = old.iter().map(|index| placed(known[*index])).collect();
        let of_new: Vec<Placed<'_>> = new.iter().map(|index| placed(found[*index])).collect();
        let wordings = Wordings::of(of_old.iter().chain(&of_new).map(|placed| placed.anchor));
        let earlier = Earlier::of(&of_old);
        for (later, finding) in of_new.iter().enumerate() {
            for before in earlier.candidates(finding) {
                let Some(distance) = of_old[before].distance(finding) else {
                    continue;
                };
                let likeness = wordings.compare(before, old.len() + later, distance);
                let is_pair = match likeness {
                    Likeness::Same(_) => true,
                    Likeness::Unsure(_) => of_old[before].covers(finding),
                    Likeness::Different => false,
                };
                if is_pair {
                    pairs.push(Pair {
                        likeness,
                        known: old[before],
                        found: new[later],
                    });
                }
            }
        }
    }
    closest_first(pairs)
}

/// The anchors of a kind of pairs.
#[derive(Default)]
struct Taken {
    known: BTreeSet<usize>,
    found: BTreeSet<usize>,
}

impl Taken {
    fn has_either(&self, pair: &Pair) -> bool {
        self.known.contains(&pair.known) || self.found.contains(&pair.found)
    }

    fn add(&mut self, pair: &Pair) {
        self.known.insert(pair.known);
        self.found.insert(pair.found);
    }
}

/// Sorts the pairs, beginning with the surest pair, and makes a pair unsure if a surer pair of one of its anchors is
/// unsure. Otherwise, a ruling would bind a finding only because it is unsure whether the ruling is about a finding
/// that is closer to it.
pub(super) fn closest_first(mut pairs: Vec<Pair>) -> Vec<Pair> {
    pairs.sort_by(|a, b| {
        sureness(b.likeness)
            .total_cmp(&sureness(a.likeness))
            .then((a.known, a.found).cmp(&(b.known, b.found)))
    });
    let mut matched = Taken::default();
    let mut reserved = Taken::default();
    for pair in &mut pairs {
        match pair.likeness {
            Likeness::Same(sure) if reserved.has_either(pair) => {
                pair.likeness = Likeness::Unsure(sure);
            }
            Likeness::Same(_) => matched.add(pair),
            Likeness::Unsure(_) if matched.has_either(pair) => {}
            Likeness::Unsure(_) | Likeness::Different => reserved.add(pair),
        }
    }
    pairs
}

pub(super) fn sureness(likeness: Likeness) -> f32 {
    likeness.same().or(likeness.unsure()).unwrap_or_default()
}

/// The pairs of anchors of `earlier` and `later` that describe the same problem, the most similar pair first.
pub(crate) fn likenesses(earlier: &[&Anchor], later: &[&Anchor], text_of: TextOf<'_>) -> Vec<Pair> {
    let mut pairs = pairs(earlier, later, text_of);
    pairs.retain(Pair::is_same);
    pairs
}

/// Maps the index of an anchor in `earlier` to the index of the anchor in `later` that describes the same problem.
/// A later finding repeats at most one earlier finding, because the findings of one run are different problems.
pub(crate) fn continued(
    earlier: &[&Anchor],
    later: &[&Anchor],
    text_of: TextOf<'_>,
) -> BTreeMap<usize, usize> {
    let mut continued = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for Pair { known, found, .. } in likenesses(earlier, later, text_of) {
        if !continued.contains_key(&known) && taken.insert(found) {
            continued.insert(known, found);
        }
    }
    continued
}

/// The anchors of all places of the findings, and the index of the finding of each anchor.
pub(super) fn anchored_places<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
) -> (Vec<usize>, Vec<&'a Anchor>) {
    let findings = findings.into_iter().enumerate();
    findings
        .flat_map(|(index, finding)| finding.anchored().map(move |(_, anchor)| (index, anchor)))
        .unzip()
}
