//! Detects forbidden changes that agents make in the work tree or in its repository.
//!
//! The guard compares the tree before and after each call of a read-only agent. Calls that run at the same time share
//! what it sees: it looks at the tree when the last of them ends, and in between as often as looking takes a tenth of
//! the time at most. If a file has changed, every agent that was running without a sandbox is suspected of the change. A sandboxed agent cannot have changed the file,
//! but the agent's findings on the file are possibly outdated. A sandbox does not prevent changes of file
//! permissions. If a permission has changed, sandboxed agents are also suspected. The answer of an agent that is
//! suspected of a change is discarded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::run::blocking::blocking;
use glee_model::domain::event::{CallAnswer, CallId};
use glee_workspace::guard::control_files::{ControlKind, control_kind};
use glee_workspace::root::Workspace;
use glee_workspace::{
    ChangeKind, ChangedSubject, ObservedChange, TreeFingerprint, Unfollowed, WorkspaceError,
};

/// While other guarded calls are running, a new call reuses a look at the tree that is younger than this duration.
const SHARED: Duration = Duration::from_millis(500);

/// While other guarded calls are running, the next look waits for this many times as long as the last one took.
const PAUSE: u32 = 10;

#[derive(Debug, Default)]
pub struct WriteGuard {
    last: Option<Look>,
    is_first: bool,
    calls: BTreeMap<CallId, Vec<ObservedChange>>,
    shared: Arc<SharedLooks>,
}

/// The tree as it was at a time.
#[derive(Clone, Debug)]
struct Look {
    fingerprint: Arc<TreeFingerprint>,
    at: Instant,
    took: Duration,
}

/// What the calls that run at the same time know of each other.
#[derive(Debug, Default)]
struct SharedLooks {
    latest: Mutex<Option<Look>>,
    /// Held by the call that looks, or that waits to look.
    turn: tokio::sync::Mutex<()>,
    /// The number of agents that are working.
    working: watch::Sender<usize>,
}

/// Looks at the tree when a call has ended.
#[derive(Debug)]
pub struct WriteCheck {
    workspace: Arc<Workspace>,
    shared: Arc<SharedLooks>,
}

#[derive(Debug)]
pub struct Observation(Result<Look, WorkspaceError>);

impl Look {
    fn now(workspace: &Workspace, earlier: Option<&Self>) -> Result<Self, WorkspaceError> {
        let at = Instant::now();
        let fingerprint = workspace.fingerprint(earlier.map(|look| &*look.fingerprint))?;
        Ok(Self {
            fingerprint: Arc::new(fingerprint),
            at,
            took: at.elapsed(),
        })
    }

    /// Until when a call that begins beside others needs no new look, and a call that ended beside others waits for one.
    fn next(&self) -> Instant {
        self.at + self.took * PAUSE
    }
}

impl SharedLooks {
    fn latest(&self) -> MutexGuard<'_, Option<Look>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, workspace: &Workspace) -> Result<Look, WorkspaceError> {
        let earlier = self.latest().clone();
        let look = Look::now(workspace, earlier.as_ref())?;
        *self.latest() = Some(look.clone());
        Ok(look)
    }
}

impl WriteCheck {
    /// Returns a look that began after the call ended.
    pub(crate) async fn observe(self) -> Observation {
        let ended = Instant::now();
        let Self { workspace, shared } = self;
        let mut working = shared.working.subscribe();
        shared.working.send_modify(|working| *working -= 1);
        let _turn = shared.turn.lock().await;
        let latest = shared.latest().clone();
        if let Some(latest) = latest {
            if latest.at >= ended {
                return Observation(Ok(latest));
            }
            let due = tokio::time::Instant::from_std(latest.next());
            drop(tokio::time::timeout_at(due, working.wait_for(|working| *working == 0)).await);
        }
        let of_call = Arc::clone(&shared);
        Observation(blocking(move || of_call.look(&workspace)).await)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// What a coder changed beside the code (see `beyond`).
    pub beyond: BTreeSet<String>,
    /// The changes that the read-only agent possibly made.
    pub violations: Vec<String>,
    /// The files that another process changed.
    pub stale: Vec<String>,
}

impl WriteGuard {
    /// Creates a guard with a fingerprint of the tree. If the computation of the fingerprint fails, the first
    /// guarded call computes the fingerprint.
    pub(crate) fn begun(workspace: &Workspace) -> Self {
        let mut guard = Self::default();
        guard.last = guard.shared.look(workspace).ok();
        guard.is_first = guard.last.is_some();
        guard
    }

    pub(crate) fn unfollowed(&self) -> &[Unfollowed] {
        self.last
            .as_ref()
            .map_or(&[], |look| look.fingerprint.unfollowed.as_slice())
    }

    /// Registers a call. Returns the check that has to run when the call ends.
    pub(crate) fn begin(
        &mut self,
        workspace: &Arc<Workspace>,
        call: &CallId,
    ) -> Result<WriteCheck, WorkspaceError> {
        let now = Instant::now();
        let is_known = self.last.as_ref().is_some_and(|look| {
            let is_fresh = now < look.at + SHARED;
            match self.calls.is_empty() {
                true => is_fresh && self.is_first,
                false => is_fresh || now < look.next(),
            }
        });
        if !is_known {
            let look = self.shared.look(workspace);
            self.take(workspace, Observation(look))?;
        }
        self.is_first = false;
        self.calls.insert(call.clone(), Vec::new());
        self.shared.working.send_modify(|working| *working += 1);
        Ok(WriteCheck {
            workspace: Arc::clone(workspace),
            shared: Arc::clone(&self.shared),
        })
    }

    /// Ends the call of a read-only agent. `held` is true if the agent was in a sandbox during the whole call.
    pub(crate) fn end(
        &mut self,
        workspace: &Workspace,
        call: &CallId,
        observation: Observation,
        held: bool,
    ) -> Found {
        let observed = self.take(workspace, observation);
        let seen = self.calls.remove(call).unwrap_or_default();
        let mut found = Found::default();
        if let Err(error) = observed {
            // The agent is suspected of making the tree unreadable, because the tree was readable before the call.
            found
                .violations
                .push(format!("left an unreadable tree: {error}"));
        }
        for difference in seen {
            match difference.subject {
                ChangedSubject::Content if held => found.stale.push(difference.name),
                ChangedSubject::Repository if held => {}
                ChangedSubject::Content
                | ChangedSubject::Repository
                | ChangedSubject::Permissions => {
                    found.violations.push(difference.to_string());
                }
            }
        }
        found
    }

    /// Ends a call of the coder.
    pub(crate) fn end_of_coder(
        &mut self,
        workspace: &Workspace,
        call: &CallId,
        observation: Observation,
    ) -> Result<Found, WorkspaceError> {
        self.take(workspace, observation)?;
        let seen = self.calls.remove(call).unwrap_or_default();
        Ok(Found {
            beyond: seen.iter().filter_map(beyond).collect(),
            ..Found::default()
        })
    }

    fn take(
        &mut self,
        workspace: &Workspace,
        Observation(look): Observation,
    ) -> Result<(), WorkspaceError> {
        let look = look?;
        if let Some(earlier) = &self.last {
            // Several calls return the same look, and looks can be processed out of order. If this look or a later one
            // was processed first, it already includes these changes.
            if look.at <= earlier.at {
                return Ok(());
            }
            if !self.calls.is_empty() {
                let differences = workspace.differences(&earlier.fingerprint, &look.fingerprint)?;
                for seen in self.calls.values_mut() {
                    seen.extend(differences.iter().cloned());
                }
            }
        }
        self.last = Some(look);
        Ok(())
    }
}

/// Returns the failure that replaces the answer of a read-only agent if the tree changed during the call.
pub(crate) fn discarded(call: &CallId, violations: &[String]) -> CallAnswer {
    let shown = match violations {
        [first, second, third, _, ..] => format!("{first}, {second}, {third} and more"),
        few => few.join(", "),
    };
    let error = format!(
        "`{}` is read-only, but during its call an agent or another process {shown}: its answer is discarded",
        call.agent
    );
    let hint = "check the changes with `git status`; if they are yours, repeat the call with `glee runs resume`"
        .to_owned();
    CallAnswer::Failed {
        error,
        hint: Some(hint),
        cause: None,
    }
}

/// Describes a change of the git repository (such as a new ref) or of a file that controls a tool (such as a CI
/// configuration). Returns `None` for a change of any other file.
fn beyond(difference: &ObservedChange) -> Option<String> {
    let name = &difference.name;
    match difference.subject {
        ChangedSubject::Repository => Some(match (name.as_str(), difference.kind) {
            ("HEAD", _) => "switched HEAD to another branch or commit".to_owned(),
            ("the index", _) => "changed the index".to_owned(),
            (name, ChangeKind::Changed) if name.starts_with("refs/") => format!("moved `{name}`"),
            _ => difference.to_string(),
        }),
        ChangedSubject::Content | ChangedSubject::Permissions => {
            let steered = match control_kind(name)? {
                ControlKind::Tools => "which controls the tools that open this tree",
                ControlKind::Ci => "which the continuous integration runs",
                ControlKind::Glee => {
                    "which controls Glee; this run uses the initial version of the file"
                }
                ControlKind::Git => {
                    "which controls git; this run selects files by the initial version of the file"
                }
            };
            Some(format!("{difference}, {steered}"))
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use futures_util::future::join_all;
    use glee_model::domain::event::Purpose;

    fn call(agent: &str) -> CallId {
        CallId {
            purpose: Purpose::Review { round: 1, shard: 0 },
            agent: agent.into(),
            attempt: 1,
        }
    }

    #[tokio::test]
    async fn observations_that_arrive_in_another_order_are_counted_once() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(folder.path().join(name), name).unwrap();
        let workspace = Arc::new(Workspace::discover(folder.path()).unwrap());
        let first = call("first");
        let second = call("second");
        let mut guard = WriteGuard::default();
        let mut checks = [&first, &second]
            .map(|call| guard.begin(&workspace, call).unwrap())
            .into_iter();
        write("one");
        let of_first = checks.next().unwrap().observe().await;
        write("two");
        let of_second = checks.next().unwrap().observe().await;
        let violations = |found: Found| found.violations;
        // The guard processes the second observation first. At the second observation, both agents are suspected
        // of both changes.
        assert_eq!(
            violations(guard.end(&workspace, &second, of_second, false)),
            ["created `one`", "created `two`"]
        );
        assert_eq!(
            violations(guard.end(&workspace, &first, of_first, false)),
            ["created `one`", "created `two`"]
        );
        let third = call("third");
        let check = guard.begin(&workspace, &third).unwrap();
        assert_eq!(
            violations(guard.end(&workspace, &third, check.observe().await, false)),
            [""; 0]
        );
    }

    #[tokio::test]
    async fn calls_that_end_together_share_one_look_and_a_single_call_waits_for_none() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(folder.path().join(name), name).unwrap();
        let workspace = Arc::new(Workspace::discover(folder.path()).unwrap());
        let mut guard = WriteGuard::begun(&workspace);
        // As in a tree so large that the next look is not due during the test.
        guard.shared.latest().as_mut().unwrap().took = Duration::from_secs(600);
        let calls = ["first", "second", "third"].map(call);
        let mut checks: Vec<WriteCheck> = calls
            .iter()
            .map(|call| guard.begin(&workspace, call).unwrap())
            .collect();
        let third = checks.pop().unwrap();
        write("one");
        let both = join_all(checks.into_iter().map(WriteCheck::observe));
        let last = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            write("two");
            third.observe().await
        };
        let (mut observed, last) = tokio::join!(both, last);
        observed.push(last);
        let first = observed[0].0.as_ref().unwrap().clone();
        for (call, observation) in calls.iter().zip(observed) {
            let look = observation.0.as_ref().unwrap();
            assert!(Arc::ptr_eq(&look.fingerprint, &first.fingerprint));
            assert_eq!(
                guard.end(&workspace, call, observation, false).violations,
                ["created `one`", "created `two`"]
            );
        }
        // Nothing else is running, so the call waits for no other.
        guard.shared.latest().as_mut().unwrap().took = Duration::from_secs(600);
        let alone = call("alone");
        let check = guard.begin(&workspace, &alone).unwrap();
        guard.shared.latest().as_mut().unwrap().took = Duration::from_secs(600);
        write("three");
        let seen = check.observe().await;
        let found = guard.end(&workspace, &alone, seen, false);
        assert_eq!(found.violations, ["created `three`"]);
    }
}
