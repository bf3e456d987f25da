//! The live screen of a watch: what happens in lines, and below them how it stands, with keys to steer it.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use console::{Key, Term};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use nix::sys::signal::{Signal, raise};
use tokio::sync::{oneshot, watch};

use super::progress::Progress;
use crate::cli::style::{Color, names_width, watch_status as drawn};
use crate::cli::ui::screen::Verbosity;
use crate::cli::ui::terminal::Terminal;
use crate::domain::event::{CallId, Event, EventKind, WatchEvent};
use crate::workflows::run::ports::EventSink;
use crate::workflows::watch::socket::protocol::{Batch, Intake, WatchCommand, WatchMessage};
use crate::workflows::watch::status::WatchReport;

/// How many events are told in a second; of more only the number.
const TOLD: u64 = 20;
/// How often the time on the screen moves.
const TICK: Duration = Duration::from_secs(1);
const KEYS: &str = "r review   p pause   c continue   q quit   / command";
const WORDS: &str = "/review, /pause WHY, /resume WHY, /issues, /close NUMBER WHY, /quit";

/// Tells what happens in a watch, without letting a flood of events wash everything else away.
#[derive(Debug)]
pub struct Board {
    progress: Progress,
    terminal: Terminal,
    second: Instant,
    told: u64,
}

impl Board {
    pub fn new(terminal: &Terminal) -> Self {
        let progress = Progress::new(terminal);
        Self { progress, terminal: terminal.clone(), second: Instant::now(), told: 0 }
    }

    /// Whether one more event may be told.
    fn may_tell(&mut self) -> bool {
        if self.second.elapsed() >= Duration::from_secs(1) {
            if self.told > TOLD {
                self.terminal.line(&format!("  ... and {} more events", self.told - TOLD));
            }
            (self.second, self.told) = (Instant::now(), 0);
        }
        self.told += 1;
        self.told <= TOLD
    }
}

impl EventSink for Board {
    fn event(&mut self, event: &Event) {
        if !matches!(event.kind, EventKind::Watch(WatchEvent::EventReceived { .. })) || self.may_tell() {
            self.progress.event(event);
        }
    }

    fn activity(&mut self, call: &CallId, line: &str) {
        self.progress.activity(call, line);
    }
}

/// Draws how it stands below the lines until the watch has ended; only on a terminal.
pub async fn draw(
    terminal: Terminal,
    mut standing: watch::Receiver<WatchReport>,
    mut typed: watch::Receiver<String>,
) {
    let screen = terminal.screen();
    if !screen.terminal || screen.verbosity == Verbosity::Quiet {
        return;
    }
    let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = terminal.live().add(ProgressBar::new_spinner().with_style(style));
    let mut shown = standing.borrow_and_update().clone();
    let mut since = Instant::now();
    loop {
        if !shown.run.is_empty() {
            let mut now = shown.clone();
            now.fallback_in = now.fallback_in.map(|left| left.saturating_sub(since.elapsed().as_secs()));
            bar.set_message(block(&terminal, &now, &typed.borrow_and_update()));
        }
        tokio::select! {
            changed = standing.changed() => {
                if changed.is_err() {
                    break;
                }
                (shown, since) = (standing.borrow_and_update().clone(), Instant::now());
            }
            Ok(()) = typed.changed() => {}
            // Elapsed times move.
            () = tokio::time::sleep(TICK) => {}
        }
    }
    bar.finish_and_clear();
    terminal.live().remove(&bar);
}

fn block(terminal: &Terminal, standing: &WatchReport, typed: &str) -> String {
    let look = terminal.screen().look();
    let width = names_width(standing.agents.iter().map(|agent| &agent.name));
    let now = Timestamp::now();
    let fits = look.width.saturating_sub(1);
    let mut lines = vec![String::new()];
    lines.extend(standing.agents.iter().map(|agent| format!("  {}", drawn::agent(look, agent, width, now))));
    lines.push(look.cut(&drawn::line(look, standing), fits));
    let foot = if typed.is_empty() { look.paint(Color::Faint, KEYS) } else { format!("{typed}_") };
    lines.push(look.cut(&foot, fits));
    lines.iter().map(|line| look.cut(line, fits)).collect::<Vec<_>>().join("\n")
}

/// Reads keys in a thread of its own for as long as the watch takes commands; only on a terminal.
pub fn keys(terminal: &Terminal, intake: Intake, by: String, typed: watch::Sender<String>) {
    let screen = terminal.screen();
    if !screen.terminal || screen.verbosity == Verbosity::Quiet || !std::io::stdin().is_terminal() {
        return;
    }
    terminal.take_keys();
    let terminal = terminal.clone();
    std::thread::spawn(move || {
        let mut line = String::new();
        while let Ok(key) = Term::stderr().read_key() {
            let mut order = None;
            match (line.is_empty(), key) {
                (true, Key::Char('r')) => order = Some(WatchCommand::Review),
                (true, Key::Char('p')) => order = Some(WatchCommand::Pause { reason: String::new() }),
                (true, Key::Char('c')) => order = Some(WatchCommand::Resume { reason: String::new() }),
                (true, Key::Char('q')) => order = Some(WatchCommand::Stop),
                (false, Key::Enter) => {
                    order = typed_order(&std::mem::take(&mut line));
                    if order.is_none() {
                        terminal.line(&format!("note: what can be typed: {WORDS}"));
                    }
                }
                (_, Key::Escape) => line.clear(),
                (_, Key::Backspace) => drop(line.pop()),
                // Ctrl-Z: while a key is waited for, the terminal makes no signal of it.
                (_, Key::Char('\u{1a}')) => {
                    let _ = raise(Signal::SIGTSTP);
                }
                (empty, Key::Char(c)) if (!empty || c == '/') && !c.is_control() => line.push(c),
                _ => {}
            }
            typed.send_replace(line.clone());
            if let Some(order) = order
                && !give(&terminal, &intake, order, &by)
            {
                return;
            }
        }
    });
}

fn typed_order(line: &str) -> Option<WatchCommand> {
    let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    let reason = rest.trim().to_owned();
    Some(match word {
        "/review" => WatchCommand::Review,
        "/pause" => WatchCommand::Pause { reason },
        "/resume" => WatchCommand::Resume { reason },
        "/issues" => WatchCommand::Issues,
        "/close" => {
            let (number, why) = reason.split_once(' ').unwrap_or((&reason, ""));
            WatchCommand::Close { issue: number.parse().ok()?, reason: why.trim().to_owned() }
        }
        "/quit" | "/stop" => WatchCommand::Stop,
        _ => return None,
    })
}

/// Gives a command and shows what is refused; false once the watch takes none any more.
fn give(terminal: &Terminal, intake: &Intake, order: WatchCommand, by: &str) -> bool {
    let (answer, answered) = oneshot::channel();
    let batch = Batch { items: vec![WatchMessage::Command(order)], by: by.to_owned(), answer: Some(answer) };
    if intake.blocking_send(batch).is_err() {
        return false;
    }
    let Ok(answers) = answered.blocking_recv() else { return false };
    for answer in answers {
        if let Some(error) = answer.error {
            terminal.line(&format!("note: {}", crate::protocol::text::printable::line(&error)));
        }
        if let Some(issues) = answer.issues {
            drawn::issues(terminal.screen().look(), &issues).lines().for_each(|line| terminal.line(line));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_a_command_or_nothing() {
        let why = |text: &str| text.to_owned();
        for (line, order) in [
            ("/review", Some(WatchCommand::Review)),
            ("/pause", Some(WatchCommand::Pause { reason: why("") })),
            ("/resume  checked by hand ", Some(WatchCommand::Resume { reason: why("checked by hand") })),
            ("/close 3 no bug", Some(WatchCommand::Close { issue: 3, reason: why("no bug") })),
            ("/close x", None),
            ("/issues", Some(WatchCommand::Issues)),
            ("/quit", Some(WatchCommand::Stop)),
            ("/nonsense", None),
            ("/", None),
        ] {
            assert_eq!(typed_order(line), order, "{line}");
        }
    }
}
