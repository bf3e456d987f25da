//! The live display on stderr. Each running agent has a live line, which disappears when the agent's call ends.
//! Lines about events remain on the screen. Without a terminal, only the lines about events are printed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::cli::style::{Color, Style, duration};
use crate::cli::ui::live::event_lines::EventLines;
use crate::cli::ui::terminal::Terminal;
use crate::domain::event::{CallId, Event, EventKind, RunEvent};
use crate::protocol::text::printable;
use crate::workflows::run::ports::EventSink;

const TICK: Duration = Duration::from_millis(120);

/// The maximum number of characters of an agent's output in a live line.
const ACTIVITY: usize = 200;

#[derive(Debug)]
pub struct Progress {
    terminal: Terminal,
    lines: EventLines,
    at_work: HashMap<CallId, Live>,
}

#[derive(Debug)]
struct Live {
    bar: ProgressBar,
    activity: Arc<Mutex<String>>,
}

impl Progress {
    pub fn new(terminal: &Terminal) -> Self {
        let lines = EventLines::new(terminal.screen());
        Self { terminal: terminal.clone(), lines, at_work: HashMap::new() }
    }

    fn begin(&mut self, call: &CallId) {
        let screen = self.terminal.screen();
        if !screen.is_live() {
            return;
        }
        let activity = Arc::new(Mutex::new(String::new()));
        let (name, doing) = (self.lines.name(&call.agent), self.lines.activity(call));
        let shared = Arc::clone(&activity);
        let line = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let activity = shared.lock().unwrap_or_else(PoisonError::into_inner);
            // This callback cannot report a failed write.
            let _ = out.write_str(&live(screen.style(), state.elapsed(), &name, &doing, &activity));
        };
        let style = ProgressStyle::with_template("{line}").unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = self.terminal.live().add(ProgressBar::new_spinner().with_style(style.with_key("line", line)));
        bar.force_draw();
        bar.enable_steady_tick(TICK);
        self.at_work.insert(call.clone(), Live { bar, activity });
    }

    fn end(&self, Live { bar, .. }: &Live) {
        bar.finish_and_clear();
        self.terminal.live().remove(bar);
    }
}

impl EventSink for Progress {
    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Run(RunEvent::CallFinished { call, .. }) => {
                self.at_work.remove(call).iter().for_each(|live| self.end(live));
            }
            // When an interrupted run ends, agents may still have live lines.
            EventKind::Run(RunEvent::RunEnded { .. }) => {
                std::mem::take(&mut self.at_work).values().for_each(|live| self.end(live));
            }
            _ => {}
        }
        for line in self.lines.lines(event) {
            self.terminal.line(&line);
        }
        if let EventKind::Run(RunEvent::CallStarted { call, .. }) = &event.kind {
            self.begin(call);
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
        self.at_work.values().for_each(|live| live.bar.finish_and_clear());
    }
}

fn live(style: Style, elapsed: Duration, name: &str, doing: &str, activity: &str) -> String {
    let frames: &[&str] = if style.unicode {
        &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
    } else {
        &["-", "\\", "|", "/"]
    };
    let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    let frame = usize::try_from(millis / 120).unwrap_or(0) % frames.len();
    let time = if millis < 60_000 { format!("{}s", millis / 1000) } else { duration(millis) };
    let spinner = style.paint(Color::Key, frames[frame]);
    let gap = if activity.is_empty() { "" } else { "  " };
    let (name, time) = (style.strong(name), style.faint(time));
    let line = format!("{spinner} {name}  {doing}  {time}{gap}{}", style.faint(activity));
    style.cut(&line, style.width.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::style::columns;

    #[test]
    fn a_live_line_fits_every_screen() {
        let style = Style { color: false, unicode: true, width: 60 };
        let at = |style, seconds| {
            live(style, Duration::from_secs(seconds), "rules", "reviewing shard 2/3", "reading a.py")
        };
        assert_eq!(at(style, 5), "⠙ rules  reviewing shard 2/3  5s  reading a.py");
        assert_eq!(at(Style { width: 40, ..style }, 65), "⠙ rules  reviewing shard 2/3  1m 05s  …");
        assert_eq!(at(Style { width: 20, unicode: false, ..style }, 5), "\\ rules  reviewi...");
        let colored = at(Style { width: 20, color: true, ..style }, 5);
        assert_eq!(columns(&colored), 19);
        assert!(colored.ends_with("\u{1b}[0m") || !colored.contains("\u{1b}[2m"), "{colored:?}");
    }
}
