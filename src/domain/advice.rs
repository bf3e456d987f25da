//! The hint and the exit code that belong to an error.

use super::ExitReason;

/// An error that a command can end with.
pub trait Advice: std::error::Error + Send + Sync + 'static {
    /// What the user can do about it.
    fn hint(&self) -> Option<String> {
        None
    }

    /// The exit reason of the command.
    fn exit(&self) -> ExitReason {
        ExitReason::Usage
    }
}

impl Advice for std::io::Error {}
impl Advice for serde_json::Error {}
