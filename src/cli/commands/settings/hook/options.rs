//! Types for the hooks, for the modes of a hook, and for the options that `glee hook install` and `glee hook run`
//! share.

use std::time::Duration;

use serde::Serialize;

use crate::cli::context::{CommandError, Words, duration, one_of};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Hook {
    PreCommit,
    PostCommit,
    PrePush,
}

pub(crate) const HOOKS: Words<Hook> = &[
    (
        "pre-commit",
        Hook::PreCommit,
        "Review the staged changes before a commit",
    ),
    (
        "post-commit",
        Hook::PostCommit,
        "Review the new commits in the background; a commit does not wait",
    ),
    (
        "pre-push",
        Hook::PrePush,
        "Review the new commits before a push",
    ),
];

impl Hook {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::PreCommit => "pre-commit",
            Self::PostCommit => "post-commit",
            Self::PrePush => "pre-push",
        }
    }

    /// The git command that runs the hook.
    pub(crate) fn operation(self) -> &'static str {
        match self {
            Self::PreCommit | Self::PostCommit => "commit",
            Self::PrePush => "push",
        }
    }

    /// The command that skips the hook once.
    pub(crate) fn skip(self) -> &'static str {
        match self {
            Self::PreCommit => "git commit --no-verify",
            // git runs this hook in any case.
            Self::PostCommit => "git -c core.hooksPath=/dev/null commit",
            Self::PrePush => "git push --no-verify",
        }
    }

    /// Fails if the hook runs when git cannot be stopped any more.
    pub(crate) fn check(self, options: &HookOptions) -> Result<(), CommandError> {
        match (self, options.mode) {
            (Self::PostCommit, HookMode::Block) => Err(CommandError::usage(
                "`post-commit` runs after the commit, so it cannot stop the commit",
            )
            .hint("leave out `--mode block`, or use the hook `pre-commit`")),
            _ => Ok(()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HookMode {
    Warn,
    Block,
}

pub(crate) const MODES: Words<HookMode> = &[
    (
        "warn",
        HookMode::Warn,
        "Print the report and let git continue",
    ),
    (
        "block",
        HookMode::Block,
        "Stop git if mandatory findings are open, or if the review cannot be completed",
    ),
];

impl HookMode {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }
}

// The struct has no doc comment, because clap would use the comment as the help of the commands.
#[derive(Clone, clap::Args)]
pub(crate) struct HookOptions {
    /// Whether git continues after a review with findings, or after a failed review
    #[arg(long, value_parser = one_of(MODES), value_name = "MODE", default_value = "warn")]
    pub(crate) mode: HookMode,
    /// The maximum duration of the review (a shorter `budget.duration` has precedence) [default: 1m if git waits for a
    /// hook that only warns, otherwise 10m]
    #[arg(long, value_parser = duration, value_name = "TIME")]
    timeout: Option<Duration>,
}

impl HookOptions {
    pub(crate) fn timeout(&self, hook: Hook) -> Duration {
        let is_waited_for = hook != Hook::PostCommit && self.mode == HookMode::Warn;
        let default = Duration::from_mins(if is_waited_for { 1 } else { 10 });
        self.timeout.unwrap_or(default)
    }

    #[cfg(test)]
    pub(crate) fn of(mode: HookMode, timeout: Duration) -> Self {
        Self {
            mode,
            timeout: Some(timeout),
        }
    }
}
