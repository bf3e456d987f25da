//! The policy `panel` classifies findings by the number of agreeing reviewers, and never deletes a finding.
//!
//! A finding of two or more reviewers is accepted. A finding of one reviewer is accepted if another reviewer
//! supports the finding in the debate. Without such support, the finding is uncorroborated. For an uncorroborated
//! finding, the report contains the score and a check that would confirm or refute the finding. A finding is
//! disputed if another reviewer contradicts the finding and gives reasons. Only the raiser can withdraw a finding,
//! and only if the result of the cross-examination is negative.

use crate::domain::Class;
use crate::rules::consensus::answers::Answers;
use crate::rules::consensus::debate::Debate;
use crate::rules::consensus::evidence;
use crate::rules::consensus::group::{Agreement, ConflictKind, Group, GroupState, Member, Policy};
use crate::rules::consensus::normalise::NormalMember;
use crate::rules::consensus::similarity::groups;
use crate::rules::consensus::votes::{Votes, Voting};

const BY_WORDS: &str =
    "grouped by its words alone, because the findings have neither a line nor a weakness";

pub(crate) fn decide(
    members: &[Member],
    entries: &[NormalMember<'_>],
    debate: &Debate,
    answers: &Answers,
) -> (Vec<Group>, Vec<(usize, usize)>) {
    let vectors = groups::vectors(entries, true);
    let meanings = groups::by_meaning(entries, &vectors, answers);
    let voting = Voting::of(members, debate, Policy::Panel);
    let mut groups = voting.decide(entries, &vectors, &meanings.groups, group);
    for (group, entries) in groups.iter_mut().zip(&meanings.groups) {
        if entries.iter().any(|entry| meanings.by_words[*entry]) {
            group.notes.push(BY_WORDS.to_owned());
        }
    }
    (groups, meanings.unsure)
}

fn group(votes: &Votes<'_>) -> Group {
    let state = match votes.state() {
        // Reviewers who mean the same defect need no words in common.
        GroupState::Conflicted(ConflictKind::Cause) => GroupState::Agreed,
        state => state,
    };
    let raisers = votes.affirming.len();
    let supporters = votes.supporters();
    let contradicted =
        state == GroupState::Conflicted(ConflictKind::Validity) || votes.effect.is_contested();
    let (score, extraordinary) = evidence::score(votes.affirming[0], votes.evidence[0]);
    let score = (raisers == 1).then_some(score);
    let challenge = votes.challenge(score);
    let mut notes = Vec::new();
    if extraordinary && raisers == 1 {
        notes.push(evidence::EXTRAORDINARY.to_owned());
    }
    if state == GroupState::Conflicted(ConflictKind::Severity) {
        notes.push("reviewers disagree on the severity".to_owned());
    }
    let names = votes.names().join(", ");
    let mut bonus = (0, "single source");
    let (class, agreement, why) = if votes.effect.is_withdrawn() {
        (
            Class::Rejected,
            None,
            format!("{names} withdrew it, and no other reviewer supports it"),
        )
    } else if contradicted {
        bonus = (0, "disputed");
        (
            Class::Disputed,
            None,
            format!("reviewers contradict each other: {}", sides(votes)),
        )
    } else if raisers >= 2 {
        bonus = (votes.independent_bonus(), "agreement");
        let of_vendors = match votes.shared_vendors() {
            Some(1) => " of 1 vendor".to_owned(),
            Some(vendors) => format!(" of {vendors} vendors"),
            None => String::new(),
        };
        (
            Class::Accepted,
            Some(votes.agreement_of_vendors()),
            format!("{raisers} reviewers{of_vendors} raised it: {names}"),
        )
    } else if !supporters.is_empty() {
        let why = format!("raised by {names}, confirmed by {}", supporters.join(", "));
        (Class::Accepted, Some(Agreement::Majority), why)
    } else {
        let score = score.unwrap_or_default();
        (
            Class::Uncorroborated,
            None,
            match votes.dissenting().as_slice() {
                [] if votes.is_observed() => format!(
                    "raised by {names} in the debate, where nobody else was asked about it; its evidence scores {score}"
                ),
                [] => format!("raised only by {names}; its evidence scores {score}"),
                dissenting => format!(
                    "raised by {names}, without grounds denied by {}; its evidence scores {score}",
                    dissenting.join(", ")
                ),
            },
        )
    };
    let is_disputed = class == Class::Disputed;
    let reversal = match class {
        Class::Accepted => evidence::REVERSAL,
        Class::Uncorroborated | Class::Rejected => challenge
            .as_ref()
            .map_or("a second reviewer or a judge confirms it", |asked| {
                &asked.test
            }),
        Class::Disputed => "a judge or a person decides between the positions",
    };
    let is_supported = state == GroupState::Unique && !supporters.is_empty();
    votes.complete(Group {
        class,
        state: if is_supported {
            GroupState::Agreed
        } else {
            state
        },
        agreement,
        severity: if is_disputed {
            votes.highest_severity()
        } else {
            votes.severity()
        },
        original_confidence: if is_disputed {
            votes.lowest_confidence()
        } else {
            votes.highest_confidence()
        },
        bonus,
        score,
        notes,
        why,
        reversal: reversal.to_owned(),
        challenge,
        ..votes.undecided()
    })
}

pub(crate) fn sides(votes: &Votes<'_>) -> String {
    let denying = votes
        .denying
        .iter()
        .map(|entry| entry.member.model.as_str());
    let against: Vec<&str> = denying.chain(votes.dissenting()).collect();
    format!(
        "{} for it, {} against it",
        votes.names().join(", "),
        against.join(", ")
    )
}
