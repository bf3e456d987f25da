//! The agreement of reviewers on a finding. Disagreement remains visible: each reviewer's severity and confidence
//! are recorded next to the result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{AgentName, Confidence, ExaminationWord, Severity, Untrusted};

/// The classification of findings that describe the same problem.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Two or more reviewers raised the finding, or one reviewer raised the finding with sufficient evidence.
    Accepted,
    /// Only one reviewer raised the finding.
    Uncorroborated,
    /// Reviewers contradict each other about the finding.
    Disputed,
    /// The finding is invalid.
    Rejected,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    pub reviewer: AgentName,
    /// Identifies the finding by the reviewer's call and by the finding's index in the answer.
    #[serde(default)]
    pub said: String,
    #[serde(flatten)]
    pub severity: Severity,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub denies: bool,
    /// The reviewer's reasons, if the reviewer denies the problem.
    #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
    pub denial: Untrusted,
    /// Whether the reviewer first raised the finding in round 2 of the debate, in the call that `said` names.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observed: bool,
}

/// What a reviewer that did not raise the finding said about it in round 2 of a debate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assessment {
    pub reviewer: AgentName,
    pub action: ExaminationWord,
    /// The points by which the assessment changed the confidence. Under the policy `panel`, an assessment that names
    /// neither a line nor a piece of the code changes nothing.
    #[serde(default)]
    pub adjustment: i32,
    pub reasoning: Untrusted,
}

/// The number of characters of a reasoning that [`dissent`] quotes.
const QUOTED: usize = 120;

/// Says who disagrees and why in short, as in `two and thr disagree: the input is trusted`.
pub fn dissent(assessments: &[Assessment]) -> Option<String> {
    let mut names = Vec::new();
    let mut reasons: Vec<String> = Vec::new();
    for assessment in assessments {
        if assessment.action != ExaminationWord::Disagree {
            continue;
        }
        names.push(assessment.reviewer.0.as_str());
        let reason = assessment.reasoning.as_written().trim();
        let line = reason.lines().next().unwrap_or_default();
        let mut short: String = line.chars().take(QUOTED).collect();
        if short.len() < reason.len() {
            short.push('…');
        }
        if !short.is_empty() && !reasons.contains(&short) {
            reasons.push(short);
        }
    }
    let (last, others) = names.split_last()?;
    let who = if others.is_empty() {
        format!("{last} disagrees")
    } else {
        format!("{} and {last} disagree", others.join(", "))
    };
    if reasons.is_empty() {
        return Some(who);
    }
    Some(format!("{who}: {}", reasons.join("; ")))
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Corroboration {
    pub class: Class,
    /// The number of reviewers in the run.
    pub reviewers: u32,
    /// The number of vendors of the reviewers that raised the finding; absent if no two of them have one vendor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendors: Option<u32>,
    pub positions: Vec<Position>,
    /// The reviewers that did not raise the finding, but confirmed the finding in a debate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmed_by: Vec<AgentName>,
    /// What other reviewers said about the finding in round 2 of the debate, also those that confirmed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assessments: Vec<Assessment>,
    /// The combined confidence. `confidence` is absent if no reviewer stated a confidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    pub formula: String,
    /// The validation score of a finding that a single reviewer raised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<i32>,
    pub why: String,
    /// The information that would change the classification of the finding.
    pub would_decide: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether a person has to decide.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalate: bool,
    /// Whether reviewers contradict each other, or whether the evidence was challenged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doubted: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
}
