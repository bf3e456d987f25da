//! `glee findings`, `glee show`, `glee fix` and `glee accept`: commands about findings of recorded runs.

pub(crate) mod accept;
pub(crate) mod fix;
pub(crate) mod list;
pub(crate) mod show;

use crate::cli::commands::history::runs::lookup;
use crate::cli::context::{CommandError, Globals, place};
use crate::domain::{FindingId, Outcome, RunId, SettledFinding};
use crate::history::store::Journal;
use crate::workflows::review::recorded::view::{self, Recorded};
use crate::workspace::root::Workspace;

// This struct has no doc comment, because clap would use the comment as the help of every command that flattens
// the struct.
#[derive(Debug, clap::Args)]
pub(crate) struct RunOption {
    /// The run that raised the finding: the run's id, the first or last digits of the id, or `last`
    #[arg(long, value_name = "RUN", default_value = "last")]
    run: String,
}

struct RecordedRun {
    workspace: Workspace,
    journal: Journal,
    run: RunId,
    recorded: Recorded,
}

impl RecordedRun {
    fn find(globals: &Globals, run: &str) -> Result<Self, CommandError> {
        let (workspace, journal, run) = lookup::find(globals, run)?;
        let recorded = view::recorded(&workspace, &place::state_dir()?, &journal, &run)?;
        Ok(Self {
            workspace,
            journal,
            run,
            recorded,
        })
    }

    fn outcome(&self) -> &Outcome {
        &self.recorded.outcome
    }

    fn finding(&self, id: FindingId) -> Result<&SettledFinding, CommandError> {
        let run = self.run.short();
        self.outcome().finding(id).ok_or_else(|| {
            CommandError::usage(format!("run {run} has no finding {id}")).hint(format!(
                "`glee runs show {run}` lists the findings of the run; `--run <run>` selects another \
                               run"
            ))
        })
    }

    /// Fails if the run is still running or was interrupted.
    fn require_end(&self) -> Result<(), CommandError> {
        if view::is_ended(&self.journal.events(&self.run)?) {
            return Ok(());
        }
        let run = self.run.short();
        Err(
            CommandError::usage(format!("run {run} has not ended")).hint(format!(
                "wait until the run ends, or resume the run with `glee runs resume {run}`"
            )),
        )
    }
}

fn finding_id(text: &str) -> Result<FindingId, String> {
    FindingId::parse(text).ok_or_else(|| "give a number such as F3".to_owned())
}
