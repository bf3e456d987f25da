//! Runs the cycles of a watch: records the tree, asks the reviewers, and acts on the reviewers' verdicts.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tracing::warn;

use crate::run::attempts;
use crate::run::error::RunError;
use crate::run::workflow::{Pending, Workflow as _};
use crate::watch::setup::TreeChanges;
use crate::watch::state::Cycle;
use crate::watch::workers::worker::WorkerMessage;
use crate::watch::workflow::{WatchInput, WatchWorkflow};
use crate::watch::{compare, cycle};
use glee_agents::{Call, CommandInput};
use glee_model::domain::event::{CallId, EventKind, Purpose, WatchEvent};
use glee_model::domain::{Action, Agent, Ballot, RaisedIn, Trigger, Untrusted, WatchStatus};
use glee_model::rules::watch::verdicts;
use glee_protocol::calls::peer::PeerCall;
use glee_protocol::request::Task;
use glee_store::config::settings::Limits;
use glee_workspace::TreeId;
use glee_workspace::root::Workspace;

const NOTIFY: Duration = Duration::from_secs(60);

impl WatchWorkflow {
    /// Whether all agents have answered the clarification, or the time for their answers is over.
    pub(super) fn is_clarified(&self) -> bool {
        let Some(asked) = self.state.unreviewed_clarification() else {
            return false;
        };
        self.state.status == WatchStatus::Paused
            && self
                .clarify_until
                .is_some_and(|until| asked.is_answered() || until <= Instant::now())
    }

    /// Starts a review cycle if at least one agent answered the clarification.
    pub(super) fn clarified(&mut self) -> Result<(), RunError> {
        self.clarify_until = None;
        if self
            .state
            .clarification
            .as_ref()
            .is_some_and(|asked| !asked.answers.is_empty())
        {
            self.triggers.pull(Trigger::Clarified, self.now());
            return Ok(());
        }
        self.tell_all(&WorkerMessage::Pause {
            reason: &Untrusted::default(),
        });
        self.notice("no agent answered the clarification: resume the work with `glee watch resume --reason WHY`")
    }

    pub(super) fn wait_for_clarification(&mut self) {
        let waits = self.state.unreviewed_clarification().is_some();
        self.clarify_until =
            waits.then(|| Instant::now() + self.resources.settings.watch.clarify_timeout);
    }

    pub(super) fn prepare(&self, cycle: u32) -> Pending<WatchInput> {
        let changes =
            self.tree_changes(self.state.open.as_ref().and_then(|open| open.tree.clone()));
        Box::pin(async move { WatchInput::Prepared(cycle, changes.await) })
    }

    /// Computes the changes since the last cycle. Records the current tree if `tree` is `None`.
    pub(super) fn tree_changes(
        &self,
        tree: Option<String>,
    ) -> impl Future<Output = TreeChanges> + use<> {
        let before = match &tree {
            // A resumed cycle compares the same two trees as before the interruption.
            Some(_) => self
                .state
                .open
                .as_ref()
                .and_then(|open| open.before.clone()),
            None => self.state.tree.clone(),
        };
        let workspace = Arc::clone(&self.resources.workspace);
        let state_dir = self.resources.state_dir.clone();
        let read =
            tokio::task::spawn_blocking(move || tree_changes(&workspace, &state_dir, before, tree));
        async move {
            read.await.unwrap_or_else(|error| TreeChanges {
                tree: None,
                changes: Err(error.to_string()),
            })
        }
    }

    pub(super) fn request_reviews(
        &mut self,
        TreeChanges { tree, changes }: TreeChanges,
    ) -> Result<(), RunError> {
        if let Err(problem) = &changes {
            self.notice(format!(
                "the changes since the last review cannot be shown: {problem}"
            ))?;
        }
        self.changes = changes.unwrap_or_default();
        let Some(open) = self
            .state
            .open
            .as_ref()
            .filter(|open| open.requests.is_empty())
        else {
            return Ok(());
        };
        let plan = self.state.plan.as_ref().expect("a watch has a plan");
        self.append(WatchEvent::ReviewRequested {
            cycle: open.number,
            requests: cycle::requests(&self.state, plan),
            tree,
        })
    }

    pub(super) fn review(&self, id: &CallId) -> Option<Result<Call, RunError>> {
        let plan = self.state.plan.as_ref()?;
        let open = self.state.open.as_ref()?;
        let agent = plan.reviewers.iter().find(|agent| agent.name == id.agent)?;
        let request = open
            .requests
            .iter()
            .find(|request| request.reviewer == id.agent)
            .cloned()?;
        let task = Task::Peer(PeerCall {
            request,
            changes: self.changes.clone(),
            closed: cycle::rejected(&self.state),
        });
        Some(self.call(id, agent, task, attempts::why_again(&open.answers, id)))
    }

    pub(super) fn call(
        &self,
        id: &CallId,
        agent: &Agent,
        task: Task,
        again: Option<String>,
    ) -> Result<Call, RunError> {
        let plan = self.state.plan.iter();
        let backups: Vec<Agent> = plan.flat_map(|plan| plan.backups.clone()).collect();
        Ok(Call {
            suspended: self.suspended.get(&agent.name).cloned(),
            ..self.resources.call(id, agent, &backups, task, again)?
        })
    }

    /// The call in which the aggregator compares issues, if it is due.
    pub(super) fn comparison(&self, open: &Cycle) -> Option<CallId> {
        let aggregator = self.state.plan.as_ref()?.aggregator.as_ref()?;
        let purpose = Purpose::Same {
            round: open.number,
            raised_in: RaisedIn::Review,
        };
        let mut pairs = open.pairs.iter();
        pairs.find(|pair| pair.asked.is_some())?;
        attempts::next_valid(&open.answers, &aggregator.name, purpose)
    }

    pub(super) fn compare(&self, id: &CallId) -> Option<Result<Call, RunError>> {
        let aggregator = self.state.plan.as_ref()?.aggregator.as_ref()?;
        let open = self.state.open.as_ref()?;
        let task = compare::task(&self.state, open);
        Some(self.call(id, aggregator, task, attempts::why_again(&open.answers, id)))
    }

    /// Ends a cycle for which all answers have arrived, and acts on the verdicts.
    pub(super) fn decide(&mut self) -> Result<(), RunError> {
        let Some(open) = self.state.open.clone() else {
            return Ok(());
        };
        let ballots: Vec<Ballot> = cycle::due(&open)
            .into_iter()
            .filter_map(Result::ok)
            .collect();
        let verdicts: Vec<_> = ballots.iter().map(|ballot| ballot.verdict).collect();
        let action = verdicts::decide(&verdicts);
        if open.pairs.is_empty() {
            // A blocker stops the work at once, so nobody is asked first.
            let has_aggregator = self
                .state
                .plan
                .as_ref()
                .is_some_and(|plan| plan.aggregator.is_some());
            let asks = has_aggregator && action != Action::StopAndEscalate;
            let pairs = compare::unsure(&self.state, &open, asks);
            if !pairs.is_empty() {
                let cycle = open.number;
                return self.append(WatchEvent::IssuesUnsure { cycle, pairs });
            }
        }
        let was_paused = self.state.status == WatchStatus::Paused;
        let is_paused = self.state.held || action.pauses();
        let status = if is_paused {
            WatchStatus::Paused
        } else {
            WatchStatus::Running
        };
        let settled = cycle::settled(&self.state, &open, &ballots);
        let notification = cycle::notification(&self.resources.run, &open, action, &ballots);
        self.append(WatchEvent::CycleDecided {
            cycle: open.number,
            action,
            status,
            ballots,
        })?;
        let reason = Untrusted::from(format!("approved in cycle {}", open.number));
        let closed = settled.into_iter().map(|(issue, by)| {
            EventKind::from(WatchEvent::IssueClosed {
                issue,
                by: by.0.into(),
                reason: reason.clone(),
            })
        });
        self.append_all(closed)?;
        self.triggers.decided(action, is_paused, self.now());
        self.changes = Untrusted::default();
        let reason = Untrusted::from(action.as_str());
        match action {
            Action::StopAndEscalate => {
                self.tell_all(&WorkerMessage::Pause { reason: &reason });
                self.notify(&notification)?;
            }
            Action::NotReviewed => self.tell_all(&WorkerMessage::Pause { reason: &reason }),
            Action::PauseAndClarify => {
                self.tell_all(&WorkerMessage::Pause { reason: &reason });
                self.clarify(&open)?;
            }
            Action::LogAndContinue | Action::Continue if was_paused && !is_paused => {
                self.tell_all(&WorkerMessage::Resume)
            }
            Action::LogAndContinue | Action::Continue => {}
        }
        Ok(())
    }

    /// Asks the workers about the issues of a cycle. If the workers have already answered a clarification, the
    /// judge or a person decides about the issues.
    fn clarify(&mut self, open: &Cycle) -> Result<(), RunError> {
        if open.triggers.contains(&Trigger::Clarified) {
            if self
                .state
                .plan
                .as_ref()
                .is_some_and(|plan| plan.judge.is_some())
            {
                return self.arbitrate(open);
            }
            return self.notice(
                "issues remain after the clarification: list them with `glee watch issues`, resume the work with \
                 `glee watch resume --reason WHY`",
            );
        }
        let Some((agents, prompt)) = cycle::clarification(open) else {
            return self.notice(
                "there is no agent to ask: resume the work with `glee watch resume --reason WHY`",
            );
        };
        self.append(WatchEvent::ClarificationAsked {
            cycle: open.number,
            agents: agents.clone(),
            prompt,
        })?;
        let prompt = self
            .state
            .clarification
            .as_ref()
            .map(|asked| asked.prompt.clone())
            .unwrap_or_default();
        for started in agents.iter().filter_map(|name| self.started.get(name)) {
            started.tell(&WorkerMessage::Clarify {
                cycle: open.number,
                prompt: &prompt,
            });
        }
        self.wait_for_clarification();
        Ok(())
    }

    fn notify(&self, input: &CommandInput) -> Result<(), RunError> {
        for (number, command) in self
            .resources
            .settings
            .watch
            .notify
            .iter()
            .cloned()
            .enumerate()
        {
            let files = self
                .resources
                .files(&format!("notify-{}-{number}", self.state.cycle))?;
            let limits = Limits {
                call_timeout: NOTIFY,
                ..self.resources.settings.limits
            };
            let agents = self.resources.agents.clone();
            let root = self.resources.workspace.root().to_owned();
            let input = input.clone();
            let stop = self.resources.stop.clone();
            let redaction = self.resources.redaction();
            self.notifying.push(Box::pin(async move {
                let checked = agents
                    .run_command(&command, &root, &limits, &files, stop, input)
                    .await;
                if let Err(error) = redaction.transcripts(&files) {
                    warn!("failed to redact secrets in the output of a notification: {error}");
                }
                let why = checked.tail.lines().next().unwrap_or_default().to_owned();
                (!checked.passed)
                    .then(|| format!("`{}` (watch.notify) failed: {why}", command.join(" ")))
            }));
        }
        Ok(())
    }

    pub(super) fn judgements(&self) -> Vec<CallId> {
        let Some(judge) = self
            .state
            .plan
            .as_ref()
            .and_then(|plan| plan.judge.as_ref())
        else {
            return Vec::new();
        };
        let open = self
            .state
            .disputes
            .iter()
            .filter(|(_, disputed)| disputed.dispute.rulings.is_empty());
        open.filter_map(|(number, disputed)| {
            attempts::next_valid(
                &disputed.answers,
                &judge.name,
                Purpose::Judge { dispute: *number },
            )
        })
        .collect()
    }
}

fn tree_changes(
    workspace: &Workspace,
    state_dir: &Path,
    before: Option<String>,
    tree: Option<String>,
) -> TreeChanges {
    let now = tree.map_or_else(|| workspace.snapshot(state_dir), |tree| Ok(TreeId(tree)));
    let changes = now.as_ref().map_err(ToString::to_string).and_then(|now| {
        let changes = before.map_or(Ok(Vec::new()), |before| {
            workspace.changes(&TreeId(before), now, state_dir)
        });
        changes
            .map(|changes| cycle::shown(&changes))
            .map_err(|error| error.to_string())
    });
    TreeChanges {
        tree: now.ok().map(|now| now.0),
        changes,
    }
}
