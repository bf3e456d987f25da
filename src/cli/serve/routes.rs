//! Maps each HTTP request to the function that creates the page. The module also checks the access of every HTTP
//! request to the server of this computer.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Form, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use futures_util::StreamExt as _;
use serde::Deserialize;

use super::access::{self, Access};
use super::error_page::{ErrorPage, refused};
use super::frame::{self, framed};
use super::pages::{self, DisputePosition};
use super::server::Seat;
use super::settle;
use super::site::Site;
use super::views::RulingForm;
use super::views::templates::{self, Navigation};
use super::views::tree_findings::FindingsQuery;
use crate::cli::context::CommandError;
use crate::cli::report::html::environment::values;
use glee_agents::Stop;

/// The server of this computer.
pub(crate) fn router(access: Arc<Access>, site: Arc<Site>, stop: Stop) -> Router {
    let pages = pages_of_site(stop)
        .layer(Extension(site))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&access),
            only_signed_in,
        ));
    let pages = Router::new()
        .nest(access.base(), pages)
        .route("/", get(enter))
        .fallback(missing)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&access),
            only_own_host,
        ))
        .with_state(access);
    framed(pages)
}

/// The pages of one repository. Each request has its [`Site`] as an extension.
pub(crate) fn pages_of_site<S: Clone + Send + Sync + 'static>(stop: Stop) -> Router<S> {
    let events = move |site, run, after, headers| events(site, run, after, headers, stop.clone());
    Router::new()
        .route("/runs", get(runs))
        .route("/runs/{run}", get(run))
        .route("/runs/{run}/live", get(live))
        .route("/runs/{run}/events", get(events))
        .route("/findings", get(findings))
        .route("/disputes", get(disputes))
        .route("/statistics", get(statistics))
        .route("/disputes/{dispute}", get(dispute).post(settle))
}

/// Refuses an HTTP request that names another host.
async fn only_own_host(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    if access.is_own_host(request.uri(), request.headers()) {
        return next.run(request).await;
    }
    refused(
        StatusCode::MISDIRECTED_REQUEST,
        "the request names another server",
    )
    .hint("open the address that `glee serve` printed")
    .into_response()
}

async fn only_signed_in(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    if access.is_signed_in(request.headers()) {
        if let Some(seat) = request.extensions().get::<Seat>() {
            seat.keep();
        }
        return next.run(request).await;
    }
    not_signed_in("this browser is not signed in").into_response()
}

fn not_signed_in(message: &str) -> ErrorPage {
    refused(StatusCode::UNAUTHORIZED, message)
        .hint("open the address that `glee serve` printed; every start of `glee serve` prints a new address")
}

async fn missing() -> ErrorPage {
    let page = frame::missing().await;
    page.hint("open the address that `glee serve` printed")
}

#[derive(Deserialize)]
struct Entry {
    token: Option<String>,
}

/// Exchanges the token in the address for a cookie.
async fn enter(
    State(access): State<Arc<Access>>,
    Query(entry): Query<Entry>,
    headers: HeaderMap,
) -> Response {
    let Some(token) = entry.token else {
        return not_signed_in("the address has no token").into_response();
    };
    if !access.is_valid_token(&token) {
        return not_signed_in("the token in the address is not valid").into_response();
    }
    let target = format!("{}/runs", access.base());
    let mut response = if access::is_link_from_elsewhere(&headers) {
        // The user followed a link on another site. A redirect would continue the navigation from that site, so
        // the browser would not send the `SameSite=Strict` cookie. Instead of a redirect, the server returns a
        // page with a link to `target`.
        let content = values! { target };
        let navigation = Navigation::default();
        templates::page(StatusCode::OK, "serve/enter.html", &navigation, "", content)
    } else {
        Redirect::to(&target).into_response()
    };
    let cookie =
        HeaderValue::from_str(access.cookie()).expect("a cookie consists of visible characters");
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
}

/// The parts of a path that name a run or a dispute. What else is in the path is disregarded.
#[derive(Deserialize)]
struct RunPath {
    run: String,
}

#[derive(Deserialize)]
struct DisputePath {
    dispute: u64,
}

#[derive(Deserialize)]
struct Recent {
    recent: Option<u32>,
}

async fn runs(Extension(site): Extension<Arc<Site>>, Query(query): Query<Recent>) -> Response {
    site.answer(move |site| pages::runs(site, query.recent))
        .await
}

async fn run(
    Extension(site): Extension<Arc<Site>>,
    Path(RunPath { run }): Path<RunPath>,
) -> Response {
    site.answer(move |site| pages::run(site, &run)).await
}

async fn live(
    Extension(site): Extension<Arc<Site>>,
    Path(RunPath { run }): Path<RunPath>,
) -> Response {
    site.answer(move |site| pages::live(site, &run)).await
}

async fn disputes(
    Extension(site): Extension<Arc<Site>>,
    Query(position): Query<DisputePosition>,
) -> Response {
    site.answer(move |site| pages::disputes(site, &position))
        .await
}

async fn findings(
    Extension(site): Extension<Arc<Site>>,
    Query(query): Query<FindingsQuery>,
) -> Response {
    site.answer(move |site| pages::findings(site, &query)).await
}

async fn statistics(Extension(site): Extension<Arc<Site>>) -> Response {
    site.answer(pages::statistics).await
}

async fn dispute(
    Extension(site): Extension<Arc<Site>>,
    Path(DisputePath { dispute }): Path<DisputePath>,
) -> Response {
    site.answer(move |site| pages::dispute(site, dispute)).await
}

async fn settle(
    Extension(site): Extension<Arc<Site>>,
    Path(DisputePath { dispute }): Path<DisputePath>,
    headers: HeaderMap,
    Form(form): Form<RulingForm>,
) -> Response {
    site.answer(move |site| settle::settle(site, dispute, &headers, &form))
        .await
}

#[derive(Deserialize)]
struct After {
    after: Option<u64>,
}

/// Sends the events of a run to a browser until the browser disconnects or the server stops. The id of an event
/// is its number in the run. When the browser reconnects, it sends the id of the last event that it received.
async fn events(
    Extension(site): Extension<Arc<Site>>,
    Path(RunPath { run }): Path<RunPath>,
    Query(query): Query<After>,
    headers: HeaderMap,
    stop: Stop,
) -> Response {
    let seen = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok()?.parse().ok());
    let after = seen.or(query.after).unwrap_or(0);
    let found = Arc::clone(&site).find_run(run).await;
    let run = match found {
        Ok(run) => run,
        Err(error) => return error.into_response(),
    };
    let feed = match site.frame.feed(&site.source) {
        Ok(feed) => feed,
        Err(error) => return ErrorPage::from(CommandError::from(error)).into_response(),
    };
    let Some((feed, permit)) = feed else {
        return refused(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many live views are open",
        )
        .hint("close another live view")
        .into_response();
    };
    let events = feed.follow(run, after, permit);
    let events = events.map(|event| {
        let sent = Event::default().id(event.seq.to_string()).data(&event.data);
        Ok::<_, Infallible>(sent)
    });
    let events = events.take_until(async move { stop.stopped().await });
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}
