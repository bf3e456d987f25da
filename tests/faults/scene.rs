//! A project with three scripted agents, and the invariants of all runs.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agent::{self, Script, Step};
use crate::support::{Output, Sandbox};

pub(crate) const CODE: &str =
    "def key(data):\n    return md5(data)\n\n\ndef load(path):\n    return open(path).read()\n";
pub(crate) const REVIEW: &str =
    "[MUST] app.py:2 Replace the weak hash\nGLEE-REVIEW-END nonce={nonce} findings=1\n";
pub(crate) const DONE: &str = "[F1] IMPLEMENTED: done\nGLEE-RESPONSE-END nonce={nonce} answers=1\n";
pub(crate) const APART: &str = "[P1] DIFFERENT: two fixes\nGLEE-SAME-END nonce={nonce} answers=1\n";
pub(crate) const OBJECTION: &str = "[F1] DISAGREE: it names a cache entry\n  Evidence: app.py:2\nGLEE-RESPONSE-END nonce={nonce} answers=1\n";
pub(crate) const RULING: &str = "The objection holds, see app.py:2.\nGLEE-RULING nonce={nonce} dispute={dispute} ruling=DISMISS\n";
pub(crate) const RESOLVED: &str = "[F1] RESOLVED: gone\nGLEE-RECHECK-END nonce={nonce} answers=1\n";

/// The adapter of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Adapter {
    Text,
    Json,
    Claude,
    Codex,
    Gemini,
    Opencode,
    Qwen,
    Copilot,
}

impl Adapter {
    /// The protocols that any program can implement.
    pub(crate) const ALL: [Self; 2] = [Self::Text, Self::Json];
    /// The supported programs.
    pub(crate) const PROGRAMS: [Self; 6] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Qwen,
        Self::Copilot,
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Qwen => "qwen",
            Self::Copilot => "copilot",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Git,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::Plain, Self::Git];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Git => "git",
        }
    }
}

pub(crate) fn emit(text: &str) -> Step {
    Step::Emit(text.to_owned())
}

pub(crate) fn run(words: &[&str]) -> Step {
    Step::Run(words.iter().map(ToString::to_string).collect())
}

pub(crate) fn fix() -> Step {
    Step::Replace("app.py".into(), "md5".into(), "sha256".into())
}

/// A project with its agents, and a marker in the environment of all their processes.
pub(crate) struct Scene {
    sandbox: Sandbox,
    tag: String,
    settings: String,
    agents: Vec<(String, &'static str, Adapter)>,
    /// Arguments of agents after their program.
    arguments: BTreeMap<String, Vec<String>>,
    scripts: BTreeMap<String, Script>,
}

impl Deref for Scene {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl Scene {
    /// A tree with `app.py` and three well-behaved agents: the coder objects, the judge dismisses.
    pub(crate) fn new(kind: Kind) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let sandbox = match kind {
            Kind::Plain => Sandbox::local(),
            Kind::Git => Sandbox::new(),
        };
        if kind == Kind::Git {
            sandbox.git_init();
        }
        sandbox.write("app.py", CODE);
        if kind == Kind::Git {
            sandbox.git(&["add", "-A"]);
            sandbox.git(&["commit", "-q", "-m", "Write app.py"]);
        }
        std::fs::create_dir_all(sandbox.home().join(".cache")).expect("a folder");
        let tag = format!(
            "{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let agents = vec![
            ("rev".to_owned(), "reviewer", Adapter::Text),
            ("fix".to_owned(), "coder", Adapter::Text),
            ("jud".to_owned(), "judge", Adapter::Text),
        ];
        let mut scene = Self {
            sandbox,
            tag,
            settings: String::new(),
            agents,
            arguments: BTreeMap::new(),
            scripts: BTreeMap::new(),
        };
        scene.play("rev", "review", [emit(REVIEW)]);
        scene.play("rev", "recheck", [emit(RESOLVED)]);
        scene.play("fix", "respond", [emit(OBJECTION)]);
        scene.play("jud", "judge", [emit(RULING)]);
        scene
    }

    /// Makes the coder implement the finding.
    pub(crate) fn fixing(kind: Kind) -> Self {
        let mut scene = Self::new(kind);
        scene.play("fix", "respond", [fix(), emit(DONE)]);
        scene
    }

    /// Sets the adapter of all agents.
    pub(crate) fn through(mut self, adapter: Adapter) -> Self {
        self.agents.iter_mut().for_each(|agent| agent.2 = adapter);
        self
    }

    /// Sets the adapter of one agent.
    pub(crate) fn speak(&mut self, agent: &str, adapter: Adapter) -> &mut Self {
        self.agents
            .iter_mut()
            .filter(|known| known.0 == agent)
            .for_each(|known| known.2 = adapter);
        self
    }

    /// Connects a second, well-behaved reviewer.
    pub(crate) fn second_reviewer(&mut self) -> &mut Self {
        self.agents
            .push(("other".to_owned(), "reviewer", Adapter::Text));
        self.play("other", "review", [emit(REVIEW)]);
        self.play("other", "recheck", [emit(RESOLVED)])
    }

    /// Connects an aggregator that tells every pair apart.
    pub(crate) fn aggregator(&mut self) -> &mut Self {
        self.agents
            .push(("agg".to_owned(), "aggregator", Adapter::Text));
        self.play("agg", "same", [emit(APART)])
    }

    /// Sets an agent's steps for a task.
    pub(crate) fn play(
        &mut self,
        agent: &str,
        task: &str,
        steps: impl IntoIterator<Item = Step>,
    ) -> &mut Self {
        let script = self.scripts.entry(agent.to_owned()).or_default();
        script.insert(task.to_owned(), steps.into_iter().collect());
        self
    }

    /// Sets an agent's arguments.
    pub(crate) fn argue(
        &mut self,
        agent: &str,
        arguments: impl IntoIterator<Item = String>,
    ) -> &mut Self {
        self.arguments
            .insert(agent.to_owned(), arguments.into_iter().collect());
        self
    }

    pub(crate) fn set(&mut self, line: &str) -> &mut Self {
        self.settings.push_str(line);
        self.settings.push('\n');
        self
    }

    pub(crate) fn env(&mut self, name: &str, value: impl Into<String>) -> &mut Self {
        self.sandbox.env(name, value);
        self
    }

    /// Runs a shell command in the tree; returns whether it succeeded.
    pub(crate) fn shell(&self, script: &str) -> bool {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", script])
            .current_dir(self.root())
            .stdout(Stdio::null());
        command.envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "x")));
        command.envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "x@x")));
        command.status().expect("a shell").success()
    }

    /// The folder for files that agents send to the test runner.
    pub(crate) fn cache(&self) -> PathBuf {
        self.home().join(".cache")
    }

    pub(crate) fn ready(&self) -> &Self {
        let program = std::env::current_exe().expect("this program has a path");
        let mut text = String::from("agents:\n");
        for (name, role, adapter) in &self.agents {
            let script = self.home().join(format!("{name}.json"));
            let steps = self.scripts.get(name).cloned().unwrap_or_default();
            let words = self.arguments.get(name).into_iter().flatten();
            let arguments: String = words.map(|word| format!(", {word:?}")).collect();
            std::fs::write(
                &script,
                serde_json::to_vec(&steps).expect("a script is JSON"),
            )
            .expect("a written file");
            text.push_str(&format!(
                "  - {{name: {name}, command: [{:?}{arguments}], role: {role}, adapter: {}, env: {{{}: {:?}, {}: \"{}\", {}: {:?}}}}}\n",
                program,
                adapter.word(),
                agent::SCRIPT,
                script,
                agent::TAG,
                self.tag,
                agent::SEEN,
                format!("{} {}", agent::seen_at(), self.cache().display())
            ));
        }
        text.push_str(&self.settings);
        let config = self.user_config();
        std::fs::create_dir_all(config.parent().expect("a parent folder")).expect("a folder");
        std::fs::write(config, text).expect("a written file");
        self
    }

    /// Runs a review with coder and judge on `app.py`.
    pub(crate) fn arbitrate(&self) -> Output {
        self.ready().glee(&[
            "review",
            "app.py",
            "--arbitrate",
            "--format",
            "json",
            "--no-input",
        ])
    }

    pub(crate) fn review(&self) -> Output {
        self.ready()
            .glee(&["review", "app.py", "--format", "json", "--no-input"])
    }

    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command: Command = self.command(args);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().expect("the binary runs")
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        let output = self.glee(&["runs", "show", "last", "--format", "jsonl"]);
        assert_eq!(output.code, 0, "{output}");
        output
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect("an event is JSON"))
            .collect()
    }

    /// The running processes that started as an agent of this scene.
    pub(crate) fn alive(&self) -> Vec<String> {
        let mark = format!("{}={}", agent::TAG, self.tag).into_bytes();
        let marked = |process: &Path| {
            let environ = std::fs::read(process.join("environ")).unwrap_or_default();
            let status = std::fs::read_to_string(process.join("status")).unwrap_or_default();
            (environ.split(|byte| *byte == 0).any(|entry| entry == mark)
                && !status.contains("\nState:\tZ"))
            .then(|| {
                std::fs::read_to_string(process.join("cmdline"))
                    .unwrap_or_default()
                    .replace('\0', " ")
            })
        };
        let processes = std::fs::read_dir("/proc").expect("/proc is readable");
        processes
            .flatten()
            .filter_map(|entry| marked(&entry.path()))
            .collect()
    }

    /// Asserts that no process of an agent remains after at most this time.
    pub(crate) fn all_dead(&self, within: Duration) {
        let deadline = Instant::now() + within;
        loop {
            let alive = self.alive();
            if alive.is_empty() {
                return;
            }
            assert!(Instant::now() < deadline, "still alive: {alive:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Asserts that no completed call was started again.
    pub(crate) fn nothing_repeated(&self) {
        let mut done = Vec::new();
        for event in self.events() {
            match event["event"].as_str() {
                Some("call_started") => {
                    assert!(
                        !done.contains(&event["call"]),
                        "{} was completed already",
                        event["call"]
                    );
                }
                Some("call_finished")
                    if !matches!(event["answer"].as_str(), Some("failed" | "invalid")) =>
                {
                    done.push(event["call"].clone());
                }
                _ => {}
            }
        }
    }
}

/// Whether this system supports namespaces for agents.
pub(crate) fn has_namespaces() -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_glee"));
    command
        .arg("__namespace")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The parsed report of a run.
pub(crate) fn outcome(output: &Output) -> Value {
    serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("no outcome ({error}): {output}"))
}

/// The findings and disputes of an outcome, in a comparable form.
pub(crate) fn essence(output: &Output) -> Value {
    let outcome = outcome(output);
    let states = |list: &Value, keys: &[&str]| {
        let one = |item: &Value| keys.iter().map(|key| item[*key].clone()).collect::<Value>();
        list.as_array()
            .into_iter()
            .flatten()
            .map(one)
            .collect::<Value>()
    };
    serde_json::json!({
        "exit": outcome["exit"],
        "findings": states(&outcome["findings"], &["id", "title", "state", "dispute"]),
        "disputes": states(&outcome["disputes"], &["disposition"]),
        "changes": states(&outcome["changes"], &["file", "added", "removed"]),
    })
}

/// Asserts that a run ended inconclusively with code 4; returns the agent's error.
pub(crate) fn failed(output: &Output, agent: &str) -> String {
    assert_eq!(output.code, 4, "{output}");
    let outcome = outcome(output);
    let failures = outcome["failures"].as_array().cloned().unwrap_or_default();
    let own = failures.iter().find(|failure| failure["agent"] == agent);
    let own = own.unwrap_or_else(|| panic!("{agent} did not fail: {output}"));
    own["error"]
        .as_str()
        .expect("a failure says why")
        .to_owned()
}
