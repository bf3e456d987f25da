use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::{AdvisoryStatus, Class, Tag};

/// The title of a finding that has no text at all; it is like no other text.
pub(crate) const UNTITLED: &str = "(a finding without a text)";

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
    pub checked: CheckedEvidence,
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
pub enum ClaimConflict {
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
pub enum ClaimStanding {
    /// Two or more reviewers agree.
    Agreed,
    /// Reviewers contradict each other.
    Conflicted(ClaimConflict),
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
pub struct ClaimDecision {
    /// The claims by their index in the input: one a reviewer, the one that speaks for the group first.
    pub members: Vec<usize>,
    /// Repeats of members by the same reviewer.
    pub repeats: Vec<usize>,
    pub class: Class,
    pub standing: ClaimStanding,
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
    pub challenge: Option<ClaimChallenge>,
    /// What would change the decision.
    pub reversal: String,
    /// What to do to settle it, where it is disputed.
    pub action: Option<String>,
    /// Whether who raised it took it back and nobody else supports it.
    pub withdrawn: bool,
    pub advised: AdvisoryStatus,
    /// Reviewers that did not raise it and support it in round 2.
    pub supporters: Vec<String>,
    /// Whether only a person can settle it: grave, unresolved, and the recommendation depends on it.
    pub escalate: bool,
}

impl ClaimDecision {
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
    pub decisions: Vec<ClaimDecision>,
    pub statistics: Statistics,
    pub summary: String,
}

/// What was checked about a claim against the reviewed code; the default is that nothing was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedEvidence {
    /// Whether the cited file and line exist.
    pub place: Option<bool>,
    /// Whether identifiers of the text occur in the cited block.
    pub identifiers: Option<bool>,
    /// Whether an embedded rule found the same.
    pub confirmed: bool,
    pub advisory: AdvisoryStatus,
}

/// The four questions of a challenge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Criteria {
    /// Specific enough to act on.
    pub specificity: bool,
    /// Can be reproduced or verified.
    pub reproducibility: bool,
    /// Would affect users in production.
    pub impact: bool,
    /// The suggestion is concrete enough.
    pub actionability: bool,
}

impl Criteria {
    pub(crate) fn met(self) -> usize {
        [self.specificity, self.reproducibility, self.impact, self.actionability].into_iter().filter(|m| *m).count()
    }
}

/// A challenge: the question put to a finding and how it stands up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClaimChallenge {
    pub finding: String,
    /// What is weakest about its evidence.
    pub weakest: String,
    /// What would confirm or deny it.
    pub test: String,
    pub criteria: Criteria,
    /// Whether a senior engineer would act on it: two criteria or more.
    pub holds: bool,
}

/// The debate's statistics.
///
/// `agreements + conflicts_resolved + disputes_unresolved + unique_findings_accepted + unique_findings_rejected +
/// unique_findings_uncorroborated + withdrawn` is `groups`; `findings_per_model` adds up to `total_findings_received`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Statistics {
    pub total_findings_received: usize,
    pub findings_per_model: BTreeMap<String, usize>,
    /// Claims folded into another one of the same decision and reviewer, or into one with the same root cause.
    pub repeats_folded: usize,
    pub groups: usize,
    /// Accepted because reviewers agree.
    pub agreements: usize,
    /// Conflicts that were resolved, either way.
    pub conflicts_resolved: usize,
    /// Left to a judge or a person.
    pub disputes_unresolved: usize,
    /// Of one reviewer, accepted.
    pub unique_findings_accepted: usize,
    /// Of one reviewer, rejected.
    pub unique_findings_rejected: usize,
    /// Of one reviewer, and nobody else has said anything yet.
    pub unique_findings_uncorroborated: usize,
    /// Withdrawn by all who raised it.
    pub withdrawn: usize,
    /// Security findings looked up in a database of advisories.
    pub security_advisories_checked: usize,
    pub round2_cross_examination: ExaminationCounts,
    pub round3_defense: DefenceCounts,
    pub confidence_changes: Moves,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExaminationCounts {
    pub responses_received: BTreeMap<String, usize>,
    pub agreements: usize,
    pub disagreements: usize,
    pub partial_agreements: usize,
    /// Findings that were first observed then.
    pub new_observations_added: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DefenceCounts {
    pub defenses_received: BTreeMap<String, usize>,
    pub defended: usize,
    pub conceded: usize,
    pub modified: usize,
}

/// How the decisions' confidences stand to their originals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Moves {
    pub increased: usize,
    pub decreased: usize,
    pub unchanged: usize,
}
