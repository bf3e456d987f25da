//! The ways in which an agent can fail.
//!
//! What may be tried again, what another agent may answer in its place and how a run ends all follow from the kind
//! alone, never from the words of a program.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why an agent gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FailureKind {
    /// Its program is not there.
    NotInstalled,
    /// Its program does not know an option, or lacks one that its role needs.
    BadFlags,
    /// Nobody is logged in, or the key is wrong.
    NotLoggedIn,
    /// Too many requests for now.
    RateLimited {
        /// When it works again, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<String>")]
        reset: Option<Timestamp>,
    },
    /// The plan, the credit or the budget is used up.
    OverQuota {
        /// When it works again, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<String>")]
        reset: Option<Timestamp>,
    },
    /// The model's service cannot be reached or fails.
    Unavailable,
    /// It wanted what its role may not do, and gave up.
    RefusedTool,
    /// It used up its turns.
    MaxTurns,
    /// The prompt is longer than it takes.
    TooLong,
    /// Its answer was cut off.
    Truncated,
    /// It ended well and said nothing.
    Empty,
    /// It took too long.
    TimedOut,
    /// A signal ended it that Glee did not send.
    Killed,
    /// Glee ended it, because the run is stopped.
    Stopped,
    /// It ended with an error of its own.
    Crashed,
    /// Its output is not what its program prints.
    Protocol,
}

impl FailureKind {
    /// Whether the same question may be answered a little later.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::RateLimited { .. } | Self::Unavailable | Self::Empty)
    }

    /// Whether the agent may answer when it is asked once more: it ended by accident, or what it printed was no answer.
    pub fn may_pass(self) -> bool {
        matches!(self, Self::Unavailable | Self::MaxTurns | Self::Truncated | Self::Empty)
            || matches!(self, Self::Killed | Self::Crashed | Self::Protocol)
    }

    /// Whether it is a matter of how much the agent was used: it answers again later, or for more money.
    pub fn is_exhausted(self) -> bool {
        matches!(self, Self::RateLimited { .. } | Self::OverQuota { .. })
    }

    /// Whether a backup may answer in the agent's place.
    pub fn calls_for_backup(self) -> bool {
        self.is_exhausted() || self == Self::NotInstalled
    }

    /// When it works again, where that is known.
    pub fn reset(self) -> Option<Timestamp> {
        match self {
            Self::RateLimited { reset } | Self::OverQuota { reset } => reset,
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotInstalled => "not installed",
            Self::BadFlags => "bad flags",
            Self::NotLoggedIn => "not logged in",
            Self::RateLimited { .. } => "rate-limited",
            Self::OverQuota { .. } => "over quota",
            Self::Unavailable => "unavailable",
            Self::RefusedTool => "refused tool",
            Self::MaxTurns => "max turns",
            Self::TooLong => "prompt too long",
            Self::Truncated => "truncated",
            Self::Empty => "empty",
            Self::TimedOut => "timed out",
            Self::Killed => "killed",
            Self::Stopped => "stopped",
            Self::Crashed => "crashed",
            Self::Protocol => "protocol error",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_is_recorded_by_name() {
        let kinds = [
            (FailureKind::NotLoggedIn, r#"{"kind":"not_logged_in"}"#),
            (FailureKind::RateLimited { reset: None }, r#"{"kind":"rate_limited"}"#),
            (
                FailureKind::OverQuota { reset: Some(Timestamp::UNIX_EPOCH) },
                r#"{"kind":"over_quota","reset":"1970-01-01T00:00:00Z"}"#,
            ),
        ];
        for (kind, text) in kinds {
            assert_eq!(serde_json::to_string(&kind).ok().as_deref(), Some(text));
            assert_eq!(serde_json::from_str(text).ok(), Some(kind));
        }
    }
}
