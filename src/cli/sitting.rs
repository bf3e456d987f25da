//! What `review` and `runs resume` share: from a plan to a report and an exit reason.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use super::Globals;
use super::error::{CommandError, CommandResult};
use super::history::Opening;
use crate::agents::{Agents, ProcessRunner, Stop, StopHandle, sandbox};
use crate::config::paths;
use crate::config::settings::{Sandbox, Settings};
use crate::domain::{Agent, ExitReason, Outcome, Route, RunId};
use crate::draw::Look;
use crate::event::{Mode, Plan};
use crate::journal::JournalError;
use crate::pipeline::ports::{Choice, Decider, EventSink, PersonAnswer, Question};
use crate::pipeline::{self, Ahead, Ended, Rest, Reviewed, RunError, Setup};
use crate::report::{self, Detail, Format, RenderOptions};
use crate::ui::dispute::{Dialog, Unattended};
use crate::ui::jsonl::JsonLines;
use crate::ui::progress::Progress;
use crate::ui::screen::{Screen, Verbosity, speaks_utf8};
use crate::ui::stream;
use crate::ui::terminal::Terminal;
use crate::workspace::{Steering, Target, TreeLock, Workspace, WorkspaceError};

/// `--format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FormatArg {
    /// For people
    Text,
    /// The whole outcome as one JSON object
    Json,
    /// Every event as a line of JSON, as it happens
    Jsonl,
}

impl From<FormatArg> for Format {
    fn from(arg: FormatArg) -> Self {
        match arg {
            FormatArg::Text => Self::Text,
            FormatArg::Json => Self::Json,
            FormatArg::Jsonl => Self::Jsonl,
        }
    }
}

/// One sitting at a run.
pub(crate) struct Sitting<'a> {
    pub(crate) format: Format,
    pub(crate) mode: Mode,
    /// The route that was named on the command line.
    pub(crate) chosen: Option<Route>,
    pub(crate) globals: &'a Globals,
}

/// What of a run was begun while its target was chosen.
pub(crate) struct Begun {
    pub(crate) look: Ahead,
    pub(crate) history: Opening,
}

/// The work tree around the folder that the command works in.
pub(crate) fn workspace(globals: &Globals) -> Result<Workspace, CommandError> {
    Workspace::discover(&globals.directory()).map_err(workspace_error)
}

pub(crate) fn workspace_error(error: WorkspaceError) -> CommandError {
    let (exit, hint) = (error.exit(), error.hint());
    CommandError::new(exit, error).hint_if(hint)
}

pub(crate) fn journal_error(error: JournalError) -> CommandError {
    let (exit, hint) = (error.exit(), error.hint());
    CommandError::new(exit, error).hint_if(hint)
}

pub(crate) fn run_error(error: RunError) -> CommandError {
    let (exit, hint) = (error.exit(), error.hint());
    CommandError::new(exit, error).hint_if(hint)
}

/// The settings of a run. Where a commit steers it, the project's file is the one of that commit, and what is left out is
/// what was left out there.
pub(crate) fn settings(
    globals: &Globals,
    flags: Vec<(String, serde_json::Value)>,
    workspace: &mut Workspace,
    steering: Option<&Steering>,
) -> Result<Settings, CommandError> {
    let Some(steering) = steering else { return Ok(super::load::runnable(globals, flags, None)?.1.settings) };
    let folder = tempfile::tempdir()?;
    steering.write(folder.path())?;
    workspace.go_by(steering);
    Ok(super::load::runnable(globals, flags, Some(folder.path().to_owned()))?.1.settings)
}

/// The agents' programs, all of them found before anything costs money.
pub(crate) fn agents(plan: &Plan, root: &Path) -> Result<Agents, CommandError> {
    programs(&plan.agents, &plan.backups, root)
}

/// The programs of agents, all of them found, or those of their backups.
pub(crate) fn programs(agents: &[Agent], backups: &[Agent], root: &Path) -> Result<Agents, CommandError> {
    let state = paths::state_dir().map_err(|error| {
        let hint = error.hint();
        CommandError::new(ExitReason::Usage, error).hint_if(hint)
    })?;
    let programs = Agents::new(Arc::new(ProcessRunner::new()?)).remembering(&state);
    programs.check(agents, backups, root).map_err(|error| {
        let hint = error.hint.clone();
        CommandError::new(ExitReason::Usage, error).hint_if(hint)
    })?;
    Ok(programs)
}

/// Refuses what `sandbox: required` forbids, before anything costs money.
pub(crate) fn require_sandbox(settings: &Settings) -> Result<(), CommandError> {
    if settings.sandbox == Sandbox::Required && !sandbox::layers().landlock {
        return Err(CommandError::usage(
            "`sandbox` is `required`, and this system cannot hold an agent back from writing",
        )
        .hint("Linux 6.2 or newer with Landlock can; else `glee config set --user sandbox auto`"));
    }
    Ok(())
}

/// Starts a run and reports how it ended.
pub(crate) fn start(
    sitting: &Sitting<'_>,
    workspace: Arc<Workspace>,
    settings: Settings,
    agents: Agents,
    plan: Plan,
    target: Target,
    begun: Begun,
) -> CommandResult {
    let run = pipeline::new_run();
    let Begun { look, history } = begun;
    sit(sitting, workspace, settings, agents, history, &run.clone(), |setup| {
        Box::pin(pipeline::start(setup, run, plan, target, look))
    })
}

/// Carries on a run and reports how it ended.
pub(crate) fn resume(
    sitting: &Sitting<'_>,
    workspace: Workspace,
    settings: Settings,
    agents: Agents,
    run: RunId,
) -> CommandResult {
    let workspace = Arc::new(workspace);
    let history = Opening::not_begun();
    sit(sitting, workspace, settings, agents, history, &run.clone(), |setup| Box::pin(pipeline::resume(setup, run)))
}

type Running = std::pin::Pin<Box<dyn Future<Output = Result<Ended, RunError>>>>;

fn sit(
    sitting: &Sitting<'_>,
    workspace: Arc<Workspace>,
    settings: Settings,
    agents: Agents,
    history: Opening,
    id: &RunId,
    run: impl FnOnce(Setup) -> Running,
) -> CommandResult {
    require_sandbox(&settings)?;
    // Before the lock, which would already lie there.
    refuse_inside(&workspace, &state_dir()?)?;
    let _lock: Option<TreeLock> = match sitting.mode {
        Mode::Review => None,
        Mode::Fix | Mode::Arbitrate => Some(workspace.lock(&state_dir()?, id).map_err(workspace_error)?),
    };
    let journal = history.opened(sitting.globals, &workspace)?;
    let terminal = Terminal::new(screen(sitting.globals));
    let decider: Box<dyn Decider> = match (sitting.globals.interactive(), sitting.chosen) {
        (true, Some(route)) => Box::new(Chosen { route, dialog: Dialog::new(&terminal) }),
        (true, None) if settings.review.prompt_user => Box::new(Dialog::new(&terminal)),
        (true, None) | (false, _) => Box::new(Unattended::new(&terminal)),
    };
    let sink: Box<dyn EventSink> = match sitting.format {
        Format::Jsonl => Box::new(JsonLines::new()),
        Format::Text | Format::Json => Box::new(Progress::new(&terminal)),
    };
    let (wall, state_dir) = (settings.budget.wall, state_dir()?);
    let (ended, cause) = attend(wall, &terminal, |stop| {
        run(Setup { workspace, state_dir, journal, agents, settings, sink, decider, stop })
    })?;
    let mut ended = ended.map_err(run_error)?;
    if ended.rest == Rest::Stopped {
        ended.outcome.exit = cause;
        ended.outcome.notices.push(format!(
            "the run was stopped early; carry it on with `glee runs resume {}`",
            ended.outcome.run.short()
        ));
    }
    report(sitting.globals, sitting.format, &ended.outcome, &ended.reviewed, &fix_command())?;
    Ok(ended.outcome.exit)
}

/// Waits for a run, which is stopped by a signal or when its wall time is over; with the reason that holds if it was.
pub(crate) fn attend<T, F: Future<Output = T>>(
    wall: Duration,
    terminal: &Terminal,
    run: impl FnOnce(Stop) -> F,
) -> Result<(T, ExitReason), CommandError> {
    let (handle, stop) = Stop::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let cause = Arc::new(AtomicU8::new(0));
    let ended = runtime.block_on(async {
        let watching = tokio::spawn(watch(handle, wall, Arc::clone(&cause), terminal.clone()));
        let ended = run(stop).await;
        watching.abort();
        ended
    });
    // A dialog that nobody answers any more must not keep the program from ending.
    runtime.shutdown_background();
    terminal.restore();
    let cause = match cause.load(Ordering::Relaxed) {
        0 => ExitReason::Signal(2),
        OVER_BUDGET => ExitReason::Budget,
        signal => ExitReason::Signal(signal),
    };
    Ok((ended, cause))
}

/// Prints the report of a run.
pub(crate) fn report(
    globals: &Globals,
    format: Format,
    outcome: &Outcome,
    reviewed: &Reviewed,
    fix_command: &str,
) -> Result<(), CommandError> {
    let options = RenderOptions {
        look: stdout_look(globals),
        detail: if globals.verbose { Detail::Full } else { Detail::Short },
        source: &|path, round| reviewed.text(path, round),
        fix_command,
    };
    Ok(stream::out(&report::render(format, outcome, &options))?)
}

/// Takes the route that was named on the command line; a person still gives the rulings.
struct Chosen {
    route: Route,
    dialog: Dialog,
}

impl Decider for Chosen {
    fn choose(&mut self, question: &Question) -> Option<Choice> {
        let route =
            if question.judge.is_none() && self.route == Route::Judge { question.default } else { self.route };
        Some(Choice { route, by_person: true, for_all: true })
    }

    fn rule(&mut self, question: &Question) -> PersonAnswer {
        self.dialog.rule(question)
    }
}

/// The command line of this program with `--fix`, as one would type it.
fn fix_command() -> String {
    let words = std::env::args().skip(1).chain(["--fix".to_owned()]);
    let words: Vec<String> = words
        .map(|word| shlex::try_quote(&word).map_or_else(|_| word.clone(), std::borrow::Cow::into_owned))
        .collect();
    format!("glee {}", words.join(" "))
}

/// The mark of a run that reached `budget.wall`; no signal has this number.
const OVER_BUDGET: u8 = u8::MAX;

/// Stops the run on the first signal, or when its wall time is over; a second signal ends the program at once.
async fn watch(handle: StopHandle, wall: Duration, cause: Arc<AtomicU8>, terminal: Terminal) {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [(SignalKind::interrupt(), 2), (SignalKind::terminate(), 15), (SignalKind::hangup(), 1)];
    let (sender, mut signals) = tokio::sync::mpsc::channel::<u8>(4);
    for (kind, number) in kinds {
        let Ok(mut incoming) = signal(kind) else { continue };
        let sender = sender.clone();
        tokio::spawn(async move {
            while incoming.recv().await.is_some() {
                if sender.send(number).await.is_err() {
                    break;
                }
            }
        });
    }
    let over = running(wall);
    let number = tokio::select! {
        number = signals.recv() => number.unwrap_or(2),
        () = over => OVER_BUDGET,
    };
    cause.store(number, Ordering::Relaxed);
    handle.stop();
    if let Some(second) = signals.recv().await {
        end_at_once(second, &terminal);
    }
}

/// Waits for some time, in which time when the program was stopped does not count.
async fn running(mut left: Duration) {
    const STEP: Duration = Duration::from_secs(1);
    while !left.is_zero() {
        let (step, began) = (left.min(STEP), std::time::Instant::now());
        tokio::time::sleep(step).await;
        left = left.saturating_sub(began.elapsed().min(2 * STEP));
    }
}

/// Ends the program without waiting for anything; supervisors end their agents when Glee is gone.
#[expect(clippy::exit, reason = "the second signal asks for exactly this")]
fn end_at_once(signal: u8, terminal: &Terminal) {
    terminal.restore();
    std::process::exit(i32::from(ExitReason::Signal(signal).code()));
}

pub(crate) fn state_dir() -> Result<std::path::PathBuf, CommandError> {
    crate::config::paths::state_dir().map_err(|error| {
        let hint = error.hint();
        CommandError::new(ExitReason::Usage, error).hint_if(hint)
    })
}

/// Refuses to work with a record that a coder could rewrite: what Glee keeps has to lie outside the tree.
pub(crate) fn refuse_inside(workspace: &Workspace, kept: &Path) -> Result<(), CommandError> {
    // The folder may not exist yet; its nearest ancestor that does tells where it would lie.
    let real = kept.ancestors().find_map(|ancestor| ancestor.canonicalize().ok());
    if real.is_some_and(|real| real.starts_with(workspace.root())) {
        let message = format!("`{}` lies in the reviewed tree, where a coder could rewrite it", kept.display());
        return Err(CommandError::usage(message)
            .hint("keep the history elsewhere: `GLEE_STATE_DIR` or `--history` name a place outside the tree"));
    }
    Ok(())
}

/// What stderr looks like.
pub(crate) fn screen(globals: &Globals) -> Screen {
    let verbosity = match (globals.quiet, globals.verbose) {
        (true, _) => Verbosity::Quiet,
        (false, true) => Verbosity::Verbose,
        (false, false) => Verbosity::Normal,
    };
    Screen::stderr(globals.color_stderr(), verbosity)
}

/// What stdout looks like.
pub(crate) fn stdout_look(globals: &Globals) -> Look {
    let width = console::Term::stdout().size_checked().map_or(100, |(_, columns)| usize::from(columns));
    Look { color: globals.color_stdout(), unicode: speaks_utf8(), width: width.max(20) }
}
