//! A type for text that agents wrote. The type prevents accidental display of the text.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Text that an agent wrote or quotes. The type implements neither `Display` nor a trait that converts the text to
/// `str` or to a path. The text therefore cannot reach a terminal, a prompt or a path by mistake.
/// `protocol::text::printable` escapes the text for display; `protocol::prompts` encloses the text in fences.
/// `tests/layers.rs` lists the modules that are allowed to read the unescaped text.
#[derive(
    Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[schemars(inline, with = "String", description = "Text of an agent.")]
#[serde(transparent)]
pub struct Untrusted(String);

impl Untrusted {
    /// The unchanged text, for comparison, search and escaping.
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

    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Prints the text in quoted and escaped form, for tests and panics.
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
