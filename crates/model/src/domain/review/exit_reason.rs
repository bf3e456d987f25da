//! The reasons for the exit codes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The reason for an exit code (section 3.6 of the design). If a run has several reasons, the strongest reason
/// determines the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExitReason {
    /// No mandatory finding is open, or there is nothing to review.
    Clean,
    /// Mandatory findings are open.
    FindingsOpen,
    /// The command line or the configuration is invalid.
    Usage,
    /// A dispute waits for a person.
    DisputeOpen,
    /// An agent failed; the result is inconclusive.
    AgentFailed,
    /// Files changed while a read-only agent worked.
    ReadOnlyViolation,
    /// Another run has locked this tree.
    Locked,
    /// The history cannot be written, or the history has a format that is too new for this version of Glee.
    History,
    /// The repository's configuration is not trusted.
    Untrusted,
    /// The budget is used up; the run can be resumed.
    Budget,
    /// An agent has reached a rate limit or a quota; the run can be resumed.
    Limited,
    /// The run still works; the time to wait for it is over.
    // No run ends with it, so no outcome has it.
    #[schemars(skip)]
    StillRunning,
    /// A signal ended the run.
    Signal(u8),
}

impl ExitReason {
    pub fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::FindingsOpen => 1,
            Self::Usage => 2,
            Self::DisputeOpen => 3,
            Self::AgentFailed => 4,
            Self::ReadOnlyViolation => 5,
            Self::Locked => 6,
            Self::History => 7,
            Self::Untrusted => 8,
            Self::Budget | Self::Limited => 75,
            // As `timeout` of the coreutils.
            Self::StillRunning => 124,
            Self::Signal(number) => 128_u8.saturating_add(number),
        }
    }

    /// The reason with this exit code. A code that no reason has is a failure about which nothing is known.
    pub fn with_code(code: u8) -> Self {
        match code {
            0 => Self::Clean,
            1 => Self::FindingsOpen,
            2 => Self::Usage,
            3 => Self::DisputeOpen,
            5 => Self::ReadOnlyViolation,
            6 => Self::Locked,
            7 => Self::History,
            8 => Self::Untrusted,
            75 => Self::Budget,
            124 => Self::StillRunning,
            129.. => Self::Signal(code - 128),
            _ => Self::AgentFailed,
        }
    }

    /// Whether the run ended before its work was done, and can be resumed.
    pub fn is_unfinished(self) -> bool {
        matches!(self, Self::Budget | Self::Limited | Self::Signal(_))
    }

    #[must_use]
    pub fn strongest(self, other: Self) -> Self {
        if strength(other) > strength(self) {
            other
        } else {
            self
        }
    }
}

fn strength(reason: ExitReason) -> usize {
    /// The exit codes, from the weakest to the strongest. The exit codes after a signal are not in the list.
    /// An exit code after a signal takes precedence over all codes in the list.
    const STRENGTHS: [u8; 11] = [0, 1, 3, 4, 75, 124, 5, 2, 6, 7, 8];
    STRENGTHS
        .iter()
        .position(|code| *code == reason.code())
        .unwrap_or(usize::MAX)
}
