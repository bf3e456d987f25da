//! Rulings on disputes.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{AgentName, CitedCode, FindingId, Tag, Untrusted};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum RulingWord {
    /// The coder must implement the finding.
    Enforce,
    /// The finding is invalid, and the coder need not implement the finding.
    Dismiss,
    /// The dispute is ambiguous, so a person has to decide.
    Escalate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grounds {
    /// The reviewer misread the code.
    FactualError,
    /// The suggestion would break existing functionality.
    BreaksFunctionality,
    /// The suggestion conflicts with explicit requirements.
    ConflictsWithRequirements,
    /// The reviewer misunderstood the context or intent.
    MisunderstoodContext,
    /// The code already handles the problem.
    AlreadyHandled,
    /// The finding is right but not mandatory.
    NotMandatory,
    /// Another finding describes the same problem.
    Duplicate,
}

/// The decision of a judge, a person or a policy on a dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ruling {
    pub ruling: RulingWord,
    #[serde(default)]
    pub rationale: Untrusted,
    /// `grounds` is present if the ruling is DISMISS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grounds: Option<Grounds>,
    /// Locations in the reviewed tree, as `path:line`.
    #[serde(default)]
    pub citations: Vec<Untrusted>,
    /// The new tag that a DISMISS gives to the finding. A finding with a new tag remains open as an optional
    /// finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_tag: Option<Tag>,
    /// For a DISMISS, the finding that the disputed finding duplicates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<FindingId>,
    /// The reason why the ruling is allowed to cite code that the coder wrote in this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coder_evidence: Option<Untrusted>,
    /// The members of the group that the ruling is about. The list is empty if the ruling is about all of them. The
    /// other members become a dispute of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<FindingId>,
}

impl Ruling {
    pub fn bare(ruling: RulingWord) -> Self {
        Self {
            ruling,
            rationale: Untrusted::default(),
            grounds: None,
            citations: Vec::new(),
            new_tag: None,
            duplicate_of: None,
            coder_evidence: None,
            members: Vec::new(),
        }
    }
}

/// Who settled a dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Ruler {
    /// An agent with the role judge.
    Judge { name: AgentName },
    /// Three judges, by vote.
    Panel,
    /// A person, for example in the dialog or with `glee disputes resolve`.
    Human(Person),
    /// The configured route settled the dispute, without a decision by an agent or a person.
    Policy,
}

impl fmt::Display for Ruler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Judge { name } => name.fmt(f),
            Self::Panel => f.pad("the panel"),
            Self::Human(person) => person.fmt(f),
            Self::Policy => f.pad("policy"),
        }
    }
}

impl Ruler {
    pub fn is_person(&self) -> bool {
        matches!(self, Self::Human(_))
    }
}

/// A person, as git or the host of a pull request names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Person {
    /// The name in git, or else the name of the account. In a pull request, the login name on the host.
    pub name: String,
    /// The mail address in git; empty if it is unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub email: String,
}

/// Prints the person as git does: `Ada Lovelace <ada@example.org>`.
impl fmt::Display for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name.as_str(), self.email.as_str()) {
            (name, "") => f.pad(name),
            ("", email) => f.pad(email),
            (name, email) => f.pad(&format!("{name} <{email}>")),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RulingRecord {
    #[serde(flatten)]
    pub ruling: Ruling,
    pub by: Ruler,
    /// Whether the ruling is an ESCALATE that no judge gave: a rule of Glee escalates the dispute because a judge gave
    /// no valid ruling, because the ruling cites code that does not exist, or because only a person may close the
    /// finding.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_rule: bool,
    /// The votes of a panel, in the order of its judges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<PanelVote>,
    /// The code that the ruling cites. The ruling binds as long as this code stands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cited: Vec<CitedCode>,
}

impl RulingRecord {
    /// A ruling without votes and without cited code.
    pub fn new(ruling: Ruling, by: Ruler) -> Self {
        Self {
            ruling,
            by,
            by_rule: false,
            votes: Vec::new(),
            cited: Vec::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PanelVote {
    pub judge: AgentName,
    /// The ruling; a DISMISS without evidence counts as ESCALATE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
    /// The reason why the judge gave no valid ruling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl PanelVote {
    /// The vote in words, for example `a DISMISS [SHOULD]: the rationale`, or `a: the judge gave no ruling`.
    pub fn said(&self) -> Untrusted {
        let Some(ruling) = &self.ruling else {
            return format!(
                "{}: {}",
                self.judge,
                self.error.as_deref().unwrap_or("no ruling")
            )
            .into();
        };
        let tag = ruling
            .new_tag
            .map(|tag| format!(" [{tag}]"))
            .unwrap_or_default();
        let duplicate = ruling
            .duplicate_of
            .map(|of| format!(" (as {of})"))
            .unwrap_or_default();
        let rationale = ruling.rationale.as_written().trim();
        let rationale = if rationale.is_empty() {
            String::new()
        } else {
            format!(": {rationale}")
        };
        format!(
            "{} {}{tag}{duplicate}{rationale}",
            self.judge, ruling.ruling
        )
        .into()
    }
}

/// How a dispute ended. The disposition determines whether the finding blocks this run and later runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum Disposition {
    /// The finding has to be implemented.
    Enforced,
    /// The finding is wrong.
    Refuted,
    /// The finding was discarded without a ruling on its content.
    Discarded,
    /// The finding is right, and the risk is accepted.
    AcceptedRisk,
    /// The finding is right and will be fixed later. `reference` is the number or the link of the issue that
    /// tracks the finding.
    Deferred { reference: String },
    /// The finding repeats another finding.
    Duplicate { of: String },
    /// The finding is right but not mandatory.
    NotMandatory,
}

impl Disposition {
    /// Whether a finding with this disposition no longer blocks a run.
    pub fn closes(&self) -> bool {
        !matches!(self, Self::Enforced)
    }

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
