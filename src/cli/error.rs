//! Errors of commands, with message, causes, hint and exit code.

use std::fmt::Write as _;

use glee_model::domain::{Advice, ExitReason};
use glee_protocol::secrets;
use glee_protocol::text::printable;

pub(crate) type CommandResult = Result<ExitReason, CommandError>;

#[derive(Debug)]
pub(crate) struct CommandError {
    source: anyhow::Error,
    hint: Option<String>,
    exit: ExitReason,
}

impl CommandError {
    pub(crate) fn new(exit: ExitReason, source: impl Into<anyhow::Error>) -> Self {
        Self {
            source: source.into(),
            hint: None,
            exit,
        }
    }

    pub(crate) fn caused(message: String, cause: std::io::Error) -> Self {
        Self::new(
            ExitReason::Usage,
            anyhow::Error::new(cause).context(message),
        )
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::ending(ExitReason::Usage, message)
    }

    /// An error after which Glee ends as `exit` says.
    pub(crate) fn ending(exit: ExitReason, message: impl Into<String>) -> Self {
        Self::new(exit, anyhow::Error::msg(message.into()))
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn message(&self) -> String {
        self.source.to_string()
    }

    pub(crate) fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn exit(&self) -> ExitReason {
        self.exit
    }

    pub(crate) fn render(&self, color: bool) -> String {
        let (red, cyan, reset) = if color {
            ("\x1b[1;31m", "\x1b[1;36m", "\x1b[0m")
        } else {
            ("", "", "")
        };
        let mut text = format!(
            "{red}error{reset}: {}\n",
            printable::block(&self.source.to_string())
        );
        let mut last = self.source.to_string();
        for cause in self.source.chain().skip(1) {
            let cause = cause.to_string();
            if !last.contains(&cause) {
                let _ = writeln!(text, "caused by: {}", printable::block(&cause));
            }
            last = cause;
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(text, "{cyan}hint{reset}: {}", printable::block(hint));
        }
        // The text of an error can contain a secret token, for example in a command line or a URL.
        secrets::redact(&text).into_owned()
    }
}

impl<E: Advice> From<E> for CommandError {
    fn from(error: E) -> Self {
        Self {
            hint: error.hint(),
            exit: error.exit(),
            source: error.into(),
        }
    }
}
