//! A program as it was found: where it lies, its version, and the flags it knows.
//!
//! Versions drift by the week, so a flag is used because the program lists it, not because a version once had it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::agents::error::AgentError;
use crate::domain::FailureKind;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Where it lies, as an absolute path.
    pub path: PathBuf,
    pub version: Option<String>,
    /// The words of its help, where it was asked for it.
    pub words: Option<BTreeSet<String>>,
}

impl Program {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), version: None, words: None }
    }

    /// Whether its help names a word; not, if it was not asked.
    pub fn names(&self, word: &str) -> bool {
        self.words.as_ref().is_some_and(|words| words.contains(word))
    }

    /// Makes sure that it has the flags which keep a role within its bounds.
    pub fn need(&self, flags: &[&str]) -> Result<(), AgentError> {
        let Some(words) = &self.words else { return Ok(()) };
        let Some(flag) = flags.iter().find(|flag| !words.contains(**flag)) else { return Ok(()) };
        let version = self.version.as_deref().map_or_else(String::new, |version| format!(" ({version})"));
        Err(AgentError::new(
            FailureKind::BadFlags,
            format!("`{}`{version} has no `{flag}`, which keeps it within its role", self.path.display()),
        )
        .hint("update the program, or connect another agent in its place"))
    }
}

/// The words of a help text that may be flags, features or values: letters, digits, `-`, `_` and `.`.
pub(crate) fn words(help: &str) -> BTreeSet<String> {
    help.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .map(|word| word.trim_end_matches(['.', '-']))
        .filter(|word| word.len() > 1)
        .map(ToOwned::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_safety_flag_is_named() {
        let mut program = Program::new("/bin/claude");
        assert_eq!((program.need(&["--tools"]), program.names("--restricted")), (Ok(()), false));
        program.words = Some(words("  -p, --print   Print\n  --tools <tools...>  [\"\", default]\n"));
        program.version = Some("1.0 (Claude Code)".to_owned());
        assert_eq!((program.need(&["--tools"]), program.names("-p")), (Ok(()), true));
        assert_eq!(
            program.need(&["--tools", "--setting-sources"]).map_err(|error| error.message),
            Err("`/bin/claude` (1.0 (Claude Code)) has no `--setting-sources`, which keeps it within its role"
                .to_owned())
        );
    }
}
