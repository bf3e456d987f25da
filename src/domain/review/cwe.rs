//! Weaknesses by the Common Weakness Enumeration (CWE).

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of a weakness, written `CWE-89`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cwe(pub u16);

impl Cwe {
    /// Parses an id such as `CWE-89`, `cwe-089` or `89`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = match text.get(..3) {
            Some(prefix) if prefix.eq_ignore_ascii_case("cwe") => {
                text[3..].trim_start_matches(['-', ':', '_', ' '])
            }
            _ => text,
        };
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = is_number.then(|| digits.parse().ok())??;
        (number > 0).then_some(Self(number))
    }
}

impl fmt::Display for Cwe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("CWE-{}", self.0))
    }
}

impl Serialize for Cwe {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cwe {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "invalid weakness `{text}`: expected an id such as `CWE-89`"
            ))
        })
    }
}

impl JsonSchema for Cwe {
    fn schema_name() -> Cow<'static, str> {
        "Cwe".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^CWE-[1-9][0-9]*$" })
    }
}
