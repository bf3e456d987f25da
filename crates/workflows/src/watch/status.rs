//! The status of a watch for `glee watch status`.

use serde::{Deserialize, Serialize};

use super::state::WatchState;
use crate::watch::issues::{Issue, LastEvent};
use glee_model::domain::{Action, AgentName, RunId, Trigger, Untrusted, WatchStatus};

/// The status of a watch, in the format of `glee watch status --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WatchReport {
    pub run: String,
    pub status: WatchStatus,
    /// Whether the work continues although there are open issues (rule 3 of `rules::watch::verdicts`).
    pub flagged: bool,
    pub last_action: Option<Action>,
    pub cycle: u32,
    pub in_cycle: bool,
    pub pending: Vec<Trigger>,
    /// The number of seconds until the trigger TIMEOUT_FALLBACK starts a cycle. `None` while the work is paused
    /// or a cycle is active.
    pub fallback_in: Option<u64>,
    pub agents: Vec<AgentReport>,
    pub events: u64,
    /// The number of invalid lines that the watch has received since this process started.
    pub malformed: u64,
    pub issues: Vec<Issue>,
    pub clarification: Option<ClarificationReport>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentReport {
    pub name: AgentName,
    pub state: AgentState,
    pub events: u64,
    pub last: Option<LastEvent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentState {
    /// The watch started the agent, and the agent is running.
    Works,
    /// The watch started the agent, and the agent is suspended.
    Stands,
    /// The watch started the agent, and the agent has ended.
    Ended,
    /// The agent reported that its work is done.
    Done,
    /// Another process started the agent.
    Joined,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClarificationReport {
    pub cycle: u32,
    pub waiting: Vec<AgentName>,
    pub prompt: Untrusted,
}

pub fn standing(run: &RunId, state: &WatchState) -> WatchReport {
    let agents = state.agents.iter().map(|(name, seen)| AgentReport {
        name: name.clone(),
        state: if seen.done {
            AgentState::Done
        } else {
            AgentState::Joined
        },
        events: seen.events,
        last: seen.last.clone(),
    });
    let waiting = state.unreviewed_clarification();
    WatchReport {
        run: run.0.clone(),
        status: state.status,
        flagged: state.flagged,
        last_action: state.last_action,
        cycle: state.cycle,
        in_cycle: state.open.is_some(),
        agents: agents.collect(),
        events: state.events,
        issues: state.open_issues().cloned().collect(),
        clarification: waiting.map(|asked| ClarificationReport {
            cycle: asked.cycle,
            waiting: asked.waiting().cloned().collect(),
            prompt: asked.prompt.clone(),
        }),
        ..WatchReport::default()
    }
}
