//! Types for the hooks, for the modes of a hook, and for the options that `glee hook install` and `glee hook run`
//! share.

use std::time::Duration;

use serde::Serialize;

use crate::cli::context::{Words, one_of};
use glee_store::config::schema::units;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Hook {
    PreCommit,
    PrePush,
}

pub(crate) const HOOKS: Words<Hook> = &[
    (
        "pre-commit",
        Hook::PreCommit,
        "Review the staged changes before a commit",
    ),
    (
        "pre-push",
        Hook::PrePush,
        "Review the new commits before a push",
    ),
];

impl Hook {
    pub(crate) const ALL: [Self; 2] = [Self::PreCommit, Self::PrePush];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::PreCommit => "pre-commit",
            Self::PrePush => "pre-push",
        }
    }

    /// The git command that runs the hook.
    pub(crate) fn operation(self) -> &'static str {
        match self {
            Self::PreCommit => "commit",
            Self::PrePush => "push",
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
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct HookOptions {
    /// Whether git continues after a review with findings, or after a failed review
    #[arg(long, value_parser = one_of(MODES), value_name = "MODE", default_value = "warn")]
    pub(crate) mode: HookMode,
    /// The maximum duration of the review (a shorter `budget.duration` has precedence)
    #[arg(long, value_parser = time, value_name = "TIME", default_value = "10m")]
    pub(crate) timeout: Duration,
}

pub(super) fn time(text: &str) -> Result<Duration, String> {
    let time = units::duration(text).filter(|time| !time.is_zero());
    time.ok_or_else(|| "give a duration such as `90s` or `10m`".to_owned())
}
