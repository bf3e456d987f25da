//! Ends the program on the signals INT, TERM and HUP. A separate thread receives the signals, so that a busy main
//! thread does not delay the reaction to a signal. The thread asks the run to stop, and the run then ends its
//! agents and writes a report. If the event loop of the run does not respond within [`PATIENCE`], the process
//! exits at once. An immediate exit is safe for two reasons: every write to the history is a transaction, and the
//! supervisors end their agents. After the run has ended, the signal thread does not end the process. A further
//! signal ends the process.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Once, mpsc};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::Notify;

use super::error::CommandError;
use crate::cli::ui::stream;
use crate::cli::ui::terminal::{Terminal, held};
use glee_agents::StopHandle;
use glee_model::domain::ExitReason;

/// The maximum time that the signal thread waits for a response of the event loop.
const PATIENCE: Duration = Duration::from_millis(600);
/// The interval at which the signal thread checks whether the event loop has responded. A suspension of the
/// process counts as a single interval.
const STEP: Duration = Duration::from_millis(30);
/// The maximum time that the process waits for a blocked stderr to accept the last message.
const LAST_MESSAGE: Duration = Duration::from_millis(150);

pub(crate) struct SignalScope {
    pub(crate) stop: Arc<StopHandle>,
    pub(crate) cause: Arc<AtomicU8>,
    pub(crate) terminal: Terminal,
    pub(crate) event_loop: Arc<Loop>,
    /// A hint on how to resume the run, and a flag that becomes true when the start of the run is recorded.
    pub(crate) resume: Option<(String, Arc<AtomicBool>)>,
}

/// Lets the signal thread check whether the event loop of a run responds.
#[derive(Default)]
pub(crate) struct Loop {
    asked: Notify,
    answers: AtomicU32,
}

impl Loop {
    pub(crate) async fn answer(self: Arc<Self>) {
        loop {
            self.asked.notified().await;
            self.answers.fetch_add(1, Ordering::Relaxed);
        }
    }
}

static ATTACHED_RUN: Mutex<Option<Arc<SignalScope>>> = Mutex::new(None);

fn attached_run() -> Option<Arc<SignalScope>> {
    held(&ATTACHED_RUN).clone()
}

/// Starts the signal thread. If no run is attached (see [`attach`]), a signal ends the process at once.
pub(crate) fn receive() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let (begins, has_begun) = mpsc::channel();
        // If the thread cannot be started, signals keep their default effect and end the process.
        let started = thread::Builder::new()
            .name("signals".to_owned())
            .stack_size(256 << 10)
            .spawn(|| listen(begins));
        if started.is_ok() {
            // The thread ends the channel once it receives signals.
            let _ = has_begun.recv();
        }
    });
}

pub(crate) fn attach(run: SignalScope) -> Attached {
    receive();
    *held(&ATTACHED_RUN) = Some(Arc::new(run));
    Attached
}

pub(crate) struct Attached;

impl Drop for Attached {
    fn drop(&mut self) {
        *held(&ATTACHED_RUN) = None;
    }
}

/// Whether a pager shows the output. While a pager shows the output, Glee ignores Ctrl-C, because the pager also
/// receives Ctrl-C.
static PAGING: AtomicBool = AtomicBool::new(false);

/// Whether an interrupt has arrived that nobody has taken. The signal's handler sets it, because the signal thread may
/// learn of an interrupt only after it has ended the pager.
static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Calls the function `show`. While the function runs, Ctrl-C does not end the process.
pub(crate) fn ignoring_interrupt<T>(show: impl FnOnce() -> T) -> T {
    receive();
    PAGING.store(true, Ordering::SeqCst);
    let shown = show();
    INTERRUPTED.store(false, Ordering::SeqCst);
    PAGING.store(false, Ordering::SeqCst);
    shown
}

fn listen(begins: mpsc::Sender<()>) {
    let Ok(mut signals) = Signals::new([SIGTERM, SIGHUP]) else {
        return;
    };
    // Handlers are called in the order of their registration. Without them, Ctrl-C keeps its default effect.
    let registered = signal_hook::flag::register(SIGINT, Arc::clone(&INTERRUPTED));
    drop(registered.and_then(|_| signals.add_signal(SIGINT)));
    drop(begins);
    let is_ignored = |signal: &i32| {
        *signal == SIGINT
            && (PAGING.load(Ordering::SeqCst) || !INTERRUPTED.swap(false, Ordering::SeqCst))
    };
    while let Some(signal) = signals
        .forever()
        .find(|signal| !is_ignored(signal))
        .map(number)
    {
        match attached_run() {
            Some(run) => stop(&run, signal, &mut signals),
            None => end(signal, None),
        }
    }
}

/// Asks a run to stop, and waits until the run has ended. Ends the process if the run does not respond, or if
/// another signal arrives.
fn stop(run: &Arc<SignalScope>, signal: u8, signals: &mut Signals) {
    run.cause.store(signal, Ordering::Relaxed);
    run.stop.stop();
    let mut seen = run.event_loop.answers.load(Ordering::Relaxed);
    let mut silent = Duration::ZERO;
    while attached_run().is_some_and(|attached| Arc::ptr_eq(&attached, run)) {
        if silent >= PATIENCE {
            return end(signal, Some(run));
        }
        run.event_loop.asked.notify_one();
        thread::sleep(STEP);
        if let Some(second) = signals.pending().next().map(number) {
            return end(second, Some(run));
        }
        let answers = run.event_loop.answers.load(Ordering::Relaxed);
        silent = if answers == seen {
            silent + STEP
        } else {
            Duration::ZERO
        };
        seen = answers;
    }
}

fn number(signal: i32) -> u8 {
    u8::try_from(signal).unwrap_or(2)
}

#[expect(clippy::exit, reason = "the main thread is busy and would not return")]
fn end(signal: u8, run: Option<&SignalScope>) {
    let reason = ExitReason::Signal(signal);
    if let Some(run) = run {
        let terminal = run.terminal.clone();
        let mut message = CommandError::usage(format!(
            "the run was stopped immediately by signal {signal}"
        ));
        if let Some((hint, _)) = run
            .resume
            .as_ref()
            .filter(|(_, recorded)| recorded.load(Ordering::Relaxed))
        {
            message = message.hint(hint);
        }
        let (done, finished) = mpsc::channel();
        // Another thread prints the message, because printing can block. Printing blocks if the main thread has
        // locked the terminal or stderr, or if the reader of stderr has stopped reading.
        thread::spawn(move || {
            terminal.restore();
            terminal.erase();
            stream::err(message.render(false));
            let _ = done.send(());
        });
        let _ = finished.recv_timeout(LAST_MESSAGE);
    }
    std::process::exit(i32::from(reason.code()));
}
