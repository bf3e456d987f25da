//! Describes the options and other properties of an agent program as data.

use std::env;
use std::path::PathBuf;

use crate::failure::shorten;
use crate::{AgentError, LineMarks};
use glee_model::domain::{Effort, FailureKind};

const SHOWN: usize = 300;

/// The fields `schema`, `resume`, `model` and `effort` are names of command-line options. If the name of an
/// option ends with `=`, the option and its value form one argument. If the name is empty, the program lacks the
/// option.
#[derive(Clone, Copy, Default)]
pub struct Profile {
    pub name: &'static str,
    pub login: &'static str,
    /// Whether the program prints JSON events instead of a plain answer.
    pub prints_events: bool,
    /// Each item is a list of arguments that makes the program print its help. Glee reads the supported flags from
    /// the help.
    pub helps: &'static [&'static [&'static str]],
    pub required: &'static [&'static str],
    /// The maximum length of a prompt, in `bytes` or `characters`. Some programs silently truncate longer prompts.
    pub longest_prompt: Option<(usize, &'static str)>,
    pub schema: &'static str,
    pub resume: &'static str,
    pub model: &'static str,
    pub effort: &'static str,
    /// Converts an effort level to the program's name for the level. `None` if the program has no effort
    /// setting.
    pub(crate) effort_name: Option<fn(Effort) -> &'static str>,
    /// Whether Glee requests high effort for an arbiter without a configured effort.
    pub(crate) raises_effort: bool,
    /// Environment variables that Glee passes to this program in addition to the variables for all programs. A name
    /// that ends with `*` stands for all variables with this prefix.
    pub sees: &'static [&'static str],
    /// A variable with which the user chooses a cloud, and the folder of the home folder that contains the cloud's
    /// credentials. If the variable is set, the program can read the folder.
    pub clouds: &'static [(&'static str, &'static str)],
    /// Environment variables with default values. A value in the agent's `env` takes precedence over the default
    /// value.
    pub sets: &'static [(&'static str, &'static str)],
    /// The name of an environment variable, and the content of a settings file with default values for the
    /// program. Before the program starts, Glee writes the settings file, and sets the environment variable to
    /// the file's path.
    pub defaults: Option<(&'static str, &'static str)>,
    /// The folders of the program's settings and data, as (variable, default, subfolder). The path is
    /// `$variable/subfolder` if the environment variable is set, and `~/default/subfolder` otherwise.
    pub folders: &'static [(&'static str, &'static str, &'static str)],
    pub files: &'static [&'static str],
    pub marks: LineMarks,
    pub exit_codes: &'static [(&'static [i32], FailureKind)],
    /// In every role, the program loads modules from these folders of the tree. If one of these folders exists,
    /// Glee does not start the program.
    pub loads: &'static [&'static str],
    /// Whether the reported token counts cover the whole session instead of the last call.
    pub(crate) counts_sessions: bool,
    /// Whether Glee ends the program after the answer and ignores the exit code.
    pub(crate) ends_when_done: bool,
}

impl Profile {
    /// The folders in [`Self::folders`] on this machine.
    pub fn settings_folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for (variable, default, subfolder) in self.folders {
            let above = match env::var_os(variable) {
                Some(path) if !variable.is_empty() => Some(PathBuf::from(path)),
                _ => env::home_dir().map(|home| home.join(default)),
            };
            folders.extend(above.map(|above| above.join(subfolder)));
        }
        folders
    }

    pub(crate) fn failure_of(&self, exit_code: i32) -> Option<FailureKind> {
        self.exit_codes
            .iter()
            .find(|(codes, _)| codes.contains(&exit_code))
            .map(|(_, kind)| *kind)
    }

    pub fn error(&self, kind: FailureKind, text: &str) -> AgentError {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let message = format!(
            "`{}` failed ({}): {}",
            self.name,
            kind.as_str(),
            shorten(&line, SHOWN)
        );
        AgentError {
            kind,
            message,
            hint: self.hint(kind),
        }
    }

    pub fn hint(&self, kind: FailureKind) -> Option<String> {
        let hint = match kind {
            FailureKind::NotLoggedIn => self.login,
            FailureKind::BadFlags => {
                "check the agent's `command` and `model`; `glee agents --check` tries every connected agent"
            }
            FailureKind::OverQuota { reset: None } => {
                "check the plan or credit of the account, or set the agent's key `backup` to another agent"
            }
            FailureKind::RateLimited { reset: Some(reset) }
            | FailureKind::OverQuota { reset: Some(reset) } => &format!(
                "the limit ends at {reset:.0}; resume the run then: `glee runs resume --when-reset`"
            ),
            FailureKind::RateLimited { reset: None } => {
                "resume the run later with `glee runs resume`"
            }
            FailureKind::TooLong => {
                "send less code in one call: `glee config set review.max_shard_size 64KiB`"
            }
            FailureKind::Unavailable => {
                "check whether the agent's service is available, and resume the run later"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
