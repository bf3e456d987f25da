//! Findings, which are problems that reviewers raise. A [`RawFinding`] is parsed from an answer. `rules::consensus`
//! merges raw findings about the same problem into a `Group`. A run makes a [`Finding`] from each group. The
//! outcome contains each [`Finding`] as a `SettledFinding`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::ids::{FindingId, ProblemKey};
use crate::domain::review::severity::Confidence;
use crate::domain::{
    AgentName, Class, Corroboration, Cwe, Demonstration, Disposition, DisputeNumber, ExactFix,
    Ground, Location, RulingRef, Severity, Untrusted,
};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RawFinding {
    #[serde(flatten)]
    pub severity: Severity,
    /// The finding in one line, without markup and location.
    pub title: Untrusted,
    /// The text after the title; possibly empty.
    #[serde(default)]
    pub body: Untrusted,
    pub file: Option<String>,
    /// Counted from 1.
    pub line: Option<u32>,
    /// The last line of a range.
    pub end_line: Option<u32>,
    /// The defect class, such as `sql-injection` or `weak-hash`. `category` is absent if the reviewer stated no
    /// class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The weakness that the finding is an instance of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwe: Option<Cwe>,
    /// The places of the finding beside `file` and `line`. The finding is fixed when all its places are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Location>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<Untrusted>,
    /// The complete new text for the lines `line` to `end_line`, as the reviewer wrote the text. A finding in an
    /// outcome has an `exact_fix` instead of a `replacement`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacement: Option<Untrusted>,
    /// The test that shows the defect, as the reviewer wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demonstration: Option<Box<Demonstration>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// The items of the reviewer's evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Untrusted>,
    /// The id of the static analyser's rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The id of the project's guideline that the code breaks, such as `AGENTS.md#errors`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guideline: Option<String>,
    /// The ruling in force that the finding contradicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insists_on: Option<RulingRef>,
}

impl RawFinding {
    /// The first and the last line of the main place.
    pub fn lines(&self) -> Option<(u32, u32)> {
        let line = self.line?;
        Some((line, self.end_line.unwrap_or(line)))
    }

    /// The main place, if there is one, and the title, as in `src/a.py:3 Close the file`.
    pub fn headline(&self) -> String {
        let title = self.title.as_written();
        match self.location() {
            Some(place) => format!("{place} {title}"),
            None => title.to_owned(),
        }
    }

    /// The name `path:line:title`, by which an answer can name the finding.
    pub fn name(&self) -> String {
        let file = self.file.as_deref().unwrap_or_default();
        let line = self.line.map(|line| line.to_string()).unwrap_or_default();
        format!("{file}:{line}:{}", self.title.as_written())
    }

    /// The title and the body.
    pub fn text(&self) -> Untrusted {
        if self.body.is_blank() {
            self.title.clone()
        } else {
            Untrusted::joined(&[self.title.clone(), self.body.clone()], "\n")
        }
    }

    /// The body, the suggestion and the evidence.
    pub fn details(&self) -> Untrusted {
        let suggestion = self.suggestion.iter();
        let evidence = self.evidence.iter();
        let details: Vec<Untrusted> = std::iter::once(self.body.clone())
            .chain(suggestion.map(|suggestion| suggestion.labelled("Suggestion: ")))
            .chain(evidence.map(|evidence| evidence.labelled("Evidence: ")))
            .filter(|detail| !detail.is_blank())
            .collect();
        Untrusted::joined(&details, "\n\n")
    }

    pub fn location(&self) -> Option<Location> {
        let file = self.file.clone()?;
        Some(Location {
            file,
            line: self.line,
            end_line: self.end_line,
        })
    }

    /// The files of all places, the file of the main place first. A file of several places is repeated.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let further = self.places.iter().map(|place| place.file.as_str());
        self.file.as_deref().into_iter().chain(further)
    }

    /// All places of the finding, the main place first.
    pub fn locations(&self) -> Vec<Location> {
        self.location()
            .into_iter()
            .chain(self.places.iter().cloned())
            .collect()
    }
}

/// The block of code that a finding is about. Later runs recognise the finding until the block changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Anchor {
    pub file: String,
    /// The BLAKE3 hash (hex) of the enclosing block, with white space folded. If the finding has no line, the block
    /// is the whole file.
    pub block: String,
    /// The defect class: the reviewer's category or rule, otherwise `bug`.
    pub category: String,
    /// The words of the title in lower case, separated by single spaces.
    pub text: String,
    /// The finding's line within the block, counted from 0. `offset` is absent if the finding has no line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The sorted identifiers that occur both in the block and in the title.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwe: Option<Cwe>,
    #[serde(default, skip_serializing_if = "crate::domain::is_default")]
    pub ground: Ground,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub id: FindingId,
    /// The id of the problem in all histories; absent until the history has recorded the finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<ProblemKey>,
    #[serde(flatten)]
    pub raw: RawFinding,
    /// Whether the coder must implement the finding or object to the finding.
    pub mandatory: bool,
    /// Whether the finding would be mandatory, but is about code that the change under review does not reach. Such a
    /// finding is mandatory only if `review.older` is `block`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub older: bool,
    pub raised_by: Vec<AgentName>,
    /// Findings that may name the same defect, where neither the rules nor the aggregator decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_be: Vec<FindingId>,
    /// Counted from 1.
    pub round: u32,
    /// The anchors of the further places in `raw`, in the same order. An anchor is absent if the place does not exist
    /// in the reviewed tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Option<Anchor>>,
    /// `anchor` is absent if the location does not exist in the reviewed tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// Whether the file or the line of the main place does not exist in the reviewed tree, and nothing tells which place
    /// is meant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_such_place: bool,
    /// The place that the reviewer named. It does not exist; the code that the finding quotes is at the main place alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_from: Option<Location>,
    /// An earlier finding of this run that the coder implemented. Implementing this finding would undo the
    /// earlier change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverses: Option<FindingId>,
    /// What the reviewers of the finding said about it in other words: in another answer, or before a reviewer revised
    /// its text in a debate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restated: Vec<Restated>,
    /// The former id of the finding, if the finding moved to another group or got a number of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<FindingId>,
    /// `consensus` is absent if the run has a single reviewer. All members of a group have the same `consensus`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consensus: Option<Corroboration>,
    /// New text for lines of the file in the reviewed tree. `exact_fix` is absent if no proposed replacement
    /// passes all checks. `exact_fix` is also absent if reviewers proposed different replacements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_fix: Option<ExactFix>,
}

impl Finding {
    /// What is known of a finding when it is raised in the first round: its id, and what was said. It is optional, and
    /// nobody raised it yet.
    pub fn raised(id: FindingId, raw: RawFinding) -> Self {
        Self {
            id,
            problem: None,
            raw,
            mandatory: false,
            older: false,
            raised_by: Vec::new(),
            may_be: Vec::new(),
            round: 1,
            also: Vec::new(),
            anchor: None,
            no_such_place: false,
            corrected_from: None,
            reverses: None,
            restated: Vec::new(),
            was: None,
            consensus: None,
            exact_fix: None,
        }
    }
}

/// A problem that a comment of Glee in a pull request is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PostedProblem {
    pub key: ProblemKey,
    pub anchor: Anchor,
}

/// A restatement of a known finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RestatedFinding {
    pub finding: FindingId,
    #[serde(flatten)]
    pub said: Restated,
}

/// A text about a finding beside the finding's own title and body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Restated {
    pub by: AgentName,
    pub title: Untrusted,
    #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
    pub body: Untrusted,
}

impl Finding {
    /// The ids of the raw findings that say this finding, if the run has several reviewers.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        let consensus = self.consensus.iter();
        let positions = consensus.flat_map(|consensus| &consensus.positions);
        let own = positions.filter(|position| self.raised_by.contains(&position.reviewer));
        own.map(|position| position.said.as_str())
    }

    /// The number, the location and the title, for a command that changes the finding.
    pub fn headline(&self) -> Untrusted {
        format!("{} {}", self.id, self.raw.headline()).into()
    }

    /// The places of the finding that exist in the reviewed tree, with their anchors, the main place first.
    pub fn anchored(&self) -> impl Iterator<Item = (Location, &Anchor)> {
        let main = self.raw.location().zip(self.anchor.as_ref());
        let further = self.raw.places.iter().cloned().zip(&self.also);
        let further = further.filter_map(|(place, anchor)| Some((place, anchor.as_ref()?)));
        main.into_iter().chain(further)
    }

    /// The further places of the finding for display. A place that does not exist in the reviewed tree is marked.
    pub fn further_places(&self) -> Vec<String> {
        let anchors = self.also.iter().map(Option::is_some);
        let places = self
            .raw
            .places
            .iter()
            .zip(anchors.chain(std::iter::repeat(false)));
        let shown = places.map(|(place, exists)| match exists {
            true => place.to_string(),
            false => format!("{place} (not in the reviewed tree)"),
        });
        shown.collect()
    }

    /// Returns the suggestion. Returns `None` if the suggestion only repeats the text of the exact fix.
    pub fn other_suggestion(&self) -> Option<&Untrusted> {
        let repeated = self.exact_fix.as_ref().map(|fix| fix.shown().trimmed());
        self.raw
            .suggestion
            .as_ref()
            .filter(|suggestion| Some(suggestion.trimmed()) != repeated)
    }

    /// Names the findings that may name the same defect, as in `may be the same as F13, F14`.
    pub fn undecided(&self) -> Option<String> {
        let ids: Vec<String> = self.may_be.iter().map(FindingId::to_string).collect();
        (!ids.is_empty()).then(|| format!("may be the same as {}", ids.join(", ")))
    }

    /// The former id, and the findings that may name the same defect, as in `was F12b; may be the same as F13`.
    pub fn other_ids(&self) -> Option<String> {
        let was = self.was.map(|was| format!("was {was}"));
        let other: Vec<String> = was.into_iter().chain(self.undecided()).collect();
        (!other.is_empty()).then(|| other.join("; "))
    }

    /// The reviewers that deny the problem, with their reasons.
    pub fn denials(&self) -> impl Iterator<Item = (&AgentName, &Untrusted)> {
        let positions = self.consensus.iter();
        let positions = positions.flat_map(|consensus| &consensus.positions);
        positions
            .filter(|position| !position.denial.is_blank())
            .map(|position| (&position.reviewer, &position.denial))
    }

    /// The finding without what the other reviewers said of it.
    pub fn without_consensus(&self) -> Self {
        Self {
            consensus: None,
            ..self.clone()
        }
    }

    /// Whether the reviewers contradict each other about the finding.
    pub fn is_contradicted(&self) -> bool {
        let consensus = self.consensus.as_ref();
        consensus.is_some_and(|consensus| consensus.class == Class::Disputed)
    }

    /// Whether the finding is rejected. The reviewer that raised a finding can withdraw even a mandatory
    /// finding. Other reviewers can reject only an optional finding.
    pub fn is_rejected(&self) -> bool {
        self.consensus.as_ref().is_some_and(|consensus| {
            consensus.class == Class::Rejected && (consensus.withdrawn || !self.mandatory)
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum FindingState {
    /// The finding is open, and no other state applies.
    Open,
    /// The coder received the finding, but did not answer.
    Unanswered,
    /// The coder reports that the finding is implemented, but the code at the anchor is unchanged.
    Claimed,
    /// The code changed, but re-checks are disabled, or a reviewer has not yet answered the re-check.
    Unchecked,
    /// The code changed, but the reviewer gave no valid answer to the re-check.
    Unconfirmed,
    /// The code changed; the reviewer reports the finding as not resolved, or its demonstration still fails.
    NotResolved,
    /// The code changed; the reviewer reports the finding as resolved.
    Resolved,
    /// `glee runs undo` took the change back that resolved the finding.
    Reverted,
    /// The coder discarded the optional finding, or a dispute ended because a route or a policy discarded the
    /// finding.
    Discarded,
    /// A dispute about the finding waits for a person.
    Disputed { dispute: DisputeNumber },
    /// A ruling enforces the finding, and the coder has not implemented the finding yet.
    Enforced { dispute: DisputeNumber },
    /// A ruling dismissed the finding.
    Dismissed { dispute: DisputeNumber },
    /// A ruling or disposition of an earlier dispute is in force.
    AlreadyRuled {
        dispute: RulingRef,
        disposition: Disposition,
    },
}

impl FindingState {
    /// Whether a mandatory finding in this state is closed. A closed finding does not prevent a clean outcome
    /// (section 3.1 of the design).
    pub fn is_closed(&self) -> bool {
        match self {
            Self::Resolved | Self::Unchecked | Self::Discarded | Self::Dismissed { .. } => true,
            Self::AlreadyRuled { disposition, .. } => disposition.closes(),
            Self::Open
            | Self::Unanswered
            | Self::Claimed
            | Self::Unconfirmed
            | Self::NotResolved
            | Self::Reverted
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
            Self::Resolved => f.pad("fixed"),
            Self::Reverted => f.pad("fix undone"),
            Self::Discarded => f.pad("discarded"),
            Self::Disputed { dispute } => write!(f, "disputed (dispute {dispute})"),
            Self::Enforced { dispute } => write!(f, "enforced (dispute {dispute})"),
            Self::Dismissed { dispute } => write!(f, "dismissed (dispute {dispute})"),
            Self::AlreadyRuled { dispute, .. } => write!(f, "already ruled (dispute {dispute})"),
        }
    }
}
