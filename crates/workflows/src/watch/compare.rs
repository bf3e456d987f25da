//! Compares the issues that reviewers raise in a cycle with earlier issues and with each other.
//!
//! An issue has neither a line nor a weakness, and words alone must not hide an issue. Therefore the aggregator is asked
//! about all issues in similar words, once for each pair of texts, before the cycle is decided.

use std::collections::BTreeSet;

use crate::review::findings::pairs;
use crate::review::findings::unsure::{BYTES, PAIRS, TEXT};
use crate::watch::cycle;
use crate::watch::state::{Cycle, WatchState};
use glee_model::domain::{PairId, PeerIssue, RawFinding, UnsurePair};
use glee_model::rules::consensus::{self, Answers, Debate, Member, Policy};
use glee_protocol::calls::same::{ComparedFinding, FindingPair, SameCall};
use glee_protocol::request::Task;

/// The pairs of issues that may be the same. The issue `one` was raised in the cycle. If `asks` is set, the pairs that
/// nobody was asked about get an id, as far as they fit into a request.
pub(super) fn unsure(state: &WatchState, cycle: &Cycle, asks: bool) -> Vec<UnsurePair> {
    let mut members = raised(state, cycle);
    let count = members.len();
    if count == 0 {
        return Vec::new();
    }
    members.extend(earlier(state));
    let files: Vec<String> = members
        .iter()
        .filter_map(|member| member.raw.file.clone())
        .collect();
    let merged = consensus::merge(
        &members,
        &Debate::default(),
        &files,
        Policy::Panel,
        &Answers::default(),
    );
    let mut alike = merged.unsure;
    for group in &merged.groups {
        let group: Vec<usize> = group
            .members
            .iter()
            .chain(&group.repeats)
            .copied()
            .collect();
        for (at, one) in group.iter().enumerate() {
            alike.extend(group[at + 1..].iter().map(|other| (*one, *other)));
        }
    }
    let mut pairs = Vec::new();
    let mut shown = BTreeSet::new();
    let mut next = 1;
    for (a, b) in alike {
        let one = a.min(b);
        let other = a.max(b);
        if one >= count {
            continue;
        }
        let key = pairs::key(&members[one], &members[other]);
        let mut asked = None;
        if asks && !state.compared.contains_key(&key) && next as usize <= PAIRS {
            let mut more = shown.clone();
            more.extend([one, other]);
            let sizes = more
                .iter()
                .map(|at| members[*at].raw.title.as_written().len());
            if sizes.sum::<usize>() <= BYTES {
                shown = more;
                asked = Some(PairId(next));
                next += 1;
            }
        }
        pairs.push(UnsurePair {
            asked,
            ..pairs::pair(&members[one], &members[other], key, None)
        });
    }
    pairs
}

/// The request to the aggregator about the pairs of the cycle that have an id.
pub(super) fn task(state: &WatchState, cycle: &Cycle) -> Task {
    let mut members = raised(state, cycle);
    members.extend(earlier(state));
    let mut findings: Vec<ComparedFinding> = Vec::new();
    let mut ids: Vec<&str> = Vec::new();
    let mut pairs = Vec::new();
    for pair in &cycle.pairs {
        let Some(id) = pair.asked else { continue };
        let ids_of_pair = [&pair.one, &pair.other];
        let named = ids_of_pair.map(|wanted| members.iter().find(|member| member.id == *wanted));
        let [Some(one), Some(other)] = named else {
            continue;
        };
        let [one, other] = [one, other].map(|member| {
            let at = ids.iter().position(|known| *known == member.id);
            let at = at.unwrap_or_else(|| {
                ids.push(&member.id);
                findings.push(ComparedFinding {
                    number: u32::try_from(ids.len()).unwrap_or(u32::MAX),
                    raw: member.raw.clone(),
                });
                ids.len() - 1
            });
            findings[at].number
        });
        pairs.push(FindingPair { id, one, other });
    }
    Task::Same(SameCall {
        pairs,
        findings,
        files: Vec::new(),
    })
}

/// The issues of the cycle, without those that repeat an issue word by word.
fn raised(state: &WatchState, cycle: &Cycle) -> Vec<Member> {
    let raised = cycle::identified(cycle).filter(|(_, reviewer, issue)| {
        let mut known = state.issues.iter();
        !known.any(|known| known.is_repeated_by(reviewer, issue))
    });
    raised
        .map(|(id, reviewer, issue)| member(id, reviewer.0.clone(), issue))
        .collect()
}

/// The issues that are open, or that a person or the judge closed. Each counts as an issue of another reviewer, so that
/// it is also compared with the issues of its own reviewer.
fn earlier(state: &WatchState) -> impl Iterator<Item = Member> {
    let standing = state
        .issues
        .iter()
        .filter(|issue| issue.stands() && !issue.is_absence());
    standing.map(|issue| {
        let number = issue.number.to_string();
        member(number.clone(), format!("issue {number}"), &issue.issue)
    })
}

fn member(id: String, model: String, issue: &PeerIssue) -> Member {
    Member {
        id,
        model,
        raw: RawFinding {
            title: issue.description.first(TEXT),
            file: issue.file.as_ref().map(|file| file.as_written().to_owned()),
            ..RawFinding::default()
        },
        ..Member::default()
    }
}
