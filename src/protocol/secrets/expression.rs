//! A regular expression that is compiled when it is first needed; most never are.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// The bytes that a compiled expression takes at most.
const LARGEST: usize = 64 << 20;

/// An expression as gitleaks has it, which writes for Go.
#[derive(serde::Deserialize)]
#[serde(from = "String")]
pub(crate) struct Expression {
    pub(crate) source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl From<String> for Expression {
    fn from(source: String) -> Self {
        Self { source, compiled: OnceLock::new() }
    }
}

impl Expression {
    /// The compiled expression; `None` if it cannot be compiled. Without Unicode classes that takes a fraction of the
    /// time, and the secrets are ASCII.
    pub(crate) fn get(&self) -> Option<&Regex> {
        let compile =
            || RegexBuilder::new(&escape_braces(&self.source)).unicode(false).size_limit(LARGEST).build().ok();
        self.compiled.get_or_init(compile).as_ref()
    }
}

/// Escapes braces that begin no repetition: Go takes them as they stand.
fn escape_braces(source: &str) -> String {
    let mut escaped = String::with_capacity(source.len());
    let mut after_backslash = false;
    for (at, letter) in source.char_indices() {
        if letter == '{' && !after_backslash {
            let counts = source[at + 1..].split_once('}').map_or("", |(counts, _)| counts);
            if counts.is_empty() || !counts.chars().all(|c| c.is_ascii_digit() || c == ',') {
                escaped.push('\\');
            }
        }
        after_backslash = letter == '\\' && !after_backslash;
        escaped.push(letter);
    }
    escaped
}
