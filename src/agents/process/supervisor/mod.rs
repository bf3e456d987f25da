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
//! It has no runtime and no configuration, and one thread, which waits for children, the pipe and signals at once: to
//! wake another thread takes longer than all else that it does.

pub(crate) mod orders;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, parent_id};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use super::sandbox;
use crate::agents::process::sandbox::confinement::{Confinement, Hold, Surroundings};
use orders::{Orders, descriptor, parse};

pub(crate) use orders::DESCRIPTORS;
pub(crate) use orders::{ProcessEnd, RESUME, Report, SUSPEND, SupervisorPipes, arguments, hand_over};

/// How long killing may take before survivors are reported.
const SWEEP: Duration = Duration::from_secs(2);

pub fn main(args: &[OsString]) -> ExitCode {
    let Some((orders, program, args)) = parse(args) else { return ExitCode::from(2) };
    let (Ok(liveness), Ok(report)) =
        (File::open(descriptor(orders.liveness)), File::options().write(true).open(descriptor(orders.report)))
    else {
        return ExitCode::from(2);
    };
    // If Glee is gone, its number may be another's by now.
    if parent_id() != orders.starter {
        return ExitCode::from(2);
    }
    close_inherited(&[liveness.as_raw_fd(), report.as_raw_fd()]);
    let ended = supervise(liveness, &orders, program, args);
    // Glee removes it as well; whoever comes second finds nothing.
    drop(std::fs::remove_dir_all(&orders.temporary));
    // Nobody reads it if Glee is gone.
    drop(serde_json::to_writer(report, &ended));
    ExitCode::from(match ended.end {
        ProcessEnd::Exit(code) => u8::try_from(code).unwrap_or(u8::MAX),
        ProcessEnd::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        ProcessEnd::NotStarted(_) => 127,
        ProcessEnd::NotHeld => 126,
        ProcessEnd::Unknown => 137,
    })
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

enum Note {
    Ended(ProcessEnd),
    /// No child is left, living or dead.
    Alone,
    Stop,
    /// The agent and its descendants are to be suspended (true) or resumed.
    Suspend(bool),
}

struct Watch {
    /// Carries [`SUSPEND`] and [`RESUME`]; `None` once it is closed.
    liveness: Option<File>,
    /// Gets a byte when a child may have ended.
    children: UnixStream,
    /// Gets a byte for a signal that asks to end.
    signals: UnixStream,
}

impl Watch {
    /// To be called before there is an agent, by handlers and not by a mask: the agent would inherit a mask.
    fn new(liveness: File) -> io::Result<Self> {
        let told_of = |signals: &[i32]| {
            let (told, tell) = UnixStream::pair()?;
            told.set_nonblocking(true)?;
            for signal in signals {
                signal_hook::low_level::pipe::register(*signal, tell.try_clone()?)?;
            }
            io::Result::Ok(told)
        };
        let children = told_of(&[SIGCHLD])?;
        Ok(Self { liveness: Some(liveness), children, signals: told_of(&[SIGTERM, SIGINT, SIGHUP])? })
    }

    /// What happens next; nothing if that is not before `until`.
    fn next(&mut self, agent: Pid, until: Option<Instant>) -> Option<Note> {
        loop {
            if let Some(note) = reap(agent) {
                return Some(note);
            }
            let timeout = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => PollTimeout::NONE,
                Some(Duration::ZERO) => return None,
                // Rounded up: a wait of nothing would be repeated until the time has come.
                Some(left) => u16::try_from(left.as_millis() + 1).unwrap_or(u16::MAX).into(),
            };
            let mut ready = vec![
                PollFd::new(self.children.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            ];
            ready.extend(self.liveness.as_ref().map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN)));
            match poll(&mut ready, timeout) {
                Ok(_) | Err(Errno::EINTR) => {}
                // It cannot be watched any more, so it must not go on.
                Err(_) => return Some(Note::Stop),
            }
            let is_ready = |at: usize| ready.get(at).and_then(PollFd::any).unwrap_or(false);
            let (signalled, ended) = (is_ready(1), is_ready(2));
            empty(&mut self.children);
            if signalled {
                empty(&mut self.signals);
                return Some(Note::Stop);
            }
            if ended {
                let mut orders = [0; 64];
                let read = self.liveness.as_mut().map_or(Ok(0), |pipe| pipe.read(&mut orders));
                match read {
                    // Only the last word counts.
                    Ok(length @ 1..) => {
                        return Some(Note::Suspend(orders[length - 1] == SUSPEND));
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(_) | Err(_) => {
                        self.liveness = None;
                        return Some(Note::Stop);
                    }
                }
            }
        }
    }
}

fn reap(agent: Pid) -> Option<Note> {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if pid == agent => {
                return Some(Note::Ended(ProcessEnd::Exit(code)));
            }
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == agent => {
                return Some(Note::Ended(ProcessEnd::Signal(signal as i32)));
            }
            Ok(WaitStatus::StillAlive) => return None,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return Some(Note::Alone),
        }
    }
}

/// Empties a non-blocking socket.
fn empty(socket: &mut UnixStream) {
    let mut buffer = [0; 64];
    while matches!(socket.read(&mut buffer), Ok(length) if length == buffer.len()) {}
}

fn supervise(liveness: File, orders: &Orders, program: &OsStr, args: &[OsString]) -> Report {
    // It fails only for the leader of a group, which is then out of the terminal's reach as well.
    let _ = nix::unistd::setsid();
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
    let not_started = |error: io::Error| {
        let errno = error.raw_os_error().unwrap_or(Errno::EINVAL as i32);
        Report { end: ProcessEnd::NotStarted(errno), held: false, left: None }
    };
    let mut watch = match Watch::new(liveness) {
        Ok(watch) => watch,
        Err(error) => return not_started(error),
    };
    let confinement = &orders.confinement;
    let holds = confinement.hold.holds();
    let surroundings = holds.then(|| Surroundings::make(confinement, Path::new(&orders.temporary)));
    let surroundings = surroundings.unwrap_or_default();
    // After the namespaces, whose maps only a process that may be inspected can write.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_dumpable(false);
    let mut command = Command::new(program);
    command.args(args).envs(surroundings.variables()).process_group(0);
    let (held, started) = match confinement.hold {
        Hold::Free => (false, Some(start(command))),
        // A thread of its own, because what is held stays held.
        Hold::Apart | Hold::IfPossible | Hold::Always => {
            thread::scope(|scope| scope.spawn(|| start_held(command, confinement, &surroundings)).join())
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        }
    };
    let agent = match started {
        Some(Ok(agent)) => agent,
        Some(Err(error)) => return not_started(error),
        None => return Report { end: ProcessEnd::NotHeld, held, left: None },
    };
    release_stdin();
    let end = wait(agent, orders.grace, &mut watch);
    let (end, left) = sweep(agent, end, &mut watch);
    Report { end, held, left }
}

fn start(mut command: Command) -> io::Result<Pid> {
    Ok(Pid::from_raw(command.spawn()?.id().cast_signed()))
}

/// Starts the agent held: whether it is, and its process, or nothing where it would have to be held.
fn start_held(
    command: Command,
    confinement: &Confinement,
    surroundings: &Surroundings,
) -> (bool, Option<io::Result<Pid>>) {
    sandbox::drop_capabilities();
    if confinement.hold == Hold::Apart {
        sandbox::keep_apart();
        return (false, Some(start(command)));
    }
    let held = sandbox::hold(confinement.writable.iter().map(Path::new).chain(surroundings.writable()));
    let may_start = held || confinement.hold != Hold::Always;
    (held, may_start.then(|| start(command)))
}

/// Lets go of the agent's stdin, so that Glee sees it when the agent closes it.
fn release_stdin() {
    if let Ok(null) = File::open("/dev/null") {
        let _ = nix::unistd::dup2_stdin(null);
    }
}

/// Waits until the agent has ended, or has been asked to and has not within the grace period.
fn wait(agent: Pid, grace: Duration, watch: &mut Watch) -> ProcessEnd {
    let mut deadline = None;
    loop {
        match watch.next(agent, deadline) {
            Some(Note::Ended(end)) => return end,
            Some(Note::Stop) if deadline.is_none() => {
                signal(agent, Signal::SIGTERM);
                signal(agent, Signal::SIGCONT);
                deadline = Some(Instant::now() + grace);
            }
            Some(Note::Suspend(suspend)) if deadline.is_none() => {
                signal(agent, if suspend { Signal::SIGSTOP } else { Signal::SIGCONT });
            }
            Some(Note::Stop | Note::Suspend(_)) => {}
            Some(Note::Alone) | None => return ProcessEnd::Unknown,
        }
    }
}

/// Kills the remaining descendants; returns how the agent ended and which of them survived.
fn sweep(agent: Pid, mut end: ProcessEnd, watch: &mut Watch) -> (ProcessEnd, Option<Vec<i32>>) {
    let deadline = Instant::now() + SWEEP;
    let mut pause = Duration::from_millis(1);
    // Where orphans are nobody's, the group alone tells of them.
    kill_group(agent, Signal::SIGKILL);
    while Instant::now() < deadline {
        match watch.next(agent, Some(deadline.min(Instant::now() + pause))) {
            Some(Note::Alone) => return (end, None),
            Some(Note::Ended(ended)) => end = ended,
            Some(Note::Stop | Note::Suspend(_)) | None => {
                signal(agent, Signal::SIGKILL);
                pause = (pause * 2).min(Duration::from_millis(50));
            }
        }
    }
    // More would not fit into what Glee reads.
    (end, Some(descendants("self").iter().take(200).map(|pid| pid.as_raw()).collect()))
}

/// Signals the agent's group and every descendant outside it. Who is gone by now needs no signal.
fn signal(agent: Pid, signal: Signal) {
    kill_group(agent, signal);
    for pid in descendants("self") {
        if nix::unistd::getpgid(Some(pid)) != Ok(agent) || signal == Signal::SIGKILL {
            let _ = kill(pid, signal);
        }
    }
}

fn kill_group(agent: Pid, signal: Signal) {
    // Its number cannot name a stranger's group yet: only microseconds ago it was this one's.
    let _ = killpg(agent, signal);
}

/// All descendants of a process, by its id or `self`, each after its parent.
#[cfg(target_os = "linux")]
pub(crate) fn descendants(process: &str) -> Vec<Pid> {
    let mut found = children(process);
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        let deeper = children(&pid.to_string());
        found.extend(deeper);
        next += 1;
    }
    found
}

/// The children of a process, by its id or `self`.
#[cfg(target_os = "linux")]
pub(crate) fn children(process: &str) -> Vec<Pid> {
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
fn descendants(_process: &str) -> Vec<Pid> {
    Vec::new()
}
