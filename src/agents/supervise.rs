//! The supervisor: Glee re-executed to run one agent and to leave nothing of it behind.
//!
//! It leads a session of its own, so that no signal from Glee's terminal reaches the agent, and on Linux it is the
//! subreaper of everything the agent starts, so that a process that leaves the agent's group or loses its parent
//! becomes the supervisor's child. When the agent ends, what is left of its tree is killed. When the liveness pipe
//! reaches its end (Glee wants the agent to stop, or Glee is gone, even by SIGKILL) the tree is asked to end, and
//! killed after the grace period. That no child is left is known from the system (`ECHILD`), not assumed.
//!
//! It has no runtime and no configuration: one thread waits for children, one for the pipe, one for signals, and the
//! first thread decides.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{PipeReader, PipeWriter, Write as _, copy, sink};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
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

/// The hidden first argument.
pub const NAME: &str = "__supervise";

/// How long killing may take before survivors are reported.
const SWEEP: Duration = Duration::from_secs(2);

/// The arguments up to the agent's own command line: the two pipes' numbers and the grace period in milliseconds.
pub(super) fn arguments(liveness: &PipeReader, report: &PipeWriter, grace: Duration) -> [OsString; 5] {
    let number = |fd: RawFd| fd.to_string().into();
    let grace = grace.as_millis().to_string().into();
    [NAME.into(), number(liveness.as_raw_fd()), number(report.as_raw_fd()), grace, "--".into()]
}

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
    /// It would not die, or its end was not seen.
    Unknown,
}

/// What the supervisor tells Glee at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    /// How the agent ended.
    pub(super) end: End,
    /// The processes that could not be ended; `None` is the proof that there are none.
    pub(super) left: Option<Vec<i32>>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end {
            End::Exit(code) => write!(f, "exit {code}")?,
            End::Signal(signal) => write!(f, "signal {signal}")?,
            End::NotStarted(errno) => write!(f, "errno {errno}")?,
            End::Unknown => f.write_str("unknown 0")?,
        }
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
            "unknown" => End::Unknown,
            _ => return Err(()),
        };
        let left = match words.next() {
            None => None,
            Some("left") => Some(words.map(str::parse).collect::<Result<_, _>>().map_err(drop)?),
            Some(_) => return Err(()),
        };
        Ok(Self { end, left })
    }
}

/// Runs the supervisor with the arguments after its [`NAME`].
pub fn main(args: &[OsString]) -> ExitCode {
    let Some((liveness, report, grace, program, args)) = parse(args) else {
        return ExitCode::from(2);
    };
    let (Ok(liveness), Ok(mut report)) = (adopt_reader(liveness), adopt_writer(report)) else {
        return ExitCode::from(2);
    };
    close_inherited(&[liveness.as_raw_fd(), report.as_raw_fd()]);
    let ended = supervise(liveness, grace, program, args);
    // Nobody reads it if Glee is gone.
    drop(report.write_all(ended.to_string().as_bytes()));
    ExitCode::from(match ended.end {
        End::Exit(code) => u8::try_from(code).unwrap_or(u8::MAX),
        End::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        End::NotStarted(_) => 127,
        End::Unknown => 137,
    })
}

fn parse(args: &[OsString]) -> Option<(RawFd, RawFd, Duration, &OsStr, &[OsString])> {
    let [liveness, report, grace, dashes, program, args @ ..] = args else { return None };
    if dashes != "--" {
        return None;
    }
    let grace = Duration::from_millis(grace.to_str()?.parse().ok()?);
    Some((liveness.to_str()?.parse().ok()?, report.to_str()?.parse().ok()?, grace, program, args))
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

fn supervise(liveness: File, grace: Duration, program: &OsStr, args: &[OsString]) -> Report {
    // It fails only for the leader of a group, which is then out of the terminal's reach as well.
    let _ = nix::unistd::setsid();
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
    let not_started = |error: std::io::Error| {
        let errno = error.raw_os_error().unwrap_or(Errno::EINVAL as i32);
        Report { end: End::NotStarted(errno), left: None }
    };
    // Caught from before there is an agent, by handlers and not by a mask: the agent would inherit a mask.
    let signals = match Signals::new([SIGTERM, SIGINT, SIGHUP]) {
        Ok(signals) => signals,
        Err(error) => return not_started(error),
    };
    let agent = match Command::new(program).args(args).process_group(0).spawn() {
        Ok(child) => Pid::from_raw(child.id().cast_signed()),
        Err(error) => return not_started(error),
    };
    release_stdin();
    let (notes, inbox) = channel();
    listen(agent, liveness, signals, &notes);
    let end = wait(agent, grace, &inbox);
    sweep(agent, end, &inbox)
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

/// Kills what is left until nothing is.
fn sweep(agent: Pid, mut end: End, inbox: &Receiver<Note>) -> Report {
    let deadline = Instant::now() + SWEEP;
    let mut pause = Duration::from_millis(1);
    loop {
        signal(agent, Signal::SIGKILL);
        match inbox.recv_timeout(pause.min(until(deadline))) {
            Ok(Note::Alone) => return Report { end, left: None },
            Ok(Note::Ended(ended)) => end = ended,
            Ok(Note::Stop) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if Instant::now() >= deadline {
            break;
        }
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    Report { end, left: Some(descendants().iter().map(|pid| pid.as_raw()).collect()) }
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
            ("exit 3", Report { end: End::Exit(3), left: None }),
            ("signal 11 left", Report { end: End::Signal(11), left: Some(vec![]) }),
            ("errno 2", Report { end: End::NotStarted(2), left: None }),
            ("unknown 0 left 5 6", Report { end: End::Unknown, left: Some(vec![5, 6]) }),
        ];
        for (line, report) in reports {
            assert_eq!(report.to_string(), line);
            assert_eq!(line.parse(), Ok(report));
        }
        for line in ["", "exit", "exit x", "stop 1", "exit 1 left x", "exit 1 more"] {
            assert_eq!(line.parse::<Report>(), Err(()), "{line}");
        }
    }

    #[test]
    fn arguments_are_read_strictly() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let args = words("7 9 250 -- sh -c x");
        let rest = words("-c x");
        assert_eq!(parse(&args), Some((7, 9, Duration::from_millis(250), OsStr::new("sh"), rest.as_slice())));
        for line in ["", "7 9 250 --", "7 9 250 sh x y", "a 9 250 -- sh", "7 9 1.5 -- sh"] {
            assert_eq!(parse(&words(line)), None, "{line}");
        }
    }
}
