//! One answer from several reviewers: normalise their findings, group those that mean the same, decide by a policy.
//!
//! The steps are those of the debate arbitrator's specification (its phases 1 to 7, and 5.5 for a debate). A [`Policy`]
//! is one file here and one arm in [`merge`]. Nothing is lost on the way: every claim is a member of exactly one
//! decision, and the answer does not depend on the order in which the claims come.
//!
//! Where the specification is silent or at odds with itself, these readings hold:
//! - The boost for agreement is counted once, as `consensus_bonus`: `min(15, 5 x reviewers)` where reviewers agree, the
//!   adjustment of the table for a finding of one reviewer, -10 for a conflict won. An adjustment is at most 30 either
//!   way, a confidence stays within 0 to 100.
//! - A severity disagreement is a conflict (type A) when two levels lie between the sides; adjacent levels are settled
//!   by the median, the higher of two. Type C is one place and category with texts that share next to nothing.
//! - A conflict goes to a side whose evidence is clearly stronger (two points or more). Otherwise two diagnoses of one
//!   place are synthesised; validity and severity stay disputed.
//! - A confidence that no reviewer states is absent, in the answer as well. Such a finding of one reviewer scores as what
//!   needs a review of its evidence, is not held to be a critical claim below 70, and is not at 85 (rule 9).
//! - The score alone decides what the confidence of a unique finding changes by (phase 4).
//! - A critical finding of one reviewer that is not at 85 or more with concrete evidence (rule 9) is disputed where its
//!   score would accept it (rule 10).

mod case;
pub(crate) mod claim;
mod debate;
mod evidence;
pub(crate) mod normalise;
mod output;
pub(crate) mod policies;
pub mod similarity;
mod tally;

pub use crate::rules::consensus::claim::Statistics;
pub use crate::rules::consensus::claim::{CheckedEvidence, ClaimChallenge, Criteria};
pub use crate::rules::consensus::normalise::{Category, category, vendor};
pub use claim::{Claim, Consensus, Policy};
pub use debate::{Debate, Defence, DefenceWord, Examination, ExaminationWord};
pub use output::MergeAnswer;

use crate::domain::words;
use crate::rules::consensus::claim::Level;

pub use crate::domain::{AdvisoryStatus, Class};

words!(Level, Policy);

/// Merges claims and decides on each group. `tree` are the paths that a bare file name may mean besides those of the
/// claims themselves.
pub fn merge(claims: &[Claim], debate: &Debate, tree: &[String], policy: Policy) -> Consensus {
    let entries = normalise::entries(claims, tree);
    let mut decisions = match policy {
        Policy::Panel => policies::panel::decide(claims, &entries, debate),
        Policy::Specification => policies::specification::decide(claims, &entries, debate),
    };
    tally::escalate(&mut decisions);
    tally::sort(&mut decisions, claims);
    let statistics = Statistics::of(claims, debate, &decisions);
    let summary = tally::summary(&statistics, &decisions, debate, claims);
    Consensus { decisions, statistics, summary }
}

#[cfg(test)]
mod tests;
