//! Errors as pages.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use minijinja::context;

use crate::cli::error::CommandError;
use crate::cli::serve::views::templates;
use glee_model::domain::ExitReason;
use glee_protocol::{secrets, text::printable};
use glee_store::history::JournalError;

#[derive(Debug)]
pub(crate) struct ErrorPage {
    pub(crate) status: StatusCode,
    message: String,
    hint: Option<String>,
    /// The common path prefix of all pages. `None` if the browser is not signed in.
    base: Option<String>,
}

pub(crate) fn refused(status: StatusCode, message: &str) -> ErrorPage {
    ErrorPage {
        status,
        message: message.to_owned(),
        hint: None,
        base: None,
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
    pub(crate) fn with_links(self, base: &str) -> Self {
        Self {
            base: Some(base.to_owned()),
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
            base: None,
        }
    }
}

impl From<JournalError> for ErrorPage {
    fn from(error: JournalError) -> Self {
        let status = match &error {
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
            JournalError::Log(_)
            | JournalError::Open { .. }
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
        let html = templates::render(
            "serve/error.html",
            context! { title, message, hint, base => self.base },
        );
        (self.status, [(header::CONTENT_TYPE, templates::HTML)], html).into_response()
    }
}
