//! The kinds of failures of an agent. The kind determines whether Glee retries the call, calls a backup or ends
//! the run. Glee can derive the kind from an error text. After this classification, only the kind determines how
//! the run continues.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The reason why an agent gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FailureKind {
    /// The program is missing.
    NotInstalled,
    /// The program rejects a flag, or does not have a flag that the role needs.
    BadFlags,
    /// The agent is not logged in, or its API key is invalid.
    NotLoggedIn,
    /// Too many requests.
    RateLimited {
        /// The time from which the agent can be called again; absent if the time is unknown.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<String>")]
        reset: Option<Timestamp>,
    },
    /// The plan, the credit or the budget is exhausted.
    OverQuota {
        /// The time from which the agent can be called again; absent if the time is unknown.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<String>")]
        reset: Option<Timestamp>,
    },
    /// The model's service is unreachable or fails.
    Unavailable,
    /// The agent ended because it needed a tool that its role does not allow.
    RefusedTool,
    /// The maximum number of turns is reached.
    MaxTurns,
    /// The prompt is longer than the model accepts.
    TooLong,
    /// The answer was truncated.
    Truncated,
    /// The program succeeded without an answer.
    Empty,
    /// A timeout expired.
    TimedOut,
    /// A signal ended the program, and Glee did not send the signal.
    Killed,
    /// Glee ended the program, because the run was stopped or the user skipped the call.
    Stopped,
    /// The program ended with an error that no other variant describes.
    Crashed,
    /// The output of the program does not have the format that the adapter expects.
    Protocol,
}

impl FailureKind {
    /// Whether the output of the program can explain the failure.
    pub fn is_in_output(self) -> bool {
        match self {
            Self::RefusedTool
            | Self::MaxTurns
            | Self::TooLong
            | Self::Truncated
            | Self::Empty
            | Self::TimedOut
            | Self::Killed
            | Self::Crashed
            | Self::Protocol => true,
            Self::NotInstalled
            | Self::BadFlags
            | Self::NotLoggedIn
            | Self::RateLimited { .. }
            | Self::OverQuota { .. }
            | Self::Unavailable
            | Self::Stopped => false,
        }
    }

    /// Whether a model can have read the prompt. A service that refuses a request does not charge for it.
    pub fn may_be_billed(self) -> bool {
        !matches!(
            self,
            Self::NotInstalled
                | Self::BadFlags
                | Self::NotLoggedIn
                | Self::RateLimited { .. }
                | Self::OverQuota { .. }
                | Self::Unavailable
                | Self::TooLong
        )
    }

    /// Whether a later retry can succeed.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. } | Self::Unavailable | Self::Empty
        )
    }

    /// Whether an immediate second call can succeed, for example after a crash or an output without an answer.
    pub fn may_pass(self) -> bool {
        use FailureKind::{Crashed, Empty, Killed, MaxTurns, Protocol, Truncated, Unavailable};
        matches!(
            self,
            Unavailable | MaxTurns | Truncated | Empty | Killed | Crashed | Protocol
        )
    }

    /// Whether the model's service failed, so that other calls of the program fail, too.
    pub fn is_of_service(self) -> bool {
        self == Self::Unavailable || self.is_exhausted()
    }

    pub fn is_exhausted(self) -> bool {
        matches!(self, Self::RateLimited { .. } | Self::OverQuota { .. })
    }

    pub fn calls_for_backup(self) -> bool {
        self.is_exhausted() || self == Self::NotInstalled
    }

    /// Returns the time from which the agent can be called again, or `None` if the time is unknown.
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
            (
                FailureKind::RateLimited { reset: None },
                r#"{"kind":"rate_limited"}"#,
            ),
            (
                FailureKind::OverQuota {
                    reset: Some(Timestamp::UNIX_EPOCH),
                },
                r#"{"kind":"over_quota","reset":"1970-01-01T00:00:00Z"}"#,
            ),
        ];
        for (kind, text) in kinds {
            assert_eq!(serde_json::to_string(&kind).ok().as_deref(), Some(text));
            assert_eq!(serde_json::from_str(text).ok(), Some(kind));
        }
    }
}
