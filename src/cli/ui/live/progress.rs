//! The live display: one line an agent at work, which becomes a permanent line when it is done.
//!
//! Without a terminal the same run is told in plain lines. Everything goes to stderr; the report is alone on stdout.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::cli::style::{self, Color, Style};
use crate::cli::ui::live::event_lines::{Narrator, Starts};
use crate::cli::ui::screen::Verbosity;
use crate::cli::ui::terminal::Terminal;
use crate::domain::event::{CallId, Event, EventKind, RunEvent};
use crate::protocol::text::printable;
use crate::workflows::run::ports::EventSink;

/// How often a live line moves.
const TICK: Duration = Duration::from_millis(120);

/// The characters of an agent's output line that are looked at.
const ACTIVITY: usize = 200;

/// Shows a run while it goes on.
#[derive(Debug)]
pub struct Progress {
    terminal: Terminal,
    narrator: Narrator,
    at_work: HashMap<CallId, Live>,
}

#[derive(Debug)]
struct Live {
    bar: ProgressBar,
    activity: Arc<Mutex<String>>,
}

impl Progress {
    pub fn new(terminal: &Terminal) -> Self {
        let screen = terminal.screen();
        let starts = if screen.terminal { Starts::Live } else { Starts::Told };
        let narrator = Narrator::new(starts, screen.verbosity);
        Self { terminal: terminal.clone(), narrator, at_work: HashMap::new() }
    }

    fn begin(&mut self, call: &CallId) {
        let screen = self.terminal.screen();
        if !screen.terminal || screen.verbosity == Verbosity::Quiet {
            return;
        }
        let activity = Arc::new(Mutex::new(String::new()));
        let (name, doing) = (self.narrator.name(&call.agent), self.narrator.doing(call));
        let shared = Arc::clone(&activity);
        let line = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let activity = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let line = live(screen.look(), state.elapsed(), &name, &doing, &activity);
            // A display that cannot be written to shows nothing.
            let _ = out.write_str(&line);
        };
        let style = ProgressStyle::with_template("{line}").unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = self.terminal.live().add(ProgressBar::new_spinner().with_style(style.with_key("line", line)));
        bar.force_draw();
        bar.enable_steady_tick(TICK);
        self.at_work.insert(call.clone(), Live { bar, activity });
    }

    fn end(&mut self, call: &CallId) {
        if let Some(Live { bar, .. }) = self.at_work.remove(call) {
            bar.finish_and_clear();
            self.terminal.live().remove(&bar);
        }
    }
}

impl EventSink for Progress {
    fn event(&mut self, event: &Event) {
        if let EventKind::Run(RunEvent::CallFinished { call, .. }) = &event.kind {
            self.end(call);
        }
        for line in self.narrator.tell(self.terminal.screen().look(), event) {
            self.terminal.line(&line);
        }
        match &event.kind {
            EventKind::Run(RunEvent::CallStarted { call, .. }) => self.begin(call),
            // A run that is interrupted ends with agents at work.
            EventKind::Run(RunEvent::RunEnded { .. }) => {
                let calls: Vec<CallId> = self.at_work.keys().cloned().collect();
                calls.iter().for_each(|call| self.end(call));
            }
            _ => {}
        }
    }

    fn activity(&mut self, call: &CallId, line: &str) {
        if let Some(live) = self.at_work.get(call) {
            let line: String = line.trim().chars().take(ACTIVITY).collect();
            *live.activity.lock().unwrap_or_else(PoisonError::into_inner) = printable::line(&line);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        for Live { bar, .. } in self.at_work.values() {
            bar.finish_and_clear();
        }
    }
}

/// A live line, shorter than the screen is wide.
fn live(look: Style, elapsed: Duration, name: &str, doing: &str, activity: &str) -> String {
    let frames: &[&str] = if look.unicode {
        &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
    } else {
        &["-", "\\", "|", "/"]
    };
    let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    let frame = usize::try_from(millis / 120).unwrap_or(0) % frames.len();
    let seconds = if millis < 60_000 { format!("{}s", millis / 1000) } else { style::duration(millis) };
    let mut line = format!(
        "{} {}  {doing}  {}",
        look.paint(Color::Key, frames[frame]),
        look.paint(Color::Strong, name),
        look.paint(Color::Faint, &seconds)
    );
    if !activity.is_empty() {
        let _ = write!(line, "  {}", look.paint(Color::Faint, activity));
    }
    look.cut(&line, look.width.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_live_line_fits_every_screen() {
        let look = Style { color: false, unicode: true, width: 60 };
        let at = |look, seconds| {
            live(look, Duration::from_secs(seconds), "rules", "reviewing shard 2/3", "reading a.py")
        };
        assert_eq!(at(look, 5), "⠙ rules  reviewing shard 2/3  5s  reading a.py");
        assert_eq!(at(Style { width: 40, ..look }, 65), "⠙ rules  reviewing shard 2/3  1m 05s  …");
        assert_eq!(at(Style { width: 20, unicode: false, ..look }, 5), "\\ rules  reviewi...");
        let colored = at(Style { width: 20, color: true, ..look }, 5);
        assert_eq!(style::columns(&colored), 19);
        assert!(colored.ends_with("\u{1b}[0m") || !colored.contains("\u{1b}[2m"), "{colored:?}");
    }
}
