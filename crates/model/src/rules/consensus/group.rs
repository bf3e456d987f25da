//! The types for merging findings of several reviewers: members, groups, decisions and statistics.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::{
    AdvisoryStatus, Anchor, Assessment, Class, ExactFix, Location, RawFinding, Tag, Untrusted,
};

/// The title of a finding without a text. Comparisons of findings ignore this title.
pub const UNTITLED: &str = "(a finding without a text)";

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

    /// Maps a tag to a level. A finding of unknown severity (`None`) counts as mandatory, so `None` maps to the
    /// same level as the tag MUST: `High`.
    pub fn of(tag: Option<Tag>) -> Self {
        match tag {
            Some(Tag::Critical) => Self::Critical,
            Some(Tag::Must | Tag::High) | None => Self::High,
            Some(Tag::Should | Tag::Medium) => Self::Medium,
            Some(Tag::Low) => Self::Low,
        }
    }

    pub fn tag(self) -> Tag {
        [Tag::Low, Tag::Medium, Tag::High, Tag::Critical][self as usize]
    }

    /// Returns the next lower level, or `Low` for the lowest level.
    #[must_use]
    pub fn lower(self) -> Self {
        Self::ALL[(self as usize).saturating_sub(1)]
    }
}

/// One reviewer's finding, as an input of a merge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Member {
    /// An id that is unique within the merge. In a run, the id combines the id of the call with the position of
    /// the finding in the answer.
    pub id: String,
    /// The name of the reviewer.
    pub model: String,
    /// The vendor of the reviewer's model. If `None`, the vendor is derived from the reviewer's name.
    pub vendor: Option<String>,
    pub raw: RawFinding,
    pub anchor: Option<Anchor>,
    /// The place that the reviewer named, if it does not exist and the quoted code corrected it.
    pub corrected_from: Option<Location>,
    /// The first and last line of the function that contains the finding, if known.
    pub block: Option<(u32, u32)>,
    /// The identifiers of this function that the texts of the finding mention.
    pub names: Vec<String>,
    /// Whether the reviewer reports that the problem does not exist.
    pub denies: bool,
    /// The anchors of the further places in `raw`, in the same order.
    pub also: Vec<Option<Anchor>>,
    /// Whether the finding was first raised in round 2 of a debate.
    pub observed: bool,
    pub checked: CheckedEvidence,
    /// The line replacement that the reviewer proposes, if the replacement passed all checks.
    pub fix: Option<ExactFix>,
}

impl Member {
    pub fn title(&self) -> &str {
        self.raw.title.as_written()
    }

    pub fn description(&self) -> Cow<'_, str> {
        let body = self.raw.body.as_written();
        match self.raw.evidence.as_slice() {
            [] => Cow::Borrowed(body),
            evidence => {
                let lines = std::iter::once(body).chain(evidence.iter().map(Untrusted::as_written));
                Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
            }
        }
    }

    pub fn suggestion(&self) -> &str {
        self.raw
            .suggestion
            .as_ref()
            .map_or("", Untrusted::as_written)
    }

    pub fn level(&self) -> Level {
        Level::of(self.raw.severity.tag)
    }
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// The agreement of reviewers decides the rank and class of a finding. No finding is deleted.
    #[default]
    Panel,
    /// Findings are combined exactly as the specification of the debate arbitrator describes.
    Specification,
}

impl Policy {
    pub const ALL: [Self; 2] = [Self::Panel, Self::Specification];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ConflictKind {
    /// For the same problem, two reviewers state severities that are at least two levels apart.
    #[serde(rename = "A")]
    Severity,
    /// One reviewer reports a problem, and another reviewer denies that the problem exists.
    #[serde(rename = "B")]
    Validity,
    #[serde(rename = "C")]
    Cause,
}

/// The state of a group (phases 2 to 4). Either the reviewers agree, or the reviewers contradict each other, or
/// only one reviewer raised the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupState {
    Agreed,
    Conflicted(ConflictKind),
    Unique,
}

/// The degree of agreement on an accepted finding, ordered from strong to weak agreement.
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
    /// The indices of the group's members in the input of the merge. A group contains at most one member of each
    /// reviewer. The first member represents the group.
    pub members: Vec<usize>,
    pub repeats: Vec<usize>,
    pub class: Class,
    pub state: GroupState,
    /// The number of vendors of the reviewers that affirm the group. `None` if each has its own.
    pub vendors: Option<u32>,
    /// `None` if the group is not accepted.
    pub agreement: Option<Agreement>,
    pub severity: Level,
    /// The confidence before any change by the policy or the debate. `None` if no reviewer stated a confidence.
    pub original_confidence: Option<u8>,
    pub confidence: Option<u8>,
    /// The number of points that the policy adds to the confidence, and the name under which the field `formula`
    /// lists these points. A negative number lowers the confidence.
    pub(crate) bonus: (i32, &'static str),
    pub formula: String,
    /// The validation score (phase 4). `None` if several reviewers raised the finding.
    pub score: Option<i32>,
    /// The index of the member with the longest description.
    pub(crate) described_by: usize,
    /// The new description, if the raiser revised the description in a defence.
    pub revised: Option<String>,
    /// The index of the member whose suggestion is used: the longest suggestion with code, or else the longest
    /// suggestion.
    pub(crate) suggested_by: usize,
    pub notes: Vec<String>,
    pub why: String,
    pub challenge: Option<EvidenceChallenge>,
    /// The evidence that would change the decision.
    pub reversal: String,
    /// A proposal for settling the dispute. `None` if the group is not disputed.
    pub action: Option<String>,
    /// Whether two conditions are met: the finding was conceded in a defence, and the examinations by the other
    /// reviewers lowered the confidence of the finding.
    pub withdrawn: bool,
    pub advised: AdvisoryStatus,
    /// The reviewers that supported the finding in round 2 of the debate, but did not raise the finding.
    pub supporters: Vec<String>,
    /// What other reviewers said about the finding in round 2 of the debate.
    pub assessments: Vec<Assessment>,
    /// Whether a person must decide the dispute. A person must decide if the dispute is severe and the merge
    /// accepts no severe finding.
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
    /// The pairs of findings that may name the same defect, as indices of the members in the input of the merge.
    /// The two findings of a pair are of different reviewers and in different groups, and nobody was asked about
    /// them. The likeliest pairs come first.
    pub unsure: Vec<(usize, usize)>,
    pub statistics: Statistics,
    pub summary: String,
}

/// The results of checking a finding against the reviewed code. `CheckedEvidence::default()` means that nothing
/// was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedEvidence {
    pub place: Option<bool>,
    /// Whether identifiers in the finding's text occur in the cited block of code.
    pub identifiers: Option<bool>,
    /// Whether the reviewer gave a rule id. A rule id counts as a confirmation of the finding.
    pub confirmed: bool,
    pub advisory: AdvisoryStatus,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Criteria {
    pub(crate) specificity: bool,
    pub(crate) reproducibility: bool,
    pub impact: bool,
    pub(crate) actionability: bool,
}

impl Criteria {
    pub(crate) fn met(self) -> usize {
        [
            self.specificity,
            self.reproducibility,
            self.impact,
            self.actionability,
        ]
        .into_iter()
        .filter(|m| *m)
        .count()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvidenceChallenge {
    pub finding: String,
    pub weakest: String,
    pub test: String,
    pub criteria: Criteria,
    /// Whether the finding meets at least two of the four [`Criteria`].
    pub holds: bool,
}

/// Statistics about all groups of a merge. The values of `findings_per_model` add up to
/// `total_findings_received`. Each group counts in exactly one of `agreements`, `conflicts_resolved`,
/// `disputes_unresolved`, `unique_findings_accepted`, `unique_findings_rejected`,
/// `unique_findings_uncorroborated` and `withdrawn`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Statistics {
    pub total_findings_received: usize,
    pub(crate) findings_per_model: BTreeMap<String, usize>,
    /// The number of findings that were merged into another finding of the same reviewer.
    pub(crate) repeats_folded: usize,
    pub groups: usize,
    pub agreements: usize,
    pub(crate) conflicts_resolved: usize,
    pub(crate) disputes_unresolved: usize,
    pub unique_findings_accepted: usize,
    pub unique_findings_rejected: usize,
    pub(crate) unique_findings_uncorroborated: usize,
    pub withdrawn: usize,
    pub security_advisories_checked: usize,
    pub round2_cross_examination: ExaminationCounts,
    pub round3_defense: DefenceCounts,
    pub(crate) confidence_changes: Moves,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExaminationCounts {
    pub responses_received: BTreeMap<String, usize>,
    pub agreements: usize,
    pub disagreements: usize,
    pub(crate) partial_agreements: usize,
    pub(crate) new_observations_added: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DefenceCounts {
    pub defenses_received: BTreeMap<String, usize>,
    pub defended: usize,
    pub conceded: usize,
    pub modified: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Moves {
    pub(crate) increased: usize,
    pub(crate) decreased: usize,
    pub unchanged: usize,
}
