//! How a watch stands, for people and scripts: plain data, made new after whatever changes it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::state::State;
use crate::domain::{Action, AgentName, EventType, PeerIssue, RunId, Trigger, Untrusted, WatchStatus};

/// The status of a watch, as `glee watch status --json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    pub run: String,
    pub status: WatchStatus,
    /// Whether work goes on though something was raised (rule 3).
    pub flagged: bool,
    pub last_action: Option<Action>,
    /// The last cycle that began; 0 before the first.
    pub cycle: u32,
    pub in_cycle: bool,
    pub pending: Vec<Trigger>,
    /// Seconds until TIMEOUT_FALLBACK; absent while it cannot come.
    pub fallback_in: Option<u64>,
    pub agents: Vec<AgentStanding>,
    pub events: u64,
    /// Lines that were no events since this program was started.
    pub malformed: u64,
    /// The issues that nobody closed.
    pub issues: Vec<Issue>,
    pub clarification: Option<ClarificationStanding>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentStanding {
    pub name: AgentName,
    pub state: AgentState,
    pub events: u64,
    pub last: Option<LastEvent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentState {
    /// The watch started it, and it works.
    Works,
    /// The watch started it, and has suspended it.
    Stands,
    /// The watch started it, and it has ended.
    Ended,
    /// It said that it has ended its work.
    Done,
    /// It was started elsewhere.
    Joined,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastEvent {
    pub at: Timestamp,
    #[serde(rename = "type")]
    pub kind: EventType,
    pub summary: Untrusted,
}

/// An issue on the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Issue {
    pub number: u32,
    /// The cycle it comes from.
    pub cycle: u32,
    pub reviewer: AgentName,
    #[serde(flatten)]
    pub issue: PeerIssue,
    /// Who closed it, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<(Untrusted, Untrusted)>,
}

impl Issue {
    /// The severity of a reviewer's absence.
    pub(crate) const ABSENT: &str = "absent";

    /// Whether it says only that a reviewer gave no usable verdict.
    pub(crate) fn is_absence(&self) -> bool {
        self.issue.severity == *Self::ABSENT
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClarificationStanding {
    pub cycle: u32,
    pub waiting: Vec<AgentName>,
    pub prompt: Untrusted,
}

/// The status of a watch by its record alone.
pub(crate) fn standing(run: &RunId, state: &State) -> Standing {
    let agents = state.agents.iter().map(|(name, seen)| AgentStanding {
        name: name.clone(),
        state: if seen.done { AgentState::Done } else { AgentState::Joined },
        events: seen.events,
        last: seen.last.clone(),
    });
    let waiting = state.clarification.as_ref().filter(|asked| !asked.reviewed);
    Standing {
        run: run.0.clone(),
        status: state.status,
        flagged: state.flagged,
        last_action: state.last_action,
        cycle: state.cycle,
        in_cycle: state.open.is_some(),
        agents: agents.collect(),
        events: state.events,
        issues: state.open_issues().cloned().collect(),
        clarification: waiting.map(|asked| ClarificationStanding {
            cycle: asked.cycle,
            waiting: asked.waiting().cloned().collect(),
            prompt: asked.prompt.clone(),
        }),
        ..Standing::default()
    }
}
