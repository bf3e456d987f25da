//! The parts of a test run: a tree, a history, scripted agents, and a person with fixed answers. What only the tests of
//! this crate need is in `runs`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[cfg(test)]
mod runs;

use super::*;
use crate::run::ports::{
    Choice, DisputeResolver, EventSink, PersonAnswer, PersonDecision, PersonQuestion,
};
use glee_agents::process::scripted::{Script, ScriptedRunner};
use glee_agents::{Agents, Stop, samples};
use glee_model::domain::event::{Event, Mode};
use glee_model::domain::{Agent, Role, Route, RulingWord};
use glee_protocol::calls::judge::JudgeCall;
use glee_protocol::request::{Request, Task};
use glee_store::config::settings::{Budget, Limits, ReviewSettings, Settings};
use glee_store::history::store::Journal;
use glee_workspace::root::Workspace;
use glee_workspace::{SelectOptions, TargetSpec};

#[cfg(test)]
pub use runs::*;

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
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
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
