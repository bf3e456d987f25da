//! Numbers for life: finds the earlier problem that each group of findings continues.
//!
//! A finding that repeats a reused answer continues the problem of that answer, and so does a finding about which the
//! aggregator answered that it is the same as an earlier one. Any other finding is compared with the
//! findings of all runs in the history, whether open or closed. At most one group of a round continues a problem.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::review::findings::edited::{self, Raised};
use crate::review::findings::pairing;
use crate::review::findings::round::TextOf;
use crate::review::state::ReviewState;
use glee_model::domain::{Anchor, Finding, FindingId, PostedProblem, ProblemKey, RunId};
use glee_store::history::queries::problems::{KnownFinding, KnownProblems};

#[cfg(test)]
mod tests;

/// The problem that a group of findings continues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Continued<'p> {
    /// The numbers of the problem, the oldest first. If there are several, they have turned out to be one problem.
    pub numbers: Vec<u32>,
    /// For each finding of the group, its position in the group of the oldest number.
    pub members: Vec<Option<u8>>,
    /// The key of the problem, if another history has recorded it.
    pub key: Option<&'p ProblemKey>,
}

/// A finding that may continue an earlier problem.
pub struct Candidate<'a> {
    pub finding: &'a Finding,
    /// The earlier findings that the finding repeats: those of reused answers, and those of which somebody said so.
    pub origins: &'a [FindingId],
    /// The number of the open finding that the finding repeats.
    pub number: Option<u32>,
}

/// Finds for each group of a round the problem that it continues. `owners` has the numbers of which it is known already
/// which group continues them. `text_then` returns the file in which an earlier finding was raised.
pub fn continued<'p>(
    groups: &[Vec<Candidate<'_>>],
    known: &KnownProblems,
    posted: &'p [PostedProblem],
    owners: BTreeMap<u32, usize>,
    text_of: TextOf<'_>,
    text_then: &dyn Fn(&KnownFinding) -> Option<Rc<str>>,
) -> Vec<Continued<'p>> {
    let places: Vec<(usize, usize)> = groups
        .iter()
        .enumerate()
        .flat_map(|(group, members)| (0..members.len()).map(move |member| (group, member)))
        .collect();
    let repeated = places.iter().filter_map(|place| {
        let number = groups[place.0][place.1].number?;
        Some((*place, number))
    });
    let mut claims = Claims {
        owners,
        repeated: repeated.collect(),
        matched: BTreeMap::new(),
        known: &known.findings,
    };
    let mut by_id: HashMap<FindingId, usize> = HashMap::new();
    for (index, earlier) in known.findings.iter().enumerate() {
        by_id.entry(earlier.finding.id).or_insert(index);
    }
    for place in &places {
        for origin in groups[place.0][place.1].origins {
            if let Some(earlier) = by_id.get(origin) {
                claims.take(*place, *earlier);
            }
        }
    }
    let earlier = wordings(&known.findings);
    let anchors: Vec<&Anchor> = earlier.iter().map(|(_, anchor)| *anchor).collect();
    let anchored: Vec<((usize, usize), &Anchor)> = places
        .iter()
        .filter(|place| !claims.matched.contains_key(*place))
        .flat_map(|place| {
            let finding = groups[place.0][place.1].finding;
            finding.anchored().map(move |(_, anchor)| (*place, anchor))
        })
        .collect();
    let found: Vec<&Anchor> = anchored.iter().map(|(_, anchor)| *anchor).collect();
    for pair in pairing::likenesses(&anchors, &found, text_of) {
        claims.take(anchored[pair.found].0, earlier[pair.known].0);
    }
    claims.take_edited(groups, &places, text_of, text_then);
    // Comments and shared rulings name problems of other histories. This history may know them in other code.
    let anchors: Vec<&Anchor> = posted.iter().map(|posted| &posted.anchor).collect();
    let mut foreign = BTreeMap::new();
    for (at, index) in pairing::continued(&anchors, &found, text_of) {
        let (place, _) = anchored[index];
        let key = &posted[at].key;
        match known.findings.iter().position(|known| known.key == *key) {
            Some(earlier) => claims.take(place, earlier),
            None if foreign.values().all(|taken| *taken != key) => {
                foreign.entry(place.0).or_insert(key);
            }
            None => {}
        }
    }
    // A finding without an anchor is the same as an earlier one with its location and title.
    let mut unanchored: HashMap<_, usize> = HashMap::new();
    for (index, earlier) in known.findings.iter().enumerate() {
        if earlier.finding.anchor.is_none() {
            unanchored
                .entry(place_and_title(&earlier.finding))
                .or_insert(index);
        }
    }
    for place in &places {
        let finding = groups[place.0][place.1].finding;
        if finding.anchor.is_none()
            && let Some(earlier) = unanchored.get(&place_and_title(finding))
        {
            claims.take(*place, *earlier);
        }
    }
    let groups = groups.iter().enumerate();
    groups
        .map(|(group, members)| Continued {
            key: foreign.get(&group).copied(),
            ..claims.of_group(group, members)
        })
        .collect()
}

pub(super) fn place_and_title(finding: &Finding) -> (Option<&str>, Option<u32>, &str) {
    let raw = &finding.raw;
    (raw.file.as_deref(), raw.line, raw.title.as_written())
}

/// The anchors of all places of the earlier findings, with the indices of the findings. A text that a finding has several times in one
/// state of the code counts once.
pub(crate) fn wordings(known: &[KnownFinding]) -> Vec<(usize, &Anchor)> {
    let mut seen = HashSet::new();
    let anchored = known.iter().enumerate();
    anchored
        .flat_map(|(index, earlier)| {
            let anchors = earlier.finding.anchored();
            anchors.map(move |(_, anchor)| (index, earlier, anchor))
        })
        .filter(|(_, earlier, anchor)| {
            seen.insert((
                earlier.finding.id,
                &anchor.file,
                &anchor.block,
                &anchor.text,
            ))
        })
        .map(|(index, _, anchor)| (index, anchor))
        .collect()
}

struct Claims<'a> {
    /// The group that continues each number.
    owners: BTreeMap<u32, usize>,
    /// The numbers of the open findings that findings repeat. Such a finding continues no other problem.
    repeated: BTreeMap<(usize, usize), u32>,
    /// The index of the earlier finding that each finding continues.
    matched: BTreeMap<(usize, usize), usize>,
    known: &'a [KnownFinding],
}

impl Claims<'_> {
    /// Lets a finding of a group continue an earlier finding, unless another group continues its problem or the finding
    /// continues another one.
    fn take(&mut self, place: (usize, usize), earlier: usize) {
        let number = self.known[earlier].number;
        if self
            .repeated
            .get(&place)
            .is_some_and(|repeated| *repeated != number)
        {
            return;
        }
        if !self.matched.contains_key(&place)
            && *self.owners.entry(number).or_insert(place.0) == place.0
        {
            self.matched.insert(place, earlier);
        }
    }

    /// Lets the findings that are left continue earlier ones whose code was edited. Of each earlier finding, only the
    /// newest wording counts.
    fn take_edited(
        &mut self,
        groups: &[Vec<Candidate<'_>>],
        places: &[(usize, usize)],
        text_of: TextOf<'_>,
        text_then: &dyn Fn(&KnownFinding) -> Option<Rc<str>>,
    ) {
        let mut left = Vec::new();
        let mut found = Vec::new();
        for place in places {
            let raised = Raised::of(groups[place.0][place.1].finding);
            if let Some(raised) = raised.filter(|_| !self.matched.contains_key(place)) {
                left.push(*place);
                found.push(raised);
            }
        }
        let mut seen = HashSet::new();
        let mut newest = Vec::new();
        let mut earlier = Vec::new();
        for (index, known) in self.known.iter().enumerate() {
            if seen.insert((known.number, known.finding.id))
                && let Some(raised) = Raised::of(&known.finding)
            {
                newest.push(index);
                earlier.push(raised);
            }
        }
        // If the earlier code is not known, nothing tells that it was edited.
        let unknown: Rc<str> = "".into();
        let mut pairs = edited::pairs(&earlier, &found, text_of, |at| {
            let text = text_then(&self.known[newest[at]]);
            Some(text.unwrap_or_else(|| Rc::clone(&unknown)))
        });
        // In another file, edited code with the same problem is probably a copy.
        pairs.retain(|(_, known, new)| earlier[*known].anchor.file == found[*new].anchor.file);
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        for (_, earlier, finding) in pairs {
            self.take(left[finding], newest[earlier]);
        }
    }

    fn of_group(&self, group: usize, members: &[Candidate<'_>]) -> Continued<'static> {
        let matched: Vec<Option<&KnownFinding>> = (0..members.len())
            .map(|member| Some(&self.known[*self.matched.get(&(group, member))?]))
            .collect();
        let numbers: BTreeSet<u32> = matched.iter().flatten().map(|known| known.number).collect();
        let oldest = numbers.first().copied();
        let mut used = BTreeSet::new();
        let mut positions: Vec<Option<u8>> = Vec::new();
        for matched in &matched {
            let of_oldest = matched.filter(|known| Some(known.number) == oldest);
            let member = of_oldest.and_then(|known| known.member);
            positions.push(
                member
                    .map(|member| member.max(1))
                    .filter(|at| used.insert(*at)),
            );
        }
        // A reviewer keeps its position in other words, too.
        for (at, candidate) in positions.iter_mut().zip(members) {
            if at.is_none() {
                let by = &candidate.finding.raised_by;
                let own = self
                    .known
                    .iter()
                    .filter(|known| {
                        let mut raised_by = known.finding.raised_by.iter();
                        Some(known.number) == oldest && raised_by.any(|name| by.contains(name))
                    })
                    .filter_map(|known| Some(known.member?.max(1)))
                    .find(|position| !used.contains(position));
                used.extend(own);
                *at = own;
            }
        }
        Continued {
            numbers: numbers.into_iter().collect(),
            members: positions,
            key: None,
        }
    }
}

/// For the number of each group in the history, the letter of its last member.
pub fn letters(known: &KnownProblems) -> BTreeMap<u32, u8> {
    let mut letters = BTreeMap::new();
    for earlier in &known.findings {
        let last = letters.entry(earlier.number).or_insert(1);
        *last = earlier.member.unwrap_or(0).max(*last);
    }
    letters
}

/// The keys of the problems in the history.
pub fn keys(known: &KnownProblems) -> BTreeMap<u32, &ProblemKey> {
    let keys = known.findings.iter();
    keys.map(|earlier| (earlier.number, &earlier.key)).collect()
}

/// The problems of a recorded run, for a replay of the run. A replay gives its findings the recorded numbers. A finding
/// that a ruling separated from its group first gets its former number.
pub fn of_run(run: &RunId, record: &ReviewState) -> KnownProblems {
    let findings = &record.findings;
    let known = findings.iter().map(|finding| {
        let mut separated = record.separated.iter();
        let separated = separated.find(|(_, now)| **now == finding.id);
        let id = separated.map_or(finding.id, |(was, _)| *was);
        let mut problem = findings.iter().filter(|known| known.id.number == id.number);
        let key = problem.find_map(|known| known.problem.clone());
        KnownFinding {
            run: run.clone(),
            number: id.number,
            member: Some(id.member),
            key: key.unwrap_or_else(|| ProblemKey::of(run, id)),
            finding: Arc::new(Finding {
                id,
                ..finding.clone()
            }),
        }
    });
    let last = findings.iter().map(|finding| finding.id.number).max();
    KnownProblems {
        as_of: 0,
        next: last.unwrap_or(0) + 1,
        findings: known.collect(),
    }
}
