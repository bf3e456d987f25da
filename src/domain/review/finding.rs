//! Findings: requests of reviewers.
//!
//! A [`RawFinding`] is parsed from one answer. `rules::consensus` joins those that are one problem to a `Group`, which
//! becomes a [`Finding`] of a run with an id, its raisers, and an anchor in the code. The outcome has a `SettledFinding`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::ids::FindingId;
use crate::domain::review::severity::Confidence;
use crate::domain::{
    AgentName, Class, Corroboration, Disposition, DisputeNumber, Location, RulingRef, Severity, Untrusted,
};

/// A finding as a reviewer wrote it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RawFinding {
    /// The tag and the word it was read from.
    #[serde(flatten)]
    pub severity: Severity,
    /// The request in one line, without markup and a leading place.
    pub title: Untrusted,
    /// The text after the title, as written; may be empty.
    #[serde(default)]
    pub body: Untrusted,
    /// The path as written.
    pub file: Option<String>,
    /// The first line, counted from 1.
    pub line: Option<u32>,
    /// The last line of a range.
    pub end_line: Option<u32>,
    /// The defect class, if the reviewer named one (`sql-injection`, `weak-hash`, ...).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The reviewer's proposal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<Untrusted>,
    /// The confidence that the reviewer states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// The reviewer's evidence, line by line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Untrusted>,
    /// The rule of a static analyser that matched, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The ruling in force that the reviewer was shown and insists against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insists_on: Option<RulingRef>,
}

impl RawFinding {
    pub fn location(&self) -> Option<Location> {
        let file = self.file.clone()?;
        Some(Location { file, line: self.line, end_line: self.end_line })
    }
}

/// What ties a finding to the code, so that it is recognised in a later run until that code changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Anchor {
    /// The path inside the reviewed tree.
    pub file: String,
    /// The BLAKE3 hash (hex) of the enclosing block's text, white space folded; of the whole file without a line.
    pub block: String,
    /// The defect class: the reviewer's category or rule, else `bug`.
    pub category: String,
    /// The title, folded to lower-case words and single blanks.
    pub text: String,
    /// The line within the block, counted from 0; absent without a line, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    /// The reviewer's rule, in lower case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The identifiers of the block that the title names, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// A finding of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its number in the run.
    pub id: FindingId,
    /// The finding as written.
    #[serde(flatten)]
    pub raw: RawFinding,
    /// Whether the coder may not discard it.
    pub mandatory: bool,
    /// Its raisers; several if reviewers raised the same finding.
    pub raised_by: Vec<AgentName>,
    /// The round it was raised in, counted from 1.
    pub round: u32,
    /// Where it is anchored; absent if the place does not exist in the reviewed tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// The earlier finding of this run that this one asks to revert.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverses: Option<FindingId>,
    /// The positions of the reviewers; absent if only one took part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consensus: Option<Corroboration>,
}

impl Finding {
    /// Whether it is rejected: withdrawn by its raiser, or optional and rejected by others.
    pub fn is_rejected(&self) -> bool {
        self.consensus
            .as_ref()
            .is_some_and(|consensus| consensus.class == Class::Rejected && (consensus.withdrawn || !self.mandatory))
    }
}

/// The state of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum FindingState {
    /// Not answered.
    Open,
    /// The coder was asked and gave no answer.
    Unanswered,
    /// The coder says it is implemented, but nothing changed at its anchor.
    Claimed,
    /// Implemented and the code changed; the re-check is off.
    Unchecked,
    /// Implemented and the code changed, but its raiser gave no valid answer to the re-check.
    Unconfirmed,
    /// Implemented, changed, and not resolved according to its raiser.
    NotResolved,
    /// Implemented, changed, and resolved according to its raiser.
    Resolved,
    /// An optional finding that the coder discarded, or a disputed one discarded by route or policy.
    Discarded,
    /// A dispute about it waits for a person.
    Disputed {
        /// The dispute.
        dispute: DisputeNumber,
    },
    /// A ruling enforces it and the coder has not implemented it yet.
    Enforced {
        /// The dispute.
        dispute: DisputeNumber,
    },
    /// A ruling dismissed it.
    Dismissed {
        /// The dispute.
        dispute: DisputeNumber,
    },
    /// A ruling or disposition of an earlier dispute is in force for it.
    AlreadyRuled {
        /// The earlier dispute: its number, or the id of one whose ruling is shared as a file.
        dispute: RulingRef,
        /// How it was settled then.
        disposition: Disposition,
    },
}

impl FindingState {
    /// Whether a mandatory finding in this state no longer blocks (section 3.1 of the design).
    pub fn is_closed(&self) -> bool {
        match self {
            Self::Resolved | Self::Unchecked | Self::Discarded | Self::Dismissed { .. } => true,
            Self::AlreadyRuled { disposition, .. } => disposition.closes(),
            Self::Open
            | Self::Unanswered
            | Self::Claimed
            | Self::Unconfirmed
            | Self::NotResolved
            | Self::Disputed { .. }
            | Self::Enforced { .. } => false,
        }
    }
}

impl fmt::Display for FindingState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.pad("open"),
            Self::Unanswered => f.pad("unanswered"),
            Self::Claimed => f.pad("claimed"),
            Self::Unchecked => f.pad("unchecked"),
            Self::Unconfirmed => f.pad("changed, not confirmed"),
            Self::NotResolved => f.pad("not resolved"),
            Self::Resolved => f.pad("resolved"),
            Self::Discarded => f.pad("discarded"),
            Self::Disputed { dispute } => write!(f, "disputed (dispute {dispute})"),
            Self::Enforced { dispute } => write!(f, "enforced (dispute {dispute})"),
            Self::Dismissed { dispute } => write!(f, "dismissed (dispute {dispute})"),
            Self::AlreadyRuled { dispute, .. } => write!(f, "already ruled (dispute {dispute})"),
        }
    }
}
