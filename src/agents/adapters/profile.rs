//! The static description of a program: its options, permissions and failures.

use crate::agents::failure::shorten;
use crate::agents::{AgentError, LineMarks};
use crate::domain::{Effort, FailureKind};

/// The maximum length of a program's error text in a message, in characters.
const SHOWN: usize = 300;

/// The options are `schema`, `resume`, `model` and `effort`. An option that ends with `=` takes its value in the
/// same argument. If an option is empty, the program does not have it.
#[derive(Clone, Copy, Default)]
pub struct Profile {
    pub name: &'static str,
    pub login: &'static str,
    /// Whether the program prints JSON events. Otherwise all of stdout is the answer.
    pub prints_events: bool,
    /// The argument lists that make the program print help. The supported flags are read from this help.
    pub helps: &'static [&'static [&'static str]],
    pub required: &'static [&'static str],
    /// The maximum length of a prompt, in `bytes` or `characters`. Some programs silently truncate a longer prompt.
    pub longest_prompt: Option<(usize, &'static str)>,
    pub schema: &'static str,
    pub resume: &'static str,
    pub model: &'static str,
    pub effort: &'static str,
    /// `None` if the program has no setting for effort.
    pub effort_name: Option<fn(Effort) -> &'static str>,
    /// Whether binding decisions are requested with high effort unless an effort is configured.
    pub raises_effort: bool,
    /// The environment variables that the program receives in addition to the variables that every agent receives.
    pub sees: &'static [&'static str],
    /// Default environment variables; the agent's `env` has precedence.
    pub sets: &'static [(&'static str, &'static str)],
    /// The environment variable that names a file of default settings, and the content of that file.
    pub defaults: Option<(&'static str, &'static str)>,
    /// The program's own folders. Each consists of the environment variable that names a base folder, the name of
    /// the base folder in the home folder if the variable is unset, and the path of the program's folder in the
    /// base folder.
    pub folders: &'static [(&'static str, &'static str, &'static str)],
    pub files: &'static [&'static str],
    pub marks: LineMarks,
    pub exit_codes: &'static [(&'static [i32], FailureKind)],
    /// Folders of the tree whose modules the program always loads; if one exists, the program is not started.
    pub loads: &'static [&'static str],
    /// Whether the program reports the tokens of the whole session instead of the last call.
    pub counts_sessions: bool,
    /// Whether Glee ends the program after its answer. The exit status then has no meaning.
    pub ends_when_done: bool,
}

impl Profile {
    pub(crate) fn failure_of(&self, exit_code: i32) -> Option<FailureKind> {
        self.exit_codes.iter().find(|(codes, _)| codes.contains(&exit_code)).map(|(_, kind)| *kind)
    }

    pub(crate) fn error(&self, kind: FailureKind, text: &str) -> AgentError {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let message = format!("`{}` failed ({}): {}", self.name, kind.as_str(), shorten(&line, SHOWN));
        AgentError { kind, message, hint: self.hint(kind) }
    }

    pub(crate) fn hint(&self, kind: FailureKind) -> Option<String> {
        let hint = match kind {
            FailureKind::NotLoggedIn => self.login,
            FailureKind::BadFlags => {
                "check the agent's `command` and `model`; `glee agents --check` tries every connected agent"
            }
            FailureKind::OverQuota { reset: None } => {
                "check the plan or the credit of the account; the agent's key `backup` names a substitute"
            }
            FailureKind::RateLimited { reset: Some(reset) } | FailureKind::OverQuota { reset: Some(reset) } => {
                &format!("the limit ends at {reset:.0}; then resume the run with `glee runs resume`")
            }
            FailureKind::RateLimited { reset: None } => "resume the run later with `glee runs resume`",
            FailureKind::TooLong => "review less at a time: `glee config set review.max_shard_size 64KiB`",
            FailureKind::Unavailable => "check whether the service is available, and resume the run later",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
