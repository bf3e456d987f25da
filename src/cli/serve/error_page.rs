//! Errors as pages.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::views::templates::{self, Navigation};
use crate::cli::error::CommandError;
use crate::cli::report::html::environment::values;
use glee_model::domain::ExitReason;
use glee_protocol::{secrets, text::printable};
use glee_store::history::JournalError;
use glee_store::history::shared_log::SharedLogError;

#[derive(Debug)]
pub(crate) struct ErrorPage {
    pub(crate) status: StatusCode,
    message: String,
    hint: Option<String>,
    navigation: Navigation,
}

pub(crate) fn refused(status: StatusCode, message: &str) -> ErrorPage {
    ErrorPage {
        status,
        message: message.to_owned(),
        hint: None,
        navigation: Navigation::default(),
    }
}

impl ErrorPage {
    #[must_use]
    pub(crate) fn hint(self, hint: &str) -> Self {
        Self {
            hint: Some(hint.to_owned()),
            ..self
        }
    }

    #[must_use]
    pub(crate) fn with_links(self, navigation: &Navigation) -> Self {
        Self {
            navigation: navigation.clone(),
            ..self
        }
    }
}

impl From<CommandError> for ErrorPage {
    fn from(error: CommandError) -> Self {
        let status = match error.exit() {
            ExitReason::Usage => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self {
            status,
            message: error.message(),
            hint: error.advice().map(str::to_owned),
            navigation: Navigation::default(),
        }
    }
}

impl From<SharedLogError> for ErrorPage {
    fn from(error: SharedLogError) -> Self {
        if error.is_passing() {
            return refused(StatusCode::SERVICE_UNAVAILABLE, &error.to_string())
                .hint("load the page again in a moment");
        }
        CommandError::from(error).into()
    }
}

impl From<JournalError> for ErrorPage {
    fn from(error: JournalError) -> Self {
        let status = match error {
            JournalError::Log(error) => return error.into(),
            JournalError::UnknownRun(_)
            | JournalError::AmbiguousRun { .. }
            | JournalError::UnknownFinding(_)
            | JournalError::AmbiguousFinding { .. }
            | JournalError::UnknownDispute(_)
            | JournalError::UnknownDisputeId(_)
            | JournalError::AmbiguousDispute { .. } => StatusCode::NOT_FOUND,
            JournalError::AlreadySettled { .. }
            | JournalError::NotSettled(_)
            | JournalError::Elsewhere(_)
            | JournalError::Held(_) => StatusCode::CONFLICT,
            JournalError::Open { .. }
            | JournalError::NotAFile { .. }
            | JournalError::Foreign { .. }
            | JournalError::Newer { .. }
            | JournalError::OtherBuild { .. }
            | JournalError::Damaged { .. }
            | JournalError::Access { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self {
            status,
            ..CommandError::from(error).into()
        }
    }
}

impl IntoResponse for ErrorPage {
    fn into_response(self) -> Response {
        let title = match self.status {
            StatusCode::UNAUTHORIZED => "Not signed in",
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::CONFLICT => "Already settled",
            status if status.is_server_error() => "Failed",
            _ => "Refused",
        };
        let shown = |text: &str| secrets::redact(&printable::block(text)).into_owned();
        let message = shown(&self.message);
        let hint = self.hint.as_deref().map(shown);
        let content = values! { title, message, hint };
        templates::page(
            self.status,
            "serve/error.html",
            &self.navigation,
            "",
            content,
        )
    }
}
