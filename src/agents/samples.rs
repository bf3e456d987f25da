//! An agent and requests for this folder's tests.

use crate::domain::{Agent, AgentName, Role};
use crate::protocol::request::{Request, Task};

pub(super) const NONCE: &str = "0123456789abcdef0123456789abcdef";

/// A reviewer.
pub(super) fn agent(name: &str, adapter: &str, command: &[&str]) -> Agent {
    Agent {
        name: AgentName::from(name),
        role: Role::Reviewer,
        command: command.iter().map(ToString::to_string).collect(),
        adapter: adapter.to_owned(),
        domain: Vec::new(),
        focus: Vec::new(),
        model: None,
        env: Default::default(),
        timeout: None,
    }
}

/// An empty review of `/tree`.
pub(super) fn review(agent: &Agent) -> Request {
    request(agent, Task::Review { files: Vec::new(), focus: Vec::new(), rulings: Vec::new() })
}

/// Any task in `/tree`.
pub(super) fn request(agent: &Agent, task: Task) -> Request {
    Request {
        version: Request::VERSION,
        nonce: NONCE.to_owned(),
        agent: agent.name.clone(),
        root: "/tree".to_owned(),
        task,
        again: None,
    }
}
