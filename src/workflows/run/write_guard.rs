//! Watches what agents do to the tree and its repository beside what they are asked for.
//!
//! The tree is looked at before an agent that may only read is asked, and again when it has answered. What differs is
//! laid at the door of everybody who worked meanwhile, except where the sandbox is an alibi: whom it held cannot have
//! written, so somebody else has, most likely the person at the keyboard, and findings on that file may be stale.
//! Permissions are not held by the sandbox, so there nobody has an alibi. An answer of an agent without an alibi
//! counts for nothing: nobody could show that it was not the agent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::domain::event::{CallAnswer, CallId};
use crate::workspace::guard::control_files::{Steers, steers};
use crate::workspace::root::Workspace;
use crate::workspace::{ChangeKind, ChangedSubject, ObservedChange, TreeFingerprint, Unfollowed, WorkspaceError};

/// Agents that begin within this time of each other share one look.
const SHARED: Duration = Duration::from_millis(500);

/// What is known of the tree while agents work.
#[derive(Debug, Default)]
pub(crate) struct WriteGuard {
    last: Option<(Arc<TreeFingerprint>, Instant)>,
    /// Whether no call has begun since the first look.
    is_first: bool,
    /// What changed while each of the calls at work was at it.
    calls: BTreeMap<CallId, Vec<ObservedChange>>,
}

/// Takes the look that is due when a call has ended, in whatever thread has time for it.
#[derive(Clone, Debug)]
pub(crate) struct WriteCheck {
    workspace: Arc<Workspace>,
    /// What stands as it did then need not be read again.
    earlier: Option<Arc<TreeFingerprint>>,
}

#[derive(Debug)]
pub(crate) struct Observation {
    look: Result<TreeFingerprint, WorkspaceError>,
    at: Instant,
}

impl WriteCheck {
    pub(crate) fn look(&self) -> Observation {
        let at = Instant::now();
        Observation { look: self.workspace.look(self.earlier.as_deref()), at }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// What the agent may have done though it may only read.
    pub(crate) violations: Vec<String>,
    /// Files that somebody else changed meanwhile.
    pub(crate) stale: Vec<String>,
}

impl WriteGuard {
    /// Takes the first look; what fails is tried again when it is needed.
    pub(crate) fn begun(workspace: &Workspace) -> Self {
        let at = Instant::now();
        match workspace.look(None) {
            Ok(look) => Self { last: Some((Arc::new(look), at)), is_first: true, calls: BTreeMap::new() },
            Err(_) => Self::default(),
        }
    }

    /// The repositories inside the tree that the last look left out.
    pub(crate) fn unfollowed(&self) -> &[Unfollowed] {
        self.last.as_ref().map_or(&[], |(look, _)| look.unfollowed())
    }

    /// A call begins. Returns who looks when it has ended.
    pub(crate) fn begin(
        &mut self,
        workspace: &Arc<Workspace>,
        call: &CallId,
    ) -> Result<WriteCheck, WorkspaceError> {
        let is_fresh = self.last.as_ref().is_some_and(|(_, at)| at.elapsed() < SHARED);
        let is_shared = !self.calls.is_empty() || self.is_first;
        if !is_shared || !is_fresh {
            let sight = self.lookout(workspace).look();
            self.take(workspace, sight)?;
        }
        self.is_first = false;
        self.calls.insert(call.clone(), Vec::new());
        Ok(self.lookout(workspace))
    }

    fn lookout(&self, workspace: &Arc<Workspace>) -> WriteCheck {
        let earlier = self.last.as_ref().map(|(look, _)| Arc::clone(look));
        WriteCheck { workspace: Arc::clone(workspace), earlier }
    }

    /// A call that may only read has ended, and what was seen since; `held` says whether the sandbox held its agent all
    /// the time.
    pub(crate) fn end(&mut self, workspace: &Workspace, call: &CallId, sight: Observation, held: bool) -> Found {
        let looked = self.take(workspace, sight);
        let seen = self.calls.remove(call).unwrap_or_default();
        let mut found = Found::default();
        if let Err(error) = looked {
            // It was readable when the agent began.
            found.violations.push(format!("left a tree that cannot be looked at: {error}"));
        }
        for difference in seen {
            match difference.subject {
                ChangedSubject::Content if held => found.stale.push(difference.name),
                ChangedSubject::Repository if held => {}
                ChangedSubject::Content | ChangedSubject::Repository | ChangedSubject::Permissions => {
                    found.violations.push(difference.to_string());
                }
            }
        }
        found
    }

    /// A call of the coder has ended, and what was seen since: what it did beyond editing code, one line each.
    pub(crate) fn end_of_coder(
        &mut self,
        workspace: &Workspace,
        call: &CallId,
        sight: Observation,
    ) -> Result<Vec<String>, WorkspaceError> {
        self.take(workspace, sight)?;
        let seen = self.calls.remove(call).unwrap_or_default();
        Ok(seen.iter().filter_map(beyond).collect::<BTreeSet<_>>().into_iter().collect())
    }

    fn take(&mut self, workspace: &Workspace, Observation { look, at }: Observation) -> Result<(), WorkspaceError> {
        let look = look?;
        if let Some((earlier, seen_at)) = &self.last {
            // Another call ended a little later and was heard of first: its look has shown all of this.
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

/// What an answer counts as whose agent may have written though it may only read.
pub(crate) fn discarded(call: &CallId, violations: &[String]) -> CallAnswer {
    let shown = match violations {
        [first, second, third, _, ..] => format!("{first}, {second}, {third} and more"),
        few => few.join(", "),
    };
    let error =
        format!("`{}` may only read, yet while it worked somebody {shown}: its answer is discarded", call.agent);
    let hint = "see what it did with `git status`; if it was you, `glee runs resume` asks it again".to_owned();
    CallAnswer::Failed { error, hint: Some(hint), cause: None }
}

/// What a difference says of a coder besides that it edited code.
fn beyond(difference: &ObservedChange) -> Option<String> {
    let name = &difference.name;
    match difference.subject {
        ChangedSubject::Repository => Some(match (name.as_str(), difference.fate) {
            ("HEAD", _) => "switched HEAD to another branch or commit".to_owned(),
            ("the index", _) => "changed the index".to_owned(),
            (name, ChangeKind::Changed) if name.starts_with("refs/") => format!("moved `{name}`"),
            _ => difference.to_string(),
        }),
        ChangedSubject::Content | ChangedSubject::Permissions => {
            let steered = match steers(name)? {
                Steers::Tools => "which steers the tools that open this tree",
                Steers::Ci => "which the continuous integration runs",
                Steers::Glee => "which steers Glee; this run goes by what it was at its beginning",
                Steers::Git => "which steers git; this run selects files by what it was at its beginning",
            };
            Some(format!("{difference}, {steered}"))
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::domain::event::Purpose;

    fn call(agent: &str) -> CallId {
        CallId { purpose: Purpose::Review { round: 1, shard: 0 }, agent: agent.into(), attempt: 1 }
    }

    #[test]
    fn looks_that_arrive_in_another_order_tell_the_same_once() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(folder.path().join(name), name).unwrap();
        let workspace = Arc::new(Workspace::discover(folder.path()).unwrap());
        let (first, second) = (call("first"), call("second"));
        let mut watch = WriteGuard::default();
        let mut lookouts = [&first, &second].map(|call| watch.begin(&workspace, call).unwrap()).into_iter();
        write("one");
        let of_first = lookouts.next().unwrap().look();
        write("two");
        let of_second = lookouts.next().unwrap().look();
        let violations = |found: Found| found.violations;
        // The second is heard of first, and who was at work until then may have done it.
        assert_eq!(
            violations(watch.end(&workspace, &second, of_second, false)),
            ["created `one`", "created `two`"]
        );
        assert_eq!(violations(watch.end(&workspace, &first, of_first, false)), ["created `one`", "created `two`"]);
        let third = call("third");
        let lookout = watch.begin(&workspace, &third).unwrap();
        assert_eq!(violations(watch.end(&workspace, &third, lookout.look(), false)), [""; 0]);
    }
}
