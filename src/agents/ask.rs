//! Asking an agent: program found, command built, process run, answer handed back.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::adapter::{AgentError, Body, Output, Query, Reading};
use super::detect::Known;
use super::failure::RunError;
use super::kind::AdapterKind;
use super::memory::Memory;
use super::process::{Job, Runner};
use super::sandbox;
use super::stop::Stop;
use crate::config::settings::{Limits, Sandbox};
use crate::domain::{Agent, FailureKind, Told, Usage};
use crate::event::Transcript;
use crate::protocol::request::Request;

/// The way to every agent.
#[derive(Clone)]
pub struct Agents {
    runner: Arc<dyn Runner>,
    memory: Memory,
    known: Arc<Mutex<Known>>,
}

/// One question to one agent.
#[derive(Clone)]
pub struct Ask<'a> {
    /// Who is asked.
    pub agent: &'a Agent,
    /// What, for adapters that send it as it stands.
    pub request: &'a Request,
    /// The same as a prompt, for those that send prose.
    pub prompt: &'a str,
    /// The caps; the agent's own timeout takes the place of `total`.
    pub limits: &'a Limits,
    /// Whether an agent that may only read is held to that, and what it must not write to under any name.
    pub sandbox: Sandbox,
    /// The tree, its git folders and Glee's state.
    pub protected: &'a [PathBuf],
    /// Where the raw output is kept.
    pub files: &'a TranscriptFiles,
    /// The session that the answer carries on, if it does.
    pub session: Option<&'a str>,
    /// Gets signs of life, in words.
    pub activity: &'a (dyn Fn(&str) + Send + Sync),
    /// Ends the agent.
    pub stop: Stop,
}

/// The files that keep what an agent prints; their folder exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptFiles {
    /// For stdout.
    pub stdout: PathBuf,
    /// For stderr.
    pub stderr: PathBuf,
}

/// What came of a question.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The text of the answer, or why there is none.
    pub result: Result<AnswerText, AgentError>,
    /// What the process left behind, also if it failed; absent if it could not be started.
    pub transcript: Option<Transcript>,
    /// Wall time in milliseconds.
    pub millis: u64,
    /// Tokens and money, where known.
    pub usage: Usage,
    /// What else the program told.
    pub told: Told,
}

/// The text of an answer. It may be larger than memory should be, and need not be valid UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerText {
    /// It is this file.
    File(PathBuf),
    /// It was taken out of a vendor's form.
    Text(String),
}

impl AnswerText {
    /// Reads it from its beginning.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn reader(&self) -> io::Result<Box<dyn BufRead + Send + '_>> {
        Ok(match self {
            Self::File(path) => Box::new(BufReader::with_capacity(64 << 10, File::open(path)?)),
            Self::Text(text) => Box::new(Cursor::new(text.as_bytes())),
        })
    }
}

impl Agents {
    /// Agents that are run by `runner`.
    pub fn new(runner: Arc<dyn Runner>) -> Self {
        Self { runner, memory: Memory::default(), known: Arc::default() }
    }

    /// Remembers in a folder of the state folder what is worth knowing in the next run.
    #[must_use]
    pub fn remembering(self, state_dir: &Path) -> Self {
        Self { memory: Memory::in_folder(state_dir.join("agents")), ..self }
    }

    pub(super) fn runner(&self) -> &dyn Runner {
        &*self.runner
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(super) fn known(&self) -> &Mutex<Known> {
        &self.known
    }

    /// Makes sure, before anything costs money, that every agent's adapter and program exist.
    ///
    /// # Errors
    /// For the first agent that could not be run; the message names it.
    pub fn check(&self, agents: &[Agent], root: &Path) -> Result<(), AgentError> {
        agents.iter().try_for_each(|agent| self.program(agent, root).map(drop))
    }

    /// The absolute path of an agent's program, whose adapter exists as well.
    ///
    /// # Errors
    /// When there is none, or none that may be run; the message names the agent.
    pub fn program(&self, agent: &Agent, root: &Path) -> Result<PathBuf, AgentError> {
        AdapterKind::of(agent)?;
        self.runner.find(&agent.command, root).map_err(|error| AgentError {
            kind: FailureKind::NotInstalled,
            message: format!("agent `{}` cannot be run: {error}", agent.name),
            hint: error.hint(&agent.name.0),
        })
    }

    /// The version of an agent's program: Glee's own for an embedded agent, otherwise what it tells with `--version`.
    pub async fn version(&self, agent: &Agent, root: &Path) -> Option<String> {
        let kind = AdapterKind::of(agent).ok()?;
        if kind == AdapterKind::Builtin {
            return Some(env!("CARGO_PKG_VERSION").to_owned());
        }
        let program = self.program(agent, root).ok()?;
        self.detect(kind, agent, &program).await.version
    }

    /// Asks an agent. Dropping the future ends the agent.
    pub async fn ask(&self, ask: Ask<'_>) -> Asked {
        let started = Instant::now();
        let mut asked = match self.answer(ask).await {
            Ok(asked) => asked,
            Err(error) => Asked {
                result: Err(error),
                transcript: None,
                millis: 0,
                usage: Usage::default(),
                told: Told::default(),
            },
        };
        asked.millis = millis(started.elapsed());
        asked
    }

    /// Fails if nothing could be started.
    async fn answer(&self, ask: Ask<'_>) -> Result<Asked, AgentError> {
        let agent = ask.agent;
        let kind = AdapterKind::of(agent)?;
        let adapter = kind.adapter();
        let path = self.program(agent, Path::new(&ask.request.root))?;
        let program = self.detect(kind, agent, &path).await;
        let folder = ask.files.stdout.parent().unwrap_or(Path::new("/"));
        let query = Query {
            agent,
            program: &program,
            request: ask.request,
            prompt: ask.prompt,
            session: ask.session,
            folder,
        };
        let invocation = adapter.command(&query)?;
        for (path, content) in &invocation.files {
            std::fs::write(path, content).map_err(|error| {
                let message = format!("failed to write `{}` for `{}`: {error}", path.display(), agent.name);
                AgentError::new(FailureKind::Crashed, message)
            })?;
        }
        let role = ask.request.task.role();
        let activity = |line: &str| match adapter.telling(line) {
            Some(told) => {
                (ask.activity)(&told);
                true
            }
            None => false,
        };
        let job = Job {
            invocation: &invocation,
            request: Some(ask.request),
            confinement: sandbox::confinement(ask.sandbox, role, kind, &invocation.env, ask.protected),
            limits: Limits { total: agent.timeout.unwrap_or(ask.limits.total), ..*ask.limits },
            stdout: &ask.files.stdout,
            stderr: &ask.files.stderr,
            activity: &activity,
            stop: ask.stop,
        };
        let (output, failed) = match self.runner.run(job).await {
            Ok(output) => (Some(output), None),
            Err(failed) => (failed.output, Some(failed.error)),
        };
        let Some(output) = output else {
            return Err(failed.map_or_else(
                || AgentError::new(FailureKind::Crashed, format!("`{}` left nothing behind", agent.name)),
                |error| error.for_agent(agent),
            ));
        };
        let Reading { answer, usage, told, .. } = adapter.reading(&output);
        let result = match (failed, answer) {
            (None, answer) => answer,
            // An agent that ends by itself may say why better than its exit code does.
            (Some(RunError::ExitCode { .. }), Err(said)) => Err(said),
            (Some(failed), _) => Err(failed.for_agent(agent)),
        };
        let Output { stdout, transcript, .. } = output;
        let result = result.map(|body| match body {
            Body::Stdout => AnswerText::File(stdout),
            Body::Text(text) => AnswerText::Text(text),
        });
        Ok(Asked { result, transcript: Some(transcript), millis: 0, usage, told })
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use std::io::Read as _;

    use super::*;
    use crate::agents::samples;
    use crate::agents::scripted::{Script, ScriptedRunner};

    const LIMITS: Limits = Limits {
        total: Duration::from_secs(60),
        first_output: Duration::from_secs(60),
        idle: Duration::from_secs(60),
        output: 1 << 20,
        line: 1 << 16,
        grace: Duration::from_secs(1),
    };

    struct Scene {
        runner: Arc<ScriptedRunner>,
        folder: tempfile::TempDir,
    }

    impl Scene {
        fn new(runner: ScriptedRunner) -> Self {
            Self { runner: Arc::new(runner), folder: tempfile::tempdir().unwrap() }
        }

        async fn ask(&self, agent: &Agent, stop: Stop) -> Asked {
            let files =
                TranscriptFiles { stdout: self.folder.path().join("out"), stderr: self.folder.path().join("err") };
            let request = samples::review(agent);
            Agents::new(self.runner.clone())
                .ask(Ask {
                    agent,
                    request: &request,
                    prompt: "the prompt",
                    limits: &LIMITS,
                    sandbox: Sandbox::Auto,
                    protected: &[],
                    files: &files,
                    session: None,
                    activity: &|_| {},
                    stop,
                })
                .await
        }
    }

    #[tokio::test]
    async fn an_answer_is_read_from_the_kept_output() {
        let scene =
            Scene::new(ScriptedRunner::new().on("rev", "review", |request| Script::prints(request.nonce.as_str())));
        let agent = samples::agent("rev", "text", &["rev", "-x"]);
        let asked = scene.ask(&agent, Stop::never()).await;
        let mut text = String::new();
        asked.result.unwrap().reader().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, samples::NONCE);
        assert_eq!(
            asked.transcript,
            Some(Transcript {
                stdout_bytes: 32,
                stdout_hash: blake3::hash(samples::NONCE.as_bytes()).to_hex().to_string(),
                stderr_bytes: 0,
                exit_code: Some(0),
                signal: None,
                held: false,
            })
        );
        let seen = scene.runner.seen();
        assert_eq!(seen.len(), 1);
        assert_eq!(
            (seen[0].invocation.args.as_slice(), seen[0].invocation.stdin.as_slice()),
            (&["-x".into()][..], &b"the prompt"[..])
        );
    }

    #[tokio::test]
    async fn a_failure_keeps_the_transcript() {
        let scene = Scene::new(ScriptedRunner::new().on("rev", "review", |_| Script::fails(3, "no key\n")));
        let asked = scene.ask(&samples::agent("rev", "text", &["rev"]), Stop::never()).await;
        assert_eq!(asked.result.unwrap_err().message, "`rev` ended with exit code 3: no key");
        assert_eq!(asked.transcript.map(|transcript| transcript.exit_code), Some(Some(3)));
    }

    #[tokio::test]
    async fn an_agents_own_timeout_comes_before_the_limit() {
        let scene = Scene::new(ScriptedRunner::new().on("rev", "review", |_| Script::hangs()));
        let mut agent = samples::agent("rev", "text", &["rev"]);
        agent.timeout = Some(Duration::from_millis(20));
        let asked = scene.ask(&agent, Stop::never()).await;
        assert_eq!(asked.result.unwrap_err().message, "`rev` did not end within 20ms and was ended");
        assert_eq!(asked.transcript, None);
    }

    #[tokio::test]
    async fn a_stop_ends_the_question() {
        let scene = Scene::new(ScriptedRunner::new().on("rev", "review", |_| Script::hangs()));
        let (handle, stop) = Stop::new();
        handle.stop();
        let asked = scene.ask(&samples::agent("rev", "text", &["rev"]), stop).await;
        assert_eq!(asked.result.unwrap_err(), AgentError::new(FailureKind::Stopped, "`rev` was stopped"));
    }

    #[test]
    fn every_agent_is_checked_before_any_is_asked() {
        let agents = Agents::new(Arc::new(crate::agents::ProcessRunner::new().unwrap()));
        let folder = tempfile::tempdir().unwrap();
        let good = samples::agent("good", "text", &["sh"]);
        let check = |agent: Agent| agents.check(&[good.clone(), agent], folder.path());
        assert_eq!(check(good.clone()), Ok(()));
        assert_eq!(
            check(samples::agent("bad", "text", &["./"])),
            Err(AgentError {
                kind: FailureKind::NotInstalled,
                message: format!(
                    "agent `bad` cannot be run: `{}` is a folder, not a program",
                    folder.path().display()
                ),
                hint: Some("give the program's path: `glee config set agents.bad.command <path>`".to_owned()),
            })
        );
        assert_eq!(
            check(samples::agent("odd", "xml", &["sh"])).unwrap_err().message,
            "agent `odd` has an unknown adapter `xml`"
        );
    }
}
