//! Executes a stage or a checkpoint: runs the plan, writes the files and the report, and returns the exit reason.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::json;

use crate::cli::context::args::ReportFormat;
use crate::cli::context::globals::Globals;
use crate::cli::context::output::print;
use crate::cli::context::{execute, history, names, place, settings};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::{BasicFormat, formats::json::pretty, stage as report};
use crate::cli::ui::notify::{Noticed, Notifier};
use crate::cli::ui::{dialogs::prompter::PersonDialog, terminal::Terminal};
use glee_model::domain::{ExitReason, Role, RunId, StagePlan};
use glee_protocol::text::printable;
use glee_store::config::settings::Settings;
use glee_store::history::store::Journal;
use glee_workflows::consensus::{self, Rest, StageOutcome, files};
use glee_workflows::review::{self, RunSetup};
use glee_workflows::run::ports::Prompter;
use glee_workspace::root::Workspace;

#[derive(clap::Args)]
pub(crate) struct StageRequest {
    /// The name under which Glee records the run (the same name resumes an interrupted run)
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Ask these agents instead of the default agents
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    agents: Vec<String>,
    /// Start a new run instead of resuming an earlier run
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    report: ReportFormat,
}

impl StageRequest {
    pub(crate) fn ask(
        &self,
        globals: &Globals,
        plan: impl FnOnce(&StageContext<'_>, &str, &[String]) -> Result<StagePlan, CommandError>,
    ) -> CommandResult {
        let new = review::new_run();
        let id = self.id.as_deref().unwrap_or(new.short());
        let context = StageContext::new(globals, self.report.format)?;
        let agents =
            names::full_of_any_role(&context.settings.agents, &self.agents, Role::Reviewer)?;
        let plan = plan(&context, id, &agents)?;
        context.finish(context.ask(plan, self.fresh)?)
    }
}

pub(crate) struct StageContext<'a> {
    globals: &'a Globals,
    format: BasicFormat,
    pub(crate) settings: Settings,
    pub(crate) workspace: Workspace,
    /// The project folder, whose `.glee` folder contains the definitions and the outcomes of stages.
    pub(crate) project: PathBuf,
}

impl<'a> StageContext<'a> {
    pub(crate) fn new(globals: &'a Globals, format: BasicFormat) -> Result<Self, CommandError> {
        let workspace = place::workspace(globals)?;
        let (settings::Places { root: project, .. }, settings) =
            settings::runnable(globals, Vec::new())?;
        execute::require_sandbox(&settings)?;
        place::refuse_inside(&workspace, &place::state_dir()?)?;
        Ok(Self {
            globals,
            format,
            settings,
            workspace,
            project,
        })
    }

    pub(crate) fn journal(&self) -> Result<Journal, CommandError> {
        history::open(self.globals, &self.workspace)
    }

    /// Resumes the last run of the stage if that run is unfinished and has the same inputs as `plan`. Otherwise,
    /// or if `fresh` is true, starts a new run.
    pub(crate) fn ask(&self, plan: StagePlan, fresh: bool) -> Result<StageOutcome, CommandError> {
        let last = consensus::last(&self.journal()?, &plan.id, &plan.stage)?;
        match last {
            Some(last)
                if !fresh && last.is_open() && last.asked_the_same(&plan, &self.settings) =>
            {
                self.resume(last.outcome.run, &last.plan)
            }
            _ => self.execute(review::new_run(), &plan, Some(plan.clone())),
        }
    }

    pub(crate) fn resume(
        &self,
        run: RunId,
        plan: &StagePlan,
    ) -> Result<StageOutcome, CommandError> {
        self.execute(run, plan, None)
    }

    fn execute(
        &self,
        run: RunId,
        plan: &StagePlan,
        new: Option<StagePlan>,
    ) -> Result<StageOutcome, CommandError> {
        // The folder for the outcome is checked before the first agent call, because a failure after the calls
        // would waste the cost of the calls.
        files::folder(&self.project, &plan.id, &plan.stage)?;
        let root = self.workspace.root();
        let agents = execute::programs(&consensus::agents_of(plan), &plan.backups, root)?;
        let state_dir = place::state_dir()?;
        let _lock = self.workspace.lock(&state_dir, &run)?;
        let journal = self.journal()?;
        let terminal = Terminal::new(self.globals.screen());
        let sink = execute::sink(
            self.format == BasicFormat::Jsonl,
            &terminal,
            self.globals.interactive(),
        );
        let asks = self.globals.interactive() && self.settings.review.on_dispute.prompt_user;
        let notifier = Notifier::new(&self.settings, &agents, root, &run, &terminal);
        let dialog = Noticed {
            dialog: PersonDialog::new(&terminal),
            notifier: notifier.clone(),
        };
        let person = asks.then(|| Box::new(dialog) as Box<dyn Prompter>);
        let settings = self.settings.clone();
        let workspace = Arc::new(place::workspace(self.globals)?);
        let hint = format!("resume it with the same command and `--id {}`", plan.id);
        let resume = Some((hint.clone(), Arc::new(AtomicBool::new(true))));
        let (rested, cause) =
            execute::drive(settings.budget.duration, &terminal, resume, |stop| {
                let templates = self.project.join(".glee").join("prompts");
                let setup = RunSetup {
                    workspace,
                    state_dir,
                    journal,
                    agents,
                    settings,
                    sink,
                    stop,
                    queue: None,
                };
                async move {
                    match new {
                        Some(plan) => consensus::start(setup, templates, person, run, plan).await,
                        None => consensus::resume(setup, templates, person, run).await,
                    }
                }
            })?;
        let rested = rested.inspect_err(|_| notifier.ended("the run failed", None, json!({})));
        let ended = rested.map(|(mut outcome, rest)| {
            match rest {
                Rest::Ended => {}
                Rest::OverBudget => outcome.exit = ExitReason::Budget,
                Rest::Stopped => {
                    outcome.exit = cause.unwrap_or(ExitReason::Signal(2));
                    outcome.notices.push(format!("stopped early; {hint}"));
                }
            }
            let state = printable::line(&report::state(&outcome));
            notifier.ended(
                &format!("{}: {state}", outcome.stage),
                Some(outcome.exit),
                json!({"stage": outcome.stage}),
            );
            outcome
        });
        execute::warn(self.globals, &notifier);
        let outcome = ended?;
        if outcome.ended {
            self.write(&outcome)?;
        }
        Ok(outcome)
    }

    pub(crate) fn write(&self, outcome: &StageOutcome) -> Result<(), CommandError> {
        Ok(files::write(&self.project, outcome)?)
    }

    pub(crate) fn finish(&self, outcome: StageOutcome) -> CommandResult {
        match self.format {
            BasicFormat::Json => print(pretty(&outcome))?,
            BasicFormat::Text | BasicFormat::Jsonl => {
                self.report(std::slice::from_ref(&outcome))?
            }
        };
        Ok(outcome.exit)
    }

    pub(crate) fn report(&self, outcomes: &[StageOutcome]) -> CommandResult {
        let style = self.globals.style();
        print(match self.format {
            BasicFormat::Text => outcomes
                .iter()
                .map(|outcome| report::text(style, outcome))
                .collect(),
            BasicFormat::Json => pretty(outcomes),
            BasicFormat::Jsonl => String::new(),
        })
    }
}
