//! Gives the members of a group that a ruling left out a number of their own, because they are another defect than
//! the members that the ruling named.

use crate::review::findings::debate::MergedRound;
use crate::review::findings::pairs;
use crate::review::findings::round::RoundContext;
use crate::review::state::ReviewState;
use glee_model::domain::event::{EventKind, ReviewEvent};
use glee_model::domain::{AgentName, DisputeNumber, Finding, FindingId, PairAnswer, ProblemKey};
use glee_model::domain::{KeyedAnswer, RulingRecord};

/// The findings that a ruling on `dispute` leaves out.
pub(crate) fn left(
    state: &ReviewState,
    dispute: DisputeNumber,
    ruling: &RulingRecord,
) -> Vec<FindingId> {
    let disputed = state.disputes.get(&dispute);
    let left = disputed.map(|disputed| disputed.clone().keep(&ruling.ruling.members));
    left.unwrap_or_default()
}

/// The new ids of findings that leave their group together.
pub(crate) fn new_ids(
    context: &RoundContext<'_>,
    left: &[FindingId],
) -> Vec<(FindingId, FindingId)> {
    let group = FindingId::new(context.next_id());
    let ids = (1..).zip(left).map(|(position, was)| match left {
        [_] => (*was, group),
        _ => (*was, group.member(position)),
    });
    ids.collect()
}

/// The event for the members of a group that leave it, each with its former and its new id.
pub(crate) fn separated(
    context: &RoundContext<'_>,
    dispute: DisputeNumber,
    ruling: &RulingRecord,
    ids: &[(FindingId, FindingId)],
) -> Option<EventKind> {
    let state = context.state;
    let first = ids.first()?.0;
    let mut findings = Vec::new();
    for (was, id) in ids {
        findings.push(Finding {
            id: *id,
            was: Some(*was),
            problem: Some(ProblemKey::of(context.run, *id)),
            ..state.finding(*was)?.clone()
        });
    }
    let has_left = |id: FindingId| ids.iter().any(|(was, _)| *was == id);
    let group = state.group(first).iter();
    findings.extend(group.filter(|known| !has_left(known.id)).cloned());
    let (left, stayed) = findings.split_at(ids.len());
    let mut answers = Vec::new();
    for one in left {
        for other in stayed {
            answers.push(KeyedAnswer {
                key: pairs::key_of_findings(one, other),
                answer: PairAnswer {
                    by: AgentName(ruling.by.to_string()),
                    same: false,
                    reason: ruling.ruling.rationale.clone(),
                },
            });
        }
    }
    let mut after = state.clone();
    after.apply(&EventKind::from(ReviewEvent::MembersSeparated {
        dispute,
        findings: findings.clone(),
        answers: answers.clone(),
    }));
    let merged = MergedRound::of(&RoundContext {
        state: &after,
        past: context.past.clone(),
        lists: context.lists.clone(),
        ..*context
    });
    for finding in &mut findings {
        merged.corroborate(finding, context);
    }
    Some(EventKind::from(ReviewEvent::MembersSeparated {
        dispute,
        findings,
        answers,
    }))
}
