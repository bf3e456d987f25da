//! The live display on stderr. Each agent at work has a live line, which disappears when the agent's calls end.
//! Lines about events remain on the screen. Without a terminal, only event lines and heartbeat lines are printed.

use std::collections::HashMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::cli::ui::live::event_lines::EventLines;
use crate::cli::ui::live::skip::SkipKey;
use crate::cli::ui::live::work::Work;
use crate::cli::ui::screen::Verbosity;
use crate::cli::ui::terminal::{Terminal, held};
use glee_agents::StopHandle;
use glee_model::domain::AgentName;
use glee_model::domain::event::{CallId, Event, EventKind, RunEvent};
use glee_workflows::run::ports::EventSink;

pub(crate) const TICK: Duration = Duration::from_millis(120);

/// Without a terminal, the agents at work are listed at this interval.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// The maximum number of live lines of agents.
const ROWS: usize = 12;

#[derive(Debug)]
pub struct LiveProgress {
    terminal: Terminal,
    lines: EventLines,
    work: Arc<Mutex<Work>>,
    rows: HashMap<AgentName, ProgressBar>,
    total: Option<ProgressBar>,
    /// Whether Glee reads keys while an agent is at work.
    keys: bool,
    /// The heartbeat ends when this sender is dropped.
    _heartbeat: Option<mpsc::Sender<()>>,
}

impl LiveProgress {
    pub fn new(terminal: &Terminal) -> Self {
        let screen = terminal.screen();
        let work = Arc::new(Mutex::new(Work::default()));
        let beats = !screen.terminal && screen.verbosity != Verbosity::Quiet;
        Self {
            terminal: terminal.clone(),
            lines: EventLines::new(screen),
            _heartbeat: beats.then(|| heartbeat(terminal.clone(), Arc::clone(&work))),
            work,
            rows: HashMap::new(),
            total: None,
            keys: false,
        }
    }

    /// If `keys` is set, the user can skip an agent with the key `s`.
    #[must_use]
    pub fn with_keys(mut self, keys: bool) -> Self {
        self.keys = keys;
        self
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        held(&self.work)
    }

    fn begin(&mut self, call: &CallId) {
        let doing = self.lines.activity(call);
        self.work().begin(call, doing);
        if !self.terminal.screen().is_live() {
            return;
        }
        if std::mem::take(&mut self.keys) {
            let mut key = SkipKey::new(Arc::clone(&self.work));
            let terminal = self.terminal.clone();
            let is_heard = self.terminal.listen(move |pressed| {
                key.press(pressed)
                    .iter()
                    .for_each(|line| terminal.line(line));
            });
            self.work().keys = is_heard;
        }
        let screen = self.terminal.screen();
        let hidden = |work: &Work| work.at_work().count().saturating_sub(ROWS);
        let has_total = {
            let work = self.work();
            work.total(screen.style(), hidden(&work)).is_some()
        };
        if self.total.is_none() && has_total {
            let work = Arc::clone(&self.work);
            self.total = Some(self.terminal.live().add(bar(move || {
                let work = held(&work);
                work.total(screen.style(), hidden(&work))
                    .unwrap_or_default()
            })));
        }
        if self.rows.len() < ROWS && !self.rows.contains_key(&call.agent) {
            let work = Arc::clone(&self.work);
            let name = call.agent.clone();
            let padded = self.lines.name(&call.agent);
            let row = bar(move || held(&work).row(screen.style(), &name, &padded));
            let row = match &self.total {
                Some(total) => self.terminal.live().insert_before(total, row),
                None => self.terminal.live().add(row),
            };
            self.rows.insert(call.agent.clone(), row);
        }
        for bar in self.rows.get(&call.agent).into_iter().chain(&self.total) {
            bar.force_draw();
            bar.enable_steady_tick(TICK);
        }
    }

    /// Removes the live lines of agents that are no longer at work.
    fn tidy(&mut self) {
        let at_work: Vec<AgentName> = self.work().at_work().cloned().collect();
        let terminal = &self.terminal;
        let all_rest = at_work.is_empty();
        let ended = self
            .rows
            .extract_if(|name, _| !at_work.contains(name))
            .map(|(_, bar)| bar);
        for bar in ended.chain(self.total.take_if(|_| all_rest)) {
            bar.finish_and_clear();
            terminal.live().remove(&bar);
        }
    }
}

impl EventSink for LiveProgress {
    fn event(&mut self, event: &Event) {
        self.work().event(event);
        // An interrupted run can end while agents still have live lines on the screen.
        if matches!(
            &event.kind,
            EventKind::Run(RunEvent::CallFinished { .. } | RunEvent::RunEnded { .. })
        ) {
            self.tidy();
        }
        for line in self.lines.lines(event) {
            self.terminal.line(&line);
        }
        if let EventKind::Run(RunEvent::CallStarted { call, .. }) = &event.kind {
            self.begin(call);
        }
    }

    fn activity(&mut self, call: &CallId, line: &str) {
        self.work().activity(call, line);
    }

    fn skippable(&mut self, call: &CallId, skip: StopHandle) {
        self.work().skippable(call, skip);
    }
}

impl Drop for LiveProgress {
    fn drop(&mut self) {
        let is_interrupted = !self.rows.is_empty();
        self.rows.values().chain(&self.total).for_each(|bar| {
            bar.finish_and_clear();
            self.terminal.live().remove(bar);
        });
        // An empty line separates the event lines of an interrupted run from the report.
        if is_interrupted {
            self.terminal.line("");
        }
    }
}

/// Creates a live line. The function `text` is called each time the line is drawn.
fn bar(text: impl Fn() -> String + Send + Sync + Clone + 'static) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{line}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::new_spinner().with_style(style.with_key(
        "line",
        move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            // The result of the write is ignored, because this callback returns no error.
            let _ = out.write_str(&text());
        },
    ))
}

/// Prints a line about the working agents every [`HEARTBEAT`], until the returned sender is dropped.
fn heartbeat(terminal: Terminal, work: Arc<Mutex<Work>>) -> mpsc::Sender<()> {
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || {
        while ended.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
            let line = held(&work).heartbeat(terminal.screen().style());
            line.iter().for_each(|line| terminal.line(line));
        }
    });
    sender
}
