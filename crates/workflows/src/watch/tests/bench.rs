//! Sets up watches for tests: a tree, a history, scripted reviewers, and a connection to the watch.

use super::*;
use crate::run::resources::RunSetup;

/// Stores each recorded event with the time since the start of the watch.
pub(super) struct Listener(Arc<Mutex<Vec<(Duration, Event)>>>, Instant);

impl EventSink for Listener {
    fn event(&mut self, event: &Event) {
        self.0
            .lock()
            .unwrap()
            .push((self.1.elapsed(), event.clone()));
    }
}

/// A tree and a history for one or more consecutive watches.
pub(super) struct Scene {
    pub folder: tempfile::TempDir,
    pub settings: Settings,
    pub jobs: Vec<Job>,
    pub stay: bool,
}

/// Sends lines to a running watch, and contains the recorded events.
#[derive(Clone)]
pub(super) struct Table {
    intake: Intake,
    pub heard: Arc<Mutex<Vec<(Duration, Event)>>>,
}

impl Table {
    /// Sends a line to the watch and returns the answer.
    pub(super) async fn say(&self, line: Value) -> Value {
        let item = protocol::read_keyed(line.to_string().as_bytes()).0;
        let answers = protocol::hand_over(&self.intake, vec![item], "pat")
            .await
            .unwrap();
        serde_json::to_value(&answers[0]).unwrap()
    }

    pub(super) async fn tell(&self, kind: &str, agent: &str) -> Value {
        self.say(json!({"type": kind, "agent": agent, "summary": format!("{kind} of {agent}")}))
            .await
    }

    pub(super) async fn order(&self, word: &str) -> WatchReport {
        let answer = self
            .say(json!({"command": word, "reason": "checked by hand"}))
            .await;
        serde_json::from_value(answer["standing"].clone()).unwrap()
    }

    /// Returns the start time and the triggers of each cycle.
    pub(super) fn cycles(&self) -> Vec<(Duration, BTreeSet<Trigger>)> {
        let heard = self.heard.lock().unwrap();
        let begun = heard.iter().filter_map(|(at, event)| match &event.kind {
            EventKind::Watch(WatchEvent::CycleStarted { triggers, .. }) => {
                Some((*at, triggers.clone()))
            }
            _ => None,
        });
        begun.collect()
    }

    pub(super) fn actions(&self) -> Vec<Action> {
        let heard = self.heard.lock().unwrap();
        let decided = heard.iter().filter_map(|(_, event)| match &event.kind {
            EventKind::Watch(WatchEvent::CycleDecided { action, .. }) => Some(*action),
            _ => None,
        });
        decided.collect()
    }

    pub(super) fn notices(&self) -> String {
        let heard = self.heard.lock().unwrap();
        let notices = heard.iter().filter_map(|(_, event)| match &event.kind {
            EventKind::Run(RunEvent::Notice { text }) => Some(text.clone()),
            _ => None,
        });
        notices.collect::<Vec<_>>().join("\n")
    }
}

impl Scene {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tree")).unwrap();
        let mut settings = crate::review::bench::settings();
        settings.agents = ["codex", "gemini"]
            .map(|name| samples::agent(name, "text", &[name]))
            .into();
        let scene = Self {
            folder,
            settings,
            jobs: Vec::new(),
            stay: true,
        };
        scene.write("a.py", "one\n");
        scene
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join("tree").join(name), text).unwrap();
    }

    /// Runs a watch until `play` ends. If `killed` is true, drops the watch. Otherwise, stops the watch.
    pub(super) async fn watch<T>(
        &self,
        runner: ScriptedRunner,
        killed: bool,
        play: impl AsyncFnOnce(Table) -> T,
    ) -> (T, Option<EndedWatch>, Arc<ScriptedRunner>) {
        let runner = Arc::new(runner);
        let (handle, stop) = Stop::new();
        let (intake, received) = protocol::intake();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let workspace = Workspace::discover(&self.folder.path().join("tree")).unwrap();
        let plan = plan(&self.settings, &workspace, self.jobs.clone()).unwrap();
        let setup = WatchSetup {
            run: RunSetup {
                workspace: Arc::new(workspace),
                state_dir: self.folder.path().join("state"),
                journal: Journal::open(&self.folder.path().join("state/history.db")).unwrap(),
                agents: Agents::new(Arc::clone(&runner) as Arc<dyn glee_agents::Execute>),
                settings: self.settings.clone(),
                sink: Box::new(Listener(Arc::clone(&heard), Instant::now())),
                stop,
                queue: None,
            },
            templates: self.folder.path().join("none"),
            standing: watch::channel(WatchReport::default()).0,
            intake: intake.clone(),
            received,
            socket: None,
            stay: self.stay,
        };
        let watching = run(setup, plan, false);
        let play = async {
            let played = play(Table { intake, heard }).await;
            if !killed {
                handle.stop();
            }
            played
        };
        let mut watching = Box::pin(watching);
        let mut play = Box::pin(play);
        let played = tokio::select! {
            biased;
            ended = &mut watching => panic!("the watch ended by itself: {ended:?}"),
            played = &mut play => played,
        };
        let ended = if killed {
            None
        } else {
            Some(watching.await.unwrap())
        };
        (played, ended, runner)
    }

    pub(super) async fn play<T>(
        &self,
        runner: ScriptedRunner,
        play: impl AsyncFnOnce(Table) -> T,
    ) -> (T, EndedWatch) {
        let (played, ended, _) = self.watch(runner, false, play).await;
        (played, ended.unwrap())
    }
}

pub(super) fn result(request: &Request, verdict: &str, issues: &Value) -> String {
    json!({"nonce": request.nonce, "type": "review_result", "reviewer": request.agent, "payload": {
        "verdict": verdict, "summary": "as it is", "issues": issues}})
    .to_string()
}

pub(super) fn verdict(
    verdict: &'static str,
) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    move |request| {
        let issue = json!({"severity": "high", "description": format!("{} objects", request.agent), "file": "a.py"});
        let issues = if verdict == "approved" {
            json!([])
        } else {
            json!([issue])
        };
        Script::prints(result(request, verdict, &issues))
    }
}

pub(super) fn both(codex: &'static str, gemini: &'static str) -> ScriptedRunner {
    ScriptedRunner::new()
        .on("codex", "peer", verdict(codex))
        .on("gemini", "peer", verdict(gemini))
}

/// Returns a runner in which gemini gives the verdict `approved` only in the second cycle, and otherwise `concerns`.
pub(crate) fn approves_second() -> ScriptedRunner {
    let begun = std::sync::atomic::AtomicU32::new(0);
    let gemini = move |request: &Request| {
        let is_second = begun.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 1;
        verdict(if is_second { "approved" } else { "concerns" })(request)
    };
    ScriptedRunner::new()
        .on("codex", "peer", verdict("approved"))
        .on("gemini", "peer", gemini)
}

/// Returns a runner in which codex gives the verdict `blocker` only in the first cycle.
pub(crate) fn stops_once() -> ScriptedRunner {
    let begun = std::sync::atomic::AtomicBool::new(false);
    let codex = move |request: &Request| {
        let word = if begun.swap(true, std::sync::atomic::Ordering::Relaxed) {
            "approved"
        } else {
            "blocker"
        };
        verdict(word)(request)
    };
    ScriptedRunner::new()
        .on("codex", "peer", codex)
        .on("gemini", "peer", verdict("approved"))
}

pub(super) fn only(trigger: Trigger) -> BTreeSet<Trigger> {
    BTreeSet::from([trigger])
}
