//! Calls agents. To support another program, add a file to `adapters/programs` and an entry to [`adapters::registry`].
//!
//! **An adapter is two pure functions.** One converts a request to a command line, the other output to an answer. Only
//! [`process::runner`] starts processes, and tests replace it by a scripted implementation of the same trait. An agent
//! is started through a supervisor, which is Glee itself started again, and which ends all processes that the agent
//! leaves behind.

pub mod adapters;
pub mod address;
pub mod calls;
pub mod error;
pub mod failure;
pub mod probe;
pub mod process;
#[cfg(any(test, feature = "testing"))]
pub mod samples;
pub mod schema;
pub mod streams;

pub use adapters::registry::AdapterKind;
pub use adapters::{Adapter, Invocation, Output, ParsedOutput, ProgressEvent};
pub use calls::agents::{Agents, Cooldown};
pub use calls::call::{AnswerText, Call, CallOutcome, Session};
pub use calls::permits::Permits;
pub use calls::project_commands::CommandInput;
pub use error::AgentError;
pub use failure::command_line;
pub use failure::{Cap, Failed, ProcessError};
pub use glee_model::domain::Profile;
pub use probe::program::Program;
pub use process::runner::{Execute, ProcessJob, ProcessRunner};
pub use process::sandbox::confinement::Confinement;
pub use process::stop::{Stop, StopHandle};
pub use process::transcript_files::TranscriptFiles;
pub use streams::dialogue::{Dialogue, StdinWriter, StdoutReader};
pub use streams::output_monitor::LineMarks;
