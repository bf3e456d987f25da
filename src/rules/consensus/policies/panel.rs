//! The policy `panel`: agreement ranks and gates, and never deletes.
//!
//! Two reviewers or more: accepted. One: uncorroborated, with its score and what would decide it, unless another one
//! agreed in the debate. Who contradicts another one with reasons makes it a dispute between reviewers. Only who raised
//! a finding can take it back, and only where nobody else supports it.

use crate::rules::consensus::case::{Case, DecisionDraft, DecisionRun};
use crate::rules::consensus::claim::{Agreement, Claim, ClaimConflict, ClaimDecision, ClaimStanding};
use crate::rules::consensus::debate::Debate;
use crate::rules::consensus::normalise::NormalClaim;
use crate::rules::consensus::similarity::groups;
use crate::rules::consensus::{Class, evidence};

pub(crate) fn decide(claims: &[Claim], entries: &[NormalClaim], debate: &Debate) -> Vec<ClaimDecision> {
    let vectors = groups::vectors(claims, entries);
    let groups = groups::by_meaning(entries, &vectors);
    DecisionRun::of(claims, debate).decide(entries, &vectors, &groups, case)
}

fn case(case: &Case<'_>) -> ClaimDecision {
    let standing = case.standing();
    let raisers = case.entries.len();
    let supporters = case.supporters();
    let contradicted = standing == ClaimStanding::Conflicted(ClaimConflict::Validity) || case.effect.is_contested();
    let (score, extraordinary) = evidence::score(case.entries[0], case.evidence[0]);
    let score = (raisers == 1).then_some(score);
    let challenge = case.challenge(score);
    let mut notes = Vec::new();
    if extraordinary && raisers == 1 {
        notes.push("extraordinary claim requiring extraordinary evidence".to_owned());
    }
    if standing == ClaimStanding::Conflicted(ClaimConflict::Severity) {
        notes.push("reviewers disagree on the severity".to_owned());
    }
    let names = case.names().join(", ");
    let (class, agreement, why) = if case.effect.is_withdrawn() {
        (Class::Rejected, None, format!("{names} withdrew it, and nobody else supports it"))
    } else if contradicted {
        (Class::Disputed, None, format!("reviewers contradict each other: {}", sides(case)))
    } else if raisers >= 2 {
        let bonus = case.independent_bonus();
        let of_one_vendor = if bonus < case.agreement_bonus() { ", some of one vendor" } else { "" };
        (Class::Accepted, Some(case.agreement()), format!("{raisers} reviewers say so: {names}{of_one_vendor}"))
    } else if !supporters.is_empty() {
        let why = format!("raised by {names}, confirmed by {}", supporters.join(", "));
        (Class::Accepted, Some(Agreement::Majority), why)
    } else {
        let score = score.unwrap_or_default();
        (Class::Uncorroborated, None, format!("only {names} says so; its evidence scores {score}"))
    };
    let (original, bonus, bonus_name) = match class {
        Class::Disputed => (case.lowest_confidence(), 0, "disputed"),
        Class::Accepted if raisers >= 2 => (case.highest_confidence(), case.independent_bonus(), "agreement"),
        _ => (case.highest_confidence(), 0, "single source"),
    };
    let reversal = match class {
        Class::Accepted => "evidence that the code it names does not behave so".to_owned(),
        Class::Uncorroborated | Class::Rejected => {
            let test = challenge.as_ref().map_or("a second reviewer or a judge confirms it", |asked| &asked.test);
            test.to_owned()
        }
        Class::Disputed => "a judge or a person decides between the positions".to_owned(),
    };
    case.decision(DecisionDraft {
        class,
        standing: if standing == ClaimStanding::Unique && !supporters.is_empty() {
            ClaimStanding::Agreed
        } else {
            standing
        },
        agreement,
        severity: if class == Class::Disputed { case.highest_severity() } else { case.severity() },
        original,
        bonus,
        bonus_name,
        score,
        notes,
        why,
        challenge,
        reversal,
    })
}

pub(crate) fn sides(case: &Case<'_>) -> String {
    let against = case.deniers.iter().map(|entry| case.claims[entry.claim].model.as_str());
    let disagreeing = case
        .effect
        .examinations
        .iter()
        .filter(|said| said.word == crate::rules::consensus::ExaminationWord::Disagree);
    let against: Vec<&str> = against.chain(disagreeing.map(|said| said.by.as_str())).collect();
    format!("{} for it, {} against it", case.names().join(", "), against.join(", "))
}
