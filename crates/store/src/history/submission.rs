//! Runs that are submitted to workers.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use glee_model::domain::RunId;

/// The label of a worker that keeps agents from writing. Reviews of forks ask for it.
pub const SANDBOX: &str = "sandbox";

/// What a worker reviews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The address of the repository, without a password.
    pub remote: String,
    /// The commit whose files are in the tree; `None` for a pull request.
    pub commit: Option<String>,
    /// The folder in which the review was submitted, relative to the root of the tree.
    pub folder: String,
    /// The arguments of `glee review`.
    pub args: Vec<String>,
    /// What a worker has to have.
    pub labels: Vec<String>,
}

/// A run that a worker carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriedRun {
    pub run: RunId,
    pub fence: i32,
}

/// A run in the queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubmittedRun {
    pub repository: String,
    pub run: RunId,
    /// The role of the database that submitted the run.
    pub by: String,
    pub submitted: Timestamp,
    pub state: SubmissionState,
}

/// A pull request, as a host described it at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestNotice {
    /// The address from which the repository can be cloned.
    pub remote: String,
    pub number: i64,
    /// The commit to review. `None` for a closed request and for a draft.
    pub head: Option<String>,
    pub updated: Timestamp,
    /// Whether the head is in another repository.
    pub is_fork: bool,
}

/// The submitted runs that have not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueTotals {
    /// How many wait for a place of their tenant.
    pub waiting: u64,
    /// How many wait for a worker.
    pub queued: u64,
    pub carried: u64,
    /// How long the oldest run waits that no worker carries.
    pub oldest: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SubmissionState {
    /// The tenant has as many runs in the queue as it has places.
    WaitsForPlace,
    /// No worker with these labels has taken the run yet, or the lease of the last one ended.
    Queued {
        labels: Vec<String>,
    },
    /// The worker with this name carries the run. Its next call waits for a permit of the vendor, if one is named.
    Carried {
        worker: String,
        waits_for: Option<String>,
    },
    Stopping,
    Ended {
        exit: i32,
        /// Why the run ended without a report.
        failed: Option<String>,
    },
}
