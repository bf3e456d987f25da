//! Pairs of findings that may name the same defect: of different reviewers, or of a reviewer and an earlier run.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{AgentName, Finding, Untrusted};

/// A pair in a request to the aggregator, displayed as `P1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PairId(pub u32);

impl PairId {
    /// Parses an id such as `P1` or `p1`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.trim().strip_prefix(['P', 'p'])?;
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = is_number.then(|| digits.parse().ok())??;
        (number > 0).then_some(Self(number))
    }
}

impl fmt::Display for PairId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("P{}", self.0))
    }
}

impl Serialize for PairId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PairId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "invalid pair `{text}`: expected an id such as `P1`"
            ))
        })
    }
}

impl JsonSchema for PairId {
    fn schema_name() -> Cow<'static, str> {
        "PairId".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^P[1-9][0-9]*$" })
    }
}

/// Where findings were raised.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RaisedIn {
    #[default]
    Review,
    /// In an examination, so that the findings of the round are merged already.
    Debate,
}

/// Two findings that may name the same defect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnsurePair {
    /// One finding, identified by the reviewer's call and by the finding's index in the answer.
    pub one: String,
    /// Another finding of the round, identified in the same way, or the id of an earlier finding.
    pub other: String,
    /// The earlier finding, at its present place in the code, if the aggregator is asked about the pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Box<Finding>>,
    /// A hash of the texts, the places and the code of both findings. A later run reuses the answer about a pair with
    /// the same key.
    pub key: String,
    /// The id of the pair in the request to the aggregator; absent if the aggregator is not asked about the pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<PairId>,
    /// The answer of an earlier run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<PairAnswer>,
}

/// What an agent said about two findings, or about a finding and an earlier dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairAnswer {
    pub by: AgentName,
    pub same: bool,
    #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
    pub reason: Untrusted,
}

/// An answer with the key by which later runs find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyedAnswer {
    pub key: String,
    #[serde(flatten)]
    pub answer: PairAnswer,
}

/// One line of the aggregator's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairComparison {
    pub pair: PairId,
    /// Whether both findings name the same defect.
    pub same: bool,
    #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
    pub reason: Untrusted,
}
