//! The parts of a test run: a tree, a history, scripted agents, and a person with fixed answers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::recorded::view;
use super::*;
use crate::run::ports::{
    Choice, DisputeResolver, EventSink, PersonAnswer, PersonDecision, PersonQuestion,
};
use glee_agents::process::scripted::{Script, ScriptedRunner};
use glee_agents::{Agents, Stop, samples};
use glee_model::domain::event::{Event, Mode};
use glee_model::domain::{Agent, FindingState, Role, Route, RulingWord};
use glee_protocol::calls::judge::JudgeCall;
use glee_protocol::request::{Request, Task};
use glee_store::config::settings::{Budget, Limits, ReviewSettings, Settings};
use glee_store::history::store::Journal;
use glee_workspace::root::Workspace;
use glee_workspace::{SelectOptions, TargetSpec};

pub const CODE: &str = "def key(data):\n    return md5(data)\n\n\ndef load(path):\n    return eval(open(path).read())\n";

/// The events that a run sent, and the questions that a run asked.
#[derive(Default)]
pub struct Heard {
    pub events: Vec<String>,
    pub questions: Vec<(u64, Option<String>, Route, usize)>,
}

pub struct EventNames(pub Arc<Mutex<Heard>>);

impl EventSink for EventNames {
    fn event(&mut self, event: &Event) {
        let value = serde_json::to_value(&event.kind).unwrap();
        let mut line = value["event"].as_str().unwrap().to_owned();
        if let EventKind::Run(RunEvent::CallStarted { call, .. }) = &event.kind {
            line = format!("ask {}", call.file_stem());
        }
        if !matches!(event.kind, EventKind::Run(RunEvent::CallFinished { .. })) {
            self.0.lock().unwrap().events.push(line);
        }
    }
}

/// Gives the same answer to every question.
pub struct FixedAnswers {
    pub heard: Arc<Mutex<Heard>>,
    pub choice: Option<Choice>,
    pub ruling: Option<RulingWord>,
}

impl DisputeResolver for FixedAnswers {
    fn choose(&mut self, question: &PersonQuestion) -> Option<Choice> {
        let asked = (
            question.dispute.number.0,
            question.judge.clone(),
            question.default,
            question.waiting,
        );
        self.heard.lock().unwrap().questions.push(asked);
        assert!(question.excerpt.as_ref().unwrap().text.contains("def "));
        self.choice.or(Some(Choice {
            route: question.default,
            by_person: false,
            for_all: false,
        }))
    }

    fn rule(&mut self, _question: &PersonQuestion) -> PersonAnswer<PersonDecision> {
        self.ruling.map_or(PersonAnswer::LeftOpen, |ruling| {
            PersonAnswer::Given((PersonDecision::Rule(ruling), "because".into()))
        })
    }
}

pub struct Bench {
    pub folder: tempfile::TempDir,
    pub settings: Settings,
    pub choice: Option<Choice>,
    pub ruling: Option<RulingWord>,
}

pub fn agent(name: &str, role: Role) -> Agent {
    Agent {
        role,
        ..samples::agent(name, "text", &[name])
    }
}

pub fn settings() -> Settings {
    Settings {
        agents: vec![
            agent("r", Role::Reviewer),
            agent("c", Role::Coder),
            agent("j", Role::Judge),
        ],
        review: ReviewSettings {
            max_shard_size: 1 << 20,
            ..ReviewSettings::default()
        },
        budget: Budget {
            duration: Duration::from_secs(60),
            ..Budget::default()
        },
        limits: Limits {
            call_timeout: Duration::from_secs(30),
            first_output_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(30),
            max_output_size: 1 << 20,
            max_line_size: 1 << 20,
            kill_grace: Duration::from_millis(100),
            retries: 0,
            backoff: Duration::from_millis(1),
        },
        ..Settings::default()
    }
}

/// The result of a run: its outcome, its events and questions, and the runner with the calls.
pub struct Left {
    pub ended: EndedReview,
    pub heard: Heard,
    pub runner: Arc<ScriptedRunner>,
}

impl Left {
    pub fn states(&self) -> Vec<(String, FindingState)> {
        let findings = &self.ended.outcome.findings;
        findings
            .iter()
            .map(|finding| (finding.finding.id.to_string(), finding.state.clone()))
            .collect()
    }

    pub fn asked(&self) -> Vec<String> {
        self.runner
            .seen()
            .iter()
            .map(|seen| format!("{} {}", seen.request.agent, seen.request.task.kind()))
            .collect()
    }
}

impl Bench {
    #[expect(
        clippy::new_without_default,
        reason = "a fixture is made, not a default value"
    )]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tree")).unwrap();
        fs::create_dir(folder.path().join("state")).unwrap();
        let bench = Self {
            folder,
            settings: settings(),
            choice: None,
            ruling: None,
        };
        bench.write(CODE);
        bench
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("tree/app.py")
    }

    pub fn write(&self, text: &str) {
        fs::write(self.file(), text).unwrap();
    }

    pub fn setup(&self, runner: &Arc<ScriptedRunner>, heard: &Arc<Mutex<Heard>>) -> RunSetup {
        RunSetup {
            workspace: Arc::new(Workspace::discover(&self.folder.path().join("tree")).unwrap()),
            state_dir: self.folder.path().join("state"),
            journal: Journal::open(&self.folder.path().join("state/history.db")).unwrap(),
            agents: Agents::new(Arc::clone(runner) as Arc<dyn glee_agents::Execute>),
            settings: self.settings.clone(),
            sink: Box::new(EventNames(Arc::clone(heard))),
            stop: Stop::never(),
            queue: None,
        }
    }

    pub fn decider(&self, heard: &Arc<Mutex<Heard>>) -> Box<dyn DisputeResolver> {
        Box::new(FixedAnswers {
            heard: Arc::clone(heard),
            choice: self.choice,
            ruling: self.ruling,
        })
    }

    pub fn review(&self, mode: Mode, runner: ScriptedRunner) -> Left {
        let left = self.begin(mode, runner);
        self.decide_again(&left.ended);
        left
    }

    pub fn begin(&self, mode: Mode, runner: ScriptedRunner) -> Left {
        let runner = Arc::new(runner);
        let heard = Arc::new(Mutex::new(Heard::default()));
        let setup = self.setup(&runner, &heard);
        let options = SelectOptions {
            max_file: 1 << 20,
            shard: 1 << 20,
            context: glee_model::domain::CodeContext::Blocks,
        };
        let target = setup
            .workspace
            .select(&TargetSpec::Paths(vec![self.file()]), &options)
            .unwrap();
        let plan = plan(&self.settings, mode, true, setup.workspace.root(), &target).unwrap();
        let ended = block_on(start(setup, self.decider(&heard), new_run(), plan, target)).unwrap();
        let heard = std::mem::take(&mut *heard.lock().unwrap());
        Left {
            ended,
            heard,
            runner,
        }
    }

    pub fn resume(&self, run: &RunId, runner: ScriptedRunner) -> Left {
        let runner = Arc::new(runner);
        let heard = Arc::new(Mutex::new(Heard::default()));
        let ended = block_on(resume(
            self.setup(&runner, &heard),
            self.decider(&heard),
            run.clone(),
            None,
            Vec::new(),
        ))
        .unwrap();
        if ended.rest == Rest::Ended {
            self.decide_again(&ended);
        }
        let heard = std::mem::take(&mut *heard.lock().unwrap());
        Left {
            ended,
            heard,
            runner,
        }
    }

    /// Checks that a replay of the run makes the same decisions as the run.
    pub(crate) fn decide_again(&self, ended: &EndedReview) {
        let replayed = self.replay(&ended.outcome.run, &self.settings);
        assert_eq!(replayed.differences, [""; 0]);
        let setup = self.setup(&Arc::default(), &Arc::default());
        let recorded = view::recorded(
            &setup.workspace,
            &setup.state_dir,
            &setup.journal,
            &ended.outcome.run,
        )
        .unwrap();
        // A test can raise the budget after the run was planned.
        let mut decided = replayed.outcome;
        decided.proof.caps = recorded.outcome.proof.caps;
        assert_eq!(decided, recorded.outcome);
    }

    pub fn replay(&self, run: &RunId, settings: &Settings) -> Replayed {
        let setup = self.setup(&Arc::default(), &Arc::default());
        super::replay(
            &setup.workspace,
            &setup.state_dir,
            &setup.journal,
            run,
            settings,
        )
        .unwrap()
    }
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

pub fn review(body: &str, findings: u32) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    let body = body.to_owned();
    move |request| {
        Script::prints(format!(
            "{body}\nGLEE-REVIEW-END nonce={} findings={findings}\n",
            request.nonce
        ))
    }
}

pub fn respond(text: &str, answers: u32) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    let text = text.to_owned();
    move |request| {
        Script::prints(format!(
            "{text}\nGLEE-RESPONSE-END nonce={} answers={answers}\n",
            request.nonce
        ))
    }
}

pub fn judge(fields: &str) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    let fields = fields.to_owned();
    move |request| {
        let Task::Judge(JudgeCall { case, .. }) = &request.task else {
            panic!("a judge rules")
        };
        Script::prints(format!(
            "{{\"nonce\":\"{}\",\"dispute\":{},\"rationale\":\"so it is\",{fields}}}\n",
            request.nonce, case.dispute.number
        ))
    }
}

pub const TWO: &str = "[MUST] app.py:2 Replace the weak hash\n[LOW] app.py:5 Rename `load`";

pub fn edit(
    bench: &Bench,
    from: &'static str,
    to: &'static str,
) -> impl Fn() + Send + Sync + 'static {
    let file = bench.file();
    move || {
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace(from, to)).unwrap();
    }
}

pub fn panel(bench: &mut Bench, names: &[&str]) {
    bench
        .settings
        .agents
        .retain(|agent| agent.role != Role::Reviewer);
    bench
        .settings
        .agents
        .extend(names.iter().map(|name| agent(name, Role::Reviewer)));
}

/// FixedAnswers with a review as JSON, because a review in prose cannot contain all fields.
pub fn json_review(findings: &str) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    let findings = findings.to_owned();
    move |request| {
        Script::prints(format!(
            "{{\"nonce\": \"{}\", \"findings\": [{findings}]}}",
            request.nonce
        ))
    }
}

pub fn debates(
    body: &str,
    closing: &'static str,
) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    let body = body.to_owned();
    move |request| {
        Script::prints(format!(
            "{body}\n{closing} nonce={} answers=1\n",
            request.nonce
        ))
    }
}

pub const WEAK: &str = r#"{"severity": "high", "confidence": 80, "category": "security", "file": "app.py", "line": 2,
    "title": "Weak hash", "description": "When two inputs collide, `md5` returns the same key."}"#;
pub const EVAL: &str = r#"{"severity": "medium", "confidence": 60, "category": "bug", "file": "app.py", "line": 6,
    "title": "Runs what it reads", "description": "If the file is hostile, `eval` executes its content."}"#;
