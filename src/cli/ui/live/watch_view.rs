//! The live screen of a watch: lines about events, the status of the watch, and an input line for commands.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use console::{Key, Term};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use nix::sys::signal::{Signal, raise};
use tokio::sync::{oneshot, watch};

use super::progress::LiveProgress;
use crate::cli::style::{count, names_width, watch_status};
use crate::cli::ui::terminal::Terminal;
use glee_model::domain::event::{CallId, Event, EventKind, WatchEvent};
use glee_protocol::text::printable;
use glee_workflows::run::ports::EventSink;
use glee_workflows::watch::socket::protocol::{Batch, Intake, WatchCommand, WatchMessage};
use glee_workflows::watch::status::WatchReport;

/// The maximum number of agent events that are printed per second. Further events are only counted.
const PRINTED: u64 = 20;
const TICK: Duration = Duration::from_secs(1);
const KEYS: &str = "r review   p pause   c continue   q quit   / command";
const COMMANDS: &str = "/review, /pause WHY, /resume WHY, /issues, /close NUMBER WHY, /quit";

#[derive(Debug)]
pub struct WatchView {
    progress: LiveProgress,
    terminal: Terminal,
    second: Instant,
    received: u64,
}

impl WatchView {
    pub fn new(terminal: &Terminal) -> Self {
        let progress = LiveProgress::new(terminal);
        Self {
            progress,
            terminal: terminal.clone(),
            second: Instant::now(),
            received: 0,
        }
    }

    fn is_printed(&mut self) -> bool {
        if self.second.elapsed() >= Duration::from_secs(1) {
            if self.received > PRINTED {
                self.terminal.line(&format!(
                    "  ... and {}",
                    count(self.received - PRINTED, "more event")
                ));
            }
            (self.second, self.received) = (Instant::now(), 0);
        }
        self.received += 1;
        self.received <= PRINTED
    }
}

impl EventSink for WatchView {
    fn event(&mut self, event: &Event) {
        if !matches!(
            event.kind,
            EventKind::Watch(WatchEvent::EventReceived { .. })
        ) || self.is_printed()
        {
            self.progress.event(event);
        }
    }

    fn activity(&mut self, call: &CallId, line: &str) {
        self.progress.activity(call, line);
    }
}

/// Draws the status below the event lines until the watch ends. Draws nothing if there is no terminal.
pub async fn draw(
    terminal: Terminal,
    mut reports: watch::Receiver<WatchReport>,
    mut typed: watch::Receiver<String>,
) {
    if !terminal.screen().is_live() {
        return;
    }
    let style =
        ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = terminal
        .live()
        .add(ProgressBar::new_spinner().with_style(style));
    let mut report = reports.borrow_and_update().clone();
    let mut since = Instant::now();
    loop {
        if !report.run.is_empty() {
            let mut now = report.clone();
            now.fallback_in = now
                .fallback_in
                .map(|left| left.saturating_sub(since.elapsed().as_secs()));
            bar.set_message(block(&terminal, &now, &typed.borrow_and_update()));
        }
        tokio::select! {
            changed = reports.changed() => {
                if changed.is_err() {
                    break;
                }
                (report, since) = (reports.borrow_and_update().clone(), Instant::now());
            }
            Ok(()) = typed.changed() => {}
            () = tokio::time::sleep(TICK) => {}
        }
    }
    bar.finish_and_clear();
    terminal.live().remove(&bar);
}

fn block(terminal: &Terminal, report: &WatchReport, typed: &str) -> String {
    let style = terminal.screen().style();
    let width = names_width(report.agents.iter().map(|agent| &agent.name));
    let now = Timestamp::now();
    let agents = report
        .agents
        .iter()
        .map(|agent| format!("  {}", watch_status::agent(style, agent, width, now)));
    let foot = if typed.is_empty() {
        style.faint(KEYS)
    } else {
        format!("{typed}_")
    };
    let lines = [String::new()]
        .into_iter()
        .chain(agents)
        .chain([watch_status::line(style, report), foot]);
    lines
        .map(|line| style.cut(&line, style.width.saturating_sub(1)))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Reads keys in a separate thread until the watch ends. Reads nothing if there is no terminal.
pub fn keys(terminal: &Terminal, intake: Intake, by: String, typed: watch::Sender<String>) {
    if !terminal.screen().is_live() || !std::io::stdin().is_terminal() {
        return;
    }
    terminal.take_keys();
    let terminal = terminal.clone();
    std::thread::spawn(move || {
        let mut line = String::new();
        while let Ok(key) = Term::stderr().read_key() {
            let mut command = None;
            match (line.is_empty(), key) {
                (true, Key::Char('r')) => command = Some(WatchCommand::Review),
                (true, Key::Char('p')) => {
                    command = Some(WatchCommand::Pause {
                        reason: String::new(),
                    })
                }
                (true, Key::Char('c')) => {
                    command = Some(WatchCommand::Resume {
                        reason: String::new(),
                    })
                }
                (true, Key::Char('q')) => command = Some(WatchCommand::Stop),
                (false, Key::Enter) => {
                    command = typed_command(&std::mem::take(&mut line));
                    if command.is_none() {
                        terminal.line(&format!("note: available commands: {COMMANDS}"));
                    }
                }
                (_, Key::Escape) => line.clear(),
                (_, Key::Backspace) => drop(line.pop()),
                // While Glee reads single keys, Ctrl-Z raises no signal. Glee therefore suspends itself.
                (_, Key::Char('\u{1a}')) => drop(raise(Signal::SIGTSTP)),
                (empty, Key::Char(c)) if (!empty || c == '/') && !c.is_control() => line.push(c),
                _ => {}
            }
            typed.send_replace(line.clone());
            if let Some(command) = command
                && execute(&terminal, &intake, command, &by).is_none()
            {
                return;
            }
        }
    });
}

fn typed_command(line: &str) -> Option<WatchCommand> {
    let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    let reason = rest.trim().to_owned();
    Some(match word {
        "/review" => WatchCommand::Review,
        "/pause" => WatchCommand::Pause { reason },
        "/resume" => WatchCommand::Resume { reason },
        "/issues" => WatchCommand::Issues,
        "/close" => {
            let (number, why) = reason.split_once(' ').unwrap_or((&reason, ""));
            WatchCommand::Close {
                issue: number.parse().ok()?,
                reason: why.trim().to_owned(),
            }
        }
        "/quit" | "/stop" => WatchCommand::Stop,
        _ => return None,
    })
}

/// Sends a command to the watch and prints the result. Returns `None` if the watch has ended.
fn execute(terminal: &Terminal, intake: &Intake, command: WatchCommand, by: &str) -> Option<()> {
    let (answer, answered) = oneshot::channel();
    let batch = Batch {
        items: vec![WatchMessage::Command(command)],
        by: by.to_owned(),
        answer: Some(answer),
    };
    intake.blocking_send(batch).ok()?;
    for answer in answered.blocking_recv().ok()? {
        if let Some(error) = answer.error {
            terminal.line(&format!("note: {}", printable::line(&error)));
        }
        if let Some(issues) = answer.issues {
            watch_status::issues(terminal.screen().style(), &issues)
                .lines()
                .for_each(|line| terminal.line(line));
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_a_command_or_nothing() {
        let why = |text: &str| text.to_owned();
        for (line, command) in [
            ("/review", Some(WatchCommand::Review)),
            ("/pause", Some(WatchCommand::Pause { reason: why("") })),
            (
                "/resume  checked by hand ",
                Some(WatchCommand::Resume {
                    reason: why("checked by hand"),
                }),
            ),
            (
                "/close 3 no bug",
                Some(WatchCommand::Close {
                    issue: 3,
                    reason: why("no bug"),
                }),
            ),
            ("/close x", None),
            ("/issues", Some(WatchCommand::Issues)),
            ("/quit", Some(WatchCommand::Stop)),
            ("/nonsense", None),
            ("/", None),
        ] {
            assert_eq!(typed_command(line), command, "{line}");
        }
    }
}
