//! Groups the findings of different reviewers by problem. Findings are compared by their texts and locations.
//!
//! Different problems can be at the same location, so findings are not grouped by location alone. Each finding is
//! compared with the findings near its lines. If too many findings are near a finding, the comparison is limited
//! to findings with the same rare terms. The cost is therefore nearly linear in the number of findings. The most
//! similar pairs are joined first. Two groups are joined only if the average similarity of their findings is
//! sufficient.

use std::collections::HashMap;
use std::ops::Range;

use crate::rules::consensus::answers::Answers;
use crate::rules::consensus::group::UNTITLED;
use crate::rules::consensus::normalise::{Category, NEAR, NormalMember, PlaceMatch};
use crate::rules::consensus::similarity::vectors::{Vectors, as_u32};
use crate::rules::parallel;

/// The minimum cosine similarities at which two texts match. `SAME_LINES` applies to findings on the same line.
/// `SAME_BLOCK` applies to findings in one block or on near lines. `TEXT_ALONE` applies if a file or a line is
/// missing. The thresholds `SAME_LINES` and `SAME_BLOCK` are higher than `TEXT_ALONE`, because different problems
/// at one location often mention the same identifiers.
const SAME_LINES: f32 = 0.18;
const SAME_BLOCK: f32 = 0.22;
const TEXT_ALONE: f32 = 0.13;

/// A finding is compared with at most this number of other findings. If too many findings are near a finding, the
/// comparison is limited to findings with the same rare terms.
const CANDIDATES: usize = 256;

const KEPT: usize = 32;

/// The likeness of two findings that are the same according to somebody who was asked.
const ANSWERED: f32 = 1000.0;

struct Pair {
    likeness: f32,
    a: u32,
    b: u32,
}

pub(crate) fn vectors(entries: &[NormalMember<'_>]) -> Vectors {
    let texts: Vec<_> = entries
        .iter()
        .map(|entry| {
            (
                Some(entry.member.title().trim()).filter(|title| *title != UNTITLED),
                entry.member.description(),
            )
        })
        .collect();
    let texts = texts.iter().map(|(title, description)| {
        let title = title.unwrap_or_default();
        // If the description begins with the title, the words of the title must not count twice.
        let begins = description
            .trim_start()
            .starts_with(title.trim_end_matches(['.', '…', ' ']));
        if begins {
            [description.as_ref(), ""]
        } else {
            [title, description]
        }
    });
    Vectors::of(&texts.collect::<Vec<_>>())
}

pub(crate) struct Meanings {
    /// The groups, as indices in the list of entries.
    pub(crate) groups: Vec<Vec<usize>>,
    /// The pairs in different groups that may name the same defect, as indices of members.
    pub(crate) unsure: Vec<(usize, usize)>,
}

pub(crate) fn by_meaning(
    entries: &[NormalMember<'_>],
    vectors: &Vectors,
    answers: &Answers,
) -> Meanings {
    let finder = Finder {
        entries,
        vectors,
        answers,
        files: files(entries),
    };
    let mut pairs = finder.pairs();
    pairs.sort_unstable_by(|x, y| {
        y.likeness
            .total_cmp(&x.likeness)
            .then((x.a, x.b).cmp(&(y.a, y.b)))
    });
    let mut group_of: Vec<u32> = (0..as_u32(entries.len())).collect();
    let mut groups: Vec<Vec<usize>> = (0..entries.len()).map(|index| vec![index]).collect();
    for Pair { likeness, a, b } in &pairs {
        if *likeness < 1.0 {
            break;
        }
        let (a, b) = (*a, *b);
        let (into, from) = (group_of[a as usize] as usize, group_of[b as usize] as usize);
        if into != from && finder.may_join(&groups[into], &groups[from]) {
            let moved = std::mem::take(&mut groups[from]);
            for member in &moved {
                group_of[*member] = as_u32(into);
            }
            groups[into].extend(moved);
        }
    }
    let unsure = pairs
        .iter()
        .map(|pair| (pair.a as usize, pair.b as usize))
        .filter(|(a, b)| group_of[*a] != group_of[*b] && finder.answer(*a, *b).is_none())
        .map(|(a, b)| (entries[a].index, entries[b].index))
        .collect();
    groups.retain(|group| !group.is_empty());
    for group in &mut groups {
        group.sort_unstable();
    }
    groups.sort_unstable();
    Meanings { groups, unsure }
}

/// Returns a range of indexes in `entries` for each file. If some entries have no file, the range of these
/// entries is the first range.
fn files(entries: &[NormalMember<'_>]) -> Vec<Range<usize>> {
    let files = entries.chunk_by(|a, b| a.file == b.file);
    let ranges = files.scan(0, |end, same| {
        let start = *end;
        *end += same.len();
        Some(start..*end)
    });
    ranges.collect()
}

struct Finder<'a> {
    entries: &'a [NormalMember<'a>],
    vectors: &'a Vectors,
    answers: &'a Answers,
    files: Vec<Range<usize>>,
}

impl Finder<'_> {
    fn pairs(&self) -> Vec<Pair> {
        let all: Vec<(usize, &Range<usize>)> = self
            .files
            .iter()
            .flat_map(|file| file.clone().map(move |index| (index, file)))
            .collect();
        let found = parallel::parts(&all, |part| {
            let mut pairs = Vec::new();
            let mut comparer = self.vectors.comparer();
            let mut seen_from = vec![usize::MAX; self.entries.len()];
            for (index, file) in part {
                comparer.set(*index);
                let mut found: Vec<(f32, usize)> = Vec::new();
                self.look_from(*index, file, &mut seen_from, |other| {
                    let likeness = self.likeness(*index, other, |other| comparer.cosine(other));
                    found.extend(likeness.map(|likeness| (likeness, other)));
                });
                found.sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
                found.truncate(KEPT);
                pairs.extend(found.iter().map(|(likeness, other)| Pair {
                    likeness: *likeness,
                    a: as_u32(*index.min(other)),
                    b: as_u32(*index.max(other)),
                }));
            }
            pairs
        });
        let mut pairs: Vec<Pair> = found.into_iter().flatten().collect();
        pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
        pairs.dedup_by_key(|pair| (pair.a, pair.b));
        pairs.extend(self.answered());
        pairs
    }

    /// The pairs that are the same according to somebody who was asked.
    fn answered(&self) -> Vec<Pair> {
        if self.answers.is_empty() {
            return Vec::new();
        }
        let by_id: HashMap<&str, u32> = (0..)
            .zip(self.entries)
            .map(|(index, entry)| (entry.member.id.as_str(), index))
            .collect();
        let same = self.answers.iter().filter(|(_, _, same)| *same);
        same.filter_map(|(a, b, _)| {
            let (a, b) = (*by_id.get(a)?, *by_id.get(b)?);
            Some(Pair {
                likeness: ANSWERED,
                a: a.min(b),
                b: a.max(b),
            })
        })
        .collect()
    }

    /// Calls `look` with the index of each entry that can match the entry `index`. If more than [`CANDIDATES`]
    /// entries can match, the entries that share rare terms with the entry `index` take precedence. At most
    /// [`CANDIDATES`] entries are chosen. For each entry that was already chosen, the list `seen_from` contains
    /// the value of `index`, so that no entry is chosen twice.
    fn look_from(
        &self,
        index: usize,
        file: &Range<usize>,
        seen_from: &mut [usize],
        mut look: impl FnMut(usize),
    ) {
        let entry = &self.entries[index];
        let mut scopes: [Range<usize>; 2] = [0..0, 0..0];
        match (entry.file, entry.lines) {
            (None, _) => scopes[0] = 0..self.entries.len(),
            (Some(_), None) => scopes = [file.clone(), self.fileless()],
            (Some(_), Some((_, last))) => {
                // The search covers only entries after `index`. A pair with an earlier entry is found by the
                // search for the earlier entry.
                let reach = entry
                    .block
                    .map_or(last, |block| block.1.max(last))
                    .saturating_add(NEAR);
                let later = &self.entries[index + 1..file.end];
                let end = later
                    .partition_point(|other| other.lines.is_some_and(|lines| lines.0 <= reach));
                scopes[0] = index + 1..index + 1 + end;
            }
        }
        let size: usize = scopes.iter().map(ExactSizeIterator::len).sum();
        if size <= CANDIDATES {
            scopes.into_iter().flatten().for_each(look);
            return;
        }
        let mut left = CANDIDATES;
        let mut terms: Vec<u32> = self
            .vectors
            .terms(index)
            .iter()
            .map(|(term, _)| *term)
            .collect();
        terms.sort_by_key(|term| (self.vectors.frequency(*term), *term));
        for (term, scope) in terms
            .into_iter()
            .flat_map(|term| scopes.iter().map(move |scope| (term, scope)))
        {
            let holders = self.vectors.holders(term);
            let inside = |at: usize| holders.partition_point(|holder| (*holder as usize) < at);
            let holders = &holders[inside(scope.start)..inside(scope.end)];
            let here = holders.partition_point(|holder| (*holder as usize) < index);
            let near = here.saturating_sub(left)..holders.len().min(here + left);
            for other in holders[near].iter().map(|holder| *holder as usize) {
                if left > 0 && std::mem::replace(&mut seen_from[other], index) != index {
                    left -= 1;
                    look(other);
                }
            }
            if left == 0 {
                return;
            }
        }
    }

    fn fileless(&self) -> Range<usize> {
        match self.files.first() {
            Some(first) if self.entries[first.start].file.is_none() => first.clone(),
            _ => 0..0,
        }
    }

    fn likeness(&self, a: usize, b: usize, cosine: impl Fn(usize) -> f32) -> Option<f32> {
        let (x, y) = (&self.entries[a], &self.entries[b]);
        if x.model == y.model {
            return None;
        }
        if self.answer(a, b).is_some() {
            return None;
        }
        let likeness = cosine(b) / self.threshold(a, b)?;
        (likeness >= 1.0 || x.lines.is_some() && y.lines.is_some()).then_some(likeness)
    }

    /// Whether the two entries name the same defect, according to somebody who was asked.
    fn answer(&self, a: usize, b: usize) -> Option<bool> {
        let id = |index: usize| self.entries[index].member.id.as_str();
        self.answers.are_same(id(a), id(b))
    }

    /// Returns the minimum cosine at which two entries match. The minimum depends on the distance between the
    /// entries. Returns `None` if the entries are too far apart.
    fn threshold(&self, a: usize, b: usize) -> Option<f32> {
        match self.entries[a].place(&self.entries[b]) {
            PlaceMatch::Same => Some(SAME_LINES),
            PlaceMatch::Near | PlaceMatch::Block => Some(SAME_BLOCK),
            PlaceMatch::Unknown => Some(TEXT_ALONE),
            PlaceMatch::Apart => None,
        }
    }

    fn ratio(&self, a: usize, b: usize) -> f32 {
        match self.answer(a, b) {
            Some(true) => ANSWERED,
            Some(false) => 0.0,
            None => self
                .threshold(a, b)
                .map_or(0.0, |threshold| self.vectors.cosine(a, b) / threshold),
        }
    }

    fn may_join(&self, a: &[usize], b: &[usize]) -> bool {
        let model = |index: &usize| self.entries[*index].model;
        if a.iter().any(|x| {
            b.iter()
                .any(|y| model(x) == model(y) || self.answer(*x, *y) == Some(false))
        }) {
            return false;
        }
        let sum: f32 = a
            .iter()
            .flat_map(|x| b.iter().map(|y| self.ratio(*x, *y)))
            .sum();
        #[expect(
            clippy::cast_precision_loss,
            reason = "a group has at most one entry a reviewer"
        )]
        let pairs = (a.len() * b.len()) as f32;
        sum / pairs >= 1.0
    }
}

/// Groups entries by location and category, without regard to their texts (phase 1 of the specification).
pub(crate) fn by_place(entries: &[NormalMember<'_>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        // Removes a group if its last line is too many lines above the line of this entry. Such a group is also
        // too far above all later entries.
        open.retain(|group| {
            groups[*group].iter().any(|member| {
                let member = &entries[*member];
                let reach = member.lines.map_or(0, |lines| {
                    lines.1.max(member.block.map_or(0, |block| block.1))
                });
                member.file == entry.file
                    && entry
                        .lines
                        .is_some_and(|lines| lines.0 <= reach.saturating_add(NEAR))
            })
        });
        let joins = |group: &&usize| {
            groups[**group].iter().all(|member| {
                entries[*member].model != entry.model && matches_place(&entries[*member], entry)
            })
        };
        if let Some(group) = open.iter().find(joins).copied() {
            groups[group].push(index);
        } else {
            open.push(groups.len());
            groups.push(vec![index]);
        }
    }
    groups
}

/// Whether two entries are close together and have the same category. Two entries are close together if they are
/// on the same line, at most five lines apart, or in the same function. If two entries are on the same line, and
/// one entry has the category `bug`, the categories always match.
fn matches_place(a: &NormalMember<'_>, b: &NormalMember<'_>) -> bool {
    match a.place(b) {
        // Reviewers use `bug` for any kind of defect.
        PlaceMatch::Same => {
            a.category == b.category || [a.category, b.category].contains(&Category::Bug)
        }
        PlaceMatch::Near | PlaceMatch::Block => a.category == b.category,
        PlaceMatch::Unknown | PlaceMatch::Apart => false,
    }
}
