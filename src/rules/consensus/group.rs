//! Findings of several reviewers that are one problem, and what was decided about them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::{AdvisoryStatus, Anchor, Class, RawFinding, Tag, Untrusted};

/// The title of a finding without any text; it resembles no other text.
pub(crate) const UNTITLED: &str = "(a finding without a text)";

/// A severity on the scale of the consensus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Low,
    Medium,
    High,
    Critical,
}

impl Level {
    /// The lowest first.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// The level of a tag; an unknown word counts as high, because it counts as mandatory.
    pub fn of(tag: Option<Tag>) -> Self {
        match tag {
            Some(Tag::Critical) => Self::Critical,
            Some(Tag::Must | Tag::High) | None => Self::High,
            Some(Tag::Should | Tag::Medium) => Self::Medium,
            Some(Tag::Low) => Self::Low,
        }
    }

    pub(crate) fn tag(self) -> Tag {
        [Tag::Low, Tag::Medium, Tag::High, Tag::Critical][self as usize]
    }

    /// One level down; the lowest level stays.
    #[must_use]
    pub fn lower(self) -> Self {
        Self::ALL[(self as usize).saturating_sub(1)]
    }
}

/// One reviewer's finding as a member of a [`Group`]; its severity is normalised.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Member {
    /// Unique within the merge; in a run the call and the position in its answer.
    pub id: String,
    /// The reviewer.
    pub model: String,
    /// Who made the reviewer's model; derived from the reviewer's name if absent.
    pub vendor: Option<String>,
    pub raw: RawFinding,
    /// Where it is anchored in the tree of a run.
    pub anchor: Option<Anchor>,
    /// The first and last line of the enclosing function or method, if known.
    pub block: Option<(u32, u32)>,
    /// Whether the reviewer says that this is no issue.
    pub denies: bool,
    /// Whether it was first observed in the second round of a debate.
    pub observed: bool,
    pub checked: CheckedEvidence,
}

impl Member {
    pub(crate) fn title(&self) -> &str {
        self.raw.title.as_written()
    }

    /// The body with its evidence.
    pub(crate) fn description(&self) -> Cow<'_, str> {
        let body = self.raw.body.as_written();
        match self.raw.evidence.as_slice() {
            [] => Cow::Borrowed(body),
            evidence => {
                let lines = std::iter::once(body).chain(evidence.iter().map(Untrusted::as_written));
                Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
            }
        }
    }

    pub(crate) fn suggestion(&self) -> &str {
        self.raw.suggestion.as_ref().map_or("", Untrusted::as_written)
    }

    pub(crate) fn level(&self) -> Level {
        Level::of(self.raw.severity.tag)
    }
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
pub enum ConflictKind {
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

/// How the members of a group relate to each other (phases 2 to 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupState {
    /// Two or more reviewers agree.
    Agreed,
    /// Reviewers contradict each other.
    Conflicted(ConflictKind),
    /// One reviewer raised it.
    Unique,
}

/// How far the reviewers agree on an accepted finding; the order of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// All reviewers raised it.
    Unanimous,
    /// Two or more did.
    Majority,
    /// A conflict was resolved in its favour.
    ConflictResolved,
    /// One did, with sufficient evidence.
    SingleSourceValidated,
}

/// Findings of several reviewers that are one problem, and what was decided about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Indices into the members of the merge: one a reviewer, the representative first.
    pub members: Vec<usize>,
    /// Repeats of members by the same reviewer.
    pub repeats: Vec<usize>,
    pub class: Class,
    pub state: GroupState,
    /// Present if it is accepted.
    pub agreement: Option<Agreement>,
    pub severity: Level,
    /// The confidence before the debate and the bonus; absent if no reviewer stated one.
    pub original_confidence: Option<u8>,
    pub confidence: Option<u8>,
    /// What the policy adds to the confidence, and the name of that in the formula.
    pub(crate) bonus: (i32, &'static str),
    /// How the confidence was computed.
    pub formula: String,
    /// The validation score of phase 4, where one reviewer raised it.
    pub score: Option<i32>,
    /// The index of the member with the most detailed description.
    pub described_by: usize,
    /// A description that a reviewer revised in its defence.
    pub revised: Option<String>,
    /// The index of the member with the most actionable suggestion.
    pub suggested_by: usize,
    /// Flags, dissent, concessions.
    pub notes: Vec<String>,
    pub why: String,
    pub challenge: Option<EvidenceChallenge>,
    /// What would change the decision.
    pub reversal: String,
    /// What settles it; present if it is disputed.
    pub action: Option<String>,
    /// Whether its raisers withdrew it and no other reviewer supports it.
    pub withdrawn: bool,
    pub advised: AdvisoryStatus,
    /// Reviewers that support it in round 2 without having raised it.
    pub supporters: Vec<String>,
    /// Whether it needs a person: grave, unresolved, and the recommendation depends on it.
    pub escalate: bool,
}

impl Group {
    /// Whether it is accepted and more than one reviewer supports it.
    pub fn is_confirmed(&self) -> bool {
        self.class == Class::Accepted && self.agreement != Some(Agreement::SingleSourceValidated)
    }

    /// Whether one reviewer alone supports it.
    pub fn is_alone(&self) -> bool {
        matches!(self.class, Class::Accepted | Class::Uncorroborated) && !self.is_confirmed()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Consensus {
    /// Accepted first, each class by severity, confidence and agreement.
    pub groups: Vec<Group>,
    pub statistics: Statistics,
    pub summary: String,
}

/// What was checked of a finding against the reviewed code; by default nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedEvidence {
    /// Whether the cited file and line exist.
    pub place: Option<bool>,
    /// Whether identifiers of the text occur in the cited block.
    pub identifiers: Option<bool>,
    /// Whether an embedded rule matches.
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

/// The challenge of phase 5: what is asked about a finding, and whether its evidence suffices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvidenceChallenge {
    pub finding: String,
    /// The weakest point of its evidence.
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
    /// Findings folded into another one of the same group and reviewer, or of the same root cause.
    pub repeats_folded: usize,
    pub groups: usize,
    /// Accepted because reviewers agree.
    pub agreements: usize,
    /// Either way.
    pub conflicts_resolved: usize,
    pub disputes_unresolved: usize,
    pub unique_findings_accepted: usize,
    pub unique_findings_rejected: usize,
    /// Of one reviewer, with no word from another one.
    pub unique_findings_uncorroborated: usize,
    /// Withdrawn by all who raised it.
    pub withdrawn: usize,
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
    pub new_observations_added: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DefenceCounts {
    pub defenses_received: BTreeMap<String, usize>,
    pub defended: usize,
    pub conceded: usize,
    pub modified: usize,
}

/// How many confidences changed in the debate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Moves {
    pub increased: usize,
    pub decreased: usize,
    pub unchanged: usize,
}
