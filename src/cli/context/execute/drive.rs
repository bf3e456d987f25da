//! Drives a run until it ends, or until a signal or the time limit stops it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use crate::cli::error::CommandError;
use crate::cli::signals::{self, Loop};
use crate::cli::ui::{screen::Verbosity, terminal::Terminal};
use glee_agents::{Stop, StopHandle};
use glee_model::domain::ExitReason;
use glee_system::log;
use glee_workspace::QueuedRun;

/// What runs the futures of a command, on its own thread.
pub(crate) fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// The maximum duration of a run.
pub(crate) struct TimeLimit {
    pub(super) duration: Duration,
    /// False while a detached run waits for its turn. This time does not count.
    pub(super) begun: Option<Arc<AtomicBool>>,
}

impl From<Duration> for TimeLimit {
    fn from(duration: Duration) -> Self {
        Self {
            duration,
            begun: None,
        }
    }
}

/// Executes a run until the run ends, or until a signal or the time limit stops the run. The second value of the
/// result is the reason why the run was stopped, or `None` if the run ended by itself. `resume` contains two
/// values: a hint on how to resume the run, and a flag. The flag becomes true when the history contains the start
/// of the run.
pub(crate) fn drive<T, F: Future<Output = T>>(
    time_limit: impl Into<TimeLimit>,
    terminal: &Terminal,
    resume: Option<(String, Arc<AtomicBool>)>,
    run: impl FnOnce(Stop) -> F,
) -> Result<(T, Option<ExitReason>), CommandError> {
    let (handle, stop) = Stop::new();
    let shown = terminal.clone();
    let shows = terminal.screen().verbosity > Verbosity::Quiet;
    let _lines = shows.then(|| log::on_screen(Box::new(move |line| shown.line(line))));
    let runtime = runtime()?;
    let handle = Arc::new(handle);
    let cause = Arc::new(AtomicU8::new(0));
    let event_loop = Arc::new(Loop::default());
    let attached = signals::attach(signals::SignalScope {
        stop: Arc::clone(&handle),
        cause: Arc::clone(&cause),
        terminal: terminal.clone(),
        event_loop: Arc::clone(&event_loop),
        resume,
    });
    terminal.hide_interrupt();
    let ended = runtime.block_on(async {
        let answering = tokio::spawn(event_loop.answer());
        let timing = tokio::spawn(stop_after(time_limit.into(), handle, Arc::clone(&cause)));
        let ended = run(stop).await;
        answering.abort();
        timing.abort();
        ended
    });
    drop(attached);
    // Another operating-system thread can still display a dialog. `shutdown_background` does not wait for that
    // thread.
    runtime.shutdown_background();
    terminal.restore();
    let cause = match cause.load(Ordering::Relaxed) {
        0 => None,
        OVER_BUDGET => Some(ExitReason::Budget),
        signal => Some(ExitReason::Signal(signal)),
    };
    Ok((ended, cause))
}

/// The variable `cause` has this value if the time limit `budget.duration` stopped the run. The value 0 in `cause`
/// means that nothing stopped the run. A value from 1 to 254 is the number of the signal that stopped the run.
const OVER_BUDGET: u8 = u8::MAX;

/// Stops the run at its time limit. Time during which the process is suspended does not count.
async fn stop_after(limit: TimeLimit, handle: Arc<StopHandle>, cause: Arc<AtomicU8>) {
    const STEP: Duration = Duration::from_secs(1);
    if let Some(begun) = limit.begun {
        while !begun.load(Ordering::Relaxed) {
            tokio::time::sleep(QueuedRun::STEP).await;
        }
    }
    let mut left = limit.duration;
    while !left.is_zero() {
        let step = left.min(STEP);
        let began = Instant::now();
        tokio::time::sleep(step).await;
        left = left.saturating_sub(began.elapsed().min(2 * STEP));
    }
    if cause
        .compare_exchange(0, OVER_BUDGET, Ordering::Relaxed, Ordering::Relaxed)
        .is_ok()
    {
        handle.stop();
    }
}
