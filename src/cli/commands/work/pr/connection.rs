//! Connects to the host of a pull request.

use crate::cli::context::{CommandError, Globals, place};
use glee_model::domain::ExitReason;
use glee_protocol::text::printable;
use glee_workflows::hosts::address;
use glee_workflows::hosts::{Host, HostError, PullRequest, RequestState};

/// A pull request on its host.
pub(crate) struct RequestOnHost {
    pub(crate) host: Box<dyn Host>,
    pub(crate) request: PullRequest,
}

impl RequestOnHost {
    /// Finds the host and reads the pull request. `wanted` is the number of the pull request or its web address.
    /// If `wanted` is empty, Glee opens the pull request of the CI job.
    pub(crate) fn open(wanted: &str, globals: &Globals) -> Result<Self, CommandError> {
        let workspace = place::workspace(globals)?;
        let remote = workspace.remote_address();
        let env = |name: &str| std::env::var(name).ok();
        let address = address::find(wanted, remote.as_deref(), &env)?;
        let host =
            glee_workflows::hosts::connect(address, workspace.root(), &env).map_err(failed)?;
        let request = host.request().map_err(failed)?;
        Ok(Self { host, request })
    }

    pub(crate) fn name(&self) -> String {
        format!("PR {}", self.request.number)
    }

    /// Fails if the pull request is merged or closed.
    pub(crate) fn require_open(&self) -> Result<(), CommandError> {
        let state = match self.request.state {
            RequestState::Open => return Ok(()),
            RequestState::Closed => "closed",
            RequestState::Merged => "merged",
        };
        let base = &self.request.base.id;
        let head = &self.request.head.id;
        Err(
            CommandError::usage(format!("{} is {state}", self.name())).hint(format!(
                "review the commits instead: `glee review {}...{}`",
                short(base),
                short(head)
            )),
        )
    }
}

pub(crate) fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// Converts an error of a host, such as GitHub, to an error of a command.
pub(crate) fn failed(error: HostError) -> CommandError {
    let (exit, hint) = match &error {
        HostError::Unreachable { .. } => (
            ExitReason::AgentFailed,
            "check the network, then run the command again; nothing is published twice",
        ),
        HostError::Unauthorised { .. } => (
            ExitReason::Usage,
            "renew the token, then run the command again; nothing is published twice",
        ),
        HostError::Forbidden { .. } => (
            ExitReason::Usage,
            "use a token that is allowed to read and write pull requests",
        ),
        HostError::NotFound { .. } => (
            ExitReason::Usage,
            "check the number and the remote, and whether the token is allowed to read the repository",
        ),
        HostError::PendingReview { .. } => (
            ExitReason::Usage,
            "submit or discard your review on the page of the pull request, then run the command again; it continues where it stopped",
        ),
        HostError::RateLimited { .. } => (
            ExitReason::Limited,
            "run the command again after this time; nothing is published twice",
        ),
        HostError::Refused { .. } | HostError::Unexpected { .. } => (
            ExitReason::AgentFailed,
            "run the command again; nothing is published twice",
        ),
    };
    CommandError::ending(exit, printable::line(&error.to_string())).hint(hint)
}
