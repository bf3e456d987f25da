//! Defines the published JSON Schemas of the plug-in interface. The schemas describe the request to an agent with
//! the adapter `json`, and the agent's answers. Tests compare the copies in `docs/schema` with these schemas. The
//! only permitted change of a published schema is a new optional field.

pub mod strict;

use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};

use glee_model::domain::{
    Certainty, CodeRead, DefenceWord, DisputeNumber, FindingId, PairId, QuestionAnswer, Recheck,
    Response, Ruling, Validation, Verdict,
};
use glee_protocol::request::{Request, Task};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaForm {
    Request,
    Review,
    Response,
    Ruling,
    Examination,
    Defence,
    Recheck,
    Comparison,
    Same,
    Synthesis,
    Decision,
    Answers,
    Validation,
    Peer,
}

pub type Row = (SchemaForm, &'static str, &'static str, fn() -> Schema);

impl SchemaForm {
    /// One row for each variant. The rows have the order of the variants, because the code uses a variant as the
    /// index of its row.
    pub const ALL: [Row; 14] = [
        (
            Self::Request,
            "request",
            "The request that Glee sends to an agent",
            || schema_for!(Request),
        ),
        (Self::Review, "review", "A reviewer's findings", || {
            schema_for!(ReviewReply)
        }),
        (
            Self::Response,
            "response",
            "A coder's answers to findings",
            || schema_for!(ResponseReply),
        ),
        (
            Self::Ruling,
            "ruling",
            "A judge's ruling on a dispute",
            || schema_for!(RulingReply),
        ),
        (
            Self::Examination,
            "examination",
            "A reviewer's verdicts on findings of other reviewers",
            || schema_for!(ExaminationReply),
        ),
        (
            Self::Defence,
            "defence",
            "A reviewer's defence of findings that other reviewers challenged",
            || schema_for!(DefenceReply),
        ),
        (
            Self::Recheck,
            "recheck",
            "A reviewer's verdict on fixes of earlier findings",
            || schema_for!(RecheckReply),
        ),
        (
            Self::Comparison,
            "comparison",
            "A judge's comparison of findings with earlier disputes",
            || schema_for!(ComparisonReply),
        ),
        (
            Self::Same,
            "same",
            "An aggregator's answer to the question which findings name the same defect",
            || schema_for!(SameReply),
        ),
        (
            Self::Synthesis,
            "synthesis",
            "An aggregator's summary of several answers",
            || schema_for!(SynthesisReply),
        ),
        (
            Self::Decision,
            "decision",
            "An arbiter's decision on conflicts",
            || schema_for!(DecisionReply),
        ),
        (
            Self::Answers,
            "answers",
            "An agent's answers to the questions of a checkpoint",
            || schema_for!(AnswersReply),
        ),
        (
            Self::Validation,
            "validation",
            "A validator's verdict on a majority's answer",
            || schema_for!(ValidationReply),
        ),
        (
            Self::Peer,
            "peer",
            "A reviewer's answer to a review request of a watch",
            || schema_for!(PeerReply),
        ),
    ];

    /// Returns the schema that the agent's whole answer must match, or `None` if the task permits free text.
    pub(crate) fn constraint(task: &Task) -> Option<Self> {
        match task {
            Task::Judge { .. } => Some(Self::Ruling),
            Task::Compare { .. } => Some(Self::Comparison),
            Task::Same { .. } => Some(Self::Same),
            Task::Arbitrate { .. } => Some(Self::Decision),
            Task::Validate { .. } => Some(Self::Validation),
            Task::Peer { .. } => Some(Self::Peer),
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(_, own, ..)| *own == name)
            .map(|(form, ..)| *form)
    }

    /// Returns the JSON Schema as a command-line argument, without the key `$schema`. Some programs would fetch
    /// the address in the key `$schema`.
    pub fn argument(self) -> String {
        let mut schema = self.schema();
        schema.remove("$schema");
        schema.to_value().to_string()
    }

    /// Returns the JSON Schema (draft 2020-12).
    pub fn schema(self) -> Schema {
        Self::ALL[self as usize].3()
    }
}

/// A review: all findings in the files of the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReviewReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The findings; empty if there are none.
    pub findings: Vec<ReplyFinding>,
    /// The verdict: `approved`, `concerns` or `blocker`.
    pub verdict: Option<String>,
    /// A summary in addition to the findings.
    pub summary: Option<String>,
    /// `all` if the reviewer read all of the code that it was asked to review, otherwise `part`.
    pub read: Option<CodeRead>,
}

/// A finding of a review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReplyFinding {
    /// `MUST`, `SHOULD`, `CRITICAL`, `HIGH`, `MEDIUM`, `LOW`, or a word of another well-known scale.
    pub severity: String,
    /// The requested change in one line.
    pub title: String,
    /// The reason, in one or more lines.
    pub description: Option<String>,
    /// The path of the file, spelled as in the request.
    pub file: Option<String>,
    /// The first line of the location, counted from 1.
    pub line: Option<u32>,
    /// The last line of the location.
    pub end_line: Option<u32>,
    /// `security`, `bug`, `architecture`, `performance` or `test-coverage`, or a defect class such as `sql-injection`.
    pub category: Option<String>,
    /// The id of the weakness in the CWE list, such as `CWE-89`, where one applies.
    pub cwe: Option<String>,
    /// The proposed change.
    pub suggestion: Option<String>,
    /// The new text that replaces the lines from `line` to `end_line`. The field `replacement` is omitted if the
    /// fix also changes lines outside the location of the finding.
    pub replacement: Option<String>,
    /// The reviewer's confidence, 0 to 100.
    #[schemars(range(max = 100))]
    pub confidence: Option<u8>,
    /// Concrete evidence for the finding, with one item for each piece of evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The id of a ruling in force that the reviewer contests, for example `D12`.
    pub insists_on: Option<String>,
}

/// A reviewer's verdicts on the findings of other reviewers, one verdict for each finding of the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ExaminationReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The answers.
    pub responses: Vec<ExaminationItem>,
}

/// The verdict of an examination, or `same` for a finding that names the same defect as one of the reviewer's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ExaminationAction {
    Agree,
    Disagree,
    Partial,
    Same,
}

/// A verdict on the finding of another reviewer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ExaminationItem {
    /// The id of the finding, such as `F1`, or the finding's `path:line:title`.
    pub finding_id: String,
    pub action: ExaminationAction,
    /// With `same`: the id of the reviewer's own finding that names the same defect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// The requested change of the finding's confidence.
    #[serde(default)]
    #[schemars(range(min = -30, max = 30))]
    pub confidence_adjustment: i32,
    /// The reason.
    pub reasoning: String,
    /// Findings that no reviewer raised before this verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_observations: Vec<ReplyFinding>,
}

/// A reviewer's answers about its challenged findings, one answer for each finding of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DefenceReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The answers.
    pub defenses: Vec<DefenceItem>,
}

/// An answer about a challenged finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DefenceItem {
    /// The id of the finding, such as `F1`, or the finding's `path:line:title`.
    pub finding_id: String,
    /// The verdict.
    pub action: DefenceWord,
    /// The requested change of the finding's confidence if the action is `modify`.
    #[serde(default)]
    #[schemars(range(min = -30, max = 30))]
    pub confidence_adjustment: i32,
    /// The reason.
    pub reasoning: String,
    /// The corrected severity.
    pub revised_severity: Option<String>,
    /// The corrected text.
    pub revised_description: Option<String>,
}

/// A coder's answers, one answer for each finding of the request. The coder has already edited the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ResponseReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The answers.
    pub answers: Vec<Response>,
}

/// A judge's ruling on the dispute of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RulingReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The number of the dispute.
    pub dispute: DisputeNumber,
    /// The ruling.
    #[serde(flatten)]
    pub ruling: Ruling,
}

/// A reviewer's verdict on every change of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RecheckReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The verdicts.
    pub checks: Vec<Recheck>,
}

/// A judge's answer that compares every finding of the request with an earlier dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ComparisonReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The comparisons.
    pub comparisons: Vec<ComparisonItem>,
}

/// The comparison of a finding with an earlier dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ComparisonItem {
    /// The finding's id, such as `F1`.
    pub finding: FindingId,
    /// `SAME` or `DIFFERENT`.
    pub answer: String,
    /// The reason.
    pub reason: Option<String>,
}

/// An aggregator's answer about every pair of findings of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SameReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The answers.
    pub pairs: Vec<SameItem>,
}

/// Whether the two findings of a pair name the same defect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SameItem {
    /// The pair's id, such as `P1`.
    pub pair: PairId,
    /// `SAME` or `DIFFERENT`.
    pub answer: String,
    /// The reason.
    pub reason: Option<String>,
}

/// A synthesis of several answers, with the additional fields that the stage requires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SynthesisReply {
    /// The nonce of the request.
    pub nonce: String,
    /// `ok` or `conflict`.
    pub status: String,
    /// The synthesis in a few sentences.
    pub summary: String,
    /// The points on which the answers agree, and the points on which they conflict.
    pub consensus: ConsensusReply,
}

/// The agreements and conflicts of several answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ConsensusReply {
    /// The points on which all answers agree.
    pub agreements: Vec<String>,
    /// The conflicts of the answers. An arbiter decides each conflict.
    pub conflicts: Vec<String>,
}

/// An arbiter's decision between several answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DecisionReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The chosen approach: the word `hybrid`, the name of an agent, or a label such as `approach_a`. The label
    /// `approach_a` stands for the first answer in the request, `approach_b` for the second answer, and so on.
    pub decision: String,
    /// The reason.
    pub rationale: String,
    /// Changes to the chosen approach.
    pub modifications: Vec<String>,
    /// The arbiter's confidence. If the confidence is `low`, a person decides.
    pub confidence: Certainty,
}

/// Answers to the questions of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AnswersReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The answers.
    pub answers: Vec<QuestionAnswer>,
}

/// A validator's verdict on a majority decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ValidationReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The verdict.
    #[serde(flatten)]
    pub validation: Validation,
}

/// A reviewer's answer in a cycle of a watch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PeerReply {
    /// The nonce of the request.
    pub nonce: String,
    /// Always `review_result`.
    #[serde(rename = "type")]
    pub form: PeerForm,
    /// The name of the reviewer.
    pub reviewer: String,
    /// The time of the review. If the time is missing, Glee uses the current time.
    pub timestamp: Option<String>,
    /// The review.
    pub payload: PeerPayload,
}

/// The value of `type` in a [`PeerReply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PeerForm {
    /// The only value.
    ReviewResult,
}

/// The review in a [`PeerReply`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PeerPayload {
    /// The verdict.
    pub verdict: Verdict,
    /// The review in a few sentences.
    pub summary: String,
    /// The issues. A review without issues has the verdict `approved`. A review with this verdict has no critical
    /// or high issue.
    pub issues: Vec<PeerReplyIssue>,
}

/// One issue in a [`PeerPayload`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PeerReplyIssue {
    /// `critical`, `high`, `medium` or `low`.
    pub severity: String,
    /// The problem and the proposed solution.
    pub description: String,
    /// The path in the tree.
    pub file: Option<String>,
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::samples;
    use serde_json::{Value, json};

    fn valid(form: SchemaForm, value: &Value) -> bool {
        jsonschema::is_valid(form.schema().as_value(), value)
    }

    #[test]
    fn the_published_copies_are_up_to_date() {
        for (form, name, ..) in SchemaForm::ALL {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                .join(format!("../../docs/schema/{name}.json"));
            let published: Value =
                serde_json::from_slice(&std::fs::read(&path).unwrap_or_default())
                    .unwrap_or_default();
            let current = form.schema().to_value();
            if std::env::var_os("UPDATE_SCHEMA").is_some() && published != current {
                let text =
                    serde_json::to_string_pretty(&form.schema()).expect("a schema is plain data");
                std::fs::write(&path, text + "\n").expect("the copy is written");
                continue;
            }
            assert!(
                published == current,
                "`just accept -E 'test(published)'` updates docs/schema/{name}.json"
            );
        }
    }

    #[test]
    fn the_request_fits_its_schema() {
        let agent = samples::agent("rev", "json", &["rev"]);
        for task in [samples::review(&agent).task, samples::dispute()] {
            let request = serde_json::to_value(samples::request(&agent, task)).unwrap();
            assert!(valid(SchemaForm::Request, &request), "{request}");
        }
    }

    #[test]
    fn spec_23_the_forms_of_a_debate_are_published() {
        let examined = |adjustment: i32| {
            json!({"nonce": "n", "responses": [{"finding_id": "a.rs:3:Leaks", "action": "partial",
                "confidence_adjustment": adjustment, "reasoning": "r",
                "new_observations": [{"severity": "LOW", "title": "t", "confidence": 60, "category": "bug"}]}]})
        };
        assert!(valid(SchemaForm::Examination, &examined(-30)));
        assert!(!valid(SchemaForm::Examination, &examined(31)));
        let defended = |action: &str| {
            json!({"nonce": "n", "defenses": [{"finding_id": "F1", "action": action, "reasoning": "r",
                "revised_severity": "low"}]})
        };
        assert!(valid(SchemaForm::Defence, &defended("modify")));
        assert!(!valid(SchemaForm::Defence, &defended("agree")));
    }

    #[test]
    fn answers_fit_their_schemas_and_broken_ones_do_not() {
        let good = [
            (SchemaForm::Review, json!({"nonce": "n", "findings": []})),
            (
                SchemaForm::Review,
                json!({"nonce": "n", "verdict": "blocker", "findings": [{"severity": "MUST", "title": "t",
                    "file": "a.rs", "line": 3, "confidence": 90, "evidence": ["e"]}]}),
            ),
            (
                SchemaForm::Response,
                json!({"nonce": "n", "answers": [{"finding": "F1", "answer": "DISAGREE", "text": "because",
                    "evidence": ["a.rs:3"]}]}),
            ),
            (
                SchemaForm::Ruling,
                json!({"nonce": "n", "dispute": 1, "ruling": "DISMISS", "rationale": "r",
                    "grounds": "factual_error", "citations": ["a.rs:3"]}),
            ),
            (
                SchemaForm::Recheck,
                json!({"nonce": "n", "checks": [{"finding": "F1", "resolved": true, "reason": "r"}]}),
            ),
            (
                SchemaForm::Comparison,
                json!({"nonce": "n", "comparisons": [{"finding": "F1", "answer": "SAME"}]}),
            ),
            (
                SchemaForm::Same,
                json!({"nonce": "n", "pairs": [{"pair": "P1", "answer": "SAME", "reason": "r"}]}),
            ),
            (
                SchemaForm::Peer,
                json!({"nonce": "n", "type": "review_result", "reviewer": "codex", "timestamp": "...", "payload": {
                    "verdict": "blocker", "summary": "s", "issues": [{"severity": "high", "description": "d"}]}}),
            ),
        ];
        for (form, value) in &good {
            assert!(valid(*form, value), "{form:?} {value}");
        }
        let bad = [
            (SchemaForm::Review, json!({"findings": []})),
            (
                SchemaForm::Review,
                json!({"nonce": "n", "findings": [{"severity": "MUST", "title": "t", "confidence": 101}]}),
            ),
            (
                SchemaForm::Response,
                json!({"nonce": "n", "answers": [{"finding": "F1", "answer": "MAYBE", "text": ""}]}),
            ),
            (
                SchemaForm::Ruling,
                json!({"nonce": "n", "dispute": 1, "ruling": "PERHAPS"}),
            ),
            (
                SchemaForm::Recheck,
                json!({"nonce": "n", "checks": [{"finding": "F1"}]}),
            ),
            (
                SchemaForm::Comparison,
                json!({"nonce": "n", "comparisons": [{"finding": "F1"}]}),
            ),
            (
                SchemaForm::Same,
                json!({"nonce": "n", "pairs": [{"pair": "F1", "answer": "SAME"}]}),
            ),
            (
                SchemaForm::Peer,
                json!({"nonce": "n", "type": "review_result", "reviewer": "codex", "payload": {
                    "verdict": "no blocker", "summary": "s", "issues": []}}),
            ),
            (
                SchemaForm::Peer,
                json!({"nonce": "n", "type": "review_request", "reviewer": "codex", "payload": {
                "verdict": "approved", "summary": "s", "issues": []}}),
            ),
        ];
        for (form, value) in &bad {
            assert!(!valid(*form, value), "{form:?} {value}");
        }
    }
}
