//! Text that others wrote.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// Text that an agent wrote or quotes.
///
/// It has no `Display` and is neither a `str` nor a path, so that it is not printed, put into a prompt or joined to a
/// path by mistake. `protocol::printable` makes it fit to be shown, the fences of `protocol::prompts` fit to be sent;
/// rules and parsers, which compare and search, read it as it is written. Which modules may do that is held by a
/// test.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Untrusted(String);

impl Untrusted {
    /// The text itself, to compare and to search, or to make it harmless.
    pub fn as_written(&self) -> &str {
        &self.0
    }

    #[must_use]
    pub fn trimmed(&self) -> Self {
        Self(self.0.trim().to_owned())
    }

    #[must_use]
    pub fn labelled(&self, label: &str) -> Self {
        Self(format!("{label}{}", self.0))
    }

    #[must_use]
    pub fn first(&self, characters: usize) -> Self {
        Self(self.0.chars().take(characters).collect())
    }

    pub fn joined(texts: &[Self], between: &str) -> Self {
        let texts: Vec<&str> = texts.iter().map(Self::as_written).collect();
        Self(texts.join(between))
    }

    /// Whether there is nothing but white space.
    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// That of a text; what may be done with it is nobody else's matter.
impl JsonSchema for Untrusted {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// For tests and failures: quoted, with escapes.
impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<String> for Untrusted {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Untrusted {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl PartialEq<str> for Untrusted {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Untrusted {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}
