//! What is known of a program beforehand, as data: the options it takes, what it may see and write, how it fails.

use crate::agents::failure::shorten;
use crate::agents::{AgentError, LineMarks};
use crate::domain::{Effort, FailureKind};

/// The longest part of a program's error text in a message, in characters.
const SHOWN: usize = 300;

/// Options are flags with a value; one that ends with `=` takes it in the same argument, an empty one does not exist.
#[derive(Clone, Copy, Default)]
pub struct Profile {
    /// As in `agents.<name>.adapter`.
    pub name: &'static str,
    /// The hint for a missing login.
    pub login: &'static str,
    /// Whether it prints its work as JSON events. Otherwise all of stdout is the answer.
    pub prints_events: bool,
    /// Arguments that print help and do nothing else, from which the supported flags are read.
    pub helps: &'static [&'static [&'static str]],
    /// The flags that confine it to its role.
    pub required: &'static [&'static str],
    /// The longest prompt that it takes on stdin, in bytes or characters as the second field says. Some cut it silently.
    pub longest_prompt: Option<(usize, &'static str)>,
    /// The option for the JSON schema of an answer.
    pub schema: &'static str,
    /// The option that resumes a session.
    pub resume: &'static str,
    pub model: &'static str,
    /// The option for a reasoning effort.
    pub effort: &'static str,
    /// The program's name of an effort; `None` if none can be set.
    pub effort_name: Option<fn(Effort) -> &'static str>,
    /// Whether binding decisions are requested with high effort if none is configured.
    pub raises_effort: bool,
    /// The variables that it may see beyond those of every agent.
    pub sees: &'static [&'static str],
    /// The variables that are set where the configuration does not set them.
    pub sets: &'static [(&'static str, &'static str)],
    /// A variable that names a file of default settings, and the file's contents.
    pub defaults: Option<(&'static str, &'static str)>,
    /// The folders that it keeps its own files in, each as an environment variable that names one, the path in the
    /// home folder that is used without the variable, and the folder in either.
    pub folders: &'static [(&'static str, &'static str, &'static str)],
    /// Its own files in the home folder.
    pub files: &'static [&'static str],
    pub marks: LineMarks,
    /// The kinds of failure that exit codes stand for.
    pub exit_codes: &'static [(&'static [i32], FailureKind)],
    /// Folders of the tree whose modules it always loads; where one exists it is not started.
    pub loads: &'static [&'static str],
    /// Whether it reports the tokens of the whole session instead of those of the last call.
    pub counts_sessions: bool,
    /// Whether Glee ends it once it has answered, so that its exit status means nothing.
    pub ends_when_done: bool,
}

impl Profile {
    pub(crate) fn failure_of(&self, exit_code: i32) -> Option<FailureKind> {
        self.exit_codes.iter().find(|(codes, _)| codes.contains(&exit_code)).map(|(_, kind)| *kind)
    }

    /// The error for a failure that the program reports as `text`.
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
                "check the plan or the credit; `backup: <agent>` names an agent that answers in its place"
            }
            FailureKind::RateLimited { reset: Some(reset) } | FailureKind::OverQuota { reset: Some(reset) } => {
                &format!("it is available again at {reset:.0}; resume the run then with `glee runs resume`")
            }
            FailureKind::RateLimited { reset: None } => "resume the run later with `glee runs resume`",
            FailureKind::TooLong => "review less at a time: `glee config set review.max_shard_size 64KiB`",
            FailureKind::Unavailable => "check whether the service is available, and resume the run later",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
