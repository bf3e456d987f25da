//! Merges the findings of several reviewers: normalises them, groups those that report the same problem, and decides
//! each group by a policy.
//!
//! Each finding becomes a [`Member`], is normalised (`normalise`) and joins a group (`similarity`). A policy then
//! decides on the `Votes` of each group and returns a [`Group`].
//!
//! The steps are phases 1 to 7 of the debate arbitrator's specification, and phase 5.5 if there was a debate. Each
//! [`Policy`] has a file in this module and an arm in [`merge`]. Every member belongs to exactly one group, and the
//! result is independent of the order of the members. The specification leaves gaps and contradicts itself in places;
//! there, this module decides as follows:
//! - The agreement boost is added once, as `consensus_bonus`. It is `min(15, 5 x reviewers)` if reviewers agree, the
//!   value from the specification's table for a finding of one reviewer, and -10 if a conflict was won. One answer of
//!   a debate changes a confidence by at most ±30.
//! - Severities conflict (type A) if they are two or more levels apart. Closer severities are settled by the median,
//!   rounded up. In a conflict of type C, the location and category are the same, but the texts have almost no words
//!   in common.
//! - Clearly stronger evidence (two points or more) wins a conflict. Without it, two diagnoses of one location are
//!   combined, and conflicts about validity or severity remain disputed.
//! - If no reviewer states a confidence, the output contains none. A finding of one reviewer without a confidence is
//!   scored as one whose evidence requires a review. It does not count as a critical claim below 70, and it does not
//!   reach the confidence of 85 that rule 9 requires.
//! - Only the score decides how the confidence of a unique finding changes (phase 4).
//! - Rule 9 requires a confidence of at least 85 and concrete evidence for a critical finding of one reviewer. A
//!   finding that lacks one of these is disputed if its score would otherwise accept it (rule 10).

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
