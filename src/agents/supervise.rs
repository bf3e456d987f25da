//! The supervisor: Glee re-executed to run one agent and to leave nothing of it behind.
//!
//! It leads a session of its own, so that no signal from Glee's terminal reaches the agent, and on Linux it is the
//! subreaper of everything the agent starts, so that a process that leaves the agent's group or loses its parent
//! becomes the supervisor's child. When the agent ends, what is left of its tree is killed. When the liveness pipe
//! reaches its end (Glee wants the agent to stop, or Glee is gone, even by SIGKILL) the tree is asked to end, and
//! killed after the grace period. That no child is left is known from the system (`ECHILD`), not assumed.
//!
//! An agent that may only read is started by a thread that has put itself into the sandbox (see `sandbox`), which
//! holds for everything below it and leaves the supervisor itself free to clean up: the agent's temporary folder is
//! removed when the agent is gone, even if Glee is gone as well.
//!
//! It has no runtime and no configuration: one thread waits for children, one for the pipe, one for signals, and the
//! first thread decides.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{PipeReader, PipeWriter, Write as _, copy, sink};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use command_fds::CommandFdExt as _;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::sandbox::{self, Confinement};
use crate::config::settings::Sandbox;

/// The hidden first argument.
pub const NAME: &str = "__supervise";

/// How long killing may take before survivors are reported.
const SWEEP: Duration = Duration::from_secs(2);

/// The arguments up to the agent's own command line: the two pipes' numbers, the grace period in milliseconds, the
/// temporary folder to remove at the end (empty for none), how the agent is held, and where it may write.
pub(super) fn arguments(
    liveness: &PipeReader,
    report: &PipeWriter,
    grace: Duration,
    temporary: Option<&Path>,
    confinement: Option<&Confinement>,
) -> Vec<OsString> {
    let number = |fd: RawFd| fd.to_string().into();
    let held = match confinement.map(|confinement| confinement.sandbox) {
        None | Some(Sandbox::Off) => FREE,
        Some(Sandbox::Auto) => IF_POSSIBLE,
        Some(Sandbox::Required) => HELD,
    };
    let grace = grace.as_millis().to_string().into();
    let temporary_argument = temporary.map(OsString::from).unwrap_or_default();
    let mut arguments: Vec<OsString> = vec![
        NAME.into(),
        number(liveness.as_raw_fd()),
        number(report.as_raw_fd()),
        grace,
        temporary_argument,
        held.into(),
    ];
    if let Some(confinement) = confinement {
        arguments
            .extend(confinement.writable.iter().map(|path| path.as_path()).chain(temporary).map(OsString::from));
    }
    arguments.push("--".into());
    arguments
}

/// An agent is not held.
const FREE: &str = "free";
/// It is held where the system can.
const IF_POSSIBLE: &str = "auto";
/// It is held, or not started.
const HELD: &str = "held";

/// Lets the command, and no other process, inherit its ends of the two pipes. They keep their numbers: mapping them
/// to fixed ones could hit a descriptor that the standard library has open in the child until its exec.
pub(super) fn hand_over(command: &mut Command, liveness: PipeReader, report: PipeWriter) {
    command.preserved_fds(vec![OwnedFd::from(liveness), OwnedFd::from(report)]);
}

/// How an agent's process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By itself.
    Exit(i32),
    /// By a signal.
    Signal(i32),
    /// It never began; the system's error number.
    NotStarted(i32),
    /// It was not started, because it could not be held.
    NotHeld,
    /// It would not die, or its end was not seen.
    Unknown,
}

/// What the supervisor tells Glee at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    /// How the agent ended.
    pub(super) end: End,
    /// Whether the sandbox held it.
    pub(super) held: bool,
    /// The processes that could not be ended; `None` is the proof that there are none.
    pub(super) left: Option<Vec<i32>>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end {
            End::Exit(code) => write!(f, "exit {code}")?,
            End::Signal(signal) => write!(f, "signal {signal}")?,
            End::NotStarted(errno) => write!(f, "errno {errno}")?,
            End::NotHeld => f.write_str("refused 0")?,
            End::Unknown => f.write_str("unknown 0")?,
        }
        f.write_str(if self.held { " held" } else { " free" })?;
        if let Some(left) = &self.left {
            f.write_str(" left")?;
            // More would not fit into one write to a pipe.
            left.iter().take(200).try_for_each(|pid| write!(f, " {pid}"))?;
        }
        Ok(())
    }
}

impl FromStr for Report {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let mut words = line.split_whitespace();
        let (kind, number) = words.next().zip(words.next()).ok_or(())?;
        let number = number.parse().map_err(drop)?;
        let end = match kind {
            "exit" => End::Exit(number),
            "signal" => End::Signal(number),
            "errno" => End::NotStarted(number),
            "refused" => End::NotHeld,
            "unknown" => End::Unknown,
            _ => return Err(()),
        };
        let held = match words.next() {
            Some("held") => true,
            Some("free") => false,
            _ => return Err(()),
        };
        let left = match words.next() {
            None => None,
            Some("left") => Some(words.map(str::parse).collect::<Result<_, _>>().map_err(drop)?),
            Some(_) => return Err(()),
        };
        Ok(Self { end, held, left })
    }
}

/// Runs the supervisor with the arguments after its [`NAME`].
pub fn main(args: &[OsString]) -> ExitCode {
    let Some(orders) = parse(args) else { return ExitCode::from(2) };
    let (Ok(liveness), Ok(mut report)) = (adopt_reader(orders.liveness), adopt_writer(orders.report)) else {
        return ExitCode::from(2);
    };
    close_inherited(&[liveness.as_raw_fd(), report.as_raw_fd()]);
    let ended = supervise(liveness, &orders);
    if let Some(folder) = orders.temporary {
        // Glee removes it as well; whoever comes second finds nothing.
        drop(std::fs::remove_dir_all(folder));
    }
    // Nobody reads it if Glee is gone.
    drop(report.write_all(ended.to_string().as_bytes()));
    ExitCode::from(match ended.end {
        End::Exit(code) => u8::try_from(code).unwrap_or(u8::MAX),
        End::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        End::NotStarted(_) => 127,
        End::NotHeld => 126,
        End::Unknown => 137,
    })
}

/// What the arguments say.
#[derive(Debug, PartialEq, Eq)]
struct Orders<'a> {
    liveness: RawFd,
    report: RawFd,
    grace: Duration,
    temporary: Option<&'a Path>,
    sandbox: Sandbox,
    writable: Vec<PathBuf>,
    program: &'a OsStr,
    args: &'a [OsString],
}

fn parse(args: &[OsString]) -> Option<Orders<'_>> {
    let dashes = args.iter().position(|word| word == "--")?;
    let [liveness, report, grace, temporary, held, writable @ ..] = &args[..dashes] else { return None };
    let (program, args) = args[dashes + 1..].split_first()?;
    Some(Orders {
        liveness: liveness.to_str()?.parse().ok()?,
        report: report.to_str()?.parse().ok()?,
        grace: Duration::from_millis(grace.to_str()?.parse().ok()?),
        temporary: Some(Path::new(temporary)).filter(|path| path.is_absolute()),
        sandbox: match held.to_str()? {
            FREE => Sandbox::Off,
            IF_POSSIBLE => Sandbox::Auto,
            HELD => Sandbox::Required,
            _ => return None,
        },
        writable: writable.iter().map(PathBuf::from).collect(),
        program,
        args,
    })
}

#[cfg(target_os = "linux")]
const DESCRIPTORS: &str = "/proc/self/fd";
#[cfg(not(target_os = "linux"))]
const DESCRIPTORS: &str = "/dev/fd";

/// Opens an inherited pipe anew: what Rust opens is closed on exec, so the agent cannot inherit it.
fn adopt_reader(fd: RawFd) -> std::io::Result<File> {
    File::open(format!("{DESCRIPTORS}/{fd}"))
}

fn adopt_writer(fd: RawFd) -> std::io::Result<File> {
    File::options().write(true).open(format!("{DESCRIPTORS}/{fd}"))
}

/// Closes every descriptor beyond the standard three but `kept`, also those that Glee's own parent left open.
fn close_inherited(kept: &[RawFd]) {
    let Ok(entries) = std::fs::read_dir(DESCRIPTORS) else { return };
    let open: Vec<RawFd> = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for fd in open.into_iter().filter(|fd| *fd > 2 && !kept.contains(fd)) {
        // The folder's own descriptor is among them and closed already.
        let _ = nix::unistd::close(fd);
    }
}

/// What the first thread is told by the others.
enum Note {
    /// The agent itself has ended.
    Ended(End),
    /// No child is left, living or dead.
    Alone,
    /// The agent is to be ended.
    Stop,
}

fn supervise(liveness: File, orders: &Orders<'_>) -> Report {
    // It fails only for the leader of a group, which is then out of the terminal's reach as well.
    let _ = nix::unistd::setsid();
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
    let not_started = |error: std::io::Error| {
        let errno = error.raw_os_error().unwrap_or(Errno::EINVAL as i32);
        Report { end: End::NotStarted(errno), held: false, left: None }
    };
    // Caught from before there is an agent, by handlers and not by a mask: the agent would inherit a mask.
    let signals = match Signals::new([SIGTERM, SIGINT, SIGHUP]) {
        Ok(signals) => signals,
        Err(error) => return not_started(error),
    };
    // A thread of its own, because what is held stays held.
    let (held, started) = thread::scope(|scope| scope.spawn(|| start(orders)).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let agent = match started {
        Some(Ok(agent)) => agent,
        Some(Err(error)) => return not_started(error),
        None => return Report { end: End::NotHeld, held, left: None },
    };
    release_stdin();
    let (notes, inbox) = channel();
    listen(agent, liveness, signals, &notes);
    let end = wait(agent, orders.grace, &inbox);
    let (end, left) = sweep(agent, end, &inbox);
    Report { end, held, left }
}

/// Starts the agent, held as ordered: whether it is, and its process, or nothing where it would have to be held.
fn start(orders: &Orders<'_>) -> (bool, Option<std::io::Result<Pid>>) {
    let held = orders.sandbox != Sandbox::Off && sandbox::hold(&orders.writable);
    if orders.sandbox == Sandbox::Required && !held {
        return (held, None);
    }
    let child = Command::new(orders.program).args(orders.args).process_group(0).spawn();
    (held, Some(child.map(|child| Pid::from_raw(child.id().cast_signed()))))
}

/// Lets go of the agent's stdin, so that Glee sees it when the agent closes it.
fn release_stdin() {
    if let Ok(null) = File::open("/dev/null") {
        let _ = nix::unistd::dup2_stdin(null);
    }
}

/// Starts the three threads that wait for what may happen.
fn listen(agent: Pid, mut liveness: File, mut signals: Signals, notes: &Sender<Note>) {
    let tell = notes.clone();
    thread::spawn(move || {
        loop {
            match waitpid(None, None) {
                Ok(WaitStatus::Exited(pid, code)) if pid == agent => drop(tell.send(Note::Ended(End::Exit(code)))),
                Ok(WaitStatus::Signaled(pid, signal, _)) if pid == agent => {
                    drop(tell.send(Note::Ended(End::Signal(signal as i32))));
                }
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => break drop(tell.send(Note::Alone)),
            }
        }
    });
    let tell = notes.clone();
    thread::spawn(move || {
        // Nothing is ever written to it; it only ends.
        drop(copy(&mut liveness, &mut sink()));
        drop(tell.send(Note::Stop));
    });
    let tell = notes.clone();
    thread::spawn(move || signals.forever().try_for_each(|_| tell.send(Note::Stop)));
}

/// Waits until the agent has ended, or has been asked to and has not within the grace period.
fn wait(agent: Pid, grace: Duration, inbox: &Receiver<Note>) -> End {
    let mut deadline = None;
    loop {
        let note = match deadline {
            None => inbox.recv().map_err(RecvTimeoutError::from),
            Some(deadline) => inbox.recv_timeout(until(deadline)),
        };
        match note {
            Ok(Note::Ended(end)) => return end,
            Ok(Note::Stop) if deadline.is_none() => {
                signal(agent, Signal::SIGTERM);
                signal(agent, Signal::SIGCONT);
                deadline = Some(Instant::now() + grace);
            }
            Ok(Note::Stop) => {}
            Ok(Note::Alone) | Err(_) => return End::Unknown,
        }
    }
}

/// Kills what is left until nothing is; returns how the agent ended and what could not be ended.
fn sweep(agent: Pid, mut end: End, inbox: &Receiver<Note>) -> (End, Option<Vec<i32>>) {
    let deadline = Instant::now() + SWEEP;
    let mut pause = Duration::from_millis(1);
    loop {
        signal(agent, Signal::SIGKILL);
        match inbox.recv_timeout(pause.min(until(deadline))) {
            Ok(Note::Alone) => return (end, None),
            Ok(Note::Ended(ended)) => end = ended,
            Ok(Note::Stop) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if Instant::now() >= deadline {
            break;
        }
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    (end, Some(descendants().iter().map(|pid| pid.as_raw()).collect()))
}

fn until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// Signals the agent's group and every descendant outside it. Who is gone by now needs no signal.
fn signal(agent: Pid, signal: Signal) {
    // Its number cannot name a stranger's group yet: only microseconds ago it was this one's.
    let _ = killpg(agent, signal);
    for pid in descendants() {
        if nix::unistd::getpgid(Some(pid)) != Ok(agent) || signal == Signal::SIGKILL {
            let _ = kill(pid, signal);
        }
    }
}

/// All descendants, each after its parent.
#[cfg(target_os = "linux")]
fn descendants() -> Vec<Pid> {
    let mut found = children("self");
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        let deeper = children(&pid.to_string());
        found.extend(deeper);
        next += 1;
    }
    found
}

#[cfg(target_os = "linux")]
fn children(process: &str) -> Vec<Pid> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .map(Pid::from_raw)
        .collect()
}

/// Elsewhere nobody adopts orphans, and only the group can be reached.
#[cfg(not(target_os = "linux"))]
fn descendants() -> Vec<Pid> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_survives_the_pipe() {
        let reports = [
            ("exit 3 free", Report { end: End::Exit(3), held: false, left: None }),
            ("signal 11 held left", Report { end: End::Signal(11), held: true, left: Some(vec![]) }),
            ("errno 2 free", Report { end: End::NotStarted(2), held: false, left: None }),
            ("refused 0 free", Report { end: End::NotHeld, held: false, left: None }),
            ("unknown 0 held left 5 6", Report { end: End::Unknown, held: true, left: Some(vec![5, 6]) }),
        ];
        for (line, report) in reports {
            assert_eq!(report.to_string(), line);
            assert_eq!(line.parse(), Ok(report));
        }
        for line in ["", "exit", "exit 1", "exit x free", "stop 1 free", "exit 1 held left x", "exit 1 free more"] {
            assert_eq!(line.parse::<Report>(), Err(()), "{line}");
        }
    }

    #[test]
    fn arguments_are_read_strictly() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let args = words("7 9 250 /tmp/x auto /a /b -- sh -c --");
        let rest = words("-c --");
        let orders = Orders {
            liveness: 7,
            report: 9,
            grace: Duration::from_millis(250),
            temporary: Some(Path::new("/tmp/x")),
            sandbox: Sandbox::Auto,
            writable: vec!["/a".into(), "/b".into()],
            program: OsStr::new("sh"),
            args: &rest,
        };
        assert_eq!(parse(&args), Some(orders));
        assert_eq!(parse(&words("7 9 250  free -- sh")).map(|orders| orders.temporary), Some(None));
        for line in [
            "",
            "7 9 250  free --",
            "7 9 250  free sh x",
            "a 9 250  free -- sh",
            "7 9 1.5  free -- sh",
            "7 9 1  x -- sh",
        ] {
            assert_eq!(parse(&words(line)), None, "{line}");
        }
    }
}
