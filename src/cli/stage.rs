//! What `consensus` and `gate` share: one stage or checkpoint, from its plan to files, a report and an exit reason.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::Globals;
use super::change::is_earlier;
use super::error::CommandError;
use super::sitting;
use super::words::{FORMATS, one_of};
use crate::config::settings::Settings;
use crate::domain::{ExitReason, RunId, StagePlan};
use crate::journal::Journal;
use crate::pipeline;
use crate::pipeline::Setup;
use crate::pipeline::ports::{EventSink, Person};
use crate::pipeline::stages::{self, Outcome, Rest, files};
use crate::report::json::pretty;
use crate::report::{Format, stage as report};
use crate::ui::jsonl::JsonLines;
use crate::ui::person::PersonDialog;
use crate::ui::progress::Progress;
use crate::ui::stream;
use crate::ui::terminal::Terminal;
use crate::workspace::Workspace;

/// What every question to agents is asked with.
#[derive(Debug, clap::Args)]
pub(super) struct Asked {
    /// What the work is called; the same again carries on what was interrupted
    #[arg(long, value_name = "ID")]
    pub(super) id: Option<String>,
    /// Ask these agents instead of those that would be asked
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) agents: Vec<String>,
    /// Ask everybody anew, whatever was answered before
    #[arg(long)]
    fresh: bool,
    #[arg(long, hide = true, conflicts_with = "fresh")]
    afresh: bool,
    /// The form of the report
    #[arg(long, value_parser = one_of(FORMATS), value_name = "FORMAT", default_value = "text")]
    pub(super) format: Format,
}

impl Asked {
    pub(super) fn fresh(&self, globals: &Globals) -> bool {
        self.fresh | is_earlier(globals, self.afresh, "--afresh", "--fresh")
    }
}

pub(super) struct Table<'a> {
    pub(super) globals: &'a Globals,
    pub(super) format: Format,
    pub(super) settings: Settings,
    pub(super) workspace: Workspace,
    /// The folder whose `.glee` says how stages are and takes what they come to.
    pub(super) project: PathBuf,
}

impl<'a> Table<'a> {
    pub(super) fn new(globals: &'a Globals, format: Format) -> Result<Self, CommandError> {
        let workspace = sitting::workspace(globals)?;
        let settings = super::load::runnable(globals, Vec::new(), None)?.1.settings;
        sitting::require_sandbox(&settings)?;
        sitting::refuse_inside(&workspace, &sitting::state_dir()?)?;
        let project = super::load::Places::find(globals)?.root;
        Ok(Self { globals, format, settings, workspace, project })
    }

    pub(super) fn journal(&self) -> Result<Journal, CommandError> {
        super::history::open(self.globals, &self.workspace)
    }

    /// Carries on the last run that asked the same, if it is not over; else asks.
    pub(super) fn ask(&self, plan: StagePlan, fresh: bool) -> Result<Outcome, CommandError> {
        let last = stages::last(&self.journal()?, &plan.id, &plan.stage)?;
        match last {
            Some(last) if !fresh && last.is_open() && last.asked_the_same(&plan, &self.settings) => {
                self.carry_on(last.outcome.run, &last.plan)
            }
            _ => self.sit(pipeline::new_run(), &plan, Some(plan.clone())),
        }
    }

    pub(super) fn carry_on(&self, run: RunId, plan: &StagePlan) -> Result<Outcome, CommandError> {
        self.sit(run, plan, None)
    }

    fn sit(&self, run: RunId, plan: &StagePlan, new: Option<StagePlan>) -> Result<Outcome, CommandError> {
        // What would keep the files from being written is told before anything costs money.
        files::folder(&self.project, &plan.id, &plan.stage)?;
        let root = self.workspace.root();
        let agents = sitting::programs(&stages::agents_of(plan), &plan.backups, root)?;
        let state_dir = sitting::state_dir()?;
        let _lock = self.workspace.lock(&state_dir, &run)?;
        let journal = self.journal()?;
        let terminal = Terminal::new(sitting::screen(self.globals));
        let sink: Box<dyn EventSink> = match self.format {
            Format::Jsonl => Box::new(JsonLines::default()),
            Format::Text | Format::Json => Box::new(Progress::new(&terminal)),
        };
        let asks = self.globals.interactive() && self.settings.review.on_dispute.prompt_user;
        let person = asks.then(|| Box::new(PersonDialog::new(&terminal)) as Box<dyn Person>);
        let (settings, workspace) = (self.settings.clone(), Arc::new(sitting::workspace(self.globals)?));
        let is_recorded = Arc::new(AtomicBool::new(true));
        let resume = Some((format!("give the same command with `--id {}` to carry it on", plan.id), is_recorded));
        let (rested, cause) = sitting::attend(settings.budget.duration, &terminal, resume, |stop| {
            let templates = self.project.join(".glee").join("prompts");
            let setup = Setup { workspace, state_dir, journal, agents, settings, sink, stop };
            async move {
                match new {
                    Some(plan) => stages::start(setup, templates, person, run, plan).await,
                    None => stages::resume(setup, templates, person, run).await,
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
    pub(super) fn write(&self, outcome: &Outcome) -> Result<(), CommandError> {
        Ok(files::write(&self.project, outcome)?)
    }

    /// Prints what several stages and checkpoints came to.
    pub(super) fn report(&self, outcomes: &[Outcome], one: bool) -> Result<(), CommandError> {
        let look = sitting::stdout_look(self.globals);
        let text = match (self.format, outcomes) {
            (Format::Text, outcomes) => outcomes.iter().map(|outcome| report::text(look, outcome)).collect(),
            (Format::Json, [outcome]) if one => pretty(outcome),
            (Format::Json, outcomes) => pretty(outcomes),
            (Format::Jsonl, _) => String::new(),
        };
        Ok(stream::out(&text)?)
    }
}
