//! The policy `specification`: the debate arbitrator's phases 1 to 7.

use std::collections::{HashMap, HashSet};

use super::panel;
use crate::rules::consensus::Class;
use crate::rules::consensus::case::{Case, DecisionDraft, DecisionRun};
use crate::rules::consensus::claim::{
    Agreement, Claim, ClaimChallenge, ClaimConflict, ClaimDecision, ClaimStanding, Criteria, Level, UNTITLED,
};
use crate::rules::consensus::debate::Debate;
use crate::rules::consensus::evidence::{self, Evidence};
use crate::rules::consensus::normalise::{Category, NormalClaim, category};
use crate::rules::consensus::similarity::groups;
use crate::rules::consensus::similarity::vectors::Vectors;

/// A side of a conflict whose evidence has this many points more is clearly stronger.
const CLEARLY: i32 = 2;

/// The findings before one that are searched for one that it is part of.
const NEIGHBOURS: usize = 16;

/// What the note begins with that a finding is one reviewer's alone.
const SINGLE: &str = "single source: ";

/// What the winner of a conflict loses.
const CONFLICT: i32 = -10;

pub(crate) fn decide(claims: &[Claim], entries: &[NormalClaim], debate: &Debate) -> Vec<ClaimDecision> {
    let vectors: Vectors = groups::vectors(claims, entries);
    let groups = groups::by_place(entries);
    let run = DecisionRun::of(claims, debate);
    let decisions = run.decide(entries, &vectors, &groups, case);
    let by_claim: HashMap<usize, &NormalClaim> = entries.iter().map(|entry| (entry.claim, entry)).collect();
    let joined = assemble(decisions, claims);
    let all = joined.into_iter().map(|Joined { decision, parts }| {
        let of =
            |part: &ClaimDecision| part.members.iter().filter_map(|claim| by_claim.get(claim).copied()).collect();
        match &*parts {
            [] => decision,
            parts => join(
                &run,
                claims,
                (&decision, parts),
                std::iter::once(&decision).chain(parts).flat_map::<Vec<_>, _>(of),
            ),
        }
    });
    all.collect()
}

/// A decision and those that are merged into it.
struct Joined {
    decision: ClaimDecision,
    parts: Vec<ClaimDecision>,
}

/// Phase 7: accepted findings that are part of another one, or say the same of another place, are merged into it.
fn assemble(decisions: Vec<ClaimDecision>, claims: &[Claim]) -> Vec<Joined> {
    let mut kept: Vec<Joined> = Vec::with_capacity(decisions.len());
    let mut causes: HashMap<(Category, String), usize> = HashMap::new();
    for decision in decisions {
        let claim = &claims[decision.members[0]];
        if decision.class != Class::Accepted || claim.title.is_empty() || claim.title == UNTITLED {
            kept.push(Joined { decision, parts: Vec::new() });
            continue;
        }
        let category = category(claim.category.as_deref(), claim.rule.as_deref(), &claim.title);
        let title = claim.title.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let same_cause = causes.get(&(category, title.clone())).copied();
        // The earlier findings of a file stand right before it.
        let part_of = || {
            let near = kept.iter().enumerate().rev().take(NEIGHBOURS);
            near.filter(|(_, other)| other.decision.class == Class::Accepted)
                .find(|(_, other)| is_part(claim, &title, &claims[other.decision.members[0]]))
                .map(|(at, _)| at)
        };
        let Some(into) = same_cause.or_else(part_of) else {
            causes.insert((category, title), kept.len());
            kept.push(Joined { decision, parts: Vec::new() });
            continue;
        };
        kept[into].parts.push(decision);
    }
    kept
}

/// The one decision of several: each reviewer is a member once, with the gravest severity and the highest confidence of
/// what it says; what it says besides is a repeat. Reviewers that say the same of different places agree.
fn join<'a>(
    run: &DecisionRun<'_>,
    claims: &[Claim],
    (first, parts): (&ClaimDecision, &[ClaimDecision]),
    entries: impl Iterator<Item = &'a NormalClaim>,
) -> ClaimDecision {
    let mut members: Vec<NormalClaim> = Vec::new();
    let mut lead: Option<u32> = None;
    for entry in entries {
        lead.get_or_insert(entry.model);
        match members.iter_mut().find(|known| known.model == entry.model) {
            Some(known) => {
                known.repeats.push(entry.claim);
                known.repeats.extend(&entry.repeats);
                known.severity = known.severity.max(entry.severity);
                known.confidence = known.confidence.max(entry.confidence);
            }
            None => members.push(entry.clone()),
        }
    }
    let all = || std::iter::once(first).chain(parts);
    let severity = all().map(|part| part.severity).max().unwrap_or(first.severity);
    let also = parts.iter().map(|part| {
        let claim = &claims[part.members[0]];
        format!("also at {}: {}", evidence::place(claim), claim.title)
    });
    let agree = members.len() > 1 && all().all(|part| !matches!(part.standing, ClaimStanding::Conflicted(_)));
    let notes = all().flat_map(|part| &part.notes).filter(|note| !agree || !note.starts_with(SINGLE)).cloned();
    let mut notes: Vec<String> = notes.chain(also).collect();
    let mut decision = if agree {
        let mut case = run.case(members.iter().collect());
        // The place of the first finding stays the one that is shown.
        case.entries.sort_by_key(|entry| Some(entry.model) != lead);
        let mut draft = DecisionDraft { severity, ..agreed(&case) };
        after_debate(&case, &mut draft);
        let decision = case.decision(draft);
        notes.extend(decision.notes.iter().cloned());
        decision
    } else {
        ClaimDecision {
            severity,
            members: members.iter().map(|entry| entry.claim).collect(),
            repeats: members.iter().flat_map(|entry| entry.repeats.iter().copied()).collect(),
            ..first.clone()
        }
    };
    let mut seen = HashSet::new();
    notes.retain(|note| seen.insert(note.clone()));
    decision.notes = notes;
    decision
}

/// Whether a claim says nothing that another one about the same lines does not say too.
fn is_part(claim: &Claim, title: &str, other: &Claim) -> bool {
    let lines = |claim: &Claim| claim.line.map(|line| (line, claim.end_line.unwrap_or(line)));
    let (Some(inner), Some(outer)) = (lines(claim), lines(other)) else { return false };
    claim.file == other.file
        && outer.0 <= inner.0
        && inner.1 <= outer.1
        && other.description.to_lowercase().contains(title)
}

fn case(case: &Case<'_>) -> ClaimDecision {
    let standing = match case.standing() {
        // Three reviewers that call it an issue agree on that; the median is their severity.
        ClaimStanding::Conflicted(ClaimConflict::Severity) if case.entries.len() > 2 && !case.unlike => {
            ClaimStanding::Agreed
        }
        standing => standing,
    };
    let mut draft = match standing {
        ClaimStanding::Agreed => agreed(case),
        ClaimStanding::Conflicted(conflict) => conflicted(case, conflict),
        ClaimStanding::Unique if case.supporters().is_empty() => unique(case),
        ClaimStanding::Unique => supported(case),
    };
    if let Some(challenge) = &draft.challenge
        && !challenge.holds
        && draft.class == Class::Accepted
    {
        weaken(&mut draft);
    }
    after_debate(case, &mut draft);
    case.decision(draft)
}

fn agreed(case: &Case<'_>) -> DecisionDraft {
    DecisionDraft {
        class: Class::Accepted,
        standing: ClaimStanding::Agreed,
        agreement: Some(case.agreement()),
        severity: case.severity(),
        original: case.highest_confidence(),
        bonus: case.agreement_bonus(),
        bonus_name: "agreement",
        score: None,
        notes: Vec::new(),
        why: format!("{} reviewers agree: {}", case.entries.len(), case.names().join(", ")),
        challenge: case.challenge(None),
        reversal: "evidence that the code it names does not behave so".to_owned(),
    }
}

/// Phase 2 for a finding of one reviewer that others support in round 2: their support counts in the cross-examination,
/// so there is no bonus besides.
fn supported(case: &Case<'_>) -> DecisionDraft {
    let (score, _) = evidence::score(case.entries[0], case.evidence[0]);
    let (raiser, supporters) = (&case.lead().model, case.supporters().join(", "));
    DecisionDraft {
        bonus: 0,
        score: Some(score),
        why: format!("raised by {raiser}, confirmed by {supporters}"),
        ..agreed(case)
    }
}

/// A side of a conflict: who speaks for it, and the weight of its evidence.
struct Side<'a> {
    entry: &'a NormalClaim,
    weight: i32,
}

fn conflicted(case: &Case<'_>, conflict: ClaimConflict) -> DecisionDraft {
    let weigh = |entry: &NormalClaim, evidence: Evidence| evidence.weight(entry.severity, entry.confidence);
    let mut sides: Vec<Side<'_>> = match conflict {
        ClaimConflict::Severity | ClaimConflict::Cause => {
            let all = case.entries.iter().zip(&case.evidence);
            all.map(|(entry, evidence)| Side { entry, weight: weigh(entry, *evidence) }).collect()
        }
        ClaimConflict::Validity => {
            let against = case
                .deniers
                .iter()
                .map(|entry| Side { entry, weight: weigh(entry, Evidence::of(&case.claims[entry.claim], entry)) });
            let weights = case.entries.iter().zip(&case.evidence).map(|(entry, evidence)| weigh(entry, *evidence));
            let affirming = Side { entry: case.entries[0], weight: weights.max().unwrap_or(0) };
            std::iter::once(affirming).chain(against).collect()
        }
    };
    // Stable: of equals the one with the higher confidence, as the members stand.
    sides.sort_by_key(|side| std::cmp::Reverse(side.weight));
    let rival = sides.iter().skip(1).find(|side| opposes(conflict, sides[0].entry, side.entry));
    let clear = rival.is_none_or(|rival| sides[0].weight - rival.weight >= CLEARLY);
    let winner = sides[0].entry;
    let question = question(case, conflict, winner, rival.map_or(winner, |rival| rival.entry));
    let stated = case.entries.iter().chain(&case.deniers).filter_map(|entry| entry.confidence);
    let all: Vec<u8> = stated.collect();
    let mut draft = DecisionDraft {
        class: Class::Disputed,
        standing: ClaimStanding::Conflicted(conflict),
        agreement: None,
        severity: case.highest_severity(),
        original: case.lowest_confidence(),
        bonus: 0,
        bonus_name: "conflict resolved",
        score: None,
        notes: vec![question],
        why: "reviewers contradict each other, and neither side's evidence is clearly stronger".to_owned(),
        challenge: case.challenge(None),
        reversal: "what the resolution criteria name".to_owned(),
    };
    let name = |entry: &NormalClaim| case.claims[entry.claim].model.as_str();
    if clear {
        draft.original = winner.confidence;
        draft.bonus = CONFLICT;
        draft.severity = winner.severity;
        if case.claims[winner.claim].denies {
            draft.class = Class::Rejected;
            draft.why = format!("{} calls it no issue with clearly stronger evidence", name(winner));
        } else {
            draft.class = Class::Accepted;
            draft.agreement = Some(Agreement::ConflictResolved);
            draft.why = format!("the evidence of {} is clearly stronger", name(winner));
        }
        let dissent: Vec<&str> = sides
            .iter()
            .filter(|side| opposes(conflict, winner, side.entry))
            .map(|side| name(side.entry))
            .collect();
        draft.notes.push(format!("dissenting: {}", dissent.join(", ")));
    } else if conflict == ClaimConflict::Cause {
        draft.severity = case.severity();
        let sum: usize = all.iter().map(|confidence| usize::from(*confidence)).sum();
        draft.original = (sum + all.len() / 2).checked_div(all.len()).and_then(|mean| u8::try_from(mean).ok());
        draft.class = Class::Accepted;
        draft.agreement = Some(Agreement::ConflictResolved);
        draft.why = "the reviewers diagnose one place differently; both may be right in part".to_owned();
    }
    draft
}

/// Whether two sides contradict each other.
fn opposes(conflict: ClaimConflict, a: &NormalClaim, b: &NormalClaim) -> bool {
    match conflict {
        ClaimConflict::Severity => a.severity.max(b.severity) as usize - a.severity.min(b.severity) as usize >= 2,
        ClaimConflict::Validity | ClaimConflict::Cause => a.claim != b.claim,
    }
}

/// The challenge question of phase 3, with all its parts.
fn question(case: &Case<'_>, conflict: ClaimConflict, x: &NormalClaim, w: &NormalClaim) -> String {
    let (claim, counter) = (&case.claims[x.claim], &case.claims[w.claim]);
    let against = match conflict {
        ClaimConflict::Severity => format!("severity {} is right", w.severity.as_str()),
        ClaimConflict::Validity => format!("it is no issue: {}", counter.title),
        ClaimConflict::Cause => format!("the cause is another: {}", counter.title),
    };
    let criteria = match conflict {
        ClaimConflict::Severity => "what an attacker or a user can bring about at worst",
        ClaimConflict::Validity => "whether an input exists that triggers it",
        ClaimConflict::Cause => "which change makes the symptom go away",
    };
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    format!(
        "{} claims \"{}\" at {} with severity {}, but {} claims that {against}. Evidence from {}: {}. Evidence from \
         {}: {}. Resolution criteria: {criteria}.",
        claim.model,
        claim.title,
        evidence::place(claim),
        x.severity.as_str(),
        counter.model,
        claim.model,
        first(&claim.description),
        counter.model,
        first(&counter.description),
    )
}

/// Phase 4, and rule 9.
fn unique(case: &Case<'_>) -> DecisionDraft {
    let entry = case.entries[0];
    let (score, extraordinary) = evidence::score(entry, case.evidence[0]);
    let challenge = case.challenge(Some(score));
    let name = &case.lead().model;
    let (accepted, bonus) = unique_decision(entry.confidence, score);
    let mut notes = Vec::new();
    if extraordinary {
        notes.push("extraordinary claim requiring extraordinary evidence".to_owned());
    }
    if entry.confidence.is_none() {
        notes.push(evidence::UNSTATED.to_owned());
    }
    let sure = entry.confidence.is_some_and(|sure| sure >= 85);
    let lacks = entry.severity == Level::Critical && !(sure && case.evidence[0].is_concrete());
    let (class, why) = match (accepted, lacks) {
        (true, false) => {
            notes.push(format!("{SINGLE}{name}"));
            (Class::Accepted, format!("only {name} says so, and its evidence scores {score}"))
        }
        (true, true) => (
            Class::Disputed,
            format!("critical, from {name} alone, and not at a confidence of 85 with concrete evidence"),
        ),
        (false, _) => {
            (Class::Rejected, format!("insufficient evidence for an uncorroborated claim: it scores {score}"))
        }
    };
    DecisionDraft {
        class,
        standing: ClaimStanding::Unique,
        agreement: Some(Agreement::SingleSourceValidated),
        severity: entry.severity,
        original: entry.confidence,
        bonus: if accepted { bonus } else { 0 },
        bonus_name: "single source",
        score: Some(score),
        notes,
        why,
        reversal: test(challenge.as_ref(), "evidence that the code it names does not behave so"),
        challenge,
    }
}

/// Whether a finding of one reviewer is accepted, and what its confidence changes by: the score decides both (phase 4).
/// Below 40 the table asks for exceptional evidence.
fn unique_decision(confidence: Option<u8>, score: i32) -> (bool, i32) {
    match (confidence, score) {
        (_, 5..) => (true, -5),
        (Some(0..40), _) => (false, 0),
        (_, 3..) => (true, -15),
        (_, _) => (false, 0),
    }
}

fn test(challenge: Option<&ClaimChallenge>, otherwise: &str) -> String {
    challenge.map_or_else(|| otherwise.to_owned(), |asked| asked.test.clone())
}

/// A challenge that does not hold: without any of the criteria it is disputed, with one its severity falls.
fn weaken(draft: &mut DecisionDraft) {
    let Some(challenge) = &draft.challenge else { return };
    if challenge.criteria == Criteria::default() {
        draft.class = Class::Disputed;
        draft.why = format!("the challenge found no support: {}", challenge.weakest);
    } else {
        let lower = draft.severity.lower();
        if lower != draft.severity {
            draft.notes.push(format!("downgraded from {}: {}", draft.severity.as_str(), challenge.weakest));
        }
        draft.severity = lower;
    }
    draft.reversal.clone_from(&challenge.test);
}

/// Phase 5.5: concessions, and disagreements that stand.
fn after_debate(case: &Case<'_>, draft: &mut DecisionDraft) {
    let effect = &case.effect;
    if effect.is_withdrawn() {
        draft.class = Class::Rejected;
        draft.agreement = None;
        draft.why = format!("{} withdrew it, and the cross-examination was negative", case.names().join(", "));
        draft.reversal = "new evidence that it happens".to_owned();
    } else if draft.class == Class::Accepted
        && effect.is_contested()
        && effect.disagreements() >= effect.agreements() + case.entries.len()
    {
        draft.class = Class::Disputed;
        draft.why = format!("reviewers contradict each other: {}", panel::sides(case));
        draft.reversal = "a judge or a person decides between the positions".to_owned();
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
            assert_eq!(unique_decision(confidence, score), expected, "{confidence:?} {score}");
        }
    }
}
