//! Names and ids.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! display {
    ($($id:ident),+) => {
        $(impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0.to_string())
            }
        })+
    };
}

display!(AgentName, DisputeNumber, DisputeId, RunId);

/// The unique name of a connected agent.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct AgentName(pub String);

impl From<&str> for AgentName {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

/// The number of a dispute, counted from 1 within one history.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct DisputeNumber(pub u64);

/// The id of a dispute in all histories: 16 hexadecimal digits, derived from the dispute's run and finding.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct DisputeId(pub String);

impl DisputeId {
    pub fn of(run: &RunId, finding: FindingId) -> Self {
        let hash = blake3::hash(format!("dispute {run} {finding}").as_bytes()).to_hex();
        Self(hash[..16].to_owned())
    }
}

/// A reference to a ruling: the number of the dispute in this history, or the id of the dispute if the ruling is
/// shared as a file.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(untagged)]
pub enum RulingRef {
    Number(DisputeNumber),
    Shared(DisputeId),
}

impl From<DisputeNumber> for RulingRef {
    fn from(number: DisputeNumber) -> Self {
        Self::Number(number)
    }
}

impl RulingRef {
    /// Glee displays this number of digits from the start of a dispute's id. A reference to a shared ruling must
    /// contain at least this number of digits of the dispute's id.
    const SHOWN: usize = 8;

    /// Returns the number of the dispute in this history, or `None` for a shared ruling, which has an id instead
    /// of a number.
    pub fn number(&self) -> Option<DisputeNumber> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Shared(_) => None,
        }
    }

    /// The name of the ruling in prompts and answers: `D12` contains the number of the dispute, and `D3f9a0c12`
    /// contains the first 8 digits of the id.
    pub fn mark(&self) -> String {
        match self {
            Self::Number(number) => format!("D{number}"),
            Self::Shared(id) => format!("D{}", id.0.get(..Self::SHOWN).unwrap_or(&id.0)),
        }
    }

    /// Searches the list `shown` for the ruling that `text` refers to. The text can be a result of [`Self::mark`],
    /// a number, or at least 8 digits of an id. Returns `None` if no ruling matches, or if the digits match
    /// several rulings.
    pub fn among<'a>(text: &str, shown: &'a [Self]) -> Option<&'a Self> {
        let text = text.trim();
        let digits = text
            .strip_prefix(['D', 'd'])
            .unwrap_or(text)
            .to_ascii_lowercase();
        let number = digits.parse().ok().filter(|_| !digits.starts_with('0'));
        let number = number.map(|number| Self::Number(DisputeNumber(number)));
        if let Some(known) = number.and_then(|number| shown.iter().find(|known| **known == number))
        {
            return Some(known);
        }
        let begins = |known: &&Self| matches!(known, Self::Shared(id) if id.0.starts_with(&digits));
        let mut named = shown
            .iter()
            .filter(begins)
            .filter(|_| digits.len() >= Self::SHOWN);
        named.next().filter(|_| named.next().is_none())
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

/// The number of a finding within its run, displayed as `F1`, `F2`, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String")]
pub struct FindingId(pub u32);

impl FindingId {
    /// Parses an id such as `F12`, in upper or lower case, with or without brackets.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text
            .trim()
            .trim_start_matches('[')
            .trim_end_matches(']')
            .strip_prefix(['F', 'f'])?;
        digits.parse().ok().filter(|n| *n > 0).map(Self)
    }
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("F{}", self.0))
    }
}

impl Serialize for FindingId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FindingId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "invalid finding id `{text}`: expected `F1`, `F2`, ..."
            ))
        })
    }
}

/// The id of a run: a UUID of version 7, so that ids sort by time.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct RunId(pub String);

impl RunId {
    /// The short form of the id for display: the last eight digits of the UUID. These digits are random.
    pub fn short(&self) -> &str {
        let start = self.0.len().saturating_sub(8);
        self.0.get(start..).unwrap_or(&self.0)
    }
}
