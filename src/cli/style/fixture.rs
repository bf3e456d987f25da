//! Findings, events and outcomes for tests.

use crate::domain::event::{
    CallAnswer, CallId, Event, EventKind, Mode, Plan, Purpose, ReviewEvent, RunEvent, Transcript,
};
use crate::domain::{
    Agent, AgentName, Answer, AnswerStatus, Caps, Coverage, Dispute, DisputeNumber, ExitReason, Finding, FindingId,
    FindingState, Outcome, Proof, RawFinding, Response, ReviewerReport, Role, Ruler, Ruling, RulingRecord,
    RulingWord, RunId, SettledFinding, Severity, Skip, SkipReason, Tag, Usage,
};

pub(crate) fn event(seq: u64, kind: EventKind) -> Event {
    let at = "2026-11-21T10:00:00Z".parse().expect("a timestamp");
    Event { run: run(), seq, at, kind }
}

fn run() -> RunId {
    RunId("0197-1a2b3c4d".to_owned())
}

/// `place` is `path:line`, `path` or empty.
pub(crate) fn finding(id: u32, tag: Tag, place: &str, title: &str) -> Finding {
    let (file, line) = match place.split_once(':') {
        Some((file, line)) => (file, Some(line.parse().expect("a line"))),
        None => (place, None),
    };
    let raw = RawFinding {
        severity: Severity::known(tag),
        title: title.into(),
        file: (!file.is_empty()).then(|| file.to_owned()),
        line,
        ..RawFinding::default()
    };
    let mandatory = matches!(tag, Tag::Critical | Tag::Must | Tag::High);
    Finding {
        id: FindingId(id),
        raw,
        mandatory,
        raised_by: vec!["rules".into()],
        round: 1,
        anchor: None,
        reverses: None,
        consensus: None,
    }
}

pub(crate) fn response(finding: u32, answer: Answer, text: &str) -> Response {
    Response { finding: FindingId(finding), answer, text: text.into(), evidence: Vec::new() }
}

pub(crate) fn settled(finding: Finding, state: FindingState, answer: Option<(Answer, &str)>) -> SettledFinding {
    let response = answer.map(|(answer, text)| response(finding.id.0, answer, text));
    SettledFinding { finding, state, response, lowered: None, insisted: false, earlier: Vec::new() }
}

pub(crate) fn dispute(number: u64, finding: Finding, objection: &str, evidence: &[&str]) -> Dispute {
    let mut objection = response(finding.id.0, Answer::Disagree, objection);
    objection.evidence = evidence.iter().map(|line| (*line).into()).collect();
    Dispute {
        number: DisputeNumber(number),
        finding,
        objection,
        route: None,
        rulings: Vec::new(),
        objector: crate::domain::Objector::Coder,
        discarded_by: None,
        disposition: None,
        earlier: Vec::new(),
        opened_by: None,
    }
}

pub(crate) fn ruling(ruling: RulingWord, rationale: &str) -> RulingRecord {
    let ruling = Ruling {
        ruling,
        rationale: rationale.into(),
        grounds: None,
        citations: Vec::new(),
        new_tag: None,
        duplicate_of: None,
        coder_evidence: None,
    };
    RulingRecord { ruling, by: Ruler::Judge { name: "referee".into() }, votes: Vec::new() }
}

pub(crate) fn reviewer(name: &str, status: AnswerStatus, findings: u32) -> ReviewerReport {
    ReviewerReport {
        name: name.into(),
        status,
        findings,
        millis: 240,
        failure: None,
        problems: Vec::new(),
        unread: Vec::new(),
    }
}

pub(crate) fn clean() -> Outcome {
    let covered = |file: &str, lines| Coverage { file: file.to_owned(), lines };
    Outcome {
        schema: Outcome::SCHEMA,
        run: run(),
        exit: ExitReason::Clean,
        proof: Proof {
            commit: Some("9f8e7d6c5b4a39281706f5e4d3c2b1a098765432".to_owned()),
            tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904".to_owned(),
            target: "src/".to_owned(),
            covered: vec![covered("src/a.rs", 1180), covered("src/b.py", 23)],
            skipped: Vec::new(),
            unread: Vec::new(),
            reused: Vec::new(),
            reviewers: vec![reviewer("rules", AnswerStatus::Clean, 0)],
            millis: 340,
            usage: Usage::default(),
            calls: 1,
            caps: Caps::default(),
        },
        findings: Vec::new(),
        disputes: Vec::new(),
        no_longer_raised: Vec::new(),
        changes: Vec::new(),
        undoable: false,
        failures: Vec::new(),
        rounds: 1,
        notices: Vec::new(),
    }
}

pub(crate) fn agent(name: &str, role: Role) -> Agent {
    Agent {
        name: name.into(),
        role,
        command: vec!["builtin:rules".to_owned()],
        adapter: "builtin".to_owned(),
        domain: Vec::new(),
        focus: Vec::new(),
        model: None,
        effort: None,
        env: std::collections::BTreeMap::new(),
        timeout: None,
        backup: None,
        price: None,
    }
}

pub(crate) fn started() -> EventKind {
    let covered = |file: &str, lines| Coverage { file: file.to_owned(), lines };
    let roles =
        [("rules", Role::Reviewer), ("gemini", Role::Reviewer), ("fixer", Role::Coder), ("referee", Role::Judge)];
    let plan = Plan {
        root: "/shop".to_owned(),
        target: "src/".to_owned(),
        commit: None,
        tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904".to_owned(),
        mode: Mode::Arbitrate,
        agents: roles.map(|(name, role)| agent(name, role)).to_vec(),
        backups: Vec::new(),
        shards: vec![vec![covered("a.py", 1180)], vec![covered("b.js", 20), covered("c.rs", 3)]],
        skipped: vec![Skip { file: "logo.png".to_owned(), reason: SkipReason::Binary }],
        settings: std::collections::BTreeMap::new(),
        steered_by: None,
        own: Vec::new(),
        staged: None,
        on_dispute: None,
        rulings_at: None,
        target_args: None,
    };
    EventKind::Review(ReviewEvent::RunStarted { plan: Box::new(plan) })
}

pub(crate) fn call(agent: &str, purpose: Purpose) -> CallId {
    CallId { agent: AgentName(agent.to_owned()), purpose, attempt: 1 }
}

pub(crate) fn finished(call: CallId, answer: CallAnswer) -> EventKind {
    let transcript = Transcript {
        stdout_bytes: 1,
        stdout_hash: String::new(),
        stderr_bytes: 0,
        exit_code: Some(0),
        signal: None,
        held: false,
    };
    EventKind::Run(RunEvent::CallFinished {
        call,
        answer,
        transcript: Some(transcript),
        millis: 1250,
        usage: Box::default(),
        told: Box::default(),
    })
}
