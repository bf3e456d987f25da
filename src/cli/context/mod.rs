//! Code that commands share: flags, settings, history, input, output, and the execution of reviews and stages.

mod args;
mod config_edit;
pub(crate) mod detached;
pub(crate) mod execute;
pub(crate) mod globals;
pub(crate) mod history;
mod input;
pub(crate) mod names;
mod output;
pub(crate) mod permits;
pub(crate) mod place;
mod ruler;
pub(crate) mod server;
pub(crate) mod settings;
mod worktree;

pub(crate) use args::{
    JsonFlag, OutputParser, POLICIES, ROUTES, ReasonFlag, ReportFormat, ReportOutputs, RunArg,
    UserFlag, Words, duration, label, number, one_of,
};
pub(crate) use config_edit::{ConfigTarget, HEAD};
pub(crate) use execute::CommandContext;
pub(crate) use execute::stage::{StageContext, StageRequest};
pub(crate) use globals::Globals;
pub(crate) use input::{Input, unreadable};
pub(crate) use output::{Viewer, local_time, print, tell};
#[cfg(feature = "mcp")]
pub(crate) use ruler::session_variables;
pub(crate) use ruler::{ByFlag, refuse_agent};
pub(crate) use settings::Places;
pub(crate) use worktree::RunTree;

pub(crate) use crate::cli::error::{CommandError, CommandResult};
pub(crate) use crate::cli::report::{
    BasicFormat, Format, formats::json::line as json_line, formats::json::pretty, outputs::Outputs,
};
pub(crate) use crate::cli::ui::stream;
