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

display!(AgentName, DisputeNumber, DisputeId, ProblemKey, RunId);

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
        Self(digits(&format!("dispute {run} {finding}")))
    }
}

/// The id of a problem in all histories: 16 hexadecimal digits, derived from the run and the finding that first
/// recorded the problem.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct ProblemKey(pub String);

impl ProblemKey {
    pub fn of(run: &RunId, finding: FindingId) -> Self {
        Self(digits(&format!("problem {run} {}", finding.number)))
    }

    /// Whether a key from a comment or a file has the form of a key.
    pub fn is_valid(&self) -> bool {
        is_hex(&self.0, 16)
    }

    /// The first digits, which commands accept in place of the whole key.
    pub fn short(&self) -> &str {
        self.0.get(..8).unwrap_or(&self.0)
    }
}

/// The first digits of a hash.
fn digits(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

/// Whether a text consists of hexadecimal digits in lower case.
pub(crate) fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
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
        let mut named = shown
            .iter()
            .filter(|known| matches!(known, Self::Shared(id) if id.0.starts_with(&digits)))
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

/// A finding, displayed as `F12`: the number of its problem. If several findings of a run name one defect, they are
/// the members of the group `F12`, and are displayed as `F12a`, `F12b`, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String")]
pub struct FindingId {
    /// The number of the problem, counted from 1.
    pub number: u32,
    /// The position in the group, counted from 1. It is 0 for a finding that has no group, and for the group itself.
    pub member: u8,
}

impl FindingId {
    pub const fn new(number: u32) -> Self {
        Self { number, member: 0 }
    }

    /// The member of this group at `position`, counted from 1.
    #[must_use]
    pub const fn member(self, position: u8) -> Self {
        Self {
            number: self.number,
            member: position,
        }
    }

    /// The group of a member: `F12` for `F12b`.
    #[must_use]
    pub const fn group(self) -> Self {
        Self::new(self.number)
    }

    /// Whether this id addresses `finding`: `F12` addresses every member of `F12`.
    pub fn addresses(self, finding: Self) -> bool {
        self == finding
            || self == finding.group()
            || self == finding.group().member(1) && finding.member == 0
    }

    /// Whether a person who writes this id means `finding`. A member that left its group is still found by its former
    /// id `was`, such as `F12b`.
    pub fn means(self, finding: Self, was: Option<Self>) -> bool {
        self.addresses(finding) || was.is_some_and(|was| self.member > 0 && self.addresses(was))
    }

    /// The id as one integer. The order of the integers is the order of the ids.
    pub fn key(self) -> i64 {
        i64::from(self.number) << 8 | i64::from(self.member)
    }

    /// Returns `None` if `key` is not a result of [`Self::key`].
    pub fn of_key(key: i64) -> Option<Self> {
        let member = u8::try_from(key & 0xff).ok()?;
        let number = u32::try_from(key >> 8).ok()?;
        Some(Self { number, member })
    }

    /// Parses an id such as `F12` or `F12b`, in upper or lower case, with or without brackets.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('[').trim_end_matches(']');
        let text = text.strip_prefix(['F', 'f'])?;
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let number: u32 = digits.parse().ok().filter(|number| *number > 0)?;
        let mut member = 0_u8;
        for letter in text[digits.len()..].bytes() {
            let position = letter.to_ascii_lowercase() - b'a' + 1;
            member = member.checked_mul(26)?.checked_add(position)?;
        }
        Some(Self { number, member })
    }
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut letters = String::new();
        let mut rest = self.member;
        while rest > 0 {
            letters.insert(0, char::from(b'a' + (rest - 1) % 26));
            rest = (rest - 1) / 26;
        }
        f.pad(&format!("F{}{letters}", self.number))
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
                "invalid finding id `{text}`: expected an id such as `F1` or `F1a`"
            ))
        })
    }
}

/// The id of a run: a UUID of version 7, so that ids sort by time.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_shown() {
        for number in [1, 12, u32::MAX] {
            for member in 0..=u8::MAX {
                let id = FindingId::new(number).member(member);
                assert_eq!(FindingId::parse(&id.to_string()), Some(id));
                assert_eq!(FindingId::of_key(id.key()), Some(id));
            }
        }
        let shown = [0, 1, 2, 26, 27].map(|member| FindingId::new(3).member(member).to_string());
        assert_eq!(shown, ["F3", "F3a", "F3b", "F3z", "F3aa"]);
        for wrong in ["3", "F", "F0", "F0a", "F-1", "Fa", "F1a2", "F1ivz", "F1 b"] {
            assert_eq!(FindingId::parse(wrong), None, "{wrong}");
        }
    }
}
