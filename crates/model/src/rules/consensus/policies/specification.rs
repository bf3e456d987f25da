//! The policy `specification` applies phases 1 to 7 of the debate arbitrator's specification.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::panel;
use crate::domain::{Class, fold};
use crate::rules::consensus::debate::Debate;
use crate::rules::consensus::evidence::{self, Evidence};
use crate::rules::consensus::group::{
    Agreement, ConflictKind, Criteria, EvidenceChallenge, Group, GroupState, Level, Member, Policy,
    UNTITLED,
};
use crate::rules::consensus::normalise::{Category, NormalMember, category};
use crate::rules::consensus::similarity::groups;
use crate::rules::consensus::votes::{Votes, Voting};

/// A finding wins a conflict if the weight of its evidence exceeds the weight of the opposing evidence by at least
/// this number.
const CLEARLY: i32 = 2;

/// [`assemble`] searches at most this number of preceding lists for a group that contains the current group.
const NEIGHBOURS: usize = 16;

const SINGLE: &str = "single source: ";

/// The number of points by which a resolved conflict changes the confidence of the winning finding.
const CONFLICT: i32 = -10;

pub(crate) fn decide(
    members: &[Member],
    entries: &[NormalMember<'_>],
    debate: &Debate,
) -> Vec<Group> {
    let voting = Voting::of(members, debate, Policy::Specification);
    let groups = voting.decide(
        entries,
        &groups::vectors(entries, false),
        &groups::by_place(entries),
        group,
    );
    let by_index: HashMap<usize, &NormalMember<'_>> =
        entries.iter().map(|entry| (entry.index, entry)).collect();
    let joined = assemble(groups, members)
        .into_iter()
        .map(|parts| match &*parts {
            [group] => group.clone(),
            parts => {
                let indices = parts.iter().flat_map(|part| &part.members);
                join(
                    &voting,
                    members,
                    parts,
                    indices.filter_map(|index| by_index.get(index).copied()),
                )
            }
        });
    joined.collect()
}

/// Combines related groups into lists (phase 7). Two accepted groups are related if one group contains the other
/// group, or if the two groups have the same category and the same title. A group joins a list if the group is
/// related to the first group of the list.
fn assemble(groups: Vec<Group>, members: &[Member]) -> Vec<Vec<Group>> {
    let mut kept: Vec<Vec<Group>> = Vec::with_capacity(groups.len());
    let mut causes: HashMap<(Category, String), usize> = HashMap::new();
    for group in groups {
        let member = &members[group.members[0]];
        let raw = &member.raw;
        if group.class != Class::Accepted || raw.title.is_empty() || member.title() == UNTITLED {
            kept.push(vec![group]);
            continue;
        }
        let category = category(raw.category.as_deref(), raw.rule.as_deref(), member.title());
        let title = fold(member.title()).to_lowercase();
        let cause = (category, title.clone());
        let whole = causes.get(&cause).copied().or_else(|| {
            let mut near = kept.iter().enumerate().rev().take(NEIGHBOURS);
            let whole = near.find(|(_, other)| {
                let other = &other[0];
                other.class == Class::Accepted
                    && is_part(member, &title, &members[other.members[0]])
            });
            whole.map(|(at, _)| at)
        });
        match whole {
            Some(into) => kept[into].push(group),
            None => {
                causes.insert(cause, kept.len());
                kept.push(vec![group]);
            }
        }
    }
    kept
}

/// Merges several groups into one group. The first finding of each reviewer becomes a member. The member gets the
/// highest severity and the highest confidence of all findings of this reviewer. The other findings of this
/// reviewer are listed in the member's field `repeats`.
fn join<'a>(
    voting: &Voting<'_>,
    all: &[Member],
    parts: &[Group],
    entries: impl Iterator<Item = &'a NormalMember<'a>>,
) -> Group {
    let mut members: Vec<NormalMember<'_>> = Vec::new();
    for entry in entries {
        match members.iter_mut().find(|known| known.model == entry.model) {
            Some(known) => {
                known.repeats.push(entry.index);
                known.repeats.extend(&entry.repeats);
                known.severity = known.severity.max(entry.severity);
                known.confidence = known.confidence.max(entry.confidence);
            }
            None => members.push(entry.clone()),
        }
    }
    let severity = parts
        .iter()
        .map(|part| part.severity)
        .max()
        .unwrap_or(Level::Low);
    let also = parts[1..].iter().map(|part| {
        let member = &all[part.members[0]];
        format!("also at {}: {}", evidence::place(member), member.title())
    });
    let agree = members.len() > 1
        && parts
            .iter()
            .all(|part| !matches!(part.state, GroupState::Conflicted(_)));
    let notes = parts
        .iter()
        .flat_map(|part| &part.notes)
        .filter(|note| !agree || !note.starts_with(SINGLE))
        .cloned();
    let mut notes: Vec<String> = notes.chain(also).collect();
    let mut group = if agree {
        let lead = members[0].model;
        let mut votes = voting.votes(members.iter().collect());
        votes.affirming.sort_by_key(|entry| entry.model != lead);
        let mut group = Group {
            severity,
            ..agreed(&votes)
        };
        after_debate(&votes, &mut group);
        let group = votes.complete(group);
        notes.extend(group.notes.iter().cloned());
        group
    } else {
        Group {
            severity,
            members: members.iter().map(|entry| entry.index).collect(),
            repeats: members
                .iter()
                .flat_map(|entry| entry.repeats.iter().copied())
                .collect(),
            ..parts[0].clone()
        }
    };
    let mut seen = HashSet::new();
    notes.retain(|note| seen.insert(note.clone()));
    group.notes = notes;
    group
}

/// Whether the lines of `other` contain the lines of `member`, and the description of `other` contains the title
/// of `member`. `title` is the title of `member` in lower case.
fn is_part(member: &Member, title: &str, other: &Member) -> bool {
    let (Some(inner), Some(outer)) = (member.raw.lines(), other.raw.lines()) else {
        return false;
    };
    member.raw.file == other.raw.file
        && outer.0 <= inner.0
        && inner.1 <= outer.1
        && other.description().to_lowercase().contains(title)
}

fn group(votes: &Votes<'_>) -> Group {
    let state = match votes.state() {
        // At least three reviewers report the problem, so the median of their severities resolves the conflict.
        GroupState::Conflicted(ConflictKind::Severity)
            if votes.affirming.len() > 2 && !votes.unlike =>
        {
            GroupState::Agreed
        }
        state => state,
    };
    let mut group = match state {
        GroupState::Agreed => agreed(votes),
        GroupState::Conflicted(conflict) => conflicted(votes, conflict),
        GroupState::Unique if votes.supporters().is_empty() => unique(votes),
        GroupState::Unique => supported(votes),
    };
    if group.class == Class::Accepted
        && let Some(challenge) = group.challenge.clone().filter(|challenge| !challenge.holds)
    {
        weaken(&mut group, challenge);
    }
    after_debate(votes, &mut group);
    votes.complete(group)
}

fn agreed(votes: &Votes<'_>) -> Group {
    Group {
        class: Class::Accepted,
        state: GroupState::Agreed,
        agreement: Some(votes.agreement()),
        bonus: (votes.agreement_bonus(), "agreement"),
        why: format!(
            "{} reviewers agree: {}",
            votes.affirming.len(),
            votes.names().join(", ")
        ),
        challenge: votes.challenge(None),
        reversal: evidence::REVERSAL.to_owned(),
        ..votes.undecided()
    }
}

/// Accepts a finding that one reviewer raised and other reviewers supported in round 2 (phase 2). The confidence
/// gets no bonus for the agreement, because the answers of round 2 already change the confidence.
fn supported(votes: &Votes<'_>) -> Group {
    let (score, _) = evidence::score(votes.affirming[0], votes.evidence[0]);
    let raiser = &votes.lead().model;
    let supporters = votes.supporters().join(", ");
    Group {
        bonus: (0, ""),
        score: Some(score),
        why: format!("raised by {raiser}, confirmed by {supporters}"),
        ..agreed(votes)
    }
}

fn conflicted(votes: &Votes<'_>, conflict: ConflictKind) -> Group {
    let affirming = votes
        .affirming
        .iter()
        .zip(&votes.evidence)
        .map(|(entry, evidence)| (*entry, weigh(entry, *evidence)));
    let mut sides: Vec<(&NormalMember<'_>, i32)> = match conflict {
        ConflictKind::Severity | ConflictKind::Cause => affirming.collect(),
        ConflictKind::Validity => {
            let denying = votes
                .denying
                .iter()
                .map(|entry| (*entry, weigh(entry, Evidence::of(entry))));
            let strongest = affirming.map(|(_, weight)| weight).max().unwrap_or(0);
            std::iter::once((votes.affirming[0], strongest))
                .chain(denying)
                .collect()
        }
    };
    // The sort is stable, so findings whose evidence has equal weight remain sorted by confidence.
    sides.sort_by_key(|(_, weight)| Reverse(*weight));
    let (winner, weight) = sides[0];
    let rival = sides
        .iter()
        .skip(1)
        .find(|(entry, _)| opposes(conflict, winner, entry));
    let clear = rival.is_none_or(|(_, other)| weight - other >= CLEARLY);
    let mut group = Group {
        class: Class::Disputed,
        state: GroupState::Conflicted(conflict),
        severity: votes.highest_severity(),
        original_confidence: votes.lowest_confidence(),
        bonus: (0, "conflict resolved"),
        notes: vec![question(
            conflict,
            winner,
            rival.map_or(winner, |(entry, _)| entry),
        )],
        why: "reviewers contradict each other, and neither side's evidence is clearly stronger"
            .to_owned(),
        challenge: votes.challenge(None),
        reversal: "evidence that answers the resolution criteria".to_owned(),
        ..votes.undecided()
    };
    if clear {
        let name = &winner.member.model;
        group.original_confidence = winner.confidence;
        group.bonus.0 = CONFLICT;
        group.severity = winner.severity;
        if winner.member.denies {
            group.class = Class::Rejected;
            group.why = format!(
                "{name} denies the problem, and the evidence of {name} is clearly stronger"
            );
        } else {
            group.class = Class::Accepted;
            group.agreement = Some(Agreement::ConflictResolved);
            group.why = format!("the evidence of {name} is clearly stronger");
        }
        let dissent = sides
            .iter()
            .filter(|(entry, _)| opposes(conflict, winner, entry));
        let dissent: Vec<&str> = dissent
            .map(|(entry, _)| entry.member.model.as_str())
            .collect();
        group
            .notes
            .push(format!("dissenting: {}", dissent.join(", ")));
    } else if conflict == ConflictKind::Cause {
        let stated = votes
            .affirming
            .iter()
            .chain(&votes.denying)
            .filter_map(|entry| entry.confidence);
        let all: Vec<usize> = stated.map(usize::from).collect();
        let mean = (all.iter().sum::<usize>() + all.len() / 2).checked_div(all.len());
        group.severity = votes.severity();
        group.original_confidence = mean.and_then(|mean| u8::try_from(mean).ok());
        group.class = Class::Accepted;
        group.agreement = Some(Agreement::ConflictResolved);
        group.why =
            "the reviewers report different causes at one location; both may be partly right"
                .to_owned();
    }
    group
}

fn weigh(entry: &NormalMember<'_>, evidence: Evidence) -> i32 {
    evidence.weight(entry.severity, entry.confidence)
}

fn opposes(conflict: ConflictKind, a: &NormalMember<'_>, b: &NormalMember<'_>) -> bool {
    match conflict {
        ConflictKind::Severity => (a.severity as usize).abs_diff(b.severity as usize) >= 2,
        ConflictKind::Validity | ConflictKind::Cause => a.index != b.index,
    }
}

fn question(conflict: ConflictKind, x: &NormalMember<'_>, w: &NormalMember<'_>) -> String {
    let member = x.member;
    let counter = w.member;
    let (against, criteria) = match conflict {
        ConflictKind::Severity => (
            format!("severity {} is right", w.severity),
            "the worst effect that an attacker or a user can cause",
        ),
        ConflictKind::Validity => (
            format!("it is no issue: {}", counter.title()),
            "whether an input exists that triggers it",
        ),
        ConflictKind::Cause => (
            format!("the cause is different: {}", counter.title()),
            "which change removes the symptom",
        ),
    };
    format!(
        "{} claims \"{}\" at {} with severity {}, but {} claims that {against}.{}{} Resolution criteria: {criteria}.",
        member.model,
        member.title(),
        evidence::place(member),
        x.severity,
        counter.model,
        said(member),
        said(counter),
    )
}

/// The sentence with the first line of the evidence. It is empty without evidence.
fn said(member: &Member) -> String {
    let description = member.description();
    let lines = description.lines();
    let mut lines = lines.map(|line| line.trim().trim_end_matches('.'));
    lines
        .find(|line| !line.is_empty())
        .map_or_else(String::new, |line| {
            format!(" Evidence from {}: {line}.", member.model)
        })
}

fn unique(votes: &Votes<'_>) -> Group {
    let entry = votes.affirming[0];
    let (score, extraordinary) = evidence::score(entry, votes.evidence[0]);
    let challenge = votes.challenge(Some(score));
    let name = &votes.lead().model;
    let (accepted, bonus) = unique_decision(entry.confidence, score);
    let mut notes = Vec::new();
    if extraordinary {
        notes.push(evidence::EXTRAORDINARY.to_owned());
    }
    if entry.confidence.is_none() {
        notes.push(evidence::UNSTATED.to_owned());
    }
    let sure = entry.confidence.is_some_and(|sure| sure >= 85);
    let lacks = entry.severity == Level::Critical && !(sure && votes.evidence[0].is_concrete());
    let (class, why) = match (accepted, lacks) {
        (true, false) => {
            notes.push(format!("{SINGLE}{name}"));
            (
                Class::Accepted,
                format!("raised only by {name}; its evidence scores {score}"),
            )
        }
        (true, true) => (
            Class::Disputed,
            format!(
                "a critical finding of only {name} needs a confidence of at least 85 and concrete evidence"
            ),
        ),
        (false, _) => (
            Class::Rejected,
            format!("insufficient evidence for an uncorroborated claim: it scores {score}"),
        ),
    };
    Group {
        class,
        state: GroupState::Unique,
        agreement: Some(Agreement::SingleSourceValidated),
        severity: entry.severity,
        original_confidence: entry.confidence,
        bonus: (bonus, "single source"),
        score: Some(score),
        notes,
        why,
        reversal: challenge
            .as_ref()
            .map_or(evidence::REVERSAL, |asked| &asked.test)
            .to_owned(),
        challenge,
        ..votes.undecided()
    }
}

/// Returns whether the score is sufficient to accept a finding of one reviewer (phase 4). The returned number is
/// the change of the finding's confidence, in points. A finding with a confidence below 40 needs a score of at
/// least 5.
fn unique_decision(confidence: Option<u8>, score: i32) -> (bool, i32) {
    match (confidence, score) {
        (_, 5..) => (true, -5),
        (Some(0..40), _) => (false, 0),
        (_, 3..) => (true, -15),
        (_, _) => (false, 0),
    }
}

/// Lowers the class or the severity of a group, because the evidence of the group's finding failed a challenge. If
/// the finding meets none of the challenge's criteria, the group becomes disputed. If the finding meets at least
/// one criterion, the group gets the next lower severity.
fn weaken(
    group: &mut Group,
    EvidenceChallenge {
        criteria,
        weakest,
        test,
        ..
    }: EvidenceChallenge,
) {
    if criteria == Criteria::default() {
        group.class = Class::Disputed;
        group.why = format!("the challenge found no support: {weakest}");
    } else {
        let lower = group.severity.lower();
        if lower != group.severity {
            group
                .notes
                .push(format!("downgraded from {}: {weakest}", group.severity));
        }
        group.severity = lower;
    }
    group.reversal = test;
}

/// Rejects a group that was withdrawn in the debate. A group that was contradicted becomes disputed (phase 5.5).
fn after_debate(votes: &Votes<'_>, group: &mut Group) {
    let effect = &votes.effect;
    if effect.is_withdrawn() {
        group.class = Class::Rejected;
        group.agreement = None;
        group.why = format!(
            "{} withdrew it, and the cross-examination was negative",
            votes.names().join(", ")
        );
        group.reversal = "new evidence that it happens".to_owned();
    } else if group.class == Class::Accepted
        && effect.is_contested()
        && effect.disagreements() >= effect.agreements() + votes.affirming.len()
    {
        group.class = Class::Disputed;
        group.why = format!("reviewers contradict each other: {}", panel::sides(votes));
        group.reversal = "a judge or a person decides between the positions".to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spec_21_the_score_alone_decides_unique_findings() {
        let rows = [
            (Some(80), 5, (true, -5)),
            (Some(80), 4, (true, -15)),
            (Some(80), 2, (false, 0)),
            (Some(79), 5, (true, -5)),
            (Some(60), 3, (true, -15)),
            (Some(60), 2, (false, 0)),
            (Some(59), 5, (true, -5)),
            (Some(59), 4, (true, -15)),
            (Some(40), 2, (false, 0)),
            (Some(39), 5, (true, -5)),
            (Some(39), 4, (false, 0)),
            (None, 5, (true, -5)),
            (None, 3, (true, -15)),
            (None, 2, (false, 0)),
        ];
        for (confidence, score, expected) in rows {
            assert_eq!(
                unique_decision(confidence, score),
                expected,
                "{confidence:?} {score}"
            );
        }
    }
}
