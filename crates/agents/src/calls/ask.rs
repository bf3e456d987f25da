//! Calls an agent: finds the program, builds the command, runs the process and reads the answer.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;
use tracing::field::Empty;
use tracing::{Instrument as _, Span, info, info_span, warn};

use super::record::{self, CallEnd, CallRecord};
use super::{instead, price, retry};
use crate::adapters::programs::described::Described;
use crate::adapters::registry;
use crate::calls::outage::{Services, UNSPECIFIED};
use crate::calls::state_cache::StateCache;
use crate::process::sandbox;
use crate::{
    Adapter, AdapterKind, AgentError, Agents, AnswerText, Call, CallOutcome, Confinement, Cooldown,
    Execute, Failed, Invocation, Output, ProcessError, ProcessJob, Profile,
};
use glee_builtin as builtin;
use glee_model::domain::{Agent, CallMetadata, FailureKind, Usage};
use glee_protocol::text::printable;
use glee_system::lease;

impl Agents {
    pub fn new(runner: Arc<dyn Execute>) -> Self {
        Self {
            runner,
            cache: StateCache::default(),
            known: Arc::default(),
            services: Services::default(),
            base: None,
            permits: None,
        }
    }

    /// Caches cooldowns and program versions in the state folder for later runs.
    #[must_use]
    pub fn remembering(self, state_dir: &Path) -> Self {
        Self {
            cache: StateCache(Some(state_dir.join("agents"))),
            ..self
        }
    }

    /// Checks the agents before any paid call. Each agent, or its backup, must have a known adapter and an
    /// existing program.
    pub fn check(
        &self,
        agents: &[Agent],
        backups: &[Agent],
        root: &Path,
    ) -> Result<(), AgentError> {
        agents
            .iter()
            .chain(backups)
            .try_for_each(registry::check_effort)?;
        agents.iter().try_for_each(|agent| {
            let backup = backups
                .iter()
                .find(|other| agent.backup.as_ref() == Some(&other.name));
            let found = self.program(agent, root);
            found
                .or_else(|error| {
                    backup
                        .and_then(|backup| self.program(backup, root).ok())
                        .ok_or(error)
                })
                .map(drop)
        })
    }

    /// Returns the path of the agent's program. Fails if the program does not exist or the adapter is unknown.
    pub fn program(&self, agent: &Agent, root: &Path) -> Result<PathBuf, AgentError> {
        let own = [format!("{}replay", builtin::PREFIX)];
        let is_replay = AdapterKind::of(agent)? == AdapterKind::Replay;
        self.runner
            .find(
                if is_replay { &own } else { &agent.command },
                self.root_of(&agent.name, root),
            )
            .map_err(|error| AgentError {
                kind: FailureKind::NotInstalled,
                message: format!("agent `{}` cannot be run: {error}", agent.name),
                hint: error.hint(&agent.name.0),
            })
    }

    /// Returns the version of a known program, or Glee's version for an agent that Glee runs itself.
    pub async fn version(&self, agent: &Agent, root: &Path) -> Option<String> {
        let kind = AdapterKind::of(agent).ok()?;
        if matches!(kind, AdapterKind::Builtin | AdapterKind::Address) {
            return Some(env!("CARGO_PKG_VERSION").to_owned());
        }
        let program = self.program(agent, root).ok()?;
        self.detect(kind, agent, &program).await.version
    }

    /// Calls an agent. Calls the agent's backup if the agent's program is missing, or if the agent's service
    /// reports a rate limit or an exceeded quota. A backup can also have a backup.
    pub async fn ask_or_backup(&self, call: Call) -> CallOutcome {
        let mut remaining: Vec<&Agent> = call.backups.iter().collect();
        let mut agent = &call.agent;
        let mut outcome = self.ask(call.clone()).await;
        while let Err(error) = &outcome.answer {
            let next = remaining
                .iter()
                .position(|other| agent.backup.as_ref() == Some(&other.name));
            let (Some(next), true) = (next, error.kind.calls_for_backup()) else {
                break;
            };
            agent = remaining.remove(next);
            let reason = outcome
                .metadata
                .instead
                .clone()
                .unwrap_or_else(|| error.to_string());
            (call.activity)(&format!("{error}; asking {} instead", agent.name));
            let second = self
                .ask(Call {
                    agent: agent.clone(),
                    ..call.clone()
                })
                .await;
            outcome = CallOutcome {
                millis: outcome.millis + second.millis,
                usage: outcome.usage.plus(second.usage),
                metadata: CallMetadata {
                    by: Some(agent.name.clone()),
                    instead: Some(reason),
                    retries: outcome.metadata.retries + 1 + second.metadata.retries,
                    ..second.metadata
                },
                ..second
            };
        }
        outcome
    }

    /// Calls an agent, and retries the call after a transient failure. While the agent's service fails, the calls of
    /// its program try again one after another, and give up together. Dropping the future ends the agent's process.
    pub async fn ask(&self, mut call: Call) -> CallOutcome {
        let started = Instant::now();
        let total = call.agent.timeout.unwrap_or(call.limits.call_timeout);
        call.session
            .take_if(|session| session.agent != call.agent.name);
        call.limits.call_timeout = total;
        let service = self.service(&call.agent);
        let mut ended = CallOutcome::from(Err(call.stopped()));
        let mut tries = 0;
        let mut wait = Duration::ZERO;
        loop {
            let left = || total.saturating_sub(started.elapsed());
            let mut turn = if tries > 0 || service.failed() > 0 {
                tokio::select! {
                    turn = service.turn.lock() => Some(turn),
                    () = call.stop.stopped() => return ended,
                }
            } else {
                None
            };
            if let Some(error) = service.holds() {
                ended.answer = Err(error);
                return ended;
            }
            let before = service.failed();
            // Another call got an answer meanwhile.
            turn = turn.filter(|_| before > 0);
            if let Some(kind) = ended.failure().filter(|kind| kind.is_of_service()) {
                let now = Timestamp::now();
                wait = match before {
                    0 => Duration::ZERO,
                    _ => retry::pause(kind, before, now, left(), &call.limits).unwrap_or(wait),
                };
            }
            if call.pause(wait).await.is_err() {
                return ended;
            }
            tries += 1;
            if tries > 1 || turn.is_some() {
                call.limits.call_timeout = left();
            }
            let outcome = {
                let mut trying = pin!(self.wait_and_try(&call, tries));
                tokio::select! {
                    outcome = &mut trying => outcome,
                    // The service is at work on an answer, which can take long.
                    () = tokio::time::sleep(UNSPECIFIED.unsigned_abs()), if turn.is_some() => {
                        service.answers();
                        drop(turn.take());
                        trying.await
                    }
                }
            };
            let outcome = outcome.unwrap_or_else(|error| CallOutcome::from(Err(error)));
            // A try that failed in a service made one request and those that the program itself repeated.
            service.ended(before, outcome.failure(), 1 + outcome.metadata.retries);
            let repeated = outcome.metadata.retries;
            let earlier = std::mem::replace(&mut ended, outcome);
            ended.usage = earlier.usage.plus(ended.usage);
            ended.metadata.retries = earlier.metadata.retries + repeated + u32::from(tries > 1);
            ended.millis = millis(started.elapsed());
            let Err(error) = &ended.answer else {
                return ended;
            };
            // An expired session can cause a failure, so the next try starts without a session.
            let may_be_gone = matches!(
                error.kind,
                FailureKind::BadFlags | FailureKind::Crashed | FailureKind::Protocol
            );
            if may_be_gone && call.session.take().is_some() {
                wait = Duration::ZERO;
                continue;
            }
            let failed = match service.failed() {
                0 => tries,
                failed => failed,
            };
            let now = Timestamp::now();
            let Some(pause) = retry::pause(error.kind, failed, now, left(), &call.limits) else {
                service.give_up(error);
                self.give_up(&call.agent, error, now);
                return ended;
            };
            (call.activity)(&format!(
                "{}; trying again in {}",
                error.kind.as_str(),
                seconds(pause)
            ));
            wait = pause;
        }
    }

    async fn wait_and_try(&self, call: &Call, tries: u32) -> Result<CallOutcome, AgentError> {
        let kind = AdapterKind::of(&call.agent)?;
        let now = Timestamp::now();
        if let Some(Cooldown { until, why }) = self.cooldown(kind, &call.agent, now) {
            let wait = retry::until(until, now);
            if wait > call.limits.call_timeout / 2 {
                let message = format!("`{kind}` is not available until {until:.0}: {why}");
                return Err(AgentError::new(FailureKind::RateLimited { reset: Some(until) }, message).hint(
                    "when the limit ends, resume the run with `glee runs resume`; `glee agents --check` calls \
                    the agent despite the limit",
                ));
            }
            (call.activity)(&format!("{kind} is available again in {}", seconds(wait)));
            call.pause(wait).await?;
        }
        let _permit = self.permit(call).await?;
        // A worker that was suspended learns first whether another one carries the run instead.
        while !lease::holds() {
            call.pause(Duration::from_millis(100)).await?;
        }
        let started = Instant::now();
        let mut record = None;
        let span = info_span!("try", n = tries, program = %kind, pid = Empty, exit = Empty, bytes = Empty, memory = Empty);
        let once = self.once(call, kind, &mut record).instrument(span.clone());
        let outcome = once
            .await
            .unwrap_or_else(|error| CallOutcome::from(Err(error)));
        let failure = outcome
            .answer
            .as_ref()
            .err()
            .map(|error| (error.kind, error.message.as_str()));
        span.in_scope(|| log_end(&outcome, millis(started.elapsed())));
        self.update_cooldown(kind, &call.agent, failure, Timestamp::now());
        if let Some(record) = record {
            let end = CallEnd {
                millis: millis(started.elapsed()),
                tries,
                transcript: outcome.transcript.clone(),
                usage: outcome.usage,
                metadata: outcome.metadata.clone(),
                failure: failure.map(|(kind, _)| kind),
                error: failure.map(|(_, message)| message.to_owned()),
            };
            // If the call's record cannot be written, Glee ignores the error, because the raw output is stored in
            // separate files.
            drop(
                CallRecord {
                    end: Some(end),
                    ..record
                }
                .write(&record::path(&call.files.stdout)),
            );
        }
        Ok(outcome)
    }

    async fn once(
        &self,
        call: &Call,
        kind: AdapterKind,
        recorded: &mut Option<CallRecord>,
    ) -> Result<CallOutcome, AgentError> {
        registry::check_effort(&call.agent)?;
        let described = Described::of(&call.agent);
        let adapter = match &described {
            Some(described) => described as &dyn Adapter,
            None => kind.adapter(),
        };
        for profile in sandbox::profiles(kind, &call.agent) {
            refuse_modules(&call.agent, profile, call.root())?;
        }
        let path = self.program(&call.agent, call.root())?;
        let call = &Call {
            program: self.detect(kind, &call.agent, &path).await,
            prompt: (self.place_of_change(&call.agent.name) + &call.prompt).into(),
            ..call.clone()
        };
        let Call { agent, files, .. } = call;
        let mut invocation = adapter.command(call)?;
        let role = call.request.task.role();
        let mut confinement = sandbox::confinement(
            call.sandbox,
            role,
            kind,
            agent,
            &invocation,
            &call.protected,
        );
        if let Some(base) = &self.base {
            base.apply(agent, &mut invocation, &mut confinement);
        }
        let reach = confinement.clone();
        files.put_aside();
        let unwritten = |error: io::Error| {
            let message = format!(
                "failed to write the record of the call of `{}`: {error}",
                agent.name
            );
            AgentError::new(FailureKind::Crashed, message)
        };
        for (path, content) in &invocation.files {
            record::private(path, content.as_bytes()).map_err(unwritten)?;
        }
        // A prompt that is no input of the program is in its arguments or in a file.
        let asked = if invocation.stdin.is_empty() {
            call.prompt.as_bytes()
        } else {
            &invocation.stdin
        };
        record::private(&files.stdout.with_extension("prompt"), asked).map_err(unwritten)?;
        let record = recorded.insert(CallRecord::new(kind.as_str(), call, &invocation));
        record
            .write(&record::path(&files.stdout))
            .map_err(unwritten)?;
        let dialogue = adapter.dialogue(call);
        let job = ProcessJob {
            suspended: call.suspended.clone(),
            dialogue: dialogue.as_deref(),
            marks: adapter.marks(),
            request: Some(&call.request),
            confinement,
            activity: &|line| {
                adapter
                    .activity(line)
                    .inspect(|shown| (call.activity)(shown))
                    .is_some()
            },
            ..ProcessJob::plain(&invocation, call.limits, files, call.stop.clone())
        };
        let (output, failed) = match self.runner.run(job).await.map_err(|failed| *failed) {
            Ok(output) => (output, None),
            Err(Failed {
                error,
                output: Some(output),
            }) => (output, Some(error)),
            Err(Failed {
                error,
                output: None,
            }) => return Err(error.for_agent(agent)),
        };
        let mut outcome = adapter.reading(&output);
        outcome.metadata.retries = output.failed_requests.saturating_sub(1);
        if let Some(reads) = &mut outcome.metadata.reads {
            *reads = std::mem::take(reads)
                .into_iter()
                .map(|read| read.inside(call.root()))
                .collect();
        }
        let has_failed = failed.is_some();
        outcome.answer = match (failed, outcome.answer) {
            (None, Ok(answer)) => {
                instead::checked(answer, &call.request, adapter.profile(), &output)
            }
            (None, Err(reported)) => Err(reported),
            // The program's output can explain the failure more precisely than the exit code.
            (Some(ProcessError::ExitCode { .. }), Err(reported)) => Err(reported),
            (Some(failed), _) => Err(instead::explained(failed, &output, call, adapter.profile())),
        };
        let held = reach.filter(|_| has_failed && output.transcript.held);
        if let Some(held) = held {
            let refused = held.refused(&output.stderr_tail);
            outcome.answer = outcome.answer.map_err(|error| {
                // A file can be moved, a folder has to be opened.
                let hint = match refused {
                    Some(path) if !path.is_dir() => Some(closed_path(path)),
                    _ => closed_folder(&error, agent, &held, &output, &invocation)
                        .or_else(|| refused.map(closed_path)),
                };
                match hint {
                    Some(hint) => error.hint(hint),
                    None => error,
                }
            });
        }
        let text = match (&outcome.answer, &outcome.partial) {
            (Ok(AnswerText::Text(text)), _) | (Err(_), Some(text)) => Some(text),
            (Ok(AnswerText::File(_)), _) | (Err(_), None) => None,
        };
        if let Some(text) = text {
            record::private(&files.stdout.with_extension("answer"), text.as_bytes())
                .map_err(unwritten)?;
        }
        let written = text.map_or(0, String::len);
        if let Some(session) = &call.session
            && adapter.counts_sessions()
        {
            outcome.usage = outcome.usage.since(session.used);
        }
        let refusal = outcome.answer.as_ref().err();
        if kind == AdapterKind::Builtin {
            outcome.usage.usd = Some(0.0);
        } else if refusal.is_none_or(|error| error.kind.may_be_billed()) {
            let price = price::of_agent(agent, outcome.metadata.model.as_deref());
            let written = match outcome.answer {
                Ok(AnswerText::File(_)) => output.transcript.stdout_bytes,
                _ => written as u64,
            };
            let read = call.prompt.len() as u64;
            outcome.usage = price::estimate(outcome.usage, price, read, written);
        }
        outcome.transcript = Some(output.transcript);
        Ok(outcome)
    }
}

/// Names the folder that the sandbox kept from a program that failed, and the key that opens it.
fn closed_folder(
    error: &AgentError,
    agent: &Agent,
    held: &Confinement,
    output: &Output,
    invocation: &Invocation,
) -> Option<String> {
    // Other failures have reasons of their own.
    if !matches!(error.kind, FailureKind::Crashed | FailureKind::NotLoggedIn) {
        return None;
    }
    let home = PathBuf::from(invocation.env.get(OsStr::new("HOME"))?);
    let program = agent.command.first().map_or("", String::as_str);
    let said = format!("{}\n{}", output.stderr_tail, error.message);
    let place = sandbox::denied(held, program, &home, &said)?;
    let below = place.strip_prefix(sandbox::real(&home)).unwrap_or(&place);
    let place = printable::line(&format!("~/{}", below.display()));
    let name = &agent.name;
    let opened = match &agent.profile {
        None => format!("`glee config set agents.{name}.profile '{{folders: [{place}]}}'`"),
        Some(_) => format!(
            "add `{place}` to `folders` in the profile of the agent, `agents.{name}.profile`"
        ),
    };
    Some(format!(
        "the sandbox keeps `{place}` from `{name}`; to open it for this agent alone: {opened}"
    ))
}

fn closed_path(path: &Path) -> String {
    format!(
        "the sandbox keeps `{}` from agents that only read: move it into the tree or beside the agent's program, name it in \
         the agent's `command` or `env` or with `folders` in its `profile`, or set `sandbox` to `off`",
        printable::line(&path.display().to_string())
    )
}

fn log_end(outcome: &CallOutcome, ms: u64) {
    if let Some(transcript) = &outcome.transcript {
        let span = Span::current();
        span.record("bytes", transcript.stdout_bytes);
        span.record("memory", transcript.peak_memory);
        match (transcript.exit_code, transcript.signal) {
            (Some(code), _) => span.record("exit", code),
            (None, Some(signal)) => span.record("exit", format_args!("signal {signal}")),
            (None, None) => &span,
        };
    }
    let Usage {
        input_tokens,
        output_tokens,
        ..
    } = outcome.usage;
    match &outcome.answer {
        Ok(_) => info!(ms, input_tokens, output_tokens, "answered"),
        Err(error) => warn!(
            ms,
            input_tokens,
            output_tokens,
            kind = error.kind.as_str(),
            "{}",
            error.message
        ),
    }
}

impl Call {
    pub(super) async fn pause(&self, wait: Duration) -> Result<(), AgentError> {
        tokio::select! {
            () = tokio::time::sleep(wait) => Ok(()),
            () = self.stop.stopped() => {
                Err(self.stopped())
            }
        }
    }

    fn stopped(&self) -> AgentError {
        let message = format!("`{}` was stopped", self.agent.name);
        AgentError::new(FailureKind::Stopped, message)
    }
}

fn seconds(wait: Duration) -> String {
    format!("{} s", wait.as_secs_f64().ceil())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Fails if the tree contains modules that the program would load even in a read-only role.
fn refuse_modules(agent: &Agent, profile: &Profile, root: &Path) -> Result<(), AgentError> {
    let Some(folder) = profile
        .loads
        .iter()
        .find(|folder| root.join(folder).symlink_metadata().is_ok())
    else {
        return Ok(());
    };
    let message = format!(
        "`{}` would run the modules in `{folder}` of the tree",
        agent.name
    );
    let hint = format!(
        "use another agent, or move the folder away: no flag of {} prevents this",
        profile.name
    );
    Err(AgentError::new(FailureKind::BadFlags, message).hint(hint))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use std::io::Read as _;

    use super::*;
    use crate::calls::agents::Agents;
    use crate::process::scripted::{Script, ScriptedRunner};
    use crate::samples::{self, LIMITS};
    use crate::{Program, Session, Stop, TranscriptFiles};
    use glee_model::domain::event::Transcript;
    use glee_protocol::request::Request;
    use glee_store::config::settings::Limits;

    struct Scene {
        runner: Arc<ScriptedRunner>,
        folder: tempfile::TempDir,
    }

    impl Scene {
        fn new(runner: ScriptedRunner) -> Self {
            Self {
                runner: Arc::new(runner),
                folder: tempfile::tempdir().unwrap(),
            }
        }

        async fn ask(&self, agent: &Agent, stop: Stop) -> CallOutcome {
            let call = samples::call(agent, &Program::default(), &samples::review(agent));
            Agents::new(self.runner.clone())
                .ask(Call {
                    files: TranscriptFiles::new(self.folder.path(), "call.1"),
                    stop,
                    ..call
                })
                .await
        }
    }

    #[tokio::test]
    async fn an_answer_is_read_from_the_kept_output() {
        let scene = tests::Scene::new(ScriptedRunner::new().on("rev", "review", |request| {
            Script::prints(request.nonce.as_str())
        }));
        let agent = samples::agent("rev", "text", &["rev", "-x"]);
        let asked = scene.ask(&agent, Stop::never()).await;
        let mut text = String::new();
        asked
            .answer
            .unwrap()
            .reader()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
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
                peak_memory: None,
            })
        );
        let seen = scene.runner.seen();
        assert_eq!(seen.len(), 1);
        assert_eq!(
            (
                seen[0].invocation.args.as_slice(),
                seen[0].invocation.stdin.as_slice()
            ),
            (&["-x".into()][..], &b"the prompt"[..])
        );
    }

    #[tokio::test]
    async fn a_failure_keeps_the_transcript() {
        let scene = tests::Scene::new(
            ScriptedRunner::new().on("rev", "review", |_| Script::fails(3, "no key\n")),
        );
        let asked = scene
            .ask(&samples::agent("rev", "text", &["rev"]), Stop::never())
            .await;
        assert_eq!(
            asked.answer.unwrap_err().message,
            "`rev` ended with exit code 3: no key"
        );
        assert_eq!(
            asked.transcript.map(|transcript| transcript.exit_code),
            Some(Some(3))
        );
    }

    #[tokio::test]
    async fn an_agents_own_timeout_comes_before_the_limit() {
        let scene =
            tests::Scene::new(ScriptedRunner::new().on("rev", "review", |_| Script::hangs()));
        let mut agent = samples::agent("rev", "text", &["rev"]);
        agent.timeout = Some(Duration::from_millis(20));
        let asked = scene.ask(&agent, Stop::never()).await;
        assert_eq!(
            asked.answer.unwrap_err().message,
            "Glee ended `rev`, because the program did not end within 20ms"
        );
        assert_eq!(asked.transcript, None);
    }

    #[tokio::test]
    async fn a_stop_ends_the_question() {
        let scene =
            tests::Scene::new(ScriptedRunner::new().on("rev", "review", |_| Script::hangs()));
        let (handle, stop) = Stop::new();
        handle.stop();
        let asked = scene
            .ask(&samples::agent("rev", "text", &["rev"]), stop)
            .await;
        assert_eq!(
            asked.answer.unwrap_err(),
            AgentError::new(FailureKind::Stopped, "`rev` was stopped")
        );
    }

    #[test]
    fn every_agent_is_checked_before_any_is_asked() {
        let agents = Agents::new(Arc::new(crate::ProcessRunner::new().unwrap()));
        let folder = tempfile::tempdir().unwrap();
        let good = samples::agent("good", "text", &["sh"]);
        let check = |agent: Agent| agents.check(&[good.clone(), agent], &[], folder.path());
        assert_eq!(check(good.clone()), Ok(()));
        assert_eq!(
            check(samples::agent("bad", "text", &["./"])),
            Err(AgentError {
                kind: FailureKind::NotInstalled,
                message: format!(
                    "agent `bad` cannot be run: `{}` is a folder, not a program",
                    folder.path().display()
                ),
                hint: Some(
                    "give the program's path: `glee config set agents.bad.command <path>`"
                        .to_owned()
                ),
            })
        );
        assert_eq!(
            check(samples::agent("odd", "xml", &["sh"]))
                .unwrap_err()
                .message,
            "agent `odd` has an unknown adapter `xml`"
        );
    }

    fn result(status: Option<u16>, text: &str) -> Script {
        let event = serde_json::json!({
            "type": "result", "subtype": "success", "is_error": status.is_some(), "api_error_status": status,
            "result": text, "session_id": "s-1", "num_turns": 1, "total_cost_usd": 0.5,
        });
        Script::prints(format!("{event}\n"))
    }

    /// Returns each script once, in order, and then repeats the last script.
    fn one_by_one(scripts: Vec<Script>) -> impl Fn(&Request) -> Script + Send + Sync {
        let next = std::sync::Mutex::new(scripts.into_iter());
        let last = std::sync::Mutex::new(Script::prints(""));
        move |_| {
            let mut last = last.lock().unwrap();
            if let Some(script) = next.lock().unwrap().next() {
                *last = script;
            }
            last.clone()
        }
    }

    struct Stage {
        runner: Arc<ScriptedRunner>,
        agents: Agents,
        folder: tempfile::TempDir,
    }

    impl Stage {
        fn new(runner: ScriptedRunner) -> Self {
            let runner = Arc::new(runner);
            let folder = tempfile::tempdir().unwrap();
            let agents = Agents::new(runner.clone()).remembering(folder.path());
            Self {
                runner,
                agents,
                folder,
            }
        }

        async fn ask(
            &self,
            agent: &Agent,
            session: Option<&Session>,
            backups: &[Agent],
        ) -> CallOutcome {
            let call = samples::call(agent, &Program::default(), &samples::review(agent));
            let call = Call {
                backups: backups.to_vec(),
                limits: Limits {
                    retries: 2,
                    ..LIMITS
                },
                files: TranscriptFiles::new(self.folder.path(), "call.1"),
                session: session.cloned(),
                ..call
            };
            self.agents.ask_or_backup(call).await
        }

        fn files(&self) -> Vec<String> {
            let entries = std::fs::read_dir(self.folder.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name());
            let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
            names.retain(|name| name.starts_with("call."));
            names.sort();
            names
        }
    }

    fn text(asked: CallOutcome) -> String {
        let mut text = String::new();
        asked
            .answer
            .unwrap()
            .reader()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        text
    }

    #[tokio::test]
    async fn what_passes_is_tried_again_and_everything_is_kept() {
        let scripts = vec![result(Some(500), "internal error"), result(None, "fine")];
        let stage =
            tests::Stage::new(ScriptedRunner::new().on("rev", "review", one_by_one(scripts)));
        let agent = samples::agent("rev", "claude", &["claude"]);
        let asked = stage.ask(&agent, None, &[]).await;
        assert_eq!((asked.usage.usd, asked.usage.turns), (Some(1.0), Some(2)));
        assert_eq!(text(asked), "fine");
        assert_eq!(
            stage.files(),
            [
                "call.1.answer",
                "call.1.call.json",
                "call.1.prompt",
                "call.1.stderr",
                "call.1.stdout",
                "call.1.try1.call.json",
                "call.1.try1.prompt",
                "call.1.try1.stderr",
                "call.1.try1.stdout",
            ]
        );
        let first = CallRecord::read(&stage.folder.path().join("call.1.try1.call.json")).unwrap();
        assert_eq!(first.end.unwrap().failure, Some(FailureKind::Unavailable));
        let last = CallRecord::read(&stage.folder.path().join("call.1.call.json")).unwrap();
        assert_eq!(
            (
                last.adapter.as_str(),
                last.nonce.as_str(),
                last.task.as_str()
            ),
            ("claude", samples::NONCE, "review")
        );
        assert!(
            last.environment.contains(&"GLEE_NONCE".to_owned()),
            "{:?}",
            last.environment
        );
        let end = last.end.unwrap();
        assert_eq!(
            (end.tries, end.failure, end.metadata.session.as_deref()),
            (2, None, Some("s-1"))
        );
    }

    #[tokio::test]
    async fn what_does_not_pass_is_not_tried_again() {
        for (status, said, kind, asked_for) in [
            (401, "invalid api key", FailureKind::NotLoggedIn, 1),
            (500, "internal error", FailureKind::Unavailable, 3),
        ] {
            let stage = tests::Stage::new(ScriptedRunner::new().on(
                "rev",
                "review",
                move |_: &Request| result(Some(status), said),
            ));
            let asked = stage
                .ask(&samples::agent("rev", "claude", &["claude"]), None, &[])
                .await;
            assert_eq!(asked.answer.unwrap_err().kind, kind);
            assert_eq!(stage.runner.seen().len(), asked_for);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn calls_of_a_failing_service_try_again_one_after_another_and_give_up_together() {
        let fails = |_: &Request| {
            let millis = Duration::from_millis(10);
            result(Some(500), "internal error").after(millis)
        };
        let runner = ScriptedRunner::new()
            .on("rev", "review", fails)
            .on("other", "review", |_| Script::prints("fine"));
        let stage = tests::Stage::new(runner);
        let agent = samples::agent("rev", "claude", &["claude"]);
        let ask = || stage.ask(&agent, None, &[]);
        let (a, b, c, d) = tokio::join!(ask(), ask(), ask(), ask());
        for outcome in [a, b, c, d] {
            let error = outcome.answer.unwrap_err();
            assert_eq!(error.kind, FailureKind::Unavailable);
        }
        // The four first tries, and the two retries that all of them share.
        assert_eq!(stage.runner.seen().len(), 6);
        let held = ask().await;
        assert_eq!(held.answer.unwrap_err().kind, FailureKind::Unavailable);
        assert!(held.transcript.is_none());
        assert_eq!(stage.runner.seen().len(), 6, "no call begins");
        let other = samples::agent("other", "text", &["other"]);
        assert_eq!(text(stage.ask(&other, None, &[]).await), "fine");
        tokio::time::advance(Duration::from_secs(31)).await;
        assert!(ask().await.answer.is_err());
        assert_eq!(
            stage.runner.seen().len(),
            7 + 3,
            "the service is asked again later"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn calls_go_on_together_once_a_service_answers_again() {
        let seen = std::sync::atomic::AtomicU32::new(0);
        let recovers = move |_: &Request| {
            let nth = seen.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let script = match nth {
                0..4 => result(Some(503), "overloaded"),
                _ => result(None, "fine"),
            };
            script.after(Duration::from_millis(10))
        };
        let stage = tests::Stage::new(ScriptedRunner::new().on("rev", "review", recovers));
        let agent = samples::agent("rev", "claude", &["claude"]);
        let ask = || stage.ask(&agent, None, &[]);
        let (a, b, c) = tokio::join!(ask(), ask(), ask());
        assert!([a, b, c].into_iter().all(|outcome| outcome.answer.is_ok()));
        assert_eq!(stage.runner.seen().len(), 3 + 2 + 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_answer_after_a_failure_keeps_no_other_call_waiting() {
        let seen = std::sync::atomic::AtomicU32::new(0);
        let slow = move |_: &Request| {
            let nth = seen.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            match nth {
                0..3 => result(Some(503), "overloaded").after(Duration::from_millis(10)),
                _ => result(None, "fine").after(Duration::from_secs(100)),
            }
        };
        let stage = tests::Stage::new(ScriptedRunner::new().on("rev", "review", slow));
        let mut agent = samples::agent("rev", "claude", &["claude"]);
        agent.timeout = Some(Duration::from_secs(600));
        let ask = || stage.ask(&agent, None, &[]);
        let began = Instant::now();
        let (a, b, c) = tokio::join!(ask(), ask(), ask());
        assert!([a, b, c].into_iter().all(|outcome| outcome.answer.is_ok()));
        assert_eq!(began.elapsed().as_secs(), 130);
    }

    #[tokio::test]
    async fn a_backup_answers_for_one_that_is_over_its_quota() {
        let runner = ScriptedRunner::new()
            .on("rev", "review", |_| {
                result(Some(402), "credit balance is too low")
            })
            .on("second", "review", |_| {
                result(Some(402), "credit balance is too low")
            });
        let runner = runner.on("third", "review", |_| Script::prints("from the third"));
        let mut agent = samples::agent("rev", "claude", &["claude"]);
        agent.backup = Some("second".into());
        let mut second = samples::agent("second", "claude", &["claude"]);
        second.backup = Some("third".into());
        second.model = Some("small".to_owned());
        let third = samples::agent("third", "text", &["third"]);
        let stage = tests::Stage::new(runner);
        // The request contains the name of the original agent, and the name selects the script.
        let asked = stage.ask(&agent, None, &[third, second]).await;
        assert_eq!(asked.metadata.by, Some("third".into()));
        assert_eq!(
            asked.metadata.instead.as_deref(),
            Some("`claude` failed (over quota): credit balance is too low")
        );
        let programs: Vec<_> = stage
            .runner
            .seen()
            .into_iter()
            .map(|seen| seen.invocation.program)
            .collect();
        assert_eq!(
            programs,
            [Path::new("claude"), Path::new("claude"), Path::new("third")]
        );
    }

    #[tokio::test]
    async fn a_cool_down_is_remembered_until_it_is_over() {
        let scripts = vec![
            result(Some(429), "rate limit, try again in 2 hours"),
            result(None, "fine"),
        ];
        let stage =
            tests::Stage::new(ScriptedRunner::new().on("rev", "review", one_by_one(scripts)));
        let agent = samples::agent("rev", "claude", &["claude"]);
        let first = stage.ask(&agent, None, &[]).await.answer.unwrap_err();
        let FailureKind::RateLimited { reset: Some(reset) } = first.kind else {
            panic!("{first:?}")
        };
        let second = stage.ask(&agent, None, &[]).await.answer.unwrap_err();
        assert_eq!(second.kind, FailureKind::RateLimited { reset: Some(reset) });
        assert_eq!(stage.runner.seen().len(), 1);
        assert_eq!(
            stage
                .agents
                .cooldowns(Timestamp::now())
                .into_keys()
                .collect::<Vec<_>>(),
            ["claude"]
        );
        assert!(stage.agents.cooldowns(reset).is_empty());
    }

    #[tokio::test]
    async fn a_session_is_carried_on_or_begun_anew() {
        let scripts = vec![
            result(Some(400), "no conversation found"),
            result(None, "fine"),
        ];
        let stage =
            tests::Stage::new(ScriptedRunner::new().on("rev", "review", one_by_one(scripts)));
        let agent = samples::agent("rev", "claude", &["claude"]);
        let session = Session {
            agent: agent.name.clone(),
            id: "s-0".to_owned(),
            used: Usage::default(),
        };
        assert_eq!(text(stage.ask(&agent, Some(&session), &[]).await), "fine");
        let resumed: Vec<bool> = stage
            .runner
            .seen()
            .iter()
            .map(|seen| seen.invocation.args.iter().any(|arg| arg == "s-0"))
            .collect();
        assert_eq!(resumed, [true, false]);
    }
}
