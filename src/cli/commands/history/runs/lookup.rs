use crate::agents::Agents;
use crate::cli::context::globals::Globals;
use crate::cli::context::{execute, history, place};
use crate::cli::error::CommandError;
use crate::config::settings::Settings;
use crate::domain::event::{Event, EventKind, Mode, Plan, ReviewEvent, RunEvent};
use crate::domain::{Agent, ExitReason, Role, Route, RunId};
use crate::history::queries::rows::RunRow;
use crate::history::store::Journal;
use crate::protocol::text::printable;
use crate::workflows::review::recorded::view;
use crate::workflows::review::{self, ReviewPlanError};
use crate::workspace::root::Workspace;

pub(crate) fn table(rows: &[RunRow]) -> String {
    let mut out =
        String::from("RUN       STARTED           MODE       FINDINGS  DISPUTES  ENDED              TARGET\n");
    for row in rows {
        let disputes = match row.open_disputes {
            0 => row.disputes.to_string(),
            open => format!("{} ({open} open)", row.disputes),
        };
        let started = row.started.to_zoned(jiff::tz::TimeZone::system());
        out.push_str(&format!(
            "{:<8}  {:<16}  {:<9}  {:>8}  {:<8}  {:<17}  {}\n",
            row.run.short(),
            started.strftime("%Y-%m-%d %H:%M").to_string(),
            mode(row.mode),
            row.findings,
            disputes,
            ended(row),
            printable::line(&row.target),
        ));
    }
    out
}

pub(crate) fn find(globals: &Globals, workspace: &Workspace, text: &str) -> Result<(Journal, RunId), CommandError> {
    let journal = journal(globals, workspace)?;
    let run = journal.find_run(text)?;
    Ok((journal, run))
}

/// A recorded run with what it takes to go on.
pub(crate) struct Recalled {
    pub(crate) workspace: Workspace,
    pub(crate) settings: Settings,
    pub(crate) plan: Plan,
    pub(crate) events: Vec<Event>,
    /// The route for disputes that was named, now or when the run was started.
    pub(crate) chosen: Option<Route>,
    /// The judges to call, where the run was planned without any.
    pub(crate) judges: Vec<Agent>,
}

/// Recalls a run. `named` is the route for its disputes that is named now.
pub(crate) fn recall(
    globals: &Globals,
    mut workspace: Workspace,
    journal: &Journal,
    run: &RunId,
    named: Option<Route>,
) -> Result<Recalled, CommandError> {
    refuse_pruned(journal, run)?;
    let events = journal.events(run)?;
    let plan = events.iter().find_map(|event| match &event.kind {
        EventKind::Review(ReviewEvent::RunStarted { plan }) => Some((**plan).clone()),
        _ => None,
    });
    let Some(plan) = plan else {
        return Err(CommandError::usage(format!("run {} was never started", run.short()))
            .hint("`glee runs` lists the runs"));
    };
    // What the coder did to `.glee` in this run does not decide how the run goes on.
    let steering = match (&plan.steered_by, view::tree_before_steering(&events)) {
        (Some(commit), _) => Some(workspace.steering_at(commit)),
        (None, Some(tree)) => Some(workspace.steering_in(&tree, &place::state_dir()?)),
        (None, None) => None,
    };
    let steering = steering.transpose()?;
    let chosen = named.or(plan.on_dispute);
    let flags = chosen.map(|route| ("review.on_dispute.default".to_owned(), route.as_str().into()));
    let (settings, _) = execute::settings(globals, flags.into_iter().collect(), &mut workspace, steering.as_ref())?;
    let planned = plan.agents.iter().any(|agent| agent.role == Role::Judge);
    let judges: Vec<Agent> = if planned {
        Vec::new()
    } else {
        let judges = review::judges(&settings);
        judges?.into_iter().cloned().collect()
    };
    if named == Some(Route::Judge) && !planned && judges.is_empty() {
        return Err(ReviewPlanError::NoJudge.into());
    }
    Ok(Recalled { workspace, settings, plan, events, chosen, judges })
}

/// The programs of a run's agents and of judges that are called for it.
pub(crate) fn programs(plan: &Plan, judges: &[Agent], workspace: &Workspace) -> Result<Agents, CommandError> {
    let all: Vec<Agent> = plan.agents.iter().chain(judges).cloned().collect();
    execute::programs(&all, &plan.backups, workspace.root())
}

/// What was pruned can only be read.
pub(crate) fn refuse_pruned(journal: &Journal, run: &RunId) -> Result<(), CommandError> {
    let events = journal.events(run)?;
    let Some(pruned) = events.iter().find(|event| matches!(event.kind, EventKind::Run(RunEvent::RunPruned { .. })))
    else {
        return Ok(());
    };
    let day = pruned.at.to_zoned(jiff::tz::TimeZone::system()).date();
    let message = format!("the code that run {} kept was pruned on {day}", run.short());
    let id = run.short();
    Err(CommandError::usage(message)
        .hint(format!("what was found and ruled is still there: `glee runs show {id}`, `glee runs diff {id}`")))
}

pub(crate) fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Review => "review",
        Mode::Fix => "fix",
        Mode::Arbitrate => "arbitrate",
    }
}

pub(crate) fn ended(row: &RunRow) -> String {
    let text = match row.exit {
        None => "interrupted",
        Some(ExitReason::Clean) => "clean",
        Some(ExitReason::FindingsOpen) => "findings open",
        Some(ExitReason::DisputeOpen) => "dispute open",
        Some(ExitReason::AgentFailed) => "agent failed",
        Some(ExitReason::Budget) => "over budget",
        Some(other) => return format!("exit {}", other.code()),
    };
    if row.undone { format!("{text}, undone") } else { text.to_owned() }
}

pub(crate) fn journal(globals: &Globals, workspace: &Workspace) -> Result<Journal, CommandError> {
    history::open_read(globals, workspace)?
        .ok_or_else(|| CommandError::usage("this repository has no runs yet").hint("start one with `glee review`"))
}
