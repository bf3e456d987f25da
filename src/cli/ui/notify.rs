//! Notifies a person that a long run ended or waits for an answer. Glee sends a control sequence to the terminal,
//! and runs the command `notify.command`. If the command fails, Glee prints a warning, and the exit code stays the
//! same.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::notification;
use super::terminal::{Terminal, held};
use glee_agents::{Agents, CommandInput, Stop, TranscriptFiles};
use glee_model::domain::{Approach, ExitReason, Outcome, RunId, SettledFinding};
use glee_protocol::text::printable;
use glee_store::config::settings::{Limits, NotifySettings, Settings};
use glee_workflows::run::ports::{
    Choice, Deadlock, DisputeResolver, OpenQuestion, PersonAnswer, PersonDecision, PersonQuestion,
    Prompter,
};

/// The maximum duration of the command.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The variables with which programs such as `notify-send` and `tmux` find the user's session.
const SESSION: [&str; 5] = [
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "TMUX",
];

#[derive(Clone)]
pub(crate) struct Notifier(Arc<Notices>);

struct Notices {
    settings: NotifySettings,
    limits: Limits,
    agents: Agents,
    root: PathBuf,
    run: RunId,
    terminal: Terminal,
    /// The time at which a person last answered, or the start time of the run if no person has answered.
    since: Mutex<Instant>,
    /// The thread that runs the newest notification command after all earlier commands have ended. The thread
    /// returns the failures of all these commands.
    running: Mutex<Option<JoinHandle<Vec<String>>>>,
    was_asked: Mutex<bool>,
}

impl Notifier {
    pub(crate) fn new(
        settings: &Settings,
        agents: &Agents,
        root: &Path,
        run: &RunId,
        terminal: &Terminal,
    ) -> Self {
        Self(Arc::new(Notices {
            settings: settings.notify.clone(),
            limits: Limits {
                call_timeout: TIMEOUT,
                ..settings.limits
            },
            agents: agents.clone(),
            root: root.to_owned(),
            run: run.clone(),
            terminal: terminal.clone(),
            since: Mutex::new(Instant::now()),
            running: Mutex::default(),
            was_asked: Mutex::default(),
        }))
    }

    /// Whether a dialog asked the person during the run.
    pub(crate) fn was_asked(&self) -> bool {
        *held(&self.0.was_asked)
    }

    /// Notifies a person about the end of a review.
    pub(crate) fn reviewed(&self, outcome: &Outcome, exit: ExitReason, message: &str) {
        let disputes = outcome
            .disputes
            .iter()
            .filter(|dispute| dispute.is_open())
            .count();
        let groups = outcome.groups().map(SettledFinding::leading);
        let open = groups.filter(|group| group.blocks()).count();
        let facts = json!({
            "target": outcome.proof.target,
            "findings": outcome.groups().count(),
            "open_mandatory": open,
            "open_disputes": disputes,
            "millis": outcome.proof.millis,
        });
        self.ended(message, Some(exit), facts);
    }

    /// Notifies a person that a run has ended. If the person stopped the run, no notification is sent. In addition
    /// to the message, the notification command receives the fields of the JSON object `facts`.
    pub(crate) fn ended(&self, message: &str, exit: Option<ExitReason>, facts: Value) {
        // A person who stopped the run needs no notification.
        if !matches!(exit, Some(ExitReason::Signal(_))) {
            self.send("ended", message, exit, facts);
        }
    }

    /// Runs a dialog. Notifies the person before the dialog if no person has answered for a long time.
    fn ask<T>(&self, message: &str, dialog: impl FnOnce() -> T) -> T {
        self.send("waiting", message, None, json!({}));
        *held(&self.0.was_asked) = true;
        let answer = dialog();
        *held(&self.0.since) = Instant::now();
        answer
    }

    fn send(&self, event: &str, message: &str, exit: Option<ExitReason>, facts: Value) {
        let Notices {
            settings,
            root,
            run,
            terminal,
            since,
            running,
            ..
        } = &*self.0;
        if settings
            .after
            .is_none_or(|after| held(since).elapsed() < after)
        {
            return;
        }
        let folder = root
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let message = printable::line(message);
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        if let Some(sequence) =
            notification::sequence(settings.terminal, variable, &format!("{folder}: {message}"))
        {
            terminal.control(&sequence);
        }
        let Some(command) = settings.command.clone() else {
            return;
        };
        let mut told = json!({
            "type": "run_notification",
            "event": event,
            "run": run,
            "root": root.to_string_lossy(),
            "message": message,
        });
        if let Some(exit) = exit {
            told["exit"] = json!(exit);
            told["code"] = json!(exit.code());
        }
        for (name, value) in facts.as_object().into_iter().flatten() {
            told[name] = value.clone();
        }
        let session = SESSION
            .into_iter()
            .filter_map(|name| Some((name, std::env::var(name).ok()?)));
        let code = exit.map_or_else(String::new, |exit| exit.code().to_string());
        let about = [
            ("GLEE_EVENT", event.to_owned()),
            ("GLEE_RUN", run.0.clone()),
            ("GLEE_MESSAGE", message),
            ("GLEE_FOLDER", printable::line(&folder)),
            ("GLEE_EXIT", code),
        ];
        let input = CommandInput {
            env: session.chain(about).collect(),
            stdin: format!("{}\n", printable::json(told.to_string())).into_bytes(),
            confinement: None,
        };
        let agents = self.0.agents.clone();
        let root = root.clone();
        let limits = self.0.limits;
        let mut running = held(running);
        let earlier = running.take();
        let thread = thread::Builder::new().name("notify".to_owned());
        let started = thread.spawn(move || {
            let mut failures = earlier
                .and_then(|earlier| earlier.join().ok())
                .unwrap_or_default();
            let failed =
                |why: &str| format!("`{}` (notify.command) failed: {why}", command.join(" "));
            match run_command(&agents, &command, &root, &limits, input) {
                Ok(None) => {}
                Ok(Some(why)) => failures.push(failed(&why)),
                Err(error) => failures.push(failed(&error.to_string())),
            }
            failures
        });
        match started {
            Ok(started) => *running = Some(started),
            Err(error) => terminal.line(&format!("warning: notify.command was not run: {error}")),
        }
    }

    /// Waits for the commands, and returns a warning for each failure.
    pub(crate) fn finish(&self) -> Vec<String> {
        let running = held(&self.0.running).take();
        let failures = running
            .and_then(|running| running.join().ok())
            .unwrap_or_default();
        failures
            .iter()
            .map(|why| format!("warning: {}", printable::line(why)))
            .collect()
    }
}

/// Returns why the notification command failed, or `None` if the command succeeded.
fn run_command(
    agents: &Agents,
    command: &[String],
    root: &Path,
    limits: &Limits,
    input: CommandInput,
) -> io::Result<Option<String>> {
    let folder = tempfile::tempdir()?;
    let files = TranscriptFiles::new(folder.path(), "notify");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let checked =
        runtime.block_on(agents.run_command(command, root, limits, &files, Stop::never(), input));
    Ok((!checked.passed).then(|| checked.tail.lines().next().unwrap_or_default().to_owned()))
}

/// A dialog that notifies the person before each question.
pub(crate) struct Noticed<D> {
    pub(crate) dialog: D,
    pub(crate) notifier: Notifier,
}

impl<D: DisputeResolver> DisputeResolver for Noticed<D> {
    fn choose(&mut self, question: &PersonQuestion) -> Option<Choice> {
        let message = format!("dispute {} waits for you", question.dispute.number);
        self.notifier.ask(&message, || self.dialog.choose(question))
    }

    fn rule(&mut self, question: &PersonQuestion) -> PersonAnswer<PersonDecision> {
        let message = format!("dispute {} waits for your ruling", question.dispute.number);
        self.notifier.ask(&message, || self.dialog.rule(question))
    }
}

impl<D: Prompter> Prompter for Noticed<D> {
    fn decide(&mut self, deadlock: &Deadlock) -> PersonAnswer<Approach> {
        let message = format!("a deadlock in stage {} waits for you", deadlock.stage);
        self.notifier.ask(&message, || self.dialog.decide(deadlock))
    }

    fn answer(&mut self, question: &OpenQuestion) -> PersonAnswer<String> {
        let message = format!("question {} waits for you", question.question.id);
        self.notifier.ask(&message, || self.dialog.answer(question))
    }
}
