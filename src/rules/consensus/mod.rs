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
mod debate;
mod evidence;
mod group;
pub mod identity;
mod normal;
mod output;
mod panel;
mod phrases;
mod specification;
mod tally;
mod words;

use serde::{Deserialize, Serialize};

pub use debate::{Debate, Defence, DefenceWord, Examination, ExaminationWord};
pub use evidence::{Challenge, Checked, Criteria};
pub use normal::{Category, category, vendor};
pub use output::Answer;
pub use tally::Statistics;

use crate::domain::{Tag, words};

/// The title of a finding that has no text at all; it is like no other text.
pub const UNTITLED: &str = "(a finding without a text)";
pub use crate::domain::{Advised, Class};

words!(Level, Policy);

/// How severe a claim is, on the scale of the consensus; `MUST` stands with high, `SHOULD` with medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Low,
    Medium,
    High,
    Critical,
}

impl Level {
    /// All levels, the lowest first.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// The level of a tag; an unknown word stands with high, because it counts as mandatory.
    pub fn of(tag: Option<Tag>) -> Self {
        match tag {
            Some(Tag::Critical) => Self::Critical,
            Some(Tag::Must | Tag::High) | None => Self::High,
            Some(Tag::Should | Tag::Medium) => Self::Medium,
            Some(Tag::Low) => Self::Low,
        }
    }

    /// One level down, at the lowest the same.
    #[must_use]
    pub fn lower(self) -> Self {
        Self::ALL[(self as usize).saturating_sub(1)]
    }
}

/// One reviewer's finding, as it enters a merge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claim {
    /// Its id, unique within the merge.
    pub id: String,
    pub model: String,
    /// Who made the reviewer's model; told by the reviewer's name where absent.
    pub vendor: Option<String>,
    /// The path as written.
    pub file: Option<String>,
    /// The first line, counted from 1.
    pub line: Option<u32>,
    pub end_line: Option<u32>,
    /// The first and last line of the function or method around it, where that is known.
    pub block: Option<(u32, u32)>,
    /// How severe it is; medium where the reviewer did not say.
    pub severity: Option<Level>,
    /// How sure the reviewer is, 0 to 100, where it says so.
    pub confidence: Option<u8>,
    /// The category as written.
    pub category: Option<String>,
    /// The rule of an analyser that matched.
    pub rule: Option<String>,
    pub title: String,
    pub description: String,
    pub suggestion: String,
    /// Whether the reviewer says that this is no issue.
    pub denies: bool,
    /// Whether it was first observed in the second round of a debate.
    pub observed: bool,
    pub checked: Checked,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// Agreement ranks and gates, and never deletes.
    #[default]
    Panel,
    /// The debate arbitrator's phases to the letter.
    Specification,
}

impl Policy {
    pub const ALL: [Self; 2] = [Self::Panel, Self::Specification];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Conflict {
    /// One issue, severities two levels or more apart.
    #[serde(rename = "A")]
    Severity,
    /// One says issue, another says not an issue.
    #[serde(rename = "B")]
    Validity,
    /// One symptom, different diagnoses.
    #[serde(rename = "C")]
    Cause,
}

/// How the claims of a group stand to each other (phases 2 to 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Two or more reviewers agree.
    Agreed,
    /// Reviewers contradict each other.
    Conflicted(Conflict),
    /// One reviewer raised it.
    Unique,
}

/// How far the reviewers agree on an accepted finding; the order of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// All reviewers of the run raised it.
    Unanimous,
    /// Two or more did.
    Majority,
    /// A conflict was resolved in its favour.
    ConflictResolved,
    /// One did, and its evidence holds.
    SingleSourceValidated,
}

/// What was decided about a group of claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The claims by their index in the input: one a reviewer, the one that speaks for the group first.
    pub members: Vec<usize>,
    /// Repeats of members by the same reviewer.
    pub repeats: Vec<usize>,
    pub class: Class,
    pub standing: Standing,
    /// How far reviewers agree, where it is accepted.
    pub agreement: Option<Agreement>,
    pub severity: Level,
    /// The confidence before the debate and the bonus.
    pub original_confidence: Option<u8>,
    /// The final confidence; absent where no reviewer stated one.
    pub confidence: Option<u8>,
    pub formula: String,
    /// The validation score of phase 4, where one reviewer raised it.
    pub score: Option<i32>,
    /// The claim with the most detailed description.
    pub described_by: usize,
    /// A description that a reviewer revised in its defence.
    pub revised: Option<String>,
    /// The claim with the most actionable suggestion.
    pub suggested_by: usize,
    /// What to know about it besides: flags, dissent, concessions, notes.
    pub notes: Vec<String>,
    pub why: String,
    /// The question of the challenge protocol, where it was asked.
    pub challenge: Option<Challenge>,
    /// What would change the decision.
    pub reversal: String,
    /// What to do to settle it, where it is disputed.
    pub action: Option<String>,
    /// Whether who raised it took it back and nobody else supports it.
    pub withdrawn: bool,
    pub advised: Advised,
    /// Reviewers that did not raise it and support it in round 2.
    pub supporters: Vec<String>,
    /// Whether only a person can settle it: grave, unresolved, and the recommendation depends on it.
    pub escalate: bool,
}

impl Decision {
    /// Whether it is accepted and more than one reviewer stands behind it.
    pub fn is_confirmed(&self) -> bool {
        self.class == Class::Accepted && self.agreement != Some(Agreement::SingleSourceValidated)
    }

    /// Whether it stands on the word of one reviewer.
    pub fn is_alone(&self) -> bool {
        matches!(self.class, Class::Accepted | Class::Uncorroborated) && !self.is_confirmed()
    }
}

/// The answer of a merge.
#[derive(Clone, Debug, PartialEq)]
pub struct Consensus {
    /// The decisions: accepted first, each class by severity, confidence and agreement.
    pub decisions: Vec<Decision>,
    pub statistics: Statistics,
    pub summary: String,
}

/// Merges claims and decides on each group. `tree` are the paths that a bare file name may mean besides those of the
/// claims themselves.
pub fn merge(claims: &[Claim], debate: &Debate, tree: &[String], policy: Policy) -> Consensus {
    let entries = normal::entries(claims, tree);
    let mut decisions = match policy {
        Policy::Panel => panel::decide(claims, &entries, debate),
        Policy::Specification => specification::decide(claims, &entries, debate),
    };
    tally::escalate(&mut decisions);
    tally::sort(&mut decisions, claims);
    let statistics = Statistics::of(claims, debate, &decisions);
    let summary = tally::summary(&statistics, &decisions, debate, claims);
    Consensus { decisions, statistics, summary }
}

#[cfg(test)]
mod tests;
