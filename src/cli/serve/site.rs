//! The data that all HTTP requests share: the options of the command, the access rules, the history, the feed and
//! a limit on parallel reads.

use std::path::PathBuf;
use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use minijinja::value::Value;
use tokio::sync::Semaphore;

use super::access::Access;
use super::error_page::{ErrorPage, refused};
use super::feed::Feed;
use super::views::templates::{HTML, render};
use crate::cli::context::{CommandError, Globals, history, place};
use crate::cli::report::html::environment::values;
use glee_model::domain::RunId;
use glee_protocol::text::printable;
use glee_store::history::JournalError;
use glee_store::history::store::Journal;

/// The maximum number of requests that read the history at the same time. Further requests wait.
const AT_A_TIME: usize = 4;

#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) globals: Globals,
    pub(crate) access: Access,
    pub(crate) feed: Arc<Feed>,
    project: String,
    history: PathBuf,
    reads: Semaphore,
}

impl Site {
    pub(crate) fn new(globals: &Globals, access: Access) -> Result<Arc<Self>, CommandError> {
        let history = history::place(globals)?;
        let root = place::workspace(globals)?.root().to_owned();
        let name = root.file_name().map_or_else(
            || root.display().to_string(),
            |name| name.display().to_string(),
        );
        Ok(Arc::new(Self {
            globals: globals.clone(),
            access,
            feed: Feed::start(history.clone())?,
            project: printable::line(&name),
            history,
            reads: Semaphore::new(AT_A_TIME),
        }))
    }

    pub(crate) fn project(&self) -> &str {
        &self.project
    }

    /// Returns `None` if there is no history yet.
    pub(crate) fn journal(&self) -> Result<Option<Journal>, JournalError> {
        Journal::open_read(&self.history)
    }

    /// Computes the response to a request. The computation runs on a thread for blocking work, because slow
    /// queries and templates would otherwise delay other HTTP requests.
    pub(crate) async fn answer(
        self: Arc<Self>,
        make: impl FnOnce(&Self) -> Result<Response, ErrorPage> + Send + 'static,
    ) -> Response {
        let _permit = self.reads.acquire().await;
        let site = Arc::clone(&self);
        let made = tokio::task::spawn_blocking(move || make(&site)).await;
        made.unwrap_or_else(|_| Err(failed()))
            .unwrap_or_else(|error| error.with_links(self.access.base()).into_response())
    }

    /// Renders a page. The parameter `section` names the entry that the navigation bar highlights.
    pub(crate) fn page(
        &self,
        status: StatusCode,
        template: &str,
        section: &'static str,
        values: Value,
    ) -> Response {
        let base = self.access.base();
        let project = &self.project;
        let html = render(template, values! { base, project, section, ..values });
        (status, [(header::CONTENT_TYPE, HTML)], html).into_response()
    }

    pub(crate) async fn find_run(self: Arc<Self>, text: String) -> Result<RunId, ErrorPage> {
        let _permit = self.reads.acquire().await;
        let site = Arc::clone(&self);
        let found = tokio::task::spawn_blocking(move || match site.journal()? {
            Some(journal) => Ok(journal.find_any_run(&text)?),
            None => Err(JournalError::UnknownRun(text).into()),
        });
        found.await.unwrap_or_else(|_| Err(failed()))
    }

    /// Returns the path of a page below the random path of this server.
    pub(crate) fn path(&self, page: &str) -> String {
        format!("{}/{page}", self.access.base())
    }
}

fn failed() -> ErrorPage {
    refused(
        StatusCode::INTERNAL_SERVER_ERROR,
        "the page could not be created",
    )
    .hint("read the error that `glee serve` printed in the terminal")
}
