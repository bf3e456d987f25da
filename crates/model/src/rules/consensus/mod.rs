//! Merges the findings of several reviewers: normalises the findings, groups findings that report the same problem,
//! and decides each group by a policy.
//!
//! The module `normalise` normalises each finding ([`Member`]), and the module `similarity` forms groups. A policy
//! then decides each group by the votes of the reviewers, and returns a [`Group`].
//!
//! The steps are phases 1 to 7 of the debate arbitrator's specification, and phase 5.5 after a debate. Every member
//! belongs to exactly one group, and the result is independent of the order of the members. Where the specification
//! has gaps or contradicts itself, this module decides as follows:
//! - The agreement of reviewers changes the confidence of a finding only once. Agreement adds `min(15, 5 x
//!   reviewers)` points. Even a finding that wins a conflict loses 10 points. One answer in a debate raises or
//!   lowers a confidence by at most 30 points.
//! - Under the policy `panel`, an answer of round 2 moves the confidence only if it names a line or a piece of the
//!   code, and answers for and against a finding cancel each other: one more moves 5 points, two or more move 15.
//! - Two severities conflict (type A) if they are at least two levels apart. Without a conflict, the severity of a
//!   group is the rounded-up median of the members' severities. In a conflict of type C, the location and category
//!   are the same, but the texts have almost no words in common.
//! - In a conflict, the finding with the stronger evidence wins if its evidence is stronger by at least two
//!   points. If no finding wins, two different diagnoses of the same code are combined. A conflict about validity
//!   or severity remains disputed.
//! - If no reviewer states a confidence, the result has no confidence. If a finding has no confidence, the score
//!   is computed as if the confidence were between 60 and 79.
//! - If only one reviewer raised a finding, the score alone decides how the confidence changes (phase 4).
//! - A critical finding that only one reviewer raised needs a confidence of at least 85 and concrete evidence
//!   (rule 9). If the confidence is below 85 or the evidence is not concrete, the finding is disputed instead of
//!   accepted (rule 10).

mod answers;
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
pub use answers::Answers;
pub use debate::{Debate, Defence, DefenceWord, Examination, ExaminationWord};
pub use group::UNTITLED;
pub use group::{
    Agreement, CheckedEvidence, ConflictKind, Consensus, Criteria, EvidenceChallenge, Group,
    GroupState, Level, Member, Policy, Statistics,
};
pub use normalise::{Category, category, vendor, vendor_of};
pub use output::MergeAnswer;

crate::domain::words!(Level, Policy);

/// Groups the findings and decides each group. A path is known if `tree` contains the path, or if a member gives
/// the path with a folder, such as `src/a.rs`. If exactly one known path ends with a bare file name, this path
/// replaces the bare file name.
///
/// `answers` holds what somebody who was asked said about pairs of members. The answer `same` joins two findings, and
/// the answer `different` keeps them apart, whatever their words are. The policy `specification` groups by location
/// and category alone, so it asks nothing and ignores the answers.
pub fn merge(
    members: &[Member],
    debate: &Debate,
    tree: &[String],
    policy: Policy,
    answers: &Answers,
) -> Consensus {
    let entries = normalise::entries(members, tree);
    let (mut groups, unsure) = match policy {
        Policy::Panel => policies::panel::decide(members, &entries, debate, answers),
        Policy::Specification => (
            policies::specification::decide(members, &entries, debate),
            Vec::new(),
        ),
    };
    tally::escalate(&mut groups);
    tally::sort(&mut groups, members);
    let statistics = Statistics::of(members, debate, &groups);
    let summary = tally::summary(&statistics, &groups, debate, members);
    Consensus {
        groups,
        unsure,
        statistics,
        summary,
    }
}

#[cfg(test)]
mod tests;
