//! Types of the consensus: members, groups, decisions and statistics.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::{AdvisoryStatus, Anchor, Class, RawFinding, Tag, Untrusted};

/// The title of a finding without a text. Comparisons ignore it.
pub(crate) const UNTITLED: &str = "(a finding without a text)";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Low,
    Medium,
    High,
    Critical,
}

impl Level {
    /// All levels, from lowest to highest.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// The level of a tag. An unknown word has the level high, because Glee treats it as mandatory.
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

    /// The next lower level. The lowest level remains the same.
    #[must_use]
    pub fn lower(self) -> Self {
        Self::ALL[(self as usize).saturating_sub(1)]
    }
}

/// One reviewer's finding in a [`Group`], with a normalised severity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Member {
    /// Unique within the merge. In a run, it consists of the call and the position of the finding in the call's
    /// answer.
    pub id: String,
    /// The name of the reviewer.
    pub model: String,
    /// The vendor of the reviewer's model; derived from the reviewer's name if `None`.
    pub vendor: Option<String>,
    pub raw: RawFinding,
    pub anchor: Option<Anchor>,
    /// The first and last line of the enclosing function, if known.
    pub block: Option<(u32, u32)>,
    /// Whether the reviewer denies that this is an issue.
    pub denies: bool,
    /// Whether the finding was first observed in round 2 of a debate.
    pub observed: bool,
    pub checked: CheckedEvidence,
}

impl Member {
    pub(crate) fn title(&self) -> &str {
        self.raw.title.as_written()
    }

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
    /// Agreement decides the rank and class of a finding; findings are never deleted.
    #[default]
    Panel,
    /// The debate arbitrator's phases, exactly as specified.
    Specification,
}

impl Policy {
    pub const ALL: [Self; 2] = [Self::Panel, Self::Specification];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ConflictKind {
    /// The reviewers' severities for one issue are two or more levels apart.
    #[serde(rename = "A")]
    Severity,
    /// One reviewer reports an issue; another reviewer denies that it is one.
    #[serde(rename = "B")]
    Validity,
    #[serde(rename = "C")]
    Cause,
}

/// How the members of a group relate to each other (phases 2 to 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupState {
    Agreed,
    Conflicted(ConflictKind),
    Unique,
}

/// The degree of agreement on an accepted finding. The report lists findings in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    Unanimous,
    Majority,
    ConflictResolved,
    SingleSourceValidated,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Indices into the merge's members, one for each reviewer; the representative comes first.
    pub members: Vec<usize>,
    pub repeats: Vec<usize>,
    pub class: Class,
    pub state: GroupState,
    /// `None` unless the group is accepted.
    pub agreement: Option<Agreement>,
    pub severity: Level,
    /// The confidence before the debate and the bonus; `None` if no reviewer stated one.
    pub original_confidence: Option<u8>,
    pub confidence: Option<u8>,
    /// The amount by which the policy changes the confidence, and the name of this amount in the formula.
    pub(crate) bonus: (i32, &'static str),
    pub formula: String,
    /// The validation score of phase 4, for a group with only one reviewer.
    pub score: Option<i32>,
    /// The index of the member with the most detailed description.
    pub described_by: usize,
    /// The revised description, if the raiser gave one in its defence.
    pub revised: Option<String>,
    /// The index of the member with the most actionable suggestion.
    pub suggested_by: usize,
    pub notes: Vec<String>,
    pub why: String,
    pub challenge: Option<EvidenceChallenge>,
    /// The evidence that would change the decision.
    pub reversal: String,
    /// The action that settles the dispute; `None` unless the group is disputed.
    pub action: Option<String>,
    /// Whether all raisers withdrew the finding, and no other reviewer supports it.
    pub withdrawn: bool,
    pub advised: AdvisoryStatus,
    /// Reviewers that did not raise the finding, but support it in round 2.
    pub supporters: Vec<String>,
    /// Whether the group is severe and unresolved, and the recommendation depends on it.
    pub escalate: bool,
}

impl Group {
    pub fn is_confirmed(&self) -> bool {
        self.class == Class::Accepted && self.agreement != Some(Agreement::SingleSourceValidated)
    }

    pub fn is_alone(&self) -> bool {
        matches!(self.class, Class::Accepted | Class::Uncorroborated) && !self.is_confirmed()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Consensus {
    /// The groups, ordered by class (accepted first), severity, confidence and agreement.
    pub groups: Vec<Group>,
    pub statistics: Statistics,
    pub summary: String,
}

/// The results of checking a finding against the reviewed code. By default, nothing was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedEvidence {
    pub place: Option<bool>,
    /// Whether identifiers in the finding's text occur in the cited block.
    pub identifiers: Option<bool>,
    /// Whether an embedded rule reports the same problem.
    pub confirmed: bool,
    pub advisory: AdvisoryStatus,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Criteria {
    pub specificity: bool,
    pub reproducibility: bool,
    pub impact: bool,
    pub actionability: bool,
}

impl Criteria {
    pub(crate) fn met(self) -> usize {
        [self.specificity, self.reproducibility, self.impact, self.actionability].into_iter().filter(|m| *m).count()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvidenceChallenge {
    pub finding: String,
    pub weakest: String,
    pub test: String,
    pub criteria: Criteria,
    /// Whether two or more criteria are met.
    pub holds: bool,
}

/// Counts over all groups. Two sums always hold: `agreements + conflicts_resolved + disputes_unresolved +
/// unique_findings_accepted + unique_findings_rejected + unique_findings_uncorroborated + withdrawn == groups`, and
/// the values of `findings_per_model` add up to `total_findings_received`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Statistics {
    pub total_findings_received: usize,
    pub findings_per_model: BTreeMap<String, usize>,
    /// Findings that were merged into another finding of the same group and reviewer, or into one with the same
    /// root cause.
    pub repeats_folded: usize,
    pub groups: usize,
    pub agreements: usize,
    /// Groups with a conflict that were finally accepted or rejected.
    pub conflicts_resolved: usize,
    pub disputes_unresolved: usize,
    pub unique_findings_accepted: usize,
    pub unique_findings_rejected: usize,
    /// Groups with only one reviewer, on which no other reviewer gave a verdict.
    pub unique_findings_uncorroborated: usize,
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Moves {
    pub increased: usize,
    pub decreased: usize,
    pub unchanged: usize,
}
