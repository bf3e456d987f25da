//! Errors of a run.

use std::io;

use glee_model::domain::{Advice, ExitReason, RunId};
use glee_protocol::prompts::PromptError;
use glee_store::history::JournalError;
use glee_workspace::WorkspaceError;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("failed to copy the reviewed code to the state folder")]
    Sources(#[source] io::Error),
    #[error("`{0}`, which `review.guidelines` names, does not exist")]
    MissingGuidelines(String),
    #[error("run {0} was never started")]
    NotStarted(RunId),
}

impl Advice for RunError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Journal(error) => error.hint(),
            Self::Workspace(error) => error.hint(),
            Self::Prompt(error) => error.hint(),
            Self::Sources(_) => Some(
                "check that the state folder is writable and the disk has free \
                                      space"
                    .to_owned(),
            ),
            Self::MissingGuidelines(_) => Some(
                "correct the path, or use the files with the usual names: `glee config set review.guidelines auto`"
                    .to_owned(),
            ),
            Self::NotStarted(_) => Some("`glee runs` lists the runs".to_owned()),
        }
    }

    fn exit(&self) -> ExitReason {
        match self {
            Self::Journal(error) => error.exit(),
            Self::Workspace(error) => error.exit(),
            Self::Sources(_) => ExitReason::History,
            Self::Prompt(_) | Self::MissingGuidelines(_) | Self::NotStarted(_) => ExitReason::Usage,
        }
    }
}
