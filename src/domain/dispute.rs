//! Disputes: a coder's disagreement with a mandatory finding.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Finding, FindingId, Response, Ruler, RulingRecord, RunId, Tag};

/// The number of a dispute, counted from 1 within one history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct DisputeNumber(pub u64);

impl fmt::Display for DisputeNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

/// The id of a dispute in all histories: 16 hexadecimal digits, derived from the run and the finding that it is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct DisputeId(pub String);

impl DisputeId {
    pub fn of(run: &RunId, finding: FindingId) -> Self {
        let hash = blake3::hash(format!("dispute {run} {finding}").as_bytes()).to_hex();
        Self(hash[..16].to_owned())
    }

    /// Whether it has the form of an id.
    pub fn is_valid(&self) -> bool {
        self.0.len() == 16 && self.0.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    }
}

impl fmt::Display for DisputeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Which ruling is meant: by the number of its dispute in this history, or, where it was made elsewhere and shared as a
/// file, by the dispute's id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RulingRef {
    /// The number of the dispute.
    Number(DisputeNumber),
    /// The id of the dispute.
    Shared(DisputeId),
}

impl From<DisputeNumber> for RulingRef {
    fn from(number: DisputeNumber) -> Self {
        Self::Number(number)
    }
}

impl fmt::Display for RulingRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Shared(id) => id.fmt(f),
        }
    }
}

/// How a dispute is to be settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Route {
    /// Ask the AI judge.
    Judge,
    /// A person decides.
    Human,
    /// Discard the reviewer's opinion.
    Discard,
}

impl Route {
    /// All routes, in the order of the dialog.
    pub const ALL: [Self; 3] = [Self::Judge, Self::Human, Self::Discard];
}

/// What became of a disputed finding; it decides whether the finding blocks, now and in later runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum Disposition {
    /// The finding stands and has to be implemented.
    Enforced,
    /// The finding is wrong.
    Refuted,
    /// The finding was discarded without a ruling on its content.
    Discarded,
    /// The finding is right and the risk is taken knowingly.
    AcceptedRisk,
    /// The finding is right and will be done later, under this reference (an issue number, a link).
    Deferred {
        /// Where it is tracked.
        reference: String,
    },
    /// The finding repeats another one.
    Duplicate {
        /// What it repeats.
        of: String,
    },
    /// The finding is right but not mandatory.
    NotMandatory,
}

impl Disposition {
    /// Whether a finding so disposed of no longer blocks.
    pub fn closes(&self) -> bool {
        !matches!(self, Self::Enforced)
    }

    /// The word shown in lists.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Refuted => "refuted",
            Self::Discarded => "discarded",
            Self::AcceptedRisk => "accepted risk",
            Self::Deferred { .. } => "deferred",
            Self::Duplicate { .. } => "duplicate",
            Self::NotMandatory => "not mandatory",
        }
    }
}

/// Who, or what, stands against a finding in dispute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Objector {
    /// The coder disagrees.
    #[default]
    Coder,
    /// Reviewers contradict each other; no coder was asked.
    Reviewers,
    /// Nobody: one reviewer alone says so, or its evidence is challenged; no coder was asked.
    Unconfirmed,
    /// An earlier finding of the run, which it asks to undo.
    Earlier,
}

impl Objector {
    pub fn is_coder(&self) -> bool {
        *self == Self::Coder
    }

    /// What stands against the finding, in a few words that begin a line.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Coder => "The coder objects",
            Self::Reviewers => "Reviewers contradict each other",
            Self::Unconfirmed => "Not confirmed",
            Self::Earlier => "It undoes an earlier finding",
        }
    }
}

/// A finding and what stands against it: a dispute that has no number yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    pub finding: Finding,
    pub objection: Response,
    pub objector: Objector,
}

impl Sides {
    /// The dispute under a number, as it stands at its beginning.
    pub fn numbered(self, number: DisputeNumber) -> Dispute {
        let Self { finding, objection, objector } = self;
        Dispute {
            number,
            finding,
            objection,
            objector,
            route: None,
            rulings: Vec::new(),
            disposition: None,
            discarded_by: None,
        }
    }
}

/// A dispute with everything a judge or a person needs to settle it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dispute {
    /// Its number.
    pub number: DisputeNumber,
    /// The finding in dispute.
    pub finding: Finding,
    /// The objection: the coder's, or what stands against the finding where no coder was asked.
    pub objection: Response,
    /// Whose objection it is.
    #[serde(default, skip_serializing_if = "Objector::is_coder")]
    pub objector: Objector,
    /// The way chosen to settle it; absent until somebody chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
    /// All rulings, in order: an ESCALATE may be followed by a person's.
    #[serde(default)]
    pub rulings: Vec<RulingRecord>,
    /// How it ended; absent while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disposition: Option<Disposition>,
    /// Who discarded the finding, where it was discarded without a ruling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discarded_by: Option<Ruler>,
}

impl Dispute {
    pub fn is_open(&self) -> bool {
        self.disposition.is_none()
    }

    /// The tag that the ruling gave the finding, where it was right but not mandatory.
    pub fn new_tag(&self) -> Option<Tag> {
        let tag = self.rulings.last().and_then(|record| record.ruling.new_tag);
        tag.filter(|_| self.disposition == Some(Disposition::NotMandatory))
    }
}
