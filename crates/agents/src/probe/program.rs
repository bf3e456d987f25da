//! Describes an installed program by its path, version and supported flags. Programs change weekly, so Glee
//! looks up flags in the program's help and does not derive flags from the version.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use crate::AgentError;
use glee_model::domain::FailureKind;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    pub path: PathBuf,
    pub version: Option<String>,
    /// The words of the program's help, or `None` if the help was not read.
    pub words: Option<BTreeSet<String>>,
}

impl Program {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            version: None,
            words: None,
        }
    }

    pub fn names(&self, word: &str) -> bool {
        self.words
            .as_ref()
            .is_some_and(|words| words.contains(word))
    }

    /// Returns false if the program's help was read and does not contain `word`, and true in all other cases.
    pub(crate) fn may_have(&self, word: &str) -> bool {
        self.words.is_none() || self.names(word)
    }

    /// Fails if the program lacks one of the `flags`, which confine the program to its role.
    pub fn need(&self, flags: &[String]) -> Result<(), AgentError> {
        let Some(flag) = flags.iter().find(|flag| !self.may_have(flag)) else {
            return Ok(());
        };
        let message = format!("{self} has no `{flag}`, which confines the program to its role");
        Err(AgentError::new(FailureKind::BadFlags, message)
            .hint("update the program, or connect another agent instead"))
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.path.display())?;
        self.version
            .as_ref()
            .map_or(Ok(()), |version| write!(f, " ({version})"))
    }
}

/// Returns the words of a help text, including the names of flags, features and values. A word consists of
/// letters, digits, `-`, `_` and `.`.
pub fn words(help: &str) -> BTreeSet<String> {
    help.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .map(|word| word.trim_end_matches(['.', '-']))
        .filter(|word| word.len() > 1)
        .map(ToOwned::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::list;

    #[test]
    fn a_missing_safety_flag_is_named() {
        let mut program = Program::new("/bin/claude");
        assert_eq!(
            (
                program.need(&list(&["--tools"])),
                program.names("--restricted")
            ),
            (Ok(()), false)
        );
        program.words = Some(words(
            "  -p, --print   Print\n  --tools <tools...>  [\"\", default]\n",
        ));
        program.version = Some("1.0 (Claude Code)".to_owned());
        assert_eq!(
            (program.need(&list(&["--tools"])), program.names("-p")),
            (Ok(()), true)
        );
        assert_eq!(
            program.need(&list(&["--tools", "--setting-sources"])).map_err(|error| error.message),
            Err("`/bin/claude` (1.0 (Claude Code)) has no `--setting-sources`, which confines the program to its role"
                .to_owned())
        );
    }
}
