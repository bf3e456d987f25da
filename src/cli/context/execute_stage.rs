//! What `consensus` and `gate` share: one stage or checkpoint, from its plan to files, a report and an exit reason.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::words::{FORMATS, one_of};
use crate::cli::context::config_edit::is_earlier;
use crate::cli::context::globals::Globals;
use crate::cli::context::{execute, place};
use crate::cli::error::CommandError;
use crate::cli::report::json::pretty;
use crate::cli::report::{Format, stage as report};
use crate::cli::ui::dialogs::prompter::PersonDialog;
use crate::cli::ui::live::jsonl::JsonLines;
use crate::cli::ui::live::progress::Progress;
use crate::cli::ui::stream;
use crate::cli::ui::terminal::Terminal;
use crate::config::settings::Settings;
use crate::domain::{ExitReason, RunId, StagePlan};
use crate::history::store::Journal;
use crate::workflows::consensus::{self, Rest, StageOutcome, files};
use crate::workflows::review::{self, RunSetup};
use crate::workflows::run::ports::{EventSink, Prompter};
use crate::workspace::root::Workspace;

/// What every question to agents is asked with.
#[derive(Debug, clap::Args)]
pub(crate) struct StageRequest {
    /// What the work is called; the same again carries on what was interrupted
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Ask these agents instead of those that would be asked
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) agents: Vec<String>,
    /// Ask everybody anew, whatever was answered before
    #[arg(long)]
    fresh: bool,
    #[arg(long, hide = true, conflicts_with = "fresh")]
    afresh: bool,
    /// The form of the report
    #[arg(long, value_parser = one_of(FORMATS), value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

impl StageRequest {
    pub(crate) fn fresh(&self, globals: &Globals) -> bool {
        self.fresh | is_earlier(globals, self.afresh, "--afresh", "--fresh")
    }
}

pub(crate) struct Table<'a> {
    pub(crate) globals: &'a Globals,
    pub(crate) format: Format,
    pub(crate) settings: Settings,
    pub(crate) workspace: Workspace,
    /// The folder whose `.glee` says how stages are and takes what they come to.
    pub(crate) project: PathBuf,
}

impl<'a> Table<'a> {
    pub(crate) fn new(globals: &'a Globals, format: Format) -> Result<Self, CommandError> {
        let workspace = place::workspace(globals)?;
        let settings = crate::cli::context::settings::runnable(globals, Vec::new(), None)?.1.settings;
        execute::require_sandbox(&settings)?;
        place::refuse_inside(&workspace, &place::state_dir()?)?;
        let project = crate::cli::context::settings::Places::find(globals)?.root;
        Ok(Self { globals, format, settings, workspace, project })
    }

    pub(crate) fn journal(&self) -> Result<Journal, CommandError> {
        super::history::open(self.globals, &self.workspace)
    }

    /// Carries on the last run that asked the same, if it is not over; else asks.
    pub(crate) fn ask(&self, plan: StagePlan, fresh: bool) -> Result<StageOutcome, CommandError> {
        let last = consensus::last(&self.journal()?, &plan.id, &plan.stage)?;
        match last {
            Some(last) if !fresh && last.is_open() && last.asked_the_same(&plan, &self.settings) => {
                self.carry_on(last.outcome.run, &last.plan)
            }
            _ => self.sit(review::new_run(), &plan, Some(plan.clone())),
        }
    }

    pub(crate) fn carry_on(&self, run: RunId, plan: &StagePlan) -> Result<StageOutcome, CommandError> {
        self.sit(run, plan, None)
    }

    fn sit(&self, run: RunId, plan: &StagePlan, new: Option<StagePlan>) -> Result<StageOutcome, CommandError> {
        // What would keep the files from being written is told before anything costs money.
        files::folder(&self.project, &plan.id, &plan.stage)?;
        let root = self.workspace.root();
        let agents = execute::programs(&consensus::agents_of(plan), &plan.backups, root)?;
        let state_dir = place::state_dir()?;
        let _lock = self.workspace.lock(&state_dir, &run)?;
        let journal = self.journal()?;
        let terminal = Terminal::new(execute::screen(self.globals));
        let sink: Box<dyn EventSink> = match self.format {
            Format::Jsonl => Box::new(JsonLines::default()),
            Format::Text | Format::Json => Box::new(Progress::new(&terminal)),
        };
        let asks = self.globals.interactive() && self.settings.review.on_dispute.prompt_user;
        let person = asks.then(|| Box::new(PersonDialog::new(&terminal)) as Box<dyn Prompter>);
        let (settings, workspace) = (self.settings.clone(), Arc::new(place::workspace(self.globals)?));
        let is_recorded = Arc::new(AtomicBool::new(true));
        let resume = Some((format!("give the same command with `--id {}` to carry it on", plan.id), is_recorded));
        let (rested, cause) = execute::attend(settings.budget.duration, &terminal, resume, |stop| {
            let templates = self.project.join(".glee").join("prompts");
            let setup = RunSetup { workspace, state_dir, journal, agents, settings, sink, stop };
            async move {
                match new {
                    Some(plan) => consensus::start(setup, templates, person, run, plan).await,
                    None => consensus::resume(setup, templates, person, run).await,
                }
            }
        })?;
        let (mut outcome, rest) = rested?;
        match rest {
            Rest::Ended => {}
            Rest::OverBudget => outcome.exit = ExitReason::Budget,
            Rest::Stopped => {
                outcome.exit = cause.unwrap_or(ExitReason::Signal(2));
                let id = &outcome.id;
                outcome
                    .notices
                    .push(format!("stopped early; give the same command with `--id {id}` to carry it on"));
            }
        }
        if outcome.ended {
            self.write(&outcome)?;
        }
        Ok(outcome)
    }

    /// Writes what a stage or a checkpoint came to into the tree.
    pub(crate) fn write(&self, outcome: &StageOutcome) -> Result<(), CommandError> {
        Ok(files::write(&self.project, outcome)?)
    }

    /// Prints what several stages and checkpoints came to.
    pub(crate) fn report(&self, outcomes: &[StageOutcome], one: bool) -> Result<(), CommandError> {
        let look = execute::stdout_look(self.globals);
        let text = match (self.format, outcomes) {
            (Format::Text, outcomes) => outcomes.iter().map(|outcome| report::text(look, outcome)).collect(),
            (Format::Json, [outcome]) if one => pretty(outcome),
            (Format::Json, outcomes) => pretty(outcomes),
            (Format::Jsonl, _) => String::new(),
        };
        Ok(stream::out(&text)?)
    }
}
