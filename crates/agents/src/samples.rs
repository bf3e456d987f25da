//! Contains sample agents and sample requests for the tests of the module `agents`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::{Call, Program, Stop, TranscriptFiles};
use glee_model::domain::{Agent, AgentName, Dispute, DisputeNumber, Role};
use glee_protocol::calls::arbitrate::ArbitrateCall;
use glee_protocol::calls::judge::JudgeCall;
use glee_protocol::calls::review::ReviewCall;
use glee_protocol::request::{Request, StageSubject, Task};
use glee_store::config::choices::Sandbox;
use glee_store::config::settings::Limits;

pub const NONCE: &str = "0123456789abcdef0123456789abcdef";

pub const LIMITS: Limits = Limits {
    call_timeout: Duration::from_secs(60),
    first_output_timeout: Duration::from_secs(60),
    idle_timeout: Duration::from_secs(60),
    max_output_size: 1 << 20,
    max_line_size: 1 << 16,
    kill_grace: Duration::from_secs(1),
    retries: 0,
    backoff: Duration::from_millis(1),
};

pub fn agent(name: &str, adapter: &str, command: &[&str]) -> Agent {
    Agent {
        name: AgentName::from(name),
        role: Role::Reviewer,
        command: command.iter().map(ToString::to_string).collect(),
        adapter: adapter.to_owned(),
        domain: Vec::new(),
        focus: Vec::new(),
        model: None,
        effort: None,
        env: Default::default(),
        timeout: None,
        backup: None,
        price: None,
        vendor: None,
        profile: None,
        reads: None,
    }
}

pub fn call(agent: &Agent, program: &Program, request: &Request) -> Call {
    Call {
        agent: agent.clone(),
        backups: Vec::new(),
        program: program.clone(),
        request: Arc::new(request.clone()),
        prompt: "the prompt".into(),
        session: None,
        limits: LIMITS,
        sandbox: Sandbox::Auto,
        protected: Arc::default(),
        files: TranscriptFiles::new(Path::new("/kept"), "call.1"),
        activity: Arc::new(|_| {}),
        suspended: None,
        stop: Stop::never(),
    }
}

pub fn review(agent: &Agent) -> Request {
    request(
        agent,
        Task::Review(ReviewCall {
            files: Vec::new(),
            focus: Vec::new(),
            rulings: Vec::new(),
            ..ReviewCall::default()
        }),
    )
}

pub fn request(agent: &Agent, task: Task) -> Request {
    Request {
        version: Request::VERSION,
        nonce: NONCE.to_owned(),
        agent: agent.name.clone(),
        root: "/tree".to_owned(),
        task,
        again: None,
    }
}

pub fn arbitrate() -> Task {
    let about = StageSubject {
        id: "S1".to_owned(),
        stage: "plan".to_owned(),
        instructions: String::new(),
        prompt: "Plan it.".to_owned(),
        required_fields: Vec::new(),
    };
    let positions = Vec::new();
    let conflicts = Vec::new();
    Task::Arbitrate(ArbitrateCall {
        about,
        positions,
        aggregator: "g".into(),
        summary: "".into(),
        conflicts,
    })
}

pub fn dispute() -> Task {
    let finding = serde_json::json!({
        "id": "F1", "tag": "MUST", "tag_raw": "MUST", "title": "Bind the value", "file": "db.py", "line": 3,
        "end_line": null, "mandatory": true, "raised_by": ["rev"], "round": 1,
    });
    let objection =
        serde_json::json!({"finding": "F1", "answer": "DISAGREE", "text": "It is bound."});
    let dispute = Dispute {
        left: Vec::new(),
        members: Vec::new(),
        number: DisputeNumber(1),
        finding: serde_json::from_value(finding).expect("a finding"),
        objection: serde_json::from_value(objection).expect("an objection"),
        route: None,
        rulings: Vec::new(),
        objector: glee_model::domain::Objector::Coder,
        discarded_by: None,
        answered: Vec::new(),
        opened_by: None,
        participant: None,
        disposition: None,
        earlier: Vec::new(),
    };
    Task::Judge(JudgeCall::of(dispute, Vec::new()))
}
