//! How INT, TERM and HUP end the program.
//!
//! A thread of its own takes the signals, so that no work in the main thread can delay them. Where a run is attached, it
//! is asked to stop in order, which ends its agents and writes a report. A run whose event loop does not answer for
//! [`PATIENCE`] is at work in memory or waits for a disk; then the process ends at once. The record is in order at any
//! moment (every write is a transaction), and the supervisors end their agents when the process is gone.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::Notify;

use super::error::CommandError;
use crate::agents::StopHandle;
use crate::cli::ui::stream;
use crate::cli::ui::terminal::Terminal;
use crate::domain::ExitReason;

/// How long an event loop may leave a question unanswered after a signal.
const PATIENCE: Duration = Duration::from_millis(600);
/// How often it is asked. Time in which the process was stopped counts as one step.
const STEP: Duration = Duration::from_millis(30);
/// How long the last words may take where nobody reads them.
const WORDS: Duration = Duration::from_millis(150);

pub(crate) struct SignalScope {
    pub(crate) stop: Arc<StopHandle>,
    pub(crate) cause: Arc<AtomicU8>,
    pub(crate) terminal: Terminal,
    pub(crate) turning: Arc<Loop>,
    /// How to carry the run on, and whether it was recorded that it began.
    pub(crate) resume: Option<(String, Arc<AtomicBool>)>,
}

/// An event loop as the thread of the signals sees it.
#[derive(Default)]
pub(crate) struct Loop {
    asked: Notify,
    answers: AtomicU32,
}

impl Loop {
    /// Answers for as long as the event loop turns.
    pub(crate) async fn answer(self: Arc<Self>) {
        loop {
            self.asked.notified().await;
            self.answers.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The run that is at work.
static AT_WORK: Mutex<Option<SignalScope>> = Mutex::new(None);

/// Takes signals from now on. Until a run is attached, and after it, a signal ends the process at once.
pub(crate) fn take() {
    static TAKEN: Once = Once::new();
    TAKEN.call_once(|| {
        // Without the thread the signals keep their usual effect: they end the process.
        drop(thread::Builder::new().name("signals".to_owned()).stack_size(256 << 10).spawn(listen));
    });
}

/// Attaches a run until the returned guard is dropped.
pub(crate) fn attach(run: SignalScope) -> Attached {
    take();
    *AT_WORK.lock().unwrap_or_else(PoisonError::into_inner) = Some(run);
    Attached
}

/// Detaches the run when it is dropped.
pub(crate) struct Attached;

impl Drop for Attached {
    fn drop(&mut self) {
        *AT_WORK.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn listen() {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    let number = |signal: i32| u8::try_from(signal).unwrap_or(2);
    let Some(first) = signals.forever().next().map(number) else { return };
    let Some(run) = AT_WORK.lock().unwrap_or_else(PoisonError::into_inner).take() else { return end(first, None) };
    run.cause.store(first, Ordering::Relaxed);
    run.stop.stop();
    let (mut seen, mut silent) = (run.turning.answers.load(Ordering::Relaxed), Duration::ZERO);
    while silent < PATIENCE {
        run.turning.asked.notify_one();
        thread::sleep(STEP);
        if let Some(second) = signals.pending().next().map(number) {
            return end(second, Some(&run));
        }
        let answers = run.turning.answers.load(Ordering::Relaxed);
        silent = if answers == seen { silent + STEP } else { Duration::ZERO };
        seen = answers;
    }
    end(first, Some(&run));
}

/// Ends the process without waiting for anything.
#[expect(clippy::exit, reason = "the main thread is busy and would not return")]
fn end(signal: u8, run: Option<&SignalScope>) {
    let reason = ExitReason::Signal(signal);
    if let Some(run) = run {
        let terminal = run.terminal.clone();
        let resume = run.resume.as_ref().filter(|(_, recorded)| recorded.load(Ordering::Relaxed));
        let words = CommandError::usage(format!("the run was stopped at once by signal {signal}"));
        let words = match resume {
            Some((hint, _)) => words.hint(hint),
            None => words,
        };
        let (said, heard) = mpsc::channel();
        // The main thread may hold the terminal or stderr, and nobody may read it.
        thread::spawn(move || {
            terminal.restore();
            stream::err(&words.render(false));
            let _ = said.send(());
        });
        let _ = heard.recv_timeout(WORDS);
    }
    std::process::exit(i32::from(reason.code()));
}
