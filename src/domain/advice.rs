//! What a user is told beside an error: what to do next, and which exit code the command ends with.

use super::ExitReason;

/// An error that a command can end with.
pub trait Advice: std::error::Error + Send + Sync + 'static {
    /// What to do about it, if anything is known.
    fn hint(&self) -> Option<String> {
        None
    }

    /// The exit reason of a command that ends with it.
    fn exit(&self) -> ExitReason {
        ExitReason::Usage
    }
}

impl Advice for std::io::Error {}
impl Advice for serde_json::Error {}
