//! One answer from several reviewers: normalise their findings, group those that mean the same, decide by a policy.
//!
//! A finding of a reviewer enters as a [`Member`], is normalised (`normalise`), joins a group (`similarity`), and a policy
//! decides on the [`Votes`](votes::Votes) of each group; the result is a [`Group`].
//!
//! The steps are those of the debate arbitrator's specification (its phases 1 to 7, and 5.5 for a debate). A [`Policy`]
//! is one file here and one arm in [`merge`]. Every member belongs to exactly one group, and the answer is independent
//! of the order of the members.
//!
//! Where the specification is silent or contradicts itself, these readings apply:
//! - The boost for agreement is counted once, as `consensus_bonus`: `min(15, 5 x reviewers)` where reviewers agree, the
//!   adjustment of the table for a finding of one reviewer, -10 for a conflict won. An adjustment is at most 30 either
//!   way, a confidence stays within 0 to 100.
//! - A severity disagreement is a conflict (type A) if the sides are two levels apart; adjacent levels are settled
//!   by the median, the higher of two. Type C is one place and category with texts that share next to nothing.
//! - A conflict goes to a side whose evidence is clearly stronger (two points or more). Otherwise two diagnoses of one
//!   place are synthesised; validity and severity stay disputed.
//! - A confidence that no reviewer states is absent, in the answer as well. Such a finding of one reviewer scores as one
//!   that needs a review of its evidence, is not a critical claim below 70, and is not at 85 (rule 9).
//! - The score alone decides what the confidence of a unique finding changes by (phase 4).
//! - A critical finding of one reviewer that is not at 85 or more with concrete evidence (rule 9) is disputed if its
//!   score would accept it (rule 10).

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

/// Groups findings and decides on each group. `tree` are the paths that a bare file name may mean besides those of the
/// members.
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
