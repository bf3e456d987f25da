//! The pages of one repository: its data, its place on this server, and who rules on its disputes.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use minijinja::value::Value;

use super::access::Forms;
use super::error_page::ErrorPage;
use super::frame::Frame;
use super::source::Source;
use super::views::templates::{self, Navigation};
use glee_model::domain::{Person, RunId};
use glee_store::history::JournalError;

pub(crate) struct Site {
    pub(crate) frame: Arc<Frame>,
    pub(crate) source: Source,
    pub(crate) navigation: Navigation,
    pub(crate) forms: Forms,
    /// The person whose rulings are recorded. `None` if the server may not record any.
    pub(crate) person: Option<Person>,
}

impl Site {
    /// Computes the response to a request (see [`Frame::compute`]).
    pub(crate) async fn answer(
        self: Arc<Self>,
        make: impl FnOnce(&Self) -> Result<Response, ErrorPage> + Send + 'static,
    ) -> Response {
        let site = Arc::clone(&self);
        let made = self.frame.compute(move || make(&site)).await;
        made.unwrap_or_else(|error| error.with_links(&self.navigation).into_response())
    }

    /// Renders a page. The parameter `section` names the entry that the navigation bar highlights.
    pub(crate) fn page(
        &self,
        status: StatusCode,
        template: &str,
        section: &'static str,
        values: Value,
    ) -> Response {
        templates::page(status, template, &self.navigation, section, values)
    }

    pub(crate) async fn find_run(self: Arc<Self>, text: String) -> Result<RunId, ErrorPage> {
        let site = Arc::clone(&self);
        let find = move || match site.source.journal()? {
            Some(journal) => Ok(journal.find_any_run(&text)?),
            None => Err(JournalError::UnknownRun(text).into()),
        };
        self.frame.compute(find).await
    }

    /// Returns the path of a page of this repository.
    pub(crate) fn path(&self, page: &str) -> String {
        let base = self.navigation.base.as_deref().unwrap_or_default();
        format!("{base}/{page}")
    }
}
