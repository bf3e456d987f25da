//! Merges the findings of several reviewers: normalises them, groups those that report the same problem, and decides
//! each group by a policy.
//!
//! A finding enters as a [`Member`], is normalised (`normalise`) and joins a group (`similarity`); a policy decides on
//! the `Votes` of each group and returns a [`Group`].
//!
//! The steps are phases 1 to 7 of the debate arbitrator's specification, and phase 5.5 for a debate. A [`Policy`] is a
//! file here and an arm in [`merge`]. Every member belongs to exactly one group, and the result is independent of the
//! order of the members. Where the specification is silent or contradicts itself, this module decides:
//! - The agreement boost counts once, as `consensus_bonus`: `min(15, 5 x reviewers)` if reviewers agree, the table's
//!   adjustment for a finding of one reviewer, -10 for a conflict won. An adjustment is at most ±30.
//! - Severities are a conflict (type A) if they are two levels apart; adjacent levels are settled by the median, rounded
//!   up. Type C is one location and category with almost disjoint texts.
//! - A conflict is won by clearly stronger evidence (two points or more). Otherwise two diagnoses of one location are
//!   combined; conflicts about validity and severity stay disputed.
//! - A confidence that no reviewer states is absent from the output. A finding of one reviewer without it scores as one
//!   that requires a review of its evidence; it is neither a critical claim below 70 nor one at 85 (rule 9).
//! - Only the score decides the change of a unique finding's confidence (phase 4).
//! - A critical finding of one reviewer below 85 or without concrete evidence (rule 9) is disputed if its score would
//!   accept it (rule 10).

mod debate;
mod evidence;
mod group;
mod normalise;
mod output;
mod policies;
pub mod similarity;
mod tally;
mod votes;

pub use crate::domain::{AdvisoryStatus, Class};
pub use debate::{Debate, Defence, DefenceWord, Examination, ExaminationWord};
pub(crate) use group::UNTITLED;
pub use group::{
    Agreement, CheckedEvidence, ConflictKind, Consensus, Criteria, EvidenceChallenge, Group, GroupState, Level,
    Member, Policy, Statistics,
};
pub use normalise::{Category, category, vendor};
pub use output::MergeAnswer;

crate::domain::words!(Level, Policy);

/// Groups findings and decides each group. A bare file name resolves to a path in `tree` or in the members.
pub fn merge(members: &[Member], debate: &Debate, tree: &[String], policy: Policy) -> Consensus {
    let entries = normalise::entries(members, tree);
    let mut groups = match policy {
        Policy::Panel => policies::panel::decide(members, &entries, debate),
        Policy::Specification => policies::specification::decide(members, &entries, debate),
    };
    tally::escalate(&mut groups);
    tally::sort(&mut groups, members);
    let statistics = Statistics::of(members, debate, &groups);
    let summary = tally::summary(&statistics, &groups, debate, members);
    Consensus { groups, statistics, summary }
}

#[cfg(test)]
mod tests;
