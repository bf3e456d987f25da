//! Detects forbidden changes that agents make in the work tree or in its repository.
//!
//! The guard compares the tree before and after each call of a read-only agent. If a file has changed, every agent
//! that was running without a sandbox is suspected of the change. A sandboxed agent cannot have changed the file,
//! but the agent's findings on the file are possibly outdated. A sandbox does not prevent changes of file
//! permissions. If a permission has changed, sandboxed agents are also suspected. The answer of an agent that is
//! suspected of a change is discarded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use glee_model::domain::event::{CallAnswer, CallId};
use glee_workspace::guard::control_files::{ControlKind, control_kind};
use glee_workspace::root::Workspace;
use glee_workspace::{
    ChangeKind, ChangedSubject, ObservedChange, TreeFingerprint, Unfollowed, WorkspaceError,
};

/// While other guarded calls are running, a new call reuses an observation of the tree if the observation is
/// younger than this duration.
const SHARED: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
pub struct WriteGuard {
    last: Option<(Arc<TreeFingerprint>, Instant)>,
    is_first: bool,
    calls: BTreeMap<CallId, Vec<ObservedChange>>,
}

#[derive(Clone, Debug)]
pub struct WriteCheck {
    workspace: Arc<Workspace>,
    earlier: Option<Arc<TreeFingerprint>>,
}

#[derive(Debug)]
pub struct Observation {
    fingerprint: Result<TreeFingerprint, WorkspaceError>,
    at: Instant,
}

impl WriteCheck {
    pub(crate) fn observe(&self) -> Observation {
        let at = Instant::now();
        Observation {
            fingerprint: self.workspace.fingerprint(self.earlier.as_deref()),
            at,
        }
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
        let at = Instant::now();
        match workspace.fingerprint(None) {
            Ok(look) => Self {
                last: Some((Arc::new(look), at)),
                is_first: true,
                calls: BTreeMap::new(),
            },
            Err(_) => Self::default(),
        }
    }

    pub(crate) fn unfollowed(&self) -> &[Unfollowed] {
        self.last
            .as_ref()
            .map_or(&[], |(look, _)| look.unfollowed.as_slice())
    }

    /// Registers a call. Returns the check that has to run when the call ends.
    pub(crate) fn begin(
        &mut self,
        workspace: &Arc<Workspace>,
        call: &CallId,
    ) -> Result<WriteCheck, WorkspaceError> {
        let is_fresh = self
            .last
            .as_ref()
            .is_some_and(|(_, at)| at.elapsed() < SHARED);
        let is_shared = !self.calls.is_empty() || self.is_first;
        if !is_shared || !is_fresh {
            let observation = self.check(workspace).observe();
            self.take(workspace, observation)?;
        }
        self.is_first = false;
        self.calls.insert(call.clone(), Vec::new());
        Ok(self.check(workspace))
    }

    fn check(&self, workspace: &Arc<Workspace>) -> WriteCheck {
        let earlier = self.last.as_ref().map(|(look, _)| Arc::clone(look));
        WriteCheck {
            workspace: Arc::clone(workspace),
            earlier,
        }
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
        Observation { fingerprint, at }: Observation,
    ) -> Result<(), WorkspaceError> {
        let look = fingerprint?;
        if let Some((earlier, seen_at)) = &self.last {
            // Observations can be processed out of order. If a later observation was processed first, it already
            // includes these changes.
            if at < *seen_at {
                return Ok(());
            }
            if !self.calls.is_empty() {
                let differences = workspace.differences(earlier, &look)?;
                for seen in self.calls.values_mut() {
                    seen.extend(differences.iter().cloned());
                }
            }
        }
        self.last = Some((Arc::new(look), at));
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
    use glee_model::domain::event::Purpose;

    fn call(agent: &str) -> CallId {
        CallId {
            purpose: Purpose::Review { round: 1, shard: 0 },
            agent: agent.into(),
            attempt: 1,
        }
    }

    #[test]
    fn observations_that_arrive_in_another_order_are_counted_once() {
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
        let of_first = checks.next().unwrap().observe();
        write("two");
        let of_second = checks.next().unwrap().observe();
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
            violations(guard.end(&workspace, &third, check.observe(), false)),
            [""; 0]
        );
    }
}
