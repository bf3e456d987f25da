//! Groups the findings of different reviewers by problem. The module `likeness` decides about each pair.
//!
//! Different problems can be at the same location, so findings are not grouped by location alone. Each finding is
//! compared with the findings near its lines. Findings with several places are compared by their nearest places. If too many findings are near a finding, the comparison is limited
//! to findings with the same rare terms. The cost is therefore nearly linear in the number of findings. The surest
//! pairs are joined first. Two groups are joined only if they have no reviewer in common and no finding of one group
//! is different from a finding of the other group.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use crate::rules::consensus::answers::Answers;
use crate::rules::consensus::group::UNTITLED;
use crate::rules::consensus::normalise::{Category, NEAR, NormalMember, PlaceMatch, gap};
use crate::rules::consensus::similarity::likeness::{
    Distance, FAR, Likeness, PairFacts, VICINITY, Weakness, likeness,
};
use crate::rules::consensus::similarity::vectors::{Vectors, as_u32};
use crate::rules::consensus::similarity::wording::{self, ComparedText};
use crate::rules::parallel;

/// A finding is compared with at most this number of other findings. If too many findings are near a finding, the
/// comparison is limited to findings with the same rare terms.
const CANDIDATES: usize = 256;

const KEPT: usize = 32;

#[derive(Clone, Copy)]
struct Pair {
    likeness: f32,
    is_same: bool,
    a: u32,
    b: u32,
}

/// Compares the texts with suggestions if `with_suggestions` is set: reviewers who describe one problem in different
/// words often suggest the same change.
pub fn vectors(entries: &[NormalMember<'_>], with_suggestions: bool) -> Vectors {
    let descriptions: Vec<_> = entries
        .iter()
        .map(|entry| entry.member.description())
        .collect();
    let texts = entries
        .iter()
        .zip(&descriptions)
        .map(|(entry, description)| {
            let suggestion = if with_suggestions {
                entry.member.suggestion()
            } else {
                ""
            };
            texts(entry, description, suggestion)
        });
    Vectors::of(&texts.collect::<Vec<_>>())
}

/// The title, description and suggestion. The words of a title that is also the beginning of the description must not
/// count twice.
fn texts<'a>(entry: &NormalMember<'a>, description: &'a str, suggestion: &'a str) -> [&'a str; 3] {
    let title = entry.member.title().trim();
    let is_repeated = description
        .trim_start()
        .starts_with(title.trim_end_matches(['.', '…', ' ']));
    if is_repeated || title == UNTITLED {
        ["", description, suggestion]
    } else {
        [title, description, suggestion]
    }
}

pub(crate) struct Meanings {
    /// The groups, as indices in the list of entries.
    pub groups: Vec<Vec<usize>>,
    /// For each entry, whether only its words joined it to another entry, because neither has a line or a weakness.
    pub by_words: Vec<bool>,
    /// The pairs in different groups that may name the same defect, as indices of members. If a finding names two
    /// defects, it joins the group of one, and forms such pairs with the findings of the other.
    pub unsure: Vec<(usize, usize)>,
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
        compared: entries.iter().map(|_| OnceLock::new()).collect(),
        scattered: (0..entries.len())
            .filter(|index| !entries[*index].further.is_empty())
            .collect(),
    };
    let mut pairs = finder.pairs();
    pairs.sort_unstable_by(|x, y| {
        (y.is_same.cmp(&x.is_same))
            .then(y.likeness.total_cmp(&x.likeness))
            .then((x.a, x.b).cmp(&(y.a, y.b)))
    });
    let mut group_of: Vec<u32> = (0..as_u32(entries.len())).collect();
    let mut groups: Vec<Vec<usize>> = (0..entries.len()).map(|index| vec![index]).collect();
    let mut by_words = vec![false; entries.len()];
    for pair in pairs.iter().filter(|pair| pair.is_same) {
        let a = pair.a as usize;
        let b = pair.b as usize;
        let into = group_of[a] as usize;
        let from = group_of[b] as usize;
        if into != from && finder.may_join(*pair, &groups[into], &groups[from]) {
            let is_by_words = !finder.is_answered(a, b)
                && entries[a].distance(&entries[b]) == Some(Distance::Nowhere)
                && entries[a].weakness(&entries[b]) == Weakness::Unstated;
            by_words[a] |= is_by_words;
            by_words[b] |= is_by_words;
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
        .filter(|(a, b)| group_of[*a] != group_of[*b] && finder.answer(*a, *b) != Some(false))
        .map(|(a, b)| (entries[a].index, entries[b].index))
        .collect();
    groups.retain(|group| !group.is_empty());
    for group in &mut groups {
        group.sort_unstable();
    }
    groups.sort_unstable();
    Meanings {
        groups,
        by_words,
        unsure,
    }
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
    /// The text of each entry, once it is compared word by word.
    compared: Vec<OnceLock<ComparedText<'a>>>,
    /// The entries with several places.
    scattered: Vec<usize>,
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
                let mut found: Vec<(bool, f32, usize)> = Vec::new();
                self.look_from(*index, file, &mut seen_from, |other| {
                    if self.is_answered(*index, other) {
                        return;
                    }
                    match self.likeness(*index, other, |other| comparer.cosine(other)) {
                        Likeness::Same(likeness) => found.push((true, likeness, other)),
                        Likeness::Unsure(likeness) => found.push((false, likeness, other)),
                        Likeness::Different => {}
                    }
                });
                found.sort_unstable_by(|x, y| {
                    (y.0.cmp(&x.0))
                        .then(y.1.total_cmp(&x.1))
                        .then(x.2.cmp(&y.2))
                });
                found.truncate(KEPT);
                pairs.extend(found.iter().map(|(is_same, likeness, other)| Pair {
                    likeness: *likeness,
                    is_same: *is_same,
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

    /// The pairs that are the same according to somebody who was asked. They are joined after the pairs that the rules
    /// decide, so that they join whole groups.
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
            let a = *by_id.get(a)?;
            let b = *by_id.get(b)?;
            Some(Pair {
                likeness: 0.0,
                is_same: true,
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
        let scattered = self.scattered.iter().filter(|other| {
            let distance = entry.distance(&self.entries[**other]);
            **other != index && matches!(distance, Some(Distance::Lines(lines)) if lines <= FAR)
        });
        scattered.take(CANDIDATES).copied().for_each(&mut look);
        let mut scopes: [Range<usize>; 2] = [0..0, 0..0];
        match (entry.file, entry.lines) {
            (None, _) => scopes[0] = 0..self.entries.len(),
            (Some(_), None) => scopes = [file.clone(), self.fileless()],
            (Some(_), Some((_, last))) => {
                // The search covers only entries after `index`. A pair with an earlier entry is found by the
                // search for the earlier entry.
                let reach = match (entry.member.raw.cwe, entry.block) {
                    (None, _) => last.saturating_add(VICINITY),
                    (Some(_), None) => last.saturating_add(FAR),
                    (Some(_), Some(block)) => last.saturating_add(FAR).max(block.1),
                };
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

    fn likeness(&self, a: usize, b: usize, cosine: impl Fn(usize) -> f32) -> Likeness {
        let x = &self.entries[a];
        let y = &self.entries[b];
        let distance = x.distance(y).filter(|_| x.model != y.model);
        let Some(distance) = distance else {
            return Likeness::Different;
        };
        let facts = PairFacts {
            distance,
            is_same_block: x.block.is_some() && x.block == y.block,
            weakness: x.weakness(y),
            cosine: cosine(b),
            is_repetition: false,
        };
        let wording = || wording::compare(self.compared(a), self.compared(b), self.vectors);
        match likeness(&facts, wording) {
            // A denial speaks of a finding that another reviewer raised. It hides no defect, so that doubt is enough.
            Likeness::Unsure(cosine) if x.member.denies != y.member.denies => {
                Likeness::Same(cosine)
            }
            answer => answer,
        }
    }

    fn compared(&self, index: usize) -> &ComparedText<'_> {
        self.compared[index].get_or_init(|| {
            let entry = &self.entries[index];
            let description = entry.member.description();
            let texts = texts(entry, &description, entry.member.suggestion());
            ComparedText::of(index, texts, &entry.member.names, self.vectors)
        })
    }

    /// Whether the two entries name the same defect, according to somebody who was asked.
    fn answer(&self, a: usize, b: usize) -> Option<bool> {
        let id = |index: usize| self.entries[index].member.id.as_str();
        self.answers.are_same(id(a), id(b))
    }

    fn is_answered(&self, a: usize, b: usize) -> bool {
        self.answer(a, b).is_some()
    }

    fn may_join(&self, pair: Pair, a: &[usize], b: &[usize]) -> bool {
        let by_answer = self.is_answered(pair.a as usize, pair.b as usize);
        let mut pairs = a.iter().flat_map(|x| b.iter().map(|y| (*x, *y)));
        pairs.all(|(x, y)| match self.answer(x, y) {
            Some(are_same) => are_same,
            None => {
                self.entries[x].model != self.entries[y].model
                    && (by_answer
                        || self.likeness(x, y, |y| self.vectors.cosine(x, y))
                            != Likeness::Different)
            }
        })
    }
}

impl NormalMember<'_> {
    /// The distance of the nearest places. Returns `None` if the two findings are in different files.
    fn distance(&self, other: &Self) -> Option<Distance> {
        let gaps = self.places().flat_map(|(file, a)| {
            let there = other.places().filter(move |(other, _)| *other == file);
            there.map(move |(_, b)| gap(a, b))
        });
        if let Some(nearest) = gaps.min() {
            return Some(Distance::Lines(nearest));
        }
        let is_same_file = self.file == other.file;
        if !is_same_file && self.file.is_some() && other.file.is_some() {
            return None;
        }
        Some(match (self.lines, other.lines) {
            (None, None) => Distance::Nowhere,
            (Some(a), Some(b)) if is_same_file => Distance::Lines(gap(a, b)),
            _ => Distance::Unknown,
        })
    }

    fn weakness(&self, other: &Self) -> Weakness {
        Weakness::of(self.member.raw.cwe, other.member.raw.cwe)
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
        let joined = open.iter().copied().find(|group| {
            groups[*group].iter().all(|member| {
                entries[*member].model != entry.model && matches_place(&entries[*member], entry)
            })
        });
        if let Some(group) = joined {
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
