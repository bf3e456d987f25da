//! `glee serve --service`: hands the pull requests of which hosts tell by webhooks to the workers of the server, and tells
//! how the service is. It stands behind a proxy that encrypts. With the secret of a proxy that signs people in, it also
//! shows the pages of all repositories (`pages`).

mod pages;
mod proxy;
mod webhook;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Extension, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::json;
use tracing::{info, warn};

use super::server::{Seat, serve};
use super::unavailable;
use crate::cli::context::{CommandError, CommandResult, Globals, execute, server, stream};
use crate::cli::ui::terminal::{Terminal, held};
use glee_model::domain::{Advice as _, ExitReason};
use glee_store::history::queue::Queue;
use glee_store::history::shared_log::SharedLogError;
use glee_store::history::submission::{QueueTotals, RequestNotice};
use glee_workflows::review;
use glee_workspace::git::identity;
use pages::Pages;
use proxy::Proxy;
use webhook::WebhookError;

const SECRET: &str = "GLEE_WEBHOOK_SECRET";

/// The maximum size of a webhook's body, in bytes. A description of a pull request has at most 1 MiB on the hosts.
const BODY: usize = 8 << 20;

struct Service {
    secret: String,
    /// One connection to the server. It is made again after it was lost.
    queue: Mutex<Box<dyn Queue>>,
}

/// Serves until a signal ends the server.
pub(crate) fn run(globals: &Globals, listen: SocketAddr) -> CommandResult {
    let secret = std::env::var(SECRET).unwrap_or_default();
    if secret.is_empty() {
        return Err(CommandError::usage(format!("{SECRET} is not set")).hint(
            "set it to the secret with which the hosts sign their webhooks, for example of `openssl rand -hex 32`",
        ));
    }
    let server = server::required(globals)?;
    let mut queue = server.queue()?;
    if !queue.submits()? {
        return Err(
            CommandError::usage(format!("the role on `{server}` may not submit reviews"))
                .hint("let the administrator give it the right: `GRANT glee_submitter TO <role>`"),
        );
    }
    let pages = match Proxy::of_environment()? {
        Some(proxy) => Some(Pages::new(globals, server, proxy)?),
        None => {
            globals.say(format!(
                "{} is not set, so the service shows no pages",
                proxy::SECRET
            ));
            None
        }
    };
    let service = Arc::new(Service {
        secret,
        queue: Mutex::new(queue),
    });
    let listener =
        TcpListener::bind(listen).map_err(|error| unavailable(Some(listen.port()), error))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let terminal = Terminal::new(globals.screen());
    let (served, _) = execute::drive(Duration::MAX, &terminal, None, |stop| {
        let told = stream::out(format!("http://{address}/webhooks\n"));
        async move {
            told?;
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let mut router = router(service);
            if let Some(pages) = pages {
                router = router.merge(pages::router(pages, stop.clone()));
            }
            serve(listener, router, stop).await;
            Ok::<_, CommandError>(())
        }
    })?;
    served?;
    globals.say("The server has ended.");
    Ok(ExitReason::Clean)
}

fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route("/webhooks", post(receive))
        .route("/health", get(|| async { "ok\n" }))
        .route("/ready", get(ready))
        .route("/metrics", get(metrics))
        .layer(DefaultBodyLimit::max(BODY))
        .with_state(service)
}

impl Service {
    /// Asks the server, on a thread for blocking work.
    async fn ask<T: Send + 'static>(
        self: Arc<Self>,
        request: impl FnOnce(&mut dyn Queue) -> Result<T, SharedLogError> + Send + 'static,
    ) -> Result<T, Response> {
        let asked = tokio::task::spawn_blocking(move || request(held(&self.queue).as_mut())).await;
        match asked {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                warn!(hint = error.hint(), "{error}");
                Err(refused(StatusCode::SERVICE_UNAVAILABLE, &error))
            }
            Err(error) => Err(refused(StatusCode::INTERNAL_SERVER_ERROR, &error)),
        }
    }
}

fn refused(status: StatusCode, why: &dyn std::fmt::Display) -> Response {
    (status, format!("{why}\n")).into_response()
}

async fn receive(
    State(service): State<Arc<Service>>,
    Extension(seat): Extension<Seat>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let notice = match webhook::read(&headers, &body, &service.secret) {
        Ok(notice) => notice,
        Err(error) => {
            let status = match error {
                WebhookError::Unsigned => StatusCode::UNAUTHORIZED,
                WebhookError::NoEvent | WebhookError::Unreadable(_) => StatusCode::BAD_REQUEST,
            };
            return refused(status, &error);
        }
    };
    seat.keep();
    let Some(notice) = notice else {
        return (StatusCode::OK, "nothing of a pull request\n").into_response();
    };
    follow(service, notice)
        .await
        .unwrap_or_else(|refused| refused)
}

async fn follow(service: Arc<Service>, notice: RequestNotice) -> Result<Response, Response> {
    let is_web = ["https://", "http://"]
        .iter()
        .any(|scheme| notice.remote.starts_with(scheme));
    let names = identity::names_of_address(&notice.remote).filter(|_| is_web);
    let Some(names) = names else {
        let why = "the address of the repository is not one that a worker can clone";
        return Err(refused(StatusCode::UNPROCESSABLE_ENTITY, &why));
    };
    let run = review::new_run();
    let id = run.clone();
    let title = format!("{}#{}", names.title, notice.number);
    let is_review = notice.head.is_some();
    let args = ["--publish".to_owned(), format!("--pr={}", notice.number)];
    let is_new = service
        .ask(move |queue| queue.follow(&names, &notice, &run, &args))
        .await?;
    Ok(match is_new {
        true if is_review => {
            info!(run = %id, "submitted a review of {title}");
            (StatusCode::ACCEPTED, axum::Json(json!({ "run": id }))).into_response()
        }
        true => (StatusCode::OK, "its review is stopped\n").into_response(),
        false => (StatusCode::OK, "nothing new\n").into_response(),
    })
}

/// Whether a webhook could be handed to the workers now.
async fn ready(State(service): State<Arc<Service>>) -> Response {
    match service.ask(|queue| queue.totals()).await {
        Ok(_) => "ready\n".into_response(),
        Err(refused) => refused,
    }
}

async fn metrics(State(service): State<Arc<Service>>) -> Response {
    match service.ask(|queue| queue.totals()).await {
        Ok(totals) => {
            let kind = "text/plain; version=0.0.4; charset=utf-8";
            ([(header::CONTENT_TYPE, kind)], text(&totals)).into_response()
        }
        Err(refused) => refused,
    }
}

/// The totals in the text format of Prometheus.
fn text(totals: &QueueTotals) -> String {
    let QueueTotals {
        waiting,
        queued,
        carried,
        oldest,
    } = totals;
    format!(
        "# HELP glee_runs Submitted runs that have not ended.\n\
         # TYPE glee_runs gauge\n\
         glee_runs{{state=\"waiting\"}} {waiting}\n\
         glee_runs{{state=\"queued\"}} {queued}\n\
         glee_runs{{state=\"carried\"}} {carried}\n\
         # HELP glee_oldest_run_seconds The age of the oldest run that no worker carries.\n\
         # TYPE glee_oldest_run_seconds gauge\n\
         glee_oldest_run_seconds {}\n",
        oldest.as_secs_f64()
    )
}
