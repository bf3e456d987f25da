//! The queue of a server: the runs that `glee review --submit` adds, and that workers take.
//!
//! A worker holds a run by a lease. After it, another worker can claim the run, and gets a higher fence: what is done
//! under the lower one is refused from then on.

use std::time::Duration;

use crate::history::shared_log::{RepositoryNames, SharedLogError};
use crate::history::submission::{
    CarriedRun, QueueTotals, RequestNotice, Submission, SubmittedRun,
};
use glee_model::domain::RunId;

/// The connection to the queue. Every method fails if the server cannot be reached; those with a claim also fail with
/// [`SharedLogError::TakenOver`].
pub trait Queue: Send {
    fn submit(
        &mut self,
        names: &RepositoryNames,
        run: &RunId,
        submission: &Submission,
        is_urgent: bool,
    ) -> Result<(), SharedLogError>;
    /// Whether the role may submit runs.
    fn submits(&mut self) -> Result<bool, SharedLogError>;
    /// Submits a review of the pull request's head as the run `run`, and stops the review of the head before it. Returns
    /// false if the notice tells nothing new.
    fn follow(
        &mut self,
        names: &RepositoryNames,
        notice: &RequestNotice,
        run: &RunId,
        args: &[String],
    ) -> Result<bool, SharedLogError>;
    /// Counts the runs that the role sees.
    fn totals(&mut self) -> Result<QueueTotals, SharedLogError>;
    /// Takes the next run that asks for no other than these labels. `worker` is the name that others see.
    fn claim(
        &mut self,
        worker: &str,
        labels: &[String],
    ) -> Result<Option<CarriedRun>, SharedLogError>;
    fn claimed(&mut self, claim: &CarriedRun) -> Result<Submission, SharedLogError>;
    /// Holds the run for another lease, and returns the lease. `None` if the run was taken over or stopped.
    fn renew(&mut self, claim: &CarriedRun) -> Result<Option<Duration>, SharedLogError>;
    /// Lets only workers with this label take the run, once this worker has given it back.
    fn require(&mut self, claim: &CarriedRun, label: &str) -> Result<(), SharedLogError>;
    /// Ends the run. Without an exit code, another worker can take it.
    fn finish(
        &mut self,
        claim: &CarriedRun,
        exit: Option<i32>,
        failed: Option<&str>,
    ) -> Result<(), SharedLogError>;
    /// Returns false if the run has ended, or was never submitted.
    fn stop(&mut self, run: &RunId) -> Result<bool, SharedLogError>;
    /// Returns the runs whose id begins or ends with `id`, no more than two, those that have not ended first.
    fn find(&mut self, id: &str) -> Result<Vec<SubmittedRun>, SharedLogError>;
    /// Lets the call with this name begin a request to the vendor, if the result is zero. Otherwise, it has to ask again
    /// after the returned time.
    fn permit(
        &mut self,
        claim: &CarriedRun,
        vendor: &str,
        call: &str,
    ) -> Result<Duration, SharedLogError>;
    fn give_back(
        &mut self,
        claim: &CarriedRun,
        vendor: &str,
        call: &str,
    ) -> Result<(), SharedLogError>;
    /// Lets no worker call the vendor for a time.
    fn cool(
        &mut self,
        claim: &CarriedRun,
        vendor: &str,
        time: Duration,
    ) -> Result<(), SharedLogError>;
}
