//! `glee worker`: takes runs from the queue of the server.
//!
//! Each run has a process of its own, which this program starts again with the hidden option `--fence`. That process
//! renews its lease, and ends its agents if it loses the lease or if the worker dies. The worker ends the run in the queue
//! with the exit code of the process, or gives it back if the process did not come to an end.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::cli::commands::work::review;
use crate::cli::context::{CommandError, CommandResult, Globals, label, number, place, server};
use crate::cli::signals;
use glee_agents::process::sandbox;
use glee_model::domain::ExitReason;
use glee_protocol::secrets;
use glee_protocol::text::printable;
use glee_store::config::schema::units;
use glee_store::history::queue::Queue;
use glee_store::history::shared_log::SharedLogError;
use glee_store::history::submission::{CarriedRun, SANDBOX, Submission};
use glee_system::lease::{self, Moment};
use glee_workspace::MirrorTree;

/// Take submitted reviews from the server and run them
#[derive(clap::Args)]
#[command(after_help = "\
A worker fetches the commits of a run with this machine's git, and asks the agents of this machine's configuration and of \
the project's. SIGTERM lets it end its runs and take no other one; a second SIGTERM gives them to other workers. The \
setting `server` names the database, with a role that is a member of `glee_worker`; docs/server.md says more.

A worker takes no run that asks for a label that it does not have. Where the system can keep agents from writing, it has the \
label `sandbox`, for which reviews of forks ask.

Examples:
  glee worker -j 8           run up to eight reviews at once
  glee worker --labels gpu   take also what `glee review --submit --labels gpu` submits
  glee worker --once         run one review if one waits, as a job of a cluster does")]
pub(crate) struct Args {
    /// The maximum number of runs at once
    #[arg(short, long, value_name = "N", default_value_t = 4, allow_negative_numbers = true, value_parser = number::<usize>(1, 256))]
    jobs: usize,
    /// Take one run if one waits, and end
    #[arg(long, conflicts_with = "jobs")]
    once: bool,
    /// What this worker has: it also takes runs that ask for these labels
    #[arg(long, value_name = "LABELS", value_delimiter = ',', value_parser = label)]
    labels: Vec<String>,
    /// The maximum size of all mirrors of repositories; those that were not used for the longest time are removed
    #[arg(long, value_name = "SIZE", default_value = "20GiB", value_parser = size)]
    mirrors: u64,
}

fn size(text: &str) -> Result<u64, String> {
    units::size(text).ok_or_else(|| "give a size such as `500MiB` or `20GiB`".to_owned())
}

/// How often the worker looks at its processes.
const STEP: Duration = Duration::from_millis(50);
/// The longest time between two questions for a run.
const IDLE: Duration = Duration::from_secs(5);
/// How long a worker that ends tries to reach a server that is away.
const PATIENCE: Duration = Duration::from_secs(30);
/// What is kept of the errors of a run without a report, in bytes.
const FAILURE: u64 = 2000;

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match globals.claim() {
        Some(claim) => carry(args, globals, &claim),
        None => Worker::new(args, globals)?.work(),
    }
}

struct Worker<'a> {
    args: &'a Args,
    globals: &'a Globals,
    queue: Box<dyn Queue>,
    name: String,
    labels: Vec<String>,
    /// The number of signals to end.
    asked_to_end: Arc<AtomicUsize>,
    running: Vec<Running>,
    /// Runs whose end the server does not know yet.
    ended: Vec<Ended>,
}

struct Running {
    claim: CarriedRun,
    child: Child,
    errors: File,
}

struct Ended {
    claim: CarriedRun,
    /// `None` gives the run back.
    exit: Option<i32>,
    failed: Option<String>,
}

impl<'a> Worker<'a> {
    fn new(args: &'a Args, globals: &'a Globals) -> Result<Self, CommandError> {
        let server = server::required(globals)?;
        let queue = server.queue()?;
        let host = nix::unistd::gethostname().unwrap_or_default();
        let name = format!("{}:{}", host.to_string_lossy(), std::process::id());
        let asked_to_end = Arc::new(AtomicUsize::new(0));
        let mut signals = Signals::new([SIGTERM, SIGINT])?;
        let count = Arc::clone(&asked_to_end);
        thread::spawn(move || {
            for _ in signals.forever() {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        globals.say(format!("{name} takes runs from {server}"));
        let mut labels = args.labels.clone();
        labels.extend(sandbox::layers().landlock.then(|| SANDBOX.to_owned()));
        Ok(Self {
            args,
            globals,
            queue,
            name,
            labels,
            asked_to_end,
            running: Vec::new(),
            ended: Vec::new(),
        })
    }

    fn work(&mut self) -> CommandResult {
        let jobs = if self.args.once { 1 } else { self.args.jobs };
        let mut pause = STEP;
        let mut next = Instant::now();
        let mut is_over = false;
        let mut over_since = None;
        loop {
            self.reap()?;
            self.tell();
            let signals = self.asked_to_end.load(Ordering::Relaxed);
            if signals > 1 {
                self.running.iter().for_each(|run| end(&run.child));
            }
            is_over |= signals > 0;
            if is_over && self.running.is_empty() {
                let since = over_since.get_or_insert_with(Instant::now);
                if self.ended.is_empty() || since.elapsed() >= PATIENCE {
                    return Ok(ExitReason::Clean);
                }
            }
            if !is_over && self.running.len() < jobs && Instant::now() >= next {
                match self.queue.claim(&self.name, &self.labels) {
                    Ok(Some(claim)) => {
                        self.start(claim)?;
                        pause = STEP;
                        is_over = self.args.once;
                        continue;
                    }
                    Ok(None) => {
                        is_over = self.args.once;
                        pause = (pause * 2).min(IDLE);
                    }
                    Err(error) if error.is_passing() && !self.args.once => {
                        pause = (pause * 2).min(IDLE);
                    }
                    Err(error) => return Err(error.into()),
                }
                next = Instant::now() + pause;
            }
            thread::sleep(STEP);
        }
    }

    fn start(&mut self, claim: CarriedRun) -> Result<(), CommandError> {
        let errors = tempfile::tempfile()?;
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["--detached", &claim.run.0, "--fence"])
            .arg(claim.fence.to_string())
            .args(["--no-input", "worker", "--mirrors"])
            .arg(format!("{}B", self.args.mirrors))
            // Nobody has read a change before its review.
            .env("CI", "true")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(errors.try_clone()?);
        let child = command.spawn()?;
        self.globals
            .say(format!("run {} begins", claim.run.short()));
        self.running.push(Running {
            claim,
            child,
            errors,
        });
        Ok(())
    }

    /// Finds the processes that have ended.
    fn reap(&mut self) -> Result<(), CommandError> {
        let mut running = Vec::new();
        for mut run in std::mem::take(&mut self.running) {
            match run.child.try_wait()? {
                Some(status) => self.ended.push(run.ended(status)?),
                None => running.push(run),
            }
        }
        self.running = running;
        Ok(())
    }

    /// Tells the server which runs have ended. While it is away, they wait.
    fn tell(&mut self) {
        let queue = &mut self.queue;
        let globals = self.globals;
        self.ended.retain(|ended| {
            let Ended {
                claim,
                exit,
                failed,
            } = ended;
            let id = claim.run.short();
            match queue.finish(claim, *exit, failed.as_deref()) {
                Ok(()) => {
                    let how = match exit {
                        Some(exit) => format!("ended with {exit}"),
                        None => "was interrupted".to_owned(),
                    };
                    let why = failed.iter().map(|why| format!(": {why}"));
                    globals.say(format!("run {id} {how}{}", why.collect::<String>()));
                    false
                }
                Err(error) if error.is_passing() => true,
                Err(error) => {
                    globals.say(format!("run {id}: {error}"));
                    false
                }
            }
        });
    }
}

impl Running {
    fn ended(mut self, status: ExitStatus) -> io::Result<Ended> {
        // A signal, a lost lease and a server that stayed away say nothing about the run.
        let exit = status.code().filter(|code| {
            let reason = ExitReason::with_code(u8::try_from(*code).unwrap_or(u8::MAX));
            !matches!(
                reason,
                ExitReason::Signal(_) | ExitReason::Locked | ExitReason::History
            )
        });
        let failed = match status.code() {
            Some(0 | 1 | 3) => None,
            // What a limit ended has a report.
            Some(75) => self.errors()?,
            _ => Some(self.errors()?.unwrap_or_else(|| status.to_string())),
        };
        Ok(Ended {
            claim: self.claim,
            exit,
            failed,
        })
    }

    /// The last error of the process.
    fn errors(&mut self) -> io::Result<Option<String>> {
        let length = self.errors.seek(SeekFrom::End(0))?;
        self.errors
            .seek(SeekFrom::Start(length.saturating_sub(FAILURE)))?;
        let mut text = Vec::new();
        self.errors.read_to_end(&mut text)?;
        let text = String::from_utf8_lossy(&text);
        Ok(text.rfind("error: ").map(|from| {
            printable::block(&secrets::redact(&text[from..]))
                .trim()
                .to_owned()
        }))
    }
}

fn end(child: &Child) {
    let id = i32::try_from(child.id()).unwrap_or_default();
    // It can have ended just now.
    let _ = kill(Pid::from_raw(id), Signal::SIGTERM);
}

/// Runs one review, in the process that has its lease.
fn carry(args: &Args, globals: &Globals, claim: &CarriedRun) -> CommandResult {
    signals::receive();
    let Submission {
        remote,
        commit,
        folder,
        args: words,
        labels: _,
    } = hold(globals, claim)?;
    let review = review::Args::of_words(&words)?;
    let state = place::state_dir()?;
    let tree = MirrorTree::new(&state, &remote, commit.as_deref(), args.mirrors)?;
    let globals = Globals {
        directory: Some(tree.path.join(folder)),
        ..globals.clone()
    };
    review::run::run_within(&review, &globals, None)
}

/// Begins to renew the lease. If it is lost or the worker dies, the process ends as by SIGTERM.
fn hold(globals: &Globals, claim: &CarriedRun) -> Result<Submission, CommandError> {
    thread::spawn(|| {
        // The other end is open as long as the worker lives.
        drop(io::copy(&mut io::stdin(), &mut io::sink()));
        end_this_process();
    });
    let mut queue = server::required(globals)?.queue()?;
    let asked = Moment::now();
    let length = queue.renew(claim)?.ok_or(SharedLogError::TakenOver)?;
    lease::extend(asked, length);
    let submission = queue.claimed(claim)?;
    let claim = claim.clone();
    thread::spawn(move || {
        let mut length = length;
        let mut pause = length / 3;
        loop {
            thread::sleep(pause);
            let asked = Moment::now();
            match queue.renew(&claim) {
                Ok(Some(renewed)) => {
                    length = renewed;
                    lease::extend(asked, length);
                    pause = length / 3;
                }
                Ok(None) => return end_this_process(),
                Err(_) => pause = length / 12,
            }
        }
    });
    Ok(submission)
}

fn end_this_process() {
    let _ = kill(Pid::this(), Signal::SIGTERM);
}
