//! What all pages share: the headers and the assets, a limit on parallel reads, and the feeds of running reviews.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, Request};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::access;
use super::error_page::{ErrorPage, refused};
use super::feed::Feed;
use super::source::Source;
use crate::cli::report::html::environment::{SCRIPT, STYLE};
use crate::cli::ui::terminal::held;

/// The maximum number of requests that read a history at the same time. Further requests wait.
const READS: usize = 4;

/// The maximum number of browsers that follow runs at the same time.
const READERS: usize = 256;

/// The maximum number of histories in which runs are followed at the same time. Each keeps a connection to the server.
const FEEDS: usize = 32;

/// The maximum size of a form, in bytes.
const FORM: usize = 64 << 10;

/// Pages load styles, scripts and events only from this server, and send forms only to this server. The browser
/// ignores inline scripts and inline styles.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, HeaderValue); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(POLICY),
    ),
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    // With the referrer policy `no-referrer`, a browser would send forms with the header `Origin: null`, and the
    // server would refuse these forms.
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("same-origin"),
    ),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

const OWN_STYLE: &str = include_str!("assets/serve.css");
const OWN_SCRIPT: &str = include_str!("assets/serve.js");

pub(crate) struct Frame {
    reads: Semaphore,
    readers: Arc<Semaphore>,
    /// By the path of the history. A feed ends with the last browser that follows a run in its history.
    feeds: Mutex<HashMap<PathBuf, Weak<Feed>>>,
}

impl Frame {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            reads: Semaphore::new(READS),
            readers: Arc::new(Semaphore::new(READERS)),
            feeds: Mutex::default(),
        })
    }

    /// Computes the response to a request. The computation runs on a thread for blocking work, because slow
    /// queries and templates would otherwise delay other HTTP requests.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        make: impl FnOnce() -> Result<T, ErrorPage> + Send + 'static,
    ) -> Result<T, ErrorPage> {
        let _permit = self.reads.acquire().await;
        let made = tokio::task::spawn_blocking(make).await;
        made.unwrap_or_else(|_| Err(failed()))
    }

    /// Returns the feed of a history, with the place of one browser that follows it. `None` if too many browsers follow
    /// runs.
    pub(crate) fn feed(
        &self,
        source: &Source,
    ) -> std::io::Result<Option<(Arc<Feed>, OwnedSemaphorePermit)>> {
        let Ok(permit) = Arc::clone(&self.readers).try_acquire_owned() else {
            return Ok(None);
        };
        let mut feeds = held(&self.feeds);
        feeds.retain(|_, feed| feed.strong_count() > 0);
        if let Some(feed) = feeds.get(source.history()).and_then(Weak::upgrade) {
            return Ok(Some((feed, permit)));
        }
        if feeds.len() >= FEEDS {
            return Ok(None);
        }
        let feed = Feed::start(source.clone())?;
        feeds.insert(source.history().to_owned(), Arc::downgrade(&feed));
        Ok(Some((feed, permit)))
    }
}

fn failed() -> ErrorPage {
    refused(
        StatusCode::INTERNAL_SERVER_ERROR,
        "the page could not be created",
    )
    .hint("read the error that `glee serve` printed in the terminal")
}

/// Adds the assets and the limits to pages, refuses requests that pages of other origins sent, and adds the security
/// headers to every HTTP response.
pub(crate) fn framed(pages: Router) -> Router {
    pages
        .route("/assets/{name}", get(asset))
        .layer(DefaultBodyLimit::max(FORM))
        .layer(middleware::from_fn(guard))
}

async fn guard(request: Request, next: Next) -> Response {
    let mut response = if access::is_foreign(request.headers()) {
        refused(
            StatusCode::FORBIDDEN,
            "a page of another website cannot send requests to this server",
        )
        .into_response()
    } else {
        next.run(request).await
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, value);
    }
    response
}

async fn asset(Path(name): Path<String>) -> Response {
    let (kind, text) = match name.as_str() {
        "style.css" => ("text/css; charset=utf-8", STYLE),
        "serve.css" => ("text/css; charset=utf-8", OWN_STYLE),
        "report.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "serve.js" => ("text/javascript; charset=utf-8", OWN_SCRIPT),
        _ => return missing().await.into_response(),
    };
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

pub(crate) async fn missing() -> ErrorPage {
    refused(StatusCode::NOT_FOUND, "no page has this address")
}
