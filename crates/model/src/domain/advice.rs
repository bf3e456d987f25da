//! The hint and the exit code that belong to an error.

use super::ExitReason;

/// An error that can end a command.
pub trait Advice: std::error::Error + Send + Sync + 'static {
    /// An instruction that helps the user to resolve the error.
    fn hint(&self) -> Option<String> {
        None
    }

    fn exit(&self) -> ExitReason {
        ExitReason::Usage
    }
}

impl Advice for std::io::Error {}
impl Advice for serde_json::Error {}
