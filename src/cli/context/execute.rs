//! What `review` and `runs resume` share: from a plan to a report and an exit reason.

use std::mem::take;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use super::history;
use crate::agents::process::{own_process, sandbox};
use crate::agents::{Agents, ProcessRunner, Stop, StopHandle};
use crate::cli::context::globals::Globals;
use crate::cli::context::place::{create_private, refuse_inside, state_dir};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::options::{Detail, RenderOptions};
use crate::cli::report::{self, Format};
use crate::cli::signals::{self, Loop};
use crate::cli::style::Style;
use crate::cli::ui::dialogs::dispute::{Dialog, NonInteractive};
use crate::cli::ui::live::jsonl::JsonLines;
use crate::cli::ui::live::progress::Progress;
use crate::cli::ui::screen::{Screen, Verbosity, speaks_utf8};
use crate::cli::ui::stream;
use crate::cli::ui::terminal::Terminal;
use crate::config;
use crate::config::files::{paths, scripts};
use crate::config::settings::{Sandbox, Settings};
use crate::domain::event::{CallId, Event, Mode};
use crate::domain::{Agent, Dispute, DisputeNumber, ExitReason, Outcome, Route, RulingWord, RunId};
use crate::protocol::secrets;
use crate::system::log;
use crate::workflows::review::code::sources::Sources;
use crate::workflows::review::{self, EndedReview, Rest, RunSetup};
use crate::workflows::run::error::RunError;
use crate::workflows::run::ports::{Choice, DisputeResolver, EventSink, PersonAnswer, PersonQuestion};
use crate::workspace::root::Workspace;
use crate::workspace::{Steering, TreeLock};

pub(crate) struct CommandContext<'a> {
    pub(crate) format: Format,
    pub(crate) mode: Mode,
    pub(crate) chosen: Option<Route>,
    pub(crate) globals: &'a Globals,
}

/// The settings of a run, and the files that the change edits and that commands name. Where a commit steers the run, the
/// project's file is the one of that commit, what is left out is what was left out there, and commands run the files that
/// they name in the tree as these stand there.
pub(crate) fn settings(
    globals: &Globals,
    flags: Vec<(String, serde_json::Value)>,
    workspace: &mut Workspace,
    steering: Option<&Steering>,
) -> Result<(Settings, Vec<String>), CommandError> {
    let Some(steering) = steering else {
        return Ok((crate::cli::context::settings::runnable(globals, flags, None)?.1.settings, Vec::new()));
    };
    let places = crate::cli::context::settings::Places::find(globals)?;
    // The same place each time: a run that is carried on finds its programs again.
    let folder = places.state.join("steering").join(&steering.base);
    create_private(&folder)?;
    steering.write(&folder)?;
    workspace.go_by(steering);
    let sources = config::ConfigSources {
        flags: flags.clone(),
        project_copy: Some(folder.clone()),
        ..places.sources(globals)
    };
    let named = config::load(&sources)?.settings;
    let root = workspace.root().to_owned();
    let wanted = commands(&named).iter().flat_map(|command| scripts::paths(command, &root)).collect();
    let files = workspace.files_at(&steering.base, &wanted)?;
    if let Some(path) = files.added.first() {
        return Err(not_at_base(path, "it is not in the commit that the change is based on"));
    }
    let copies = files.write(&folder)?;
    let mut settings = crate::cli::context::settings::runnable(globals, flags, Some(folder))?.1.settings;
    if let Some(command) = commands(&settings).iter().find(|command| scripts::is_module_of(command, &root, &copies))
    {
        return Err(not_at_base(&command.join(" "), "the change edits the module that it runs"));
    }
    for agent in &mut settings.agents {
        agent.command = scripts::replaced(&agent.command, &root, &copies);
        for value in agent.env.values_mut() {
            *value = scripts::replaced(&[take(value)], &root, &copies).concat();
        }
    }
    for command in &mut settings.review.verify {
        *command = scripts::replaced(command, &root, &copies);
    }
    Ok((settings, files.edited.into_iter().collect()))
}

/// Everything that a run may start, and the variables that it sets.
fn commands(settings: &Settings) -> Vec<Vec<String>> {
    let agents = settings.agents.iter();
    let own = agents.flat_map(|agent| {
        // A variable is no program: with a word before it, it is looked up as an argument.
        let variables = std::iter::once("env".to_owned()).chain(agent.env.values().cloned()).collect();
        [agent.command.clone(), variables]
    });
    own.chain(settings.review.verify.iter().cloned()).collect()
}

fn not_at_base(what: &str, why: &str) -> CommandError {
    let message = format!("a command names `{}`, and {why}", crate::protocol::text::printable::line(what));
    CommandError::new(ExitReason::Untrusted, anyhow::Error::msg(message))
        .hint("a change must not decide how it is reviewed: bring the file to the base branch first")
}

/// The programs of agents, all of them found, or those of their backups.
pub(crate) fn programs(agents: &[Agent], backups: &[Agent], root: &Path) -> Result<Agents, CommandError> {
    let state = paths::state_dir()?;
    own_process::provide_open_files(agents.len())?;
    let programs = Agents::new(Arc::new(ProcessRunner::new()?)).remembering(&state);
    programs.check(agents, backups, root)?;
    Ok(programs)
}

/// Refuses what `sandbox: required` forbids, before anything costs money.
pub(crate) fn require_sandbox(settings: &Settings) -> Result<(), CommandError> {
    if settings.sandbox == Sandbox::Required && !sandbox::layers().landlock {
        return Err(CommandError::usage(
            "`sandbox` is `required`, and this system cannot hold an agent back from writing",
        )
        .hint("use Linux 6.2 or newer with Landlock, or `glee config set --user sandbox auto`"));
    }
    Ok(())
}

/// Settles disputes of a run that stayed open, and does nothing else. Returns them as they stand then, and whether a
/// person or a signal stopped it.
pub(crate) fn settle(
    sitting: &CommandContext<'_>,
    workspace: Workspace,
    settings: Settings,
    agents: Agents,
    run: RunId,
    disputes: Vec<DisputeNumber>,
    judges: Vec<Agent>,
) -> Result<(Vec<Dispute>, bool), CommandError> {
    require_sandbox(&settings)?;
    let workspace = Arc::new(workspace);
    let state_dir = state_dir()?;
    refuse_inside(&workspace, &state_dir)?;
    let _lock = workspace.lock(&state_dir, &run)?;
    let journal = history::open(sitting.globals, &workspace)?;
    let terminal = Terminal::new(screen(sitting.globals));
    let decider = decider(sitting, &settings, &terminal);
    let sink = Box::new(Progress::new(&terminal));
    let (ended, _) = attend(settings.budget.duration, &terminal, None, |stop| {
        review::settle(
            RunSetup { workspace, state_dir, journal, agents, settings, sink, stop },
            decider,
            run,
            disputes,
            judges,
        )
    })?;
    let (disputes, rest) = ended?;
    Ok((disputes, rest == Rest::Stopped))
}

/// Who decides disputes: the route that was named, a person, or the default.
fn decider(sitting: &CommandContext<'_>, settings: &Settings, terminal: &Terminal) -> Box<dyn DisputeResolver> {
    match (sitting.globals.interactive(), sitting.chosen) {
        (true, Some(route)) => Box::new(Chosen { route, dialog: Dialog::new(terminal) }),
        (true, None) if settings.review.on_dispute.prompt_user => Box::new(Dialog::new(terminal)),
        (true, None) | (false, _) => Box::new(NonInteractive::new(terminal)),
    }
}

/// Starts a run or carries it on, as `run` does, and reports how it ended.
pub(crate) fn sit<F: Future<Output = Result<EndedReview, RunError>>>(
    sitting: &CommandContext<'_>,
    workspace: Arc<Workspace>,
    settings: Settings,
    agents: Agents,
    id: &RunId,
    run: impl FnOnce(RunSetup, Box<dyn DisputeResolver>) -> F,
) -> CommandResult {
    require_sandbox(&settings)?;
    // Before the lock, which would already lie there.
    refuse_inside(&workspace, &state_dir()?)?;
    let _lock: Option<TreeLock> = match sitting.mode {
        Mode::Review => None,
        Mode::Fix | Mode::Arbitrate => Some(workspace.lock(&state_dir()?, id)?),
    };
    let journal = history::open(sitting.globals, &workspace)?;
    let terminal = Terminal::new(screen(sitting.globals));
    let decider = decider(sitting, &settings, &terminal);
    let sink: Box<dyn EventSink> = match sitting.format {
        Format::Jsonl => Box::new(JsonLines::default()),
        Format::Text | Format::Json => Box::new(Progress::new(&terminal)),
    };
    let (wall, state_dir) = (settings.budget.duration, state_dir()?);
    let is_recorded = Arc::new(AtomicBool::new(false));
    let sink = Box::new(Noting { sink, is_recorded: Arc::clone(&is_recorded) });
    let resume = format!("carry it on with `glee runs resume {}`", id.short());
    let (ended, cause) = attend(wall, &terminal, Some((resume, is_recorded)), |stop| {
        run(RunSetup { workspace, state_dir, journal, agents, settings, sink, stop }, decider)
    })?;
    let mut ended = ended?;
    if ended.rest == Rest::Stopped {
        // At a dialog the person has stopped it, which ends the program as Ctrl-C does.
        ended.outcome.exit = cause.unwrap_or(ExitReason::Signal(2));
        ended.outcome.notices.push(format!(
            "the run was stopped early, and what was done is kept; carry it on with `glee runs resume {}`",
            ended.outcome.run.short()
        ));
    }
    report(sitting.globals, sitting.format, &ended.outcome, &ended.reviewed, &fix_command())?;
    // Whoever sent a signal learns that it arrived, though the run was over before it could be stopped.
    Ok(cause.filter(|cause| matches!(cause, ExitReason::Signal(_))).unwrap_or(ended.outcome.exit))
}

/// Waits for a run, which is stopped by a signal or when its wall time is over; with the reason if it was.
/// `resume` says how it is carried on, and whether it can be.
pub(crate) fn attend<T, F: Future<Output = T>>(
    wall: Duration,
    terminal: &Terminal,
    resume: Option<(String, Arc<AtomicBool>)>,
    run: impl FnOnce(Stop) -> F,
) -> Result<(T, Option<ExitReason>), CommandError> {
    let (handle, stop) = Stop::new();
    let shown = terminal.clone();
    let shows = terminal.screen().verbosity > Verbosity::Quiet;
    let _lines = shows.then(|| log::on_screen(Box::new(move |line| shown.line(line))));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (handle, cause) = (Arc::new(handle), Arc::new(AtomicU8::new(0)));
    let turning = Arc::new(Loop::default());
    let attached = signals::attach(signals::SignalScope {
        stop: Arc::clone(&handle),
        cause: Arc::clone(&cause),
        terminal: terminal.clone(),
        turning: Arc::clone(&turning),
        resume,
    });
    let ended = runtime.block_on(async {
        let answering = tokio::spawn(turning.answer());
        let timing = tokio::spawn(limit(wall, handle, Arc::clone(&cause)));
        let ended = run(stop).await;
        answering.abort();
        timing.abort();
        ended
    });
    drop(attached);
    // A dialog that nobody answers any more must not keep the program from ending.
    runtime.shutdown_background();
    terminal.restore();
    let cause = match cause.load(Ordering::Relaxed) {
        0 => None,
        OVER_BUDGET => Some(ExitReason::Budget),
        signal => Some(ExitReason::Signal(signal)),
    };
    Ok((ended, cause))
}

/// Prints the report of a run.
pub(crate) fn report(
    globals: &Globals,
    format: Format,
    outcome: &Outcome,
    reviewed: &Sources,
    fix_command: &str,
) -> Result<(), CommandError> {
    let options = RenderOptions {
        style: stdout_look(globals),
        detail: if globals.verbose > 0 { Detail::Full } else { Detail::Short },
        source: &|path, round| reviewed.shown(round, path),
        fix_command,
    };
    // The name of a file may hold a token as well.
    let outcome = secrets::redact_value(outcome.clone());
    Ok(stream::out(&report::render(format, &outcome, &options))?)
}

/// Notes that something of the run is recorded, so that it can be carried on.
struct Noting {
    sink: Box<dyn EventSink>,
    is_recorded: Arc<AtomicBool>,
}

impl EventSink for Noting {
    fn event(&mut self, event: &Event) {
        self.is_recorded.store(true, Ordering::Relaxed);
        self.sink.event(event);
    }

    fn activity(&mut self, call: &CallId, line: &str) {
        self.sink.activity(call, line);
    }
}

/// Takes the route that was named on the command line; a person still gives the rulings.
struct Chosen {
    route: Route,
    dialog: Dialog,
}

impl DisputeResolver for Chosen {
    fn choose(&mut self, question: &PersonQuestion) -> Option<Choice> {
        let route =
            if question.judge.is_none() && self.route == Route::Judge { question.default } else { self.route };
        Some(Choice { route, by_person: true, for_all: true })
    }

    fn rule(&mut self, question: &PersonQuestion) -> PersonAnswer<RulingWord> {
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

/// The mark of a run that reached `budget.duration`; no signal has this number.
const OVER_BUDGET: u8 = u8::MAX;

/// Stops the run when its wall time is over.
async fn limit(wall: Duration, handle: Arc<StopHandle>, cause: Arc<AtomicU8>) {
    running(wall).await;
    if cause.compare_exchange(0, OVER_BUDGET, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        handle.stop();
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

/// What stderr looks like.
pub(crate) fn screen(globals: &Globals) -> Screen {
    let verbosity = match (globals.quiet, globals.verbose) {
        (true, _) => Verbosity::Quiet,
        (false, 1..) => Verbosity::Verbose,
        (false, 0) => Verbosity::Normal,
    };
    Screen::stderr(globals.color_stderr(), verbosity)
}

/// What stdout looks like.
pub(crate) fn stdout_look(globals: &Globals) -> Style {
    let width = console::Term::stdout().size_checked().map_or(100, |(_, columns)| usize::from(columns));
    Style { color: globals.color_stdout(), unicode: speaks_utf8(), width: width.max(20) }
}
