//! Executes a run: reads the settings, runs the plan, writes the reports, and returns the exit reason. The module
//! `stage` executes a stage or a checkpoint, and the module `reports` writes the reports of a run.

mod drive;
pub(crate) mod reports;
pub(crate) mod stage;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use tracing::debug;

pub(crate) use self::drive::{TimeLimit, drive, runtime};
use crate::cli::context::globals::Globals;
use crate::cli::context::place::{refuse_inside, state_dir, work_folder};
use crate::cli::context::{detached, history, settings as load};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::filter::ReportFilter;
use crate::cli::report::options::FixCommand;
use crate::cli::report::outputs::Outputs;
use crate::cli::report::paths::WorkFolder;
use crate::cli::report::{self, Format, fix_command};
use crate::cli::style::count;
use crate::cli::ui::dialogs::dispute::{Dialog, NonInteractive};
use crate::cli::ui::live::{jsonl::JsonLines, progress::LiveProgress};
use crate::cli::ui::notify::{Noticed, Notifier};
use crate::cli::ui::terminal::Terminal;
use glee_agents::process::{own_process, sandbox};
use glee_agents::{Agents, ProcessRunner, StopHandle};
use glee_model::domain::event::{AtBase, CallId, Event, Mode, Plan};
use glee_model::domain::{
    Agent, AgentName, Dispute, DisputeNumber, ExitReason, FailureKind, FindingId, Role, Route,
    RunId,
};
use glee_store::config::choices::{Compare, Sandbox};
use glee_store::config::files::scripts::{self, Roots};
use glee_store::config::settings::Settings;
use glee_store::config::{self, ConfigSources, Loaded};
use glee_store::history::HeldRun;
use glee_system::private;
use glee_workflows::review::{self, EndedReview, Rest, RunSetup};
use glee_workflows::run::error::RunError;
use glee_workflows::run::ports::{
    Choice, DisputeResolver, EventSink, PersonAnswer, PersonDecision, PersonQuestion,
};
use glee_workspace::root::Workspace;
use glee_workspace::{ControlFiles, QueueSubject, QueuedRun, TreeLock};

pub(crate) struct CommandContext<'a> {
    pub(crate) outputs: &'a Outputs,
    pub(crate) mode: Mode,
    pub(crate) chosen: Option<Route>,
    pub(crate) globals: &'a Globals,
    /// The findings that the report shows. If the list is empty, the report shows all findings.
    pub(crate) findings: &'a [FindingId],
    pub(crate) filter: Option<&'a ReportFilter>,
    /// What a detached run reviews; `None` if no other run contains it.
    pub(crate) subject: Option<QueueSubject>,
}

/// Returns the settings of a run, and the agents whose commands the project gives. If the parameter `steering` is given,
/// Glee reads the project's configuration and the ignore rules from the commit or tree `steering.base`, and not from the
/// work tree.
pub(crate) fn settings(
    globals: &Globals,
    flags: Vec<(String, serde_json::Value)>,
    workspace: &mut Workspace,
    steering: Option<&ControlFiles>,
) -> Result<(Settings, BTreeSet<AgentName>), CommandError> {
    let Some(steering) = steering else {
        let loaded = load::trusted(globals, flags, None)?.1;
        let own = of_project(&loaded, workspace.root());
        return Ok((loaded.settings, own));
    };
    let places = load::Places::find(globals)?;
    let folder = write_copy(&places, workspace, steering)?;
    workspace.use_recorded_ignores(steering);
    let sources = ConfigSources {
        flags: flags.clone(),
        project_copy: Some(folder.clone()),
        ..places.sources(globals)
    };
    let named = config::load(&sources)?;
    // Trust covers the files that a command names, so the copy contains them as they are in the base.
    let root = workspace.root().to_owned();
    let mut wanted: BTreeSet<String> = commands(&named.settings)
        .iter()
        .flat_map(|command| scripts::paths(command, &root))
        .collect();
    loop {
        workspace.write_commit(&steering.base, &folder, |path| wanted.contains(path))?;
        let targets = wanted.iter().filter_map(|path| {
            let target = folder.join(path).read_link().ok()?;
            let target = Path::new(path).parent()?.join(target);
            scripts::below(target.to_str()?, &root)
        });
        let targets: Vec<String> = targets.filter(|path| !wanted.contains(path)).collect();
        if targets.is_empty() {
            break;
        }
        wanted.extend(targets);
    }
    let mut loaded = load::trusted(globals, flags, Some(folder))?.1;
    // The command that tells a person runs in the tree, and could be a script of the change.
    if loaded
        .values
        .get("notify.command")
        .is_some_and(|setting| setting.origin.layer() == "project")
    {
        loaded.settings.notify.command = None;
    }
    let own = of_project(&loaded, &root);
    Ok((loaded.settings, own))
}

/// Leaves out the runners that cannot run here, and says why. Nobody is asked for a test that cannot run.
pub(crate) fn leave_out_runners(
    globals: &Globals,
    settings: &mut Settings,
    root: &Path,
) -> Result<(), CommandError> {
    if settings.review.offered_runners().next().is_none() {
        return Ok(());
    }
    let programs = unchecked(0)?;
    settings.review.runners.retain(|name, runner| {
        let found = programs.test_program(&runner.command, root);
        if let Err(why) = &found {
            globals.say(format!("note: no tests with the runner `{name}`: {why}"));
        }
        found.is_ok()
    });
    Ok(())
}

/// The agents whose commands the project gives. A command of the user that names a file of the tree also counts, because
/// the file is a part of the project.
fn of_project(loaded: &Loaded, root: &Path) -> BTreeSet<AgentName> {
    let roots = Roots::of(root);
    let named = loaded.settings.agents.iter().filter(|agent| {
        !agent.is_embedded() && !roots.files([agent.command.as_slice()]).is_empty()
    });
    let named = named.map(|agent| agent.name.clone());
    loaded.project_agents.iter().cloned().chain(named).collect()
}

/// Returns the commands of all agents, the commands in the setting `review.verify`, and the notification command.
/// The result also contains the agents' environment variables, because a value can be the path of a script.
fn commands(settings: &Settings) -> Vec<Vec<String>> {
    let own = settings.agents.iter().flat_map(|agent| {
        // The functions of the module `scripts` expect a program and its arguments. The functions therefore get
        // `env` as the program and the values of the environment variables as the arguments.
        let variables = std::iter::once("env".to_owned())
            .chain(agent.env.values().cloned())
            .collect();
        [agent.command.clone(), variables]
    });
    own.chain(settings.review.verify.iter().cloned())
        .chain(settings.notify.command.clone())
        .collect()
}

/// Writes the files that configure Glee to a folder outside the tree. Returns the copy of the project's folder.
pub(crate) fn write_copy(
    places: &load::Places,
    workspace: &Workspace,
    files: &ControlFiles,
) -> Result<PathBuf, CommandError> {
    // The name of the folder depends only on the base commit, so a resumed run finds its programs at the same
    // paths.
    let folder = places.state.join("steering").join(&files.base);
    private::folder(&folder)?;
    files.write(&folder)?;
    Ok(folder.join(workspace.of_project("")))
}

/// Fails if an agent's program and the program of the agent's backup are both missing.
pub(crate) fn programs(
    agents: &[Agent],
    backups: &[Agent],
    root: &Path,
) -> Result<Agents, CommandError> {
    let programs = unchecked(agents.len())?;
    programs.check(agents, backups, root)?;
    Ok(programs)
}

/// Like [`programs`], for the plan of a review. Prepares the checkouts in which commands of the project run.
pub(crate) fn programs_of(
    plan: &Plan,
    judges: &[Agent],
    workspace: &Workspace,
) -> Result<Agents, CommandError> {
    let planned = plan.agents.iter().chain(judges);
    let agents: Vec<Agent> = planned
        .filter(|agent| !agent.is_caller())
        .cloned()
        .collect();
    let mut programs = unchecked(agents.len())?;
    if let Some(AtBase { commit, agents }) = &plan.at_base {
        programs = programs.at_base(workspace, commit, agents, &state_dir()?)?;
    }
    let all = agents.iter().chain(&plan.backups).chain(&plan.comparers);
    if let Some(agent) = programs.needs_tree(all) {
        let message = format!(
            "the command of `{}` names this folder, and would run code of the reviewed change",
            agent.name
        );
        return Err(
            CommandError::ending(ExitReason::Untrusted, message).hint(
                "name files relative to the project's folder, or run Glee where mount namespaces are allowed (`glee \
                 doctor` shows it)",
            ),
        );
    }
    let (reviewers, others): (Vec<Agent>, Vec<Agent>) = agents
        .into_iter()
        .partition(|agent| agent.role == Role::Reviewer);
    let check = |agents: &[Agent]| programs.check(agents, &plan.backups, workspace.root());
    check(&others)?;
    // A missing reviewer is one that does not answer, as long as another reviewer can be asked.
    let mut missing = Vec::new();
    for reviewer in &reviewers {
        match check(std::slice::from_ref(reviewer)) {
            Err(error) if error.kind == FailureKind::NotInstalled => missing.push(error),
            checked => checked?,
        }
    }
    match missing.pop() {
        Some(error) if missing.len() + 1 == reviewers.len() => Err(error.into()),
        _ => Ok(programs),
    }
}

/// The programs of the agents, of which any can be missing.
pub(crate) fn unchecked(agents: usize) -> Result<Agents, CommandError> {
    own_process::require_temporary_folder()?;
    own_process::provide_open_files(agents)?;
    Ok(Agents::new(Arc::new(ProcessRunner::new()?)).remembering(&state_dir()?))
}

/// Fails if the settings require a sandbox that this system does not provide.
pub(crate) fn require_sandbox(settings: &Settings) -> Result<(), CommandError> {
    if settings.sandbox == Sandbox::Required && !sandbox::layers().landlock {
        return Err(CommandError::usage(
            "`sandbox` is `required`, but this system cannot prevent an agent from writing",
        )
        .hint("use Linux 6.2 or newer with Landlock, or `glee config set --user sandbox auto`"));
    }
    Ok(())
}

/// Returns the disputes, and whether the user or a signal stopped the run.
pub(crate) fn settle(
    context: &CommandContext<'_>,
    workspace: Arc<Workspace>,
    settings: Settings,
    agents: Agents,
    run: &RunId,
    disputes: Vec<DisputeNumber>,
    judges: Vec<Agent>,
) -> Result<(Vec<Dispute>, bool), CommandError> {
    let Executed {
        ended: (disputes, rest),
        notifier,
        ..
    } = execute(
        context,
        workspace,
        settings,
        agents,
        run,
        None,
        |setup, resolver| review::settle(setup, resolver, run.clone(), disputes, judges),
    )?;
    let open = disputes.iter().filter(|dispute| dispute.is_open()).count();
    if rest != Rest::Stopped {
        notifier.ended(
            &format!(
                "{} settled, {open} open",
                count(disputes.len() - open, "dispute")
            ),
            None,
            json!({}),
        );
    }
    warn(context.globals, &notifier);
    Ok((disputes, rest == Rest::Stopped))
}

pub(crate) fn review<F: Future<Output = Result<EndedReview, RunError>>>(
    context: &CommandContext<'_>,
    workspace: Arc<Workspace>,
    settings: Settings,
    agents: Agents,
    id: &RunId,
    fix: &FixCommand,
    run: impl FnOnce(RunSetup, Box<dyn DisputeResolver>) -> F,
) -> CommandResult {
    let resume = format!("resume it with `glee runs resume {}`", id.short());
    let reviewed = Arc::clone(&workspace);
    let is_alone = settings.review.compare == Compare::Auto
        && settings
            .agents
            .iter()
            .all(|agent| agent.role != Role::Aggregator);
    let Executed {
        mut ended,
        cause,
        notifier,
        held,
    } = execute(context, workspace, settings, agents, id, Some(&resume), run)?;
    if ended.rest == Rest::Stopped {
        // If the user stops the run in a dialog, the exit code is the same as after Ctrl-C.
        ended.outcome.exit = cause.unwrap_or(ExitReason::Signal(2));
        ended.outcome.notices.push(format!(
            "the run was stopped early, and its results are recorded; {resume}"
        ));
    }
    let globals = context.globals;
    let outputs = context.outputs;
    // With the format `jsonl` on standard output, each event was already printed when the event was recorded.
    let shown = outputs.formats().filter(|format| format.shows_events());
    let is_printed = usize::from(outputs.stdout == Format::Jsonl);
    let events = if shown.count() > is_printed {
        history::open_read(globals, reviewed.home())?
            .map(|journal| journal.events(id))
            .transpose()?
    } else {
        None
    };
    let events = events.unwrap_or_default();
    let only = context.findings;
    let EndedReview {
        outcome,
        reviewed: sources,
        ..
    } = &ended;
    // If a signal arrived after the run had ended, the signal nevertheless determines the exit code.
    let exit = cause
        .filter(|cause| matches!(cause, ExitReason::Signal(_)))
        .unwrap_or(outcome.exit);
    // Whoever waits for the run does not wait until the report is read.
    if let Err(error) = held.leave(exit) {
        debug!("cannot record how the run was left: {error}");
    }
    notifier.reviewed(outcome, exit, &report::text::conclusion(outcome));
    let was_asked = notifier.was_asked() || matches!(exit, ExitReason::Signal(_));
    let filter = context.filter;
    let report = reports::RunReport {
        outcome,
        reviewed: sources,
        events: &events,
        fix,
        only,
        filter,
        was_asked,
    };
    let written = report.write(globals, outputs, reviewed.home().root());
    if is_alone
        && globals.interactive()
        && outcome
            .findings
            .iter()
            .any(|settled| !settled.finding.may_be.is_empty())
    {
        globals.say(
            "hint: an aggregator decides which findings are the same: `glee connect <agent> --role aggregator`",
        );
    }
    warn(globals, &notifier);
    written.map(|()| exit)
}

/// Waits for the commands of the notifications, and prints their failures.
fn warn(globals: &Globals, notifier: &Notifier) {
    notifier
        .finish()
        .iter()
        .for_each(|warning| globals.say(warning));
}

struct Executed<T> {
    ended: T,
    /// The signal or the time limit that stopped the run.
    cause: Option<ExitReason>,
    /// The caller must send the notification that the run ended.
    notifier: Notifier,
    held: HeldRun,
}

fn execute<T, F: Future<Output = Result<T, RunError>>>(
    context: &CommandContext<'_>,
    workspace: Arc<Workspace>,
    settings: Settings,
    agents: Agents,
    id: &RunId,
    resume: Option<&str>,
    run: impl FnOnce(RunSetup, Box<dyn DisputeResolver>) -> F,
) -> Result<Executed<T>, CommandError> {
    require_sandbox(&settings)?;
    let state_dir = state_dir()?;
    // This check precedes `lock`, because `lock` creates a file in the state folder.
    let home = workspace.home();
    refuse_inside(home, &state_dir)?;
    let _lock: Option<TreeLock> = match context.mode {
        Mode::Review => None,
        // Nobody else works in the worktree of a run.
        Mode::Fix | Mode::Arbitrate if workspace.has_home() => None,
        Mode::Fix | Mode::Arbitrate => Some(workspace.lock(&state_dir, id)?),
    };
    let journal = history::open(context.globals, home)?;
    let held = journal.hold(id)?;
    let queue = detached::enqueue(context.globals, home, &journal, id, context.subject.clone())?;
    let terminal = Terminal::new(context.globals.screen());
    let folder = work_folder(context.globals, home);
    let notifier = Notifier::new(&settings, &agents, home.root(), id, &terminal);
    let dialog = Noticed {
        dialog: Dialog::new(&terminal).seen_from(folder.clone()),
        notifier: notifier.clone(),
    };
    let resolver: Box<dyn DisputeResolver> = match (context.globals.interactive(), context.chosen) {
        (true, Some(route)) => Box::new(ChosenRoute { route, dialog }),
        (true, None) if settings.review.on_dispute.prompt_user => Box::new(dialog),
        (true, None) | (false, _) => Box::new(NonInteractive::new(&terminal)),
    };
    let is_recorded = Arc::new(AtomicBool::new(false));
    let prints_events = context.outputs.stdout == Format::Jsonl;
    let sink = sink(prints_events, &terminal, context.globals.interactive());
    let folder = folder.for_people(!prints_events);
    let sink = Box::new(RunObserver {
        sink,
        folder,
        is_recorded: Arc::clone(&is_recorded),
    });
    let resume = resume.map(|resume| (resume.to_owned(), is_recorded));
    let time_limit = TimeLimit {
        duration: settings.budget.duration,
        begun: queue.as_ref().map(QueuedRun::begun),
    };
    let (ended, cause) = drive(time_limit, &terminal, resume, |stop| {
        run(
            RunSetup {
                workspace,
                state_dir,
                journal,
                agents,
                settings,
                sink,
                stop,
                queue,
            },
            resolver,
        )
    })?;
    match ended {
        Ok(ended) => Ok(Executed {
            ended,
            cause,
            notifier,
            held,
        }),
        Err(error) => {
            notifier.ended("the run failed", None, json!({}));
            warn(context.globals, &notifier);
            Err(error.into())
        }
    }
}

/// `keys` states whether the user can press keys during the run.
pub(crate) fn sink(prints_events: bool, terminal: &Terminal, keys: bool) -> Box<dyn EventSink> {
    if prints_events {
        Box::new(JsonLines::default())
    } else {
        Box::new(LiveProgress::new(terminal).with_keys(keys))
    }
}

/// Passes the events of a run to `sink`, with paths relative to `folder`. Sets `is_recorded` when the first
/// event is recorded. After the first event, the run can be resumed.
struct RunObserver {
    sink: Box<dyn EventSink>,
    folder: WorkFolder,
    is_recorded: Arc<AtomicBool>,
}

impl EventSink for RunObserver {
    fn event(&mut self, event: &Event) {
        self.is_recorded.store(true, Ordering::Relaxed);
        if self.folder.is_root() {
            return self.sink.event(event);
        }
        let mut shown = event.clone();
        self.folder.event(&mut shown);
        self.sink.event(&shown);
    }

    fn activity(&mut self, call: &CallId, line: &str) {
        self.sink.activity(call, line);
    }

    fn skippable(&mut self, call: &CallId, skip: StopHandle) {
        self.sink.skippable(call, skip);
    }
}

/// For every dispute, uses the route that the command line selects. If the route is `human`, a dialog asks for the
/// rulings.
struct ChosenRoute {
    route: Route,
    dialog: Noticed<Dialog>,
}

impl DisputeResolver for ChosenRoute {
    fn choose(&mut self, question: &PersonQuestion) -> Option<Choice> {
        let route = if question.judge.is_none() && self.route == Route::Judge {
            question.default
        } else {
            self.route
        };
        Some(Choice {
            route,
            by_person: true,
            for_all: true,
        })
    }

    fn rule(&mut self, question: &PersonQuestion) -> PersonAnswer<PersonDecision> {
        self.dialog.rule(question)
    }
}

/// The command that reviews the target of a recorded run once more, and hands the findings to the coder.
pub(crate) fn fix_command(globals: &Globals, plan: &Plan) -> FixCommand {
    let loaded = load::load(globals);
    FixCommand {
        command: fix_command::of_plan(plan, &globals.directory(), globals.history.as_deref()),
        has_coder: loaded.is_ok_and(|loaded| has_coder(&loaded.settings)),
    }
}

pub(crate) fn has_coder(settings: &Settings) -> bool {
    settings
        .agents
        .iter()
        .any(|agent| agent.role == Role::Coder)
}
