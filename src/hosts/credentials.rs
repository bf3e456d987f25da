//! The token for a host.

use std::fmt;

/// A token with the header that contains it. `Debug` does not show the token.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    header: &'static str,
    /// The text before the token in the header, such as `Bearer `.
    prefix: &'static str,
    token: String,
    source: CredentialSource,
}

/// The origin of a token: a variable, or a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialSource {
    Variable(&'static str),
    Program(&'static str),
}

impl Credential {
    pub fn new(header: &'static str, prefix: &'static str, token: String, source: CredentialSource) -> Self {
        Self { header, prefix, token, source }
    }

    pub fn source(&self) -> CredentialSource {
        self.source
    }

    pub(crate) fn header(&self) -> &'static str {
        self.header
    }

    pub(crate) fn header_value(&self) -> String {
        format!("{}{}", self.prefix, self.token)
    }

    /// Replaces the token in a text.
    pub(crate) fn remove_from(&self, text: &str) -> String {
        text.replace(&self.token, "***")
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential").field("source", &self.source).finish_non_exhaustive()
    }
}
