//! Keeps the answers about findings that may be the same, and tells the findings what was answered.

use std::collections::{BTreeSet, HashMap};

use crate::review::state::ReviewState;
use glee_model::domain::event::{CallAnswer, CallId, EventKind, Purpose, ReviewEvent};
use glee_model::domain::{
    AgentName, Anchor, Comparison, EarlierDispute, Finding, FindingId, KeyedAnswer, PairAnswer,
    RawFinding, UnsurePair,
};
use glee_model::rules::consensus::{Group, Member};
use glee_protocol::text::printable;

/// The key under which the answer about two findings is kept.
pub fn key(one: &Member, other: &Member) -> String {
    key_of([one, other].map(|member| described(&member.raw, member.anchor.as_ref())))
}

/// The same as [`key`] for two findings of one group.
pub(crate) fn key_of_findings(one: &Finding, other: &Finding) -> String {
    key_of([one, other].map(|finding| described(&finding.raw, finding.anchor.as_ref())))
}

/// The key is the same for both orders of a pair.
fn key_of(mut parts: [String; 2]) -> String {
    parts.sort();
    hash(&parts)
}

fn dispute_key(finding: &Finding, earlier: &EarlierDispute) -> String {
    let parts = [
        described(&finding.raw, finding.anchor.as_ref()),
        format!("dispute {}", earlier.dispute),
    ];
    hash(&parts)
}

/// The text, the place in the code, and the code of a finding.
fn described(raw: &RawFinding, anchor: Option<&Anchor>) -> String {
    serde_json::json!([
        raw.file,
        anchor.map(|anchor| &anchor.block),
        anchor.and_then(|anchor| anchor.offset),
        raw.title,
        raw.body
    ])
    .to_string()
}

pub(crate) fn pair(
    one: &Member,
    other: &Member,
    key: String,
    known: Option<PairAnswer>,
) -> UnsurePair {
    UnsurePair {
        one: one.id.clone(),
        other: other.id.clone(),
        earlier: None,
        known,
        key,
        asked: None,
    }
}

fn hash(parts: &[String; 2]) -> String {
    blake3::hash(parts.join("\n").as_bytes())
        .to_hex()
        .to_string()
}

/// The event that keeps the answers of a call for later runs.
pub fn kept(
    state: &ReviewState,
    call: &CallId,
    by: &AgentName,
    answer: &CallAnswer,
) -> Option<EventKind> {
    let mut answers = Vec::new();
    match (answer, &call.purpose) {
        (CallAnswer::Same { pairs: said }, Purpose::Same { round, raised_in }) => {
            for pair in state.asked_pairs(*round, *raised_in) {
                let said = said.iter().find(|said| Some(said.pair) == pair.asked);
                answers.extend(said.map(|said| (pair.key.clone(), said.same, &said.reason)));
            }
        }
        (CallAnswer::Compare { comparisons }, Purpose::Compare { round }) => {
            for (finding, earlier) in state.uncertain(*round) {
                let said = comparisons.iter().find(|said| said.finding == finding.id);
                let key = dispute_key(finding, earlier);
                answers.extend(said.map(|said| (key, said.same, &said.reason)));
            }
        }
        _ => return None,
    }
    let answers = answers.into_iter().map(|(key, same, reason)| KeyedAnswer {
        key,
        answer: PairAnswer {
            by: by.clone(),
            same,
            reason: reason.clone(),
        },
    });
    Some(
        ReviewEvent::FindingsCompared {
            call: call.clone(),
            answers: answers.collect(),
        }
        .into(),
    )
}

/// The answers of earlier runs about the findings of a round that may repeat an earlier dispute.
pub fn reused<E>(
    state: &ReviewState,
    round: u32,
    known: impl Fn(&str) -> Result<Option<PairAnswer>, E>,
) -> Result<Option<EventKind>, E> {
    let mut comparisons = Vec::new();
    for (finding, earlier) in state.uncompared(round) {
        if let Some(answer) = known(&dispute_key(finding, earlier))? {
            comparisons.push(Comparison {
                finding: finding.id,
                same: answer.same,
                reason: answer.reason,
            });
        }
    }
    let is_known = !comparisons.is_empty();
    Ok(is_known.then(|| ReviewEvent::ComparisonsReused { round, comparisons }.into()))
}

/// One sentence for each answer that joined two findings of a group.
pub fn reasons(state: &ReviewState, members: &[Member], group: &Group) -> Vec<String> {
    let mut reasons = Vec::new();
    for ((one, other), answer) in &state.same {
        if !answer.same {
            continue;
        }
        let named = [one, other].map(|id| {
            let mut of_group = group.members.iter().map(|at| &members[*at]);
            of_group.find(|member| member.id == *id)
        });
        let [Some(one), Some(other)] = named else {
            continue;
        };
        let reason = if answer.reason.is_blank() {
            String::new()
        } else {
            format!(": {}", printable::line(answer.reason.as_written()))
        };
        reasons.push(format!(
            "{} and {} name the same defect, says {}{reason}",
            one.model, other.model, answer.by
        ));
    }
    reasons
}

/// Records in each finding which other findings may name the same defect.
pub fn mark(findings: &mut [Finding], members: &[Member], unsure: &[(usize, usize)]) {
    let mut ids: HashMap<String, FindingId> = HashMap::new();
    for finding in findings.iter() {
        ids.extend(finding.sources().map(|said| (said.to_owned(), finding.id)));
    }
    let mut pairs: BTreeSet<(FindingId, FindingId)> = BTreeSet::new();
    for (one, other) in unsure {
        if let Some(one) = ids.get(&members[*one].id)
            && let Some(other) = ids.get(&members[*other].id)
            && one.group() != other.group()
        {
            pairs.extend([(*one, *other), (*other, *one)]);
        }
    }
    for finding in findings {
        let others = pairs.iter().filter(|(one, _)| *one == finding.id);
        finding.may_be = others.map(|(_, other)| *other).collect();
    }
}
