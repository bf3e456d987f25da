//! This is the only file that spawns agents. An agent runs under a supervisor, which is a second Glee process (see
//! `supervisor`). When Glee's end of the liveness pipe closes, the supervisor ends the agent and its descendants.
//! The runner waits for the supervisor's exit, not for the end of the output, because a descendant of the agent
//! can keep the output open.

use std::future::Future;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::memory;
use super::orphans::{self, Registered};
use super::sandbox;
use crate::probe::locate::{self, LocateError};
use crate::process::supervisor::{self, ProcessEnd, Report, SupervisorPipes};
use crate::streams::capture::{OutputCapture, Stream};
use crate::streams::deadlines::{Clock, Due, StreamName};
use crate::streams::dialogue::{Relay, relay};
use crate::streams::output_monitor::OutputMonitor;
use crate::{
    Cap, Confinement, Dialogue, Failed, Invocation, LineMarks, Output, ProcessError, Stop,
    TranscriptFiles, command_line,
};
use glee_model::domain::event::Transcript;
use glee_protocol::request::Request;
use glee_store::config::schema::address;
use glee_store::config::settings::Limits;

const STDERR_RECORDED: u64 = 1 << 20;
/// The maximum time for which output is read after the supervisor has exited.
const DRAIN: Duration = Duration::from_millis(100);
/// The maximum duration of a dialogue after Glee's request to end the dialogue.
const DIALOGUE_GRACE: Duration = Duration::from_secs(1);
/// The maximum time between the end of a dialogue and the exit of the program.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// Receives the unescaped last line of an agent's output, at most ten times a second. The function returns false
/// if the line contains no text to display. The runner then calls the function again with the preceding line.
pub(crate) type Activity<'a> = &'a (dyn Fn(&str) -> bool + Send + Sync);

pub type Ran = Result<Output, Box<Failed>>;

#[derive(Clone)]
pub struct ProcessJob<'a> {
    pub invocation: &'a Invocation,
    /// The request to the agent. Only the scripted runner for tests uses this field.
    pub request: Option<&'a Request>,
    pub confinement: Option<Confinement>,
    /// A dialogue with the program. The dialogue replaces the fixed stdin of the invocation.
    pub dialogue: Option<&'a dyn Dialogue>,
    pub marks: LineMarks,
    pub limits: Limits,
    /// The file that receives the first `limits.max_output_size` bytes of stdout. The file's folder has to exist.
    pub stdout: &'a Path,
    /// The file that receives the first bytes of stderr, at most 1 MiB.
    pub stderr: &'a Path,
    pub activity: Activity<'a>,
    /// While the value in this channel is true, the program and its descendants are suspended. `None` disables
    /// suspension.
    pub suspended: Option<watch::Receiver<bool>>,
    pub stop: Stop,
}

impl<'a> ProcessJob<'a> {
    pub fn plain(
        invocation: &'a Invocation,
        limits: Limits,
        files: &'a TranscriptFiles,
        stop: Stop,
    ) -> Self {
        Self {
            invocation,
            request: None,
            confinement: None,
            dialogue: None,
            marks: LineMarks::default(),
            limits,
            stdout: &files.stdout,
            stderr: &files.stderr,
            activity: &|_| true,
            suspended: None,
            stop,
        }
    }
}

pub trait Execute: Send + Sync {
    /// Runs a program until it ends. Dropping the future ends the program and its descendants.
    fn run<'a>(&'a self, job: ProcessJob<'a>) -> Pin<Box<dyn Future<Output = Ran> + Send + 'a>>;

    /// Returns the absolute path of a command's program. A relative path is resolved against `root`.
    fn find(&self, command: &[String], root: &Path) -> Result<PathBuf, LocateError>;

    /// Whether a folder can be mounted over another for one program.
    fn mounts(&self) -> bool {
        false
    }

    /// The memory for new processes in bytes; `None` if it is unknown.
    fn available_memory(&self) -> Option<u64> {
        None
    }
}

#[derive(Clone, Debug)]
pub struct ProcessRunner {
    glee: PathBuf,
    namespaces: Arc<OnceLock<bool>>,
}

impl ProcessRunner {
    pub fn new() -> io::Result<Self> {
        // `/proc/self/exe` remains valid even if the executable is replaced during a run.
        let own = Path::new("/proc/self/exe");
        let glee = if own.exists() {
            own.to_owned()
        } else {
            std::env::current_exe()?
        };
        Ok(Self::with_program(glee))
    }

    pub fn with_program(glee: impl Into<PathBuf>) -> Self {
        Self {
            glee: glee.into(),
            namespaces: Arc::default(),
        }
    }

    /// Starts a separate process that tests whether namespaces work. A process that has created a namespace cannot
    /// leave the namespace, even if mounting in the namespace fails.
    fn makes_namespaces(&self) -> bool {
        *self
            .namespaces
            .get_or_init(|| sandbox::makes_namespaces(&self.glee))
    }

    fn spawn(&self, job: &ProcessJob<'_>) -> io::Result<Running> {
        let temporary = tempfile::Builder::new().prefix("glee-").tempdir()?;
        let (its_liveness, liveness) = io::pipe()?;
        let (report, its_report) = io::pipe()?;
        // Reads from the report pipe must not block. Another process can inherit the writing end, so EOF
        // possibly never arrives.
        fcntl(&report, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        let ends = SupervisorPipes {
            liveness: its_liveness,
            report: its_report,
        };
        let confinement = job.confinement.clone().map(|confinement| Confinement {
            namespaces: confinement.needs_namespaces() && self.makes_namespaces(),
            ..confinement
        });
        let confinement = confinement.filter(|confinement| !confinement.is_omitted());
        let mut command = std::process::Command::new(&self.glee);
        command
            .args(supervisor::arguments(
                &ends,
                job.limits.kill_grace,
                temporary.path(),
                confinement.as_ref(),
            ))
            .arg(&job.invocation.program)
            .args(&job.invocation.args)
            .env_clear()
            .envs(&job.invocation.env)
            .env("TMPDIR", temporary.path())
            .current_dir(&job.invocation.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        supervisor::hand_over(&ends)?;
        let (child, registered) = orphans::spawn_registered(
            || tokio::process::Command::from(command).spawn(),
            Child::id,
        )?;
        tracing::Span::current().record("pid", child.id());
        tracing::debug!(program = %job.invocation.program.display(), "started");
        Ok(Running {
            child,
            registered: Some(registered),
            liveness: Some(liveness),
            report,
            _temporary: temporary,
        })
    }
}

impl Execute for ProcessRunner {
    fn run<'a>(&'a self, job: ProcessJob<'a>) -> Pin<Box<dyn Future<Output = Ran> + Send + 'a>> {
        Box::pin(async move {
            let command = command_line(job.invocation);
            let most = job.limits.max_output_size;
            let streams = [(job.stdout, most), (job.stderr, STDERR_RECORDED.min(most))];
            let [out, err] = streams.map(|(path, cap)| {
                OutputCapture::create(path, cap)
                    .map_err(|source| failed(ProcessError::Io(command.clone(), source), None))
            });
            let out = out?;
            let err = err?;
            match self.spawn(&job) {
                Ok(running) => running.finish(&job, command, out, err).await,
                Err(source) => Err(failed(ProcessError::spawn(command, source), None)),
            }
        })
    }

    fn find(&self, command: &[String], root: &Path) -> Result<PathBuf, LocateError> {
        match command.first() {
            Some(word) if word.starts_with("builtin:") || address::is_address(word) => {
                Ok(self.glee.clone())
            }
            _ => locate::find(command, root, std::env::var_os("PATH").as_deref()),
        }
    }

    fn available_memory(&self) -> Option<u64> {
        memory::available()
    }

    fn mounts(&self) -> bool {
        self.makes_namespaces()
    }
}

struct Running {
    child: Child,
    registered: Option<Registered>,
    /// Glee's end of the liveness pipe. If Glee drops this end of the pipe, the supervisor stops the agent.
    liveness: Option<io::PipeWriter>,
    report: io::PipeReader,
    _temporary: TempDir,
}

/// The reason why Glee ended a program: `Err` contains an error, and `Ok` means that the dialogue ended.
type Cause = Result<(), ProcessError>;

impl Running {
    async fn finish(
        mut self,
        job: &ProcessJob<'_>,
        command: String,
        out: OutputCapture,
        err: OutputCapture,
    ) -> Ran {
        let (end_dialogue, dialogue_stop) = Stop::new();
        let (mut input, mut relay) = input(job, self.child.stdin.take(), dialogue_stop);
        let mut input_ended = false;
        let mut end_at: Option<Instant> = None;
        let mut out = Stream::new(self.child.stdout.take(), out);
        let mut err = Stream::new(self.child.stderr.take(), err);
        let mut clock = Clock::start(Instant::now(), job.limits, job.invocation.streams);
        let mut monitor = OutputMonitor::new(job.marks);
        let mut failed = 0;
        let mut cause: Option<Cause> = None;
        let mut suspended = job.suspended.clone();

        let status = loop {
            let mut ending: Option<Cause> = None;
            tokio::select! {
                status = self.child.wait() => break status,
                read = out.pull(), if out.is_open() => {
                    if let Some(relay) = &mut relay {
                        relay.pass(out.fresh());
                    }
                    match read {
                        Ok(0) => {}
                        Ok(_) if monitor.push(StreamName::Out, out.fresh()) => clock.answered(Instant::now(), StreamName::Out),
                        Ok(_) => clock.printed(StreamName::Out),
                        Err(error) => ending = Some(Err(ProcessError::Io(command.clone(), error))),
                    }
                }
                read = err.pull(), if err.is_open() => match read {
                    Ok(0) => {}
                    Ok(_) if monitor.push(StreamName::Err, err.fresh()) => clock.answered(Instant::now(), StreamName::Err),
                    Ok(_) => clock.printed(StreamName::Err),
                    Err(error) => ending = Some(Err(ProcessError::Io(command.clone(), error))),
                },
                () = &mut input, if !input_ended => {
                    input_ended = true;
                    if job.dialogue.is_some() {
                        ending = Some(Ok(()));
                        end_at = end_at.map(|_| Instant::now());
                    }
                }
                () = sleep_until(end_at.unwrap_or_else(Instant::now)), if end_at.is_some() => {
                    end_at = None;
                    self.liveness = None;
                }
                order = next_suspension(&mut suspended) => match order {
                    Some(suspend) => if let Some(pipe) = &mut self.liveness {
                        // A write error means that the supervisor has exited. Without a supervisor, Glee cannot
                        // suspend or resume processes.
                        drop(pipe.write_all(&[if suspend { supervisor::SUSPEND } else { supervisor::RESUME }]));
                    },
                    None => suspended = None,
                },
                () = job.stop.stopped(), if cause.is_none() => {
                    ending = Some(Err(ProcessError::Stopped(command.clone())));
                }
                () = sleep_until(clock.next().min(clock.tick())) => match clock.wake(Instant::now()) {
                    Due::Nothing => {}
                    Due::Activity(source) => {
                        let capture = match source { StreamName::Out => &out.capture, StreamName::Err => &err.capture };
                        capture.last_lines(job.limits.max_line_size).any(|line| (job.activity)(&line));
                    }
                    Due::Over(cap) => {
                        let command = command.clone();
                        let after = cap_value(&job.limits, cap);
                        ending = Some(Err(ProcessError::TimedOut { command, cap, after }));
                    }
                    Due::Late => drop(self.child.start_kill()),
                },
            }
            // What a program prints while it is being ended is no answer of its service.
            if cause.is_none() {
                failed = monitor.failed;
            }
            if failed > job.limits.retries {
                let line = monitor.told.clone();
                let command = command.clone();
                ending = ending.or(Some(Err(ProcessError::NoProgress { command, line })));
            }
            if let (None, Some(ending)) = (&cause, ending) {
                let grace = match ending {
                    Ok(()) => EXIT_GRACE,
                    _ if job.dialogue.is_some() && !input_ended => DIALOGUE_GRACE,
                    _ => Duration::ZERO,
                };
                end_dialogue.stop();
                end_at = Some(Instant::now() + grace);
                clock.end(Instant::now());
                cause = Some(ending);
            }
        };

        let report = self.report();
        // If a supervisor sent no report, the supervisor was killed, and its descendants possibly still run.
        let left = match (&report, self.registered.take()) {
            (None, Some(supervisor)) => orphans::end_all(supervisor).await,
            (Some(_), _) | (None, None) => None,
        };
        let until = Instant::now() + DRAIN;
        let drained = [
            out.drain(until, |bytes: &[u8]| {
                if let Some(relay) = &mut relay {
                    relay.pass(bytes);
                }
            })
            .await,
            err.drain(until, |_| {}).await,
        ];
        if job.dialogue.is_some() && !input_ended {
            drop(relay);
            end_dialogue.stop();
            drop(timeout(DRAIN, &mut input).await);
        }
        for result in drained {
            if let (None, Err(error)) = (&cause, result) {
                cause = Some(Err(ProcessError::Io(command.clone(), error)));
            }
        }
        let report = report.ok_or((status, left));
        conclude(
            job,
            command,
            cause,
            report,
            failed,
            &out.capture,
            &err.capture,
        )
    }

    /// Reads the supervisor's report. A supervisor writes at most one report before it exits.
    fn report(&mut self) -> Option<Report> {
        let mut buffer = [0; 4096];
        let length = self.report.read(&mut buffer).ok()?;
        serde_json::from_slice(&buffer[..length]).ok()
    }
}

/// Returns the agent's output or a failure, depending on how the agent's process ended. If the supervisor sent no
/// report, the parameter `report` is an error that contains the supervisor's exit status and the surviving
/// processes.
fn conclude(
    job: &ProcessJob<'_>,
    command: String,
    cause: Option<Cause>,
    report: Result<Report, (io::Result<ExitStatus>, Option<Vec<i32>>)>,
    failed_requests: u32,
    out: &OutputCapture,
    err: &OutputCapture,
) -> Ran {
    let (end, held, left, peak_memory) = match report {
        Ok(Report {
            end,
            held,
            left,
            peak_memory,
        }) => (Ok(end), held, left, peak_memory),
        Err((status, left)) => (Err(status), false, left, None),
    };
    let (exit_code, signal) = match end {
        Ok(ProcessEnd::Exit(code)) => (Some(code), None),
        Ok(ProcessEnd::Signal(signal)) => (None, Some(signal)),
        Ok(
            ProcessEnd::NotStarted(_)
            | ProcessEnd::NotConfined
            | ProcessEnd::TookTooMuch(_)
            | ProcessEnd::Unknown,
        )
        | Err(_) => (None, None),
    };
    let output = Output {
        stdout: job.stdout.to_owned(),
        stderr_tail: err.tail(),
        ended: jiff::Timestamp::now(),
        failed_requests,
        transcript: Transcript {
            stdout_bytes: out.total,
            stdout_hash: out.hash(),
            stderr_bytes: err.total,
            exit_code,
            signal,
            held,
            peak_memory,
        },
    };
    let last_line = || {
        err.last_line(job.limits.max_line_size)
            .or_else(|| out.last_line(job.limits.max_line_size))
    };
    let error = match (cause, end) {
        (_, Err(status)) => {
            let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
            ProcessError::SupervisorDied {
                command,
                status,
                left,
            }
        }
        (None, Ok(ProcessEnd::NotStarted(errno))) => {
            let source = io::Error::from_raw_os_error(errno);
            let error = match source.kind() {
                io::ErrorKind::NotFound => ProcessError::NotFound(command),
                _ => ProcessError::spawn(command, source),
            };
            return Err(failed(error, None));
        }
        (_, Ok(ProcessEnd::NotConfined)) => {
            return Err(failed(ProcessError::NotConfined(command), None));
        }
        (None, Ok(ProcessEnd::TookTooMuch(scarce))) if left.is_none() => {
            ProcessError::TookTooMuch { command, scarce }
        }
        _ if left.is_some() => ProcessError::Survivors(command, left.unwrap_or_default()),
        (Some(Err(error)), _) => error,
        (Some(Ok(())), _) => return Ok(output),
        (None, Ok(ProcessEnd::Signal(signal))) => ProcessError::Killed {
            command,
            signal,
            last_line: last_line(),
        },
        (None, Ok(ProcessEnd::Exit(0))) => return Ok(output),
        (None, Ok(ProcessEnd::Exit(code))) => ProcessError::ExitCode {
            command,
            code,
            last_line: last_line(),
        },
        (None, Ok(ProcessEnd::Unknown | ProcessEnd::TookTooMuch(_))) => {
            ProcessError::SupervisorDied {
                command,
                status: "its end was not observed".to_owned(),
                left: Some(Vec::new()),
            }
        }
    };
    Err(failed(error, Some(output)))
}

fn failed(error: ProcessError, output: Option<Output>) -> Box<Failed> {
    Box::new(Failed { error, output })
}

fn cap_value(limits: &Limits, cap: Cap) -> Duration {
    match cap {
        Cap::FirstOutput => limits.first_output_timeout,
        Cap::Idle => limits.idle_timeout,
        Cap::Total => limits.call_timeout,
    }
}

fn input<'a>(
    job: &ProcessJob<'a>,
    stdin: Option<ChildStdin>,
    stop: Stop,
) -> (Pin<Box<dyn Future<Output = ()> + Send + 'a>>, Option<Relay>) {
    match (job.dialogue, stdin) {
        (Some(dialogue), Some(stdin)) => {
            let (relay, stdout) = relay(job.limits.max_line_size);
            (dialogue.drive(stdout, Box::new(stdin), stop), Some(relay))
        }
        (_, stdin) => {
            let write = async {
                if let Some(mut stdin) = stdin {
                    // A write error is ignored, because a program can end before it has read all of stdin.
                    drop(stdin.write_all(&job.invocation.stdin).await);
                }
            };
            (Box::pin(write), None)
        }
    }
}

/// Waits until the program has to be suspended (true) or resumed (false). Returns `None` after the sender was
/// dropped.
async fn next_suspension(suspended: &mut Option<watch::Receiver<bool>>) -> Option<bool> {
    match suspended {
        Some(suspended) => suspended
            .changed()
            .await
            .ok()
            .map(|()| *suspended.borrow_and_update()),
        None => std::future::pending().await,
    }
}
