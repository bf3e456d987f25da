//! Asking an agent: program found, command built, process run, answer handed back.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::adapter::{AgentError, Body, Invocation, Output};
use super::environment::allowed;
use super::failure::RunError;
use super::kind::AdapterKind;
use super::process::{Activity, Job, Runner};
use super::sandbox;
use super::stop::Stop;
use crate::config::settings::{Limits, Sandbox};
use crate::domain::{Agent, Usage};
use crate::event::Transcript;
use crate::protocol::request::Request;

/// The caps on a program that tells its version.
const VERSION_LIMITS: Limits = Limits {
    total: Duration::from_secs(5),
    first_output: Duration::from_secs(5),
    idle: Duration::from_secs(5),
    output: 4096,
    line: 4096,
    grace: Duration::from_millis(500),
};

/// The way to every agent.
#[derive(Clone)]
pub struct Agents {
    runner: Arc<dyn Runner>,
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
    /// Gets signs of life.
    pub activity: Activity<'a>,
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
    /// The answer, or why there is none.
    pub result: Result<Answered, AgentError>,
    /// What the process left behind, also if it failed; absent if it could not be started.
    pub transcript: Option<Transcript>,
    /// Wall time in milliseconds.
    pub millis: u64,
}

/// An answer before it is parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// Its text.
    pub text: AnswerText,
    /// Tokens and money, where known.
    pub usage: Usage,
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
        Self { runner }
    }

    pub(super) fn runner(&self) -> &dyn Runner {
        &*self.runner
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
            message: format!("agent `{}` cannot be run: {error}", agent.name),
            hint: error.hint(&agent.name.0),
        })
    }

    /// The version of an agent's program: Glee's own for an embedded agent, otherwise what it tells with `--version`
    /// within five seconds.
    ///
    /// Only known programs are asked: what a user's own script does with an argument it does not expect is not ours
    /// to try.
    pub async fn version(&self, agent: &Agent, root: &Path) -> Option<String> {
        let kind = AdapterKind::of(agent).ok()?;
        if kind == AdapterKind::Builtin {
            return Some(env!("CARGO_PKG_VERSION").to_owned());
        }
        if !AdapterKind::PROGRAMS.contains(&kind) {
            return None;
        }
        let program = self.program(agent, root).ok()?;
        // Not in the reviewed tree: its settings are no business of a program that only tells its version.
        let folder = tempfile::tempdir().ok()?;
        let invocation = Invocation {
            program,
            args: vec!["--version".into()],
            env: allowed(&[], std::env::vars_os()),
            cwd: folder.path().to_owned(),
            stdin: Vec::new(),
            streams: false,
        };
        let stdout = folder.path().join("stdout");
        let job = Job {
            invocation: &invocation,
            request: None,
            confinement: None,
            limits: VERSION_LIMITS,
            stdout: &stdout,
            stderr: &folder.path().join("stderr"),
            activity: &|_| {},
            stop: Stop::never(),
        };
        self.runner.run(job).await.ok()?;
        let text = std::fs::read_to_string(&stdout).ok()?;
        text.lines().map(str::trim).find(|line| line.contains(|c: char| c.is_ascii_digit())).map(ToOwned::to_owned)
    }

    /// Asks an agent. Dropping the future ends the agent.
    pub async fn ask(&self, ask: Ask<'_>) -> Asked {
        let started = Instant::now();
        let (result, transcript) = match self.answer(ask).await {
            Ok((answered, transcript)) => (Ok(answered), Some(transcript)),
            Err((error, transcript)) => (Err(error), transcript),
        };
        Asked { result, transcript, millis: millis(started.elapsed()) }
    }

    async fn answer(&self, ask: Ask<'_>) -> Result<(Answered, Transcript), (AgentError, Option<Transcript>)> {
        let agent = ask.agent;
        let not_started = |error| (error, None);
        let kind = AdapterKind::of(agent).map_err(not_started)?;
        let adapter = kind.adapter();
        let program = self.program(agent, Path::new(&ask.request.root)).map_err(not_started)?;
        let invocation = adapter.command(agent, &program, ask.request, ask.prompt).map_err(not_started)?;
        let role = ask.request.task.role();
        let job = Job {
            invocation: &invocation,
            request: Some(ask.request),
            confinement: sandbox::confinement(ask.sandbox, role, kind, &invocation.env, ask.protected),
            limits: Limits { total: agent.timeout.unwrap_or(ask.limits.total), ..*ask.limits },
            stdout: &ask.files.stdout,
            stderr: &ask.files.stderr,
            activity: ask.activity,
            stop: ask.stop,
        };
        let output = match self.runner.run(job).await {
            Ok(output) => output,
            Err(failed) => {
                // An agent that ends by itself may say why better than its exit code does.
                let said = match (&failed.error, &failed.output) {
                    (RunError::ExitCode { .. }, Some(output)) => adapter.reply(output).err(),
                    _ => None,
                };
                let error = said.unwrap_or_else(|| failed.error.for_agent(agent));
                return Err((error, failed.output.map(|output| output.transcript)));
            }
        };
        let reply = match adapter.reply(&output) {
            Ok(reply) => reply,
            Err(error) => return Err((error, Some(output.transcript))),
        };
        let Output { stdout, transcript, .. } = output;
        let text = match reply.body {
            Body::Stdout => AnswerText::File(stdout),
            Body::Text(text) => AnswerText::Text(text),
        };
        Ok((Answered { text, usage: reply.usage }, transcript))
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
        asked.result.unwrap().text.reader().unwrap().read_to_string(&mut text).unwrap();
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
        assert_eq!(asked.result.unwrap_err(), AgentError { message: "`rev` was stopped".to_owned(), hint: None });
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
