//! Defines the failures of an agent's process, for example a missing program. Errors that the process reports in
//! its output are not defined here.

use std::time::Duration;
use std::{fmt, io};

use jiff::Timestamp;
use nix::errno::Errno;

use crate::calls::error_classifier;
use crate::process::sandbox::confinement::Scarce;
use crate::{AgentError, Invocation, Output, Profile};
use glee_model::domain::{Agent, FailureKind};

/// Each command line and each output line in a message is shortened to this number of characters.
const SHOWN: usize = 200;

#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Failed {
    #[source]
    pub error: ProcessError,
    pub output: Option<Output>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cap {
    FirstOutput,
    Idle,
    /// The limit is `limits.call_timeout` or the agent's `timeout`.
    Total,
}

impl fmt::Display for Cap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FirstOutput => "printed nothing for",
            Self::Idle => "printed nothing more for",
            Self::Total => "did not end within",
        })
    }
}

/// The failure of an agent's process. The field `command` of a variant contains the command line in printable
/// form. If a variant has no field `command`, the first unnamed field contains the command line.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("failed to run `{0}`: the program or its interpreter was not found")]
    NotFound(String),
    #[error("failed to start `{0}`")]
    Exhausted(String, #[source] io::Error),
    #[error("failed to run `{0}`")]
    Spawn(String, #[source] io::Error),
    #[error(
        "`{0}` was not run: `sandbox` is `required`, but this system cannot prevent a program from writing"
    )]
    NotConfined(String),
    #[error("Glee ended `{command}`, because the program {cap} {after:?}")]
    TimedOut {
        command: String,
        cap: Cap,
        after: Duration,
    },
    #[error(
        "Glee ended `{command}`, because the program repeatedly got no answer from its service: {}",
        shorten(line, SHOWN)
    )]
    NoProgress {
        command: String,
        /// The line with which the program told of the last request that failed.
        line: String,
    },
    #[error("`{command}` was killed by signal {signal}{}", after_colon(last_line.as_deref()))]
    Killed {
        command: String,
        signal: i32,
        last_line: Option<String>,
    },
    #[error("`{command}` ended with exit code {code}{}", after_colon(last_line.as_deref()))]
    ExitCode {
        command: String,
        code: i32,
        /// The last line of stderr. If stderr is empty, the field contains the last line of stdout.
        last_line: Option<String>,
    },
    #[error("Glee ended `{command}`, because the program took too much: {scarce}")]
    TookTooMuch { command: String, scarce: Scarce },
    #[error("`{0}` was stopped")]
    Stopped(String),
    #[error("Glee could not end these processes of `{command}`: {}", ids(.1), command = .0)]
    Survivors(String, Vec<i32>),
    #[error("the supervisor of `{command}` died ({status}); {}", remaining(left.as_deref()))]
    SupervisorDied {
        command: String,
        status: String,
        /// The ids of descendant processes that possibly still run. `None` if all descendants were ended.
        left: Option<Vec<i32>>,
    },
    #[error("the output of `{0}` could not be recorded")]
    Io(String, #[source] io::Error),
}

impl ProcessError {
    pub fn spawn(command: String, source: io::Error) -> Self {
        if is_exhausted(&source) {
            Self::Exhausted(command, source)
        } else {
            Self::Spawn(command, source)
        }
    }

    pub fn for_agent(&self, agent: &Agent) -> AgentError {
        let message = match self {
            Self::Spawn(_, source) | Self::Exhausted(_, source) | Self::Io(_, source) => {
                format!("{self}: {source}")
            }
            _ => self.to_string(),
        };
        AgentError {
            kind: self.kind(),
            message,
            hint: self.hint(agent),
        }
    }

    fn kind(&self) -> FailureKind {
        match self {
            Self::NotFound(..) | Self::Spawn(..) => FailureKind::NotInstalled,
            Self::TimedOut { .. } => FailureKind::TimedOut,
            Self::NoProgress { line, .. } => {
                let status = error_classifier::status(line);
                let kind = error_classifier::kind(status, line, Timestamp::now());
                if kind.is_of_service() {
                    kind
                } else {
                    FailureKind::Unavailable
                }
            }
            Self::Killed { .. } | Self::TookTooMuch { .. } => FailureKind::Killed,
            Self::Stopped(..) => FailureKind::Stopped,
            Self::ExitCode { .. }
            | Self::Survivors(..)
            | Self::SupervisorDied { .. }
            | Self::NotConfined(..)
            | Self::Exhausted(..)
            | Self::Io(..) => FailureKind::Crashed,
        }
    }

    fn hint(&self, agent: &Agent) -> Option<String> {
        let name = &agent.name;
        match self {
            Self::Spawn(_, source) if source.raw_os_error() == Some(Errno::ENOEXEC as i32) => Some(
                "a script must begin with a line like `#!/bin/sh`; a binary must be built for this system"
                    .to_owned(),
            ),
            Self::NotFound(..) | Self::Spawn(..) => Some(format!(
                "install the program, or give the path of the program: `glee config set agents.{name}.command <path>`"
            )),
            Self::TimedOut { cap: Cap::Total, .. } => {
                Some(format!("raise the time limit: `glee config set agents.{name}.timeout 60m`"))
            }
            Self::TimedOut { cap: Cap::FirstOutput, .. } => Some(
                "allow more time until the first output: `glee config set limits.first_output_timeout 10m`"
                    .to_owned(),
            ),
            Self::TimedOut { cap: Cap::Idle, .. } => {
                Some("allow more time without output: `glee config set limits.idle_timeout 30m`".to_owned())
            }
            Self::ExitCode { .. } | Self::Killed { .. } => {
                Some(format!("check that the program runs outside Glee: `{} --help`", agent.command.join(" ")))
                    .filter(|_| !agent.command.first().is_some_and(|word| word.starts_with("builtin:")))
            }
            Self::NotConfined(..) => {
                Some("use Linux 6.2 or newer with Landlock, or `glee config set --user sandbox auto`".to_owned())
            }
            Self::Survivors(..) | Self::SupervisorDied { left: Some(_), .. } => {
                Some("list the remaining processes with `ps -ef`".to_owned())
            }
            Self::Exhausted(_, source) | Self::Io(_, source) if is_exhausted(source) => {
                Some("close other programs, or raise the limits of this shell: `ulimit -n`, `ulimit -u`".to_owned())
            }
            Self::Io(..) => Some("check the free disk space".to_owned()),
            Self::NoProgress { .. } => {
                Some("check whether the agent's service is available, and resume the run later".to_owned())
            }
            Self::SupervisorDied { left: None, .. } | Self::TookTooMuch { .. } | Self::Exhausted(..) | Self::Stopped(..) => None,
        }
    }
}

pub fn is_exhausted(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw);
    matches!(
        errno,
        Some(Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM | Errno::EAGAIN)
    )
}

fn remaining(left: Option<&[i32]>) -> String {
    match left {
        None => "its processes were ended".to_owned(),
        Some(pids) => format!("its processes possibly still run: {}", ids(pids)),
    }
}

fn after_colon(line: Option<&str>) -> String {
    line.map_or_else(String::new, |line| format!(": {}", shorten(line, SHOWN)))
}

fn ids(pids: &[i32]) -> String {
    match pids {
        [] => "their ids are unknown".to_owned(),
        pids => pids
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// Formats a command line in shell syntax, and shortens a long command line.
pub fn command_line(invocation: &Invocation) -> String {
    let own = invocation.program == std::path::Path::new("/proc/self/exe");
    let program = if own {
        "glee".into()
    } else {
        invocation.program.to_string_lossy()
    };
    let mut quoted = vec![quote(&program)];
    for arg in &invocation.args {
        let word = arg.to_string_lossy();
        // An argument of several lines is a prompt.
        let shown = match word.split_once('\n') {
            Some(_) => Profile::PROMPT.to_owned(),
            None => quote(&word),
        };
        quoted.push(shown);
    }
    shorten(&quoted.join(" "), SHOWN)
}

fn quote(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| format!("{word:?}"), std::borrow::Cow::into_owned)
}

pub fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn an_error_has_a_message_and_a_hint() {
        let command = || "/bin/rev -x".to_owned();
        let cases = [
            (
                ProcessError::NotFound(command()),
                "failed to run `/bin/rev -x`: the program or its interpreter was not found",
                Some(
                    "install the program, or give the path of the program: `glee config set agents.rev.command \
                      <path>`",
                ),
            ),
            (
                ProcessError::Spawn(
                    command(),
                    io::Error::from_raw_os_error(Errno::ENOEXEC as i32),
                ),
                "failed to run `/bin/rev -x`: Exec format error (os error 8)",
                Some(
                    "a script must begin with a line like `#!/bin/sh`; a binary must be built for this system",
                ),
            ),
            (
                ProcessError::TimedOut {
                    command: command(),
                    cap: Cap::Idle,
                    after: Duration::from_secs(600),
                },
                "Glee ended `/bin/rev -x`, because the program printed nothing more for 600s",
                Some("allow more time without output: `glee config set limits.idle_timeout 30m`"),
            ),
            (
                ProcessError::ExitCode {
                    command: command(),
                    code: 2,
                    last_line: Some("no key".to_owned()),
                },
                "`/bin/rev -x` ended with exit code 2: no key",
                Some("check that the program runs outside Glee: `rev --help`"),
            ),
            (
                ProcessError::Killed {
                    command: command(),
                    signal: 9,
                    last_line: None,
                },
                "`/bin/rev -x` was killed by signal 9",
                Some("check that the program runs outside Glee: `rev --help`"),
            ),
            (
                ProcessError::Survivors(command(), vec![7, 8]),
                "Glee could not end these processes of `/bin/rev -x`: 7, 8",
                Some("list the remaining processes with `ps -ef`"),
            ),
            (
                ProcessError::SupervisorDied {
                    command: command(),
                    status: "signal: 9".to_owned(),
                    left: None,
                },
                "the supervisor of `/bin/rev -x` died (signal: 9); its processes were ended",
                None,
            ),
            (
                ProcessError::SupervisorDied {
                    command: command(),
                    status: "signal: 9".to_owned(),
                    left: Some(vec![7]),
                },
                "the supervisor of `/bin/rev -x` died (signal: 9); its processes possibly still run: 7",
                Some("list the remaining processes with `ps -ef`"),
            ),
            (
                ProcessError::Stopped(command()),
                "`/bin/rev -x` was stopped",
                None,
            ),
        ];
        let agent = samples::agent("rev", "text", &["rev"]);
        for (error, message, hint) in cases {
            let shown_error = error.for_agent(&agent);
            assert_eq!(
                (shown_error.message.as_str(), shown_error.hint.as_deref()),
                (message, hint)
            );
        }
    }

    #[test]
    fn exhaustion_is_not_reported_as_a_missing_program() {
        let agent = samples::agent("rev", "text", &["rev"]);
        for (errno, kind) in [
            (Errno::EMFILE, FailureKind::Crashed),
            (Errno::ENFILE, FailureKind::Crashed),
            (Errno::ENOMEM, FailureKind::Crashed),
            (Errno::EAGAIN, FailureKind::Crashed),
            (Errno::ENOEXEC, FailureKind::NotInstalled),
            (Errno::EACCES, FailureKind::NotInstalled),
        ] {
            let source = io::Error::from_raw_os_error(errno as i32);
            let shown = source.to_string();
            let shown_error = ProcessError::spawn("rev".to_owned(), source).for_agent(&agent);
            assert_eq!(shown_error.kind, kind, "{errno}");
            assert!(
                shown_error.message.ends_with(&shown),
                "{}",
                shown_error.message
            );
            let installs = shown_error
                .hint
                .as_deref()
                .is_some_and(|hint| hint.contains("install the program"));
            assert_eq!(
                installs,
                errno == Errno::EACCES,
                "{errno}: {:?}",
                shown_error.hint
            );
        }
    }

    #[test]
    fn a_command_line_can_be_typed_again_and_is_shortened() {
        let invocation = |args: &[&str]| Invocation {
            program: "/bin/rev".into(),
            args: args.iter().map(Into::into).collect(),
            env: Default::default(),
            cwd: "/".into(),
            stdin: Vec::new(),
            streams: false,
            files: Vec::new(),
        };
        assert_eq!(
            command_line(&invocation(&["-x", "a b", ""])),
            "/bin/rev -x 'a b' ''"
        );
        let long = command_line(&invocation(&[&"ü".repeat(500)]));
        assert_eq!(
            (long.chars().count(), long.ends_with("ü...")),
            (SHOWN + 3, true)
        );
    }
}
