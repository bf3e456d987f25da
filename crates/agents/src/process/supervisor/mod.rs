//! The supervisor is a second process of Glee's program. The supervisor runs one agent and ends all descendants
//! of the agent.
//!
//! The supervisor leads a new session, so that signals of Glee's terminal do not reach the agent. On Linux, the
//! supervisor is also the subreaper of the agent's descendants: a process that loses its parent becomes a child of
//! the supervisor. When the agent ends, the supervisor kills the remaining descendants. The liveness pipe reaches
//! EOF when Glee stops the agent, or when Glee ends. After EOF, the supervisor sends SIGTERM to the agent and its
//! descendants. After the grace period, the supervisor sends SIGKILL. The error `ECHILD` confirms that no child
//! process remains.
//!
//! A separate thread of the supervisor enters the sandbox and starts the agent. The sandbox applies to all
//! descendants of this thread (see `sandbox`). The main thread stays outside the sandbox, and removes the
//! agent's temporary folder at the end.
//!
//! A program with an allowance runs in a process namespace of its own, so that the kernel ends all of its processes
//! with the first one, however fast they multiply. The main thread measures what they take (see `allowance`).
//!
//! The supervisor has no async runtime and no configuration. The main thread polls the child processes, the
//! liveness pipe and the signals.

mod allowance;
pub(crate) mod descendants;
pub mod orders;

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
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use super::sandbox;
use crate::Confinement;
use crate::process::sandbox::confinement::{Hold, Surroundings};
use allowance::{Meter, TICK};
use descendants::descendants;
use orders::{Orders, descriptor, parse};

pub use orders::DESCRIPTORS;
pub use orders::{ProcessEnd, RESUME, Report, SUSPEND, SupervisorPipes, arguments, hand_over};

const SWEEP: Duration = Duration::from_secs(2);

pub fn main(args: &[OsString]) -> ExitCode {
    let Some((orders, program, args)) = parse(args) else {
        return ExitCode::from(2);
    };
    let (Ok(liveness), Ok(report)) = (
        File::open(descriptor(orders.liveness)),
        File::options().write(true).open(descriptor(orders.report)),
    ) else {
        return ExitCode::from(2);
    };
    // If Glee ends, another process becomes the supervisor's parent, and the supervisor must not start the
    // agent.
    if parent_id() != orders.starter {
        return ExitCode::from(2);
    }
    close_inherited(&[liveness.as_raw_fd(), report.as_raw_fd()]);
    let ended = supervise(liveness, &orders, program, args);
    drop(std::fs::remove_dir_all(&orders.temporary));
    drop(serde_json::to_writer(report, &ended));
    ExitCode::from(match ended.end {
        ProcessEnd::Exit(code) => u8::try_from(code).unwrap_or(u8::MAX),
        ProcessEnd::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        ProcessEnd::NotStarted(_) => 127,
        ProcessEnd::NotConfined => 126,
        ProcessEnd::TookTooMuch(_) | ProcessEnd::Unknown => 137,
    })
}

/// Closes all file descriptors except stdin, stdout, stderr and the descriptors in `kept`.
fn close_inherited(kept: &[RawFd]) {
    let Ok(entries) = std::fs::read_dir(DESCRIPTORS) else {
        return;
    };
    let open: Vec<RawFd> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    for fd in open.into_iter().filter(|fd| *fd > 2 && !kept.contains(fd)) {
        // An error of `close` is ignored. The list `open` contains one descriptor that is already closed: the
        // descriptor through which `DESCRIPTORS` was read.
        let _ = nix::unistd::close(fd);
    }
}

enum Notice {
    Ended(ProcessEnd),
    Alone,
    Stop,
    /// The value true suspends the agent and its descendants, and the value false resumes these processes.
    Suspend(bool),
}

struct Events {
    /// The pipe that receives [`SUSPEND`] and [`RESUME`]; `None` after EOF.
    liveness: Option<File>,
    children: UnixStream,
    signals: UnixStream,
}

impl Events {
    /// Installs signal handlers. The caller has to call this function before the agent starts. The function does
    /// not block signals, because the agent would inherit the mask of blocked signals.
    fn new(liveness: File) -> io::Result<Self> {
        let children = socket_for(&[SIGCHLD])?;
        Ok(Self {
            liveness: Some(liveness),
            children,
            signals: socket_for(&[SIGTERM, SIGINT, SIGHUP])?,
        })
    }

    fn next(&mut self, agent: Pid, until: Option<Instant>) -> Option<Notice> {
        loop {
            if let Some(note) = reap(agent) {
                return Some(note);
            }
            let timeout = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => PollTimeout::NONE,
                Some(Duration::ZERO) => return None,
                // The timeout is rounded up, because a timeout of zero would cause a busy loop.
                Some(left) => u16::try_from(left.as_millis() + 1)
                    .unwrap_or(u16::MAX)
                    .into(),
            };
            let mut ready = vec![
                PollFd::new(self.children.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            ];
            ready.extend(
                self.liveness
                    .as_ref()
                    .map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN)),
            );
            match poll(&mut ready, timeout) {
                Ok(_) | Err(Errno::EINTR) => {}
                // If `poll` fails, the supervisor cannot supervise the agent any longer, and stops the agent.
                Err(_) => return Some(Notice::Stop),
            }
            let is_ready = |at: usize| ready.get(at).and_then(PollFd::any).unwrap_or(false);
            let signalled = is_ready(1);
            let ended = is_ready(2);
            empty(&mut self.children);
            if signalled {
                empty(&mut self.signals);
                return Some(Notice::Stop);
            }
            if ended {
                let mut orders = [0; 64];
                let read = self
                    .liveness
                    .as_mut()
                    .map_or(Ok(0), |pipe| pipe.read(&mut orders));
                match read {
                    Ok(length @ 1..) => {
                        return Some(Notice::Suspend(orders[length - 1] == SUSPEND));
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(_) | Err(_) => {
                        self.liveness = None;
                        return Some(Notice::Stop);
                    }
                }
            }
        }
    }
}

fn socket_for(signals: &[i32]) -> io::Result<UnixStream> {
    let (receiver, sender) = UnixStream::pair()?;
    receiver.set_nonblocking(true)?;
    for signal in signals {
        signal_hook::low_level::pipe::register(*signal, sender.try_clone()?)?;
    }
    io::Result::Ok(receiver)
}

fn reap(agent: Pid) -> Option<Notice> {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if pid == agent => {
                return Some(Notice::Ended(ProcessEnd::Exit(code)));
            }
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == agent => {
                return Some(Notice::Ended(ProcessEnd::Signal(signal as i32)));
            }
            Ok(WaitStatus::StillAlive) => return None,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return Some(Notice::Alone),
        }
    }
}

fn empty(socket: &mut UnixStream) {
    let mut buffer = [0; 64];
    while matches!(socket.read(&mut buffer), Ok(length) if length == buffer.len()) {}
}

fn supervise(liveness: File, orders: &Orders, program: &OsStr, args: &[OsString]) -> Report {
    // `setsid` fails if this process already leads a process group. Even then, the terminal sends no signals to
    // this process, so the error is ignored.
    let _ = nix::unistd::setsid();
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
    let mut events = match Events::new(liveness) {
        Ok(events) => events,
        Err(error) => return not_started(error),
    };
    let confinement = &orders.confinement;
    let surroundings = confinement
        .needs_namespaces()
        .then(|| Surroundings::make(confinement, Path::new(&orders.temporary)));
    let surroundings = surroundings.unwrap_or_default();
    if surroundings.has_failed {
        return Report {
            end: ProcessEnd::NotConfined,
            held: false,
            left: None,
            peak_memory: None,
        };
    }
    // This call makes the process non-dumpable. Namespaces are created earlier, because only a dumpable process
    // can write the id maps of a namespace.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_dumpable(false);
    let meter = confinement.allowance.map(|allowance| {
        let writable = confinement.writable.iter().map(Path::new);
        Meter::new(allowance, writable.chain(surroundings.writable()))
    });
    let mut command = Command::new(program);
    command
        .args(args)
        .envs(surroundings.variables())
        .process_group(0);
    let (held, started) = match confinement.hold {
        Hold::Free => (false, Some(start(command))),
        // A separate thread enters the sandbox, because a thread can never leave a sandbox.
        Hold::Isolated | Hold::IfPossible | Hold::Always => thread::scope(|scope| {
            scope
                .spawn(|| start_held(command, confinement, &surroundings))
                .join()
        })
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    };
    let agent = match started {
        Some(Ok(agent)) => agent,
        Some(Err(error)) => return not_started(error),
        None => {
            return Report {
                end: ProcessEnd::NotConfined,
                held,
                left: None,
                peak_memory: None,
            };
        }
    };
    release_stdin();
    if confinement.allowance.is_some() {
        // Only what runs before a program that multiplies its processes can end it. The program keeps its priority.
        sandbox::hurry();
    }
    let end = wait(agent, orders.grace, &mut events, meter);
    let (end, left) = sweep(agent, end, &mut events);
    Report {
        end,
        held,
        left,
        peak_memory: peak_memory(),
    }
}

/// The largest memory of a process that this one has waited for, or that such a process has waited for.
fn peak_memory() -> Option<u64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let unit = if cfg!(target_os = "macos") {
        1
    } else {
        1 << 10
    };
    u64::try_from(usage.max_rss()).ok().map(|peak| peak * unit)
}

fn not_started(error: io::Error) -> Report {
    let errno = error.raw_os_error().unwrap_or(Errno::EINVAL as i32);
    Report {
        end: ProcessEnd::NotStarted(errno),
        held: false,
        left: None,
        peak_memory: None,
    }
}

fn start(mut command: Command) -> io::Result<Pid> {
    Ok(Pid::from_raw(command.spawn()?.id().cast_signed()))
}

/// Starts the agent in the sandbox. The returned boolean is true if the sandbox restricts writing. The returned
/// process is `None` if a required sandbox is unavailable.
fn start_held(
    command: Command,
    confinement: &Confinement,
    surroundings: &Surroundings,
) -> (bool, Option<io::Result<Pid>>) {
    sandbox::drop_capabilities();
    if confinement.hold == Hold::Isolated {
        sandbox::isolate();
        return (false, Some(start(command)));
    }
    let own = confinement.writable.iter().map(Path::new);
    let writable = Vec::from_iter(own.chain(surroundings.writable()));
    // Landlock keeps an agent from writing where the mounts do not.
    let timed = confinement.timed.iter().map(Path::new);
    let timed = timed.filter(|_| !confinement.nests);
    let is_read_only =
        confinement.namespaces && sandbox::make_read_only(writable.iter().copied().chain(timed));
    let held = match confinement.nests {
        true if is_read_only => true,
        true if confinement.hold != Hold::Always => false,
        _ => sandbox::confine(
            writable.into_iter(),
            (!surroundings.has_covers).then_some(confinement),
        ),
    };
    let is_bounded = confinement.allowance.is_none_or(|allowance| {
        confinement.namespaces
            && sandbox::separate_processes()
            && allowance::limit(&allowance).is_ok()
    });
    let may_start = is_bounded && (held || confinement.hold != Hold::Always);
    (held, may_start.then(|| start(command)))
}

/// Closes the supervisor's own descriptor for the agent's stdin, so that Glee notices when the agent closes stdin.
fn release_stdin() {
    if let Ok(null) = File::open("/dev/null") {
        let _ = nix::unistd::dup2_stdin(null);
    }
}

/// Waits until the agent ends, or takes more than its allowance. After Glee has requested a stop, the function waits no
/// longer than the duration `grace`.
fn wait(agent: Pid, grace: Duration, events: &mut Events, mut meter: Option<Meter>) -> ProcessEnd {
    let mut deadline: Option<Instant> = None;
    loop {
        let tick = meter.as_ref().map(|_| Instant::now() + TICK);
        match events.next(agent, deadline.into_iter().chain(tick).min()) {
            Some(Notice::Ended(end)) => return end,
            Some(Notice::Stop) if deadline.is_none() => {
                signal(agent, Signal::SIGTERM);
                signal(agent, Signal::SIGCONT);
                deadline = Some(Instant::now() + grace);
            }
            Some(Notice::Suspend(suspend)) if deadline.is_none() => {
                signal(
                    agent,
                    if suspend {
                        Signal::SIGSTOP
                    } else {
                        Signal::SIGCONT
                    },
                );
            }
            Some(Notice::Stop | Notice::Suspend(_)) => {}
            Some(Notice::Alone) => return ProcessEnd::Unknown,
            None if deadline.is_some_and(|deadline| deadline <= Instant::now()) => {
                return ProcessEnd::Unknown;
            }
            None => {
                if let Some(scarce) = meter.as_mut().and_then(Meter::exceeded) {
                    return ProcessEnd::TookTooMuch(scarce);
                }
            }
        }
    }
}

/// Kills the agent's remaining descendants. Returns the [`ProcessEnd`] of the agent, and the ids of the
/// surviving processes.
fn sweep(agent: Pid, mut end: ProcessEnd, events: &mut Events) -> (ProcessEnd, Option<Vec<i32>>) {
    let deadline = Instant::now() + SWEEP;
    let mut pause = Duration::from_millis(1);
    // Without a subreaper, orphans can be reached only through the process group.
    kill_group(agent, Signal::SIGKILL);
    while Instant::now() < deadline {
        match events.next(agent, Some(deadline.min(Instant::now() + pause))) {
            Some(Notice::Alone) => return (end, None),
            Some(Notice::Ended(ended)) => {
                if end == ProcessEnd::Unknown {
                    end = ended;
                }
            }
            Some(Notice::Stop | Notice::Suspend(_)) | None => {
                signal(agent, Signal::SIGKILL);
                pause = (pause * 2).min(Duration::from_millis(50));
            }
        }
    }
    // The report contains at most 200 ids, so that the report fits into Glee's buffer.
    (
        end,
        Some(
            descendants("self")
                .iter()
                .take(200)
                .map(|pid| pid.as_raw())
                .collect(),
        ),
    )
}

/// Sends a signal to the agent's process group and to every descendant outside the group.
fn signal(agent: Pid, signal: Signal) {
    kill_group(agent, signal);
    for pid in descendants("self") {
        if nix::unistd::getpgid(Some(pid)) != Ok(agent) || signal == Signal::SIGKILL {
            let _ = kill(pid, signal);
        }
    }
}

fn kill_group(agent: Pid, signal: Signal) {
    // The process group existed immediately before this call, so no other process can have the group's id yet.
    let _ = killpg(agent, signal);
}
