//! Maps each HTTP request to the function that creates the page. The module also checks the access of every HTTP
//! request, and adds security headers to every HTTP response.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Form, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use futures_util::StreamExt as _;
use minijinja::context;
use serde::Deserialize;

use super::access;
use super::error_page::{ErrorPage, refused};
use super::pages::{self, DisputePosition};
use super::server::Seat;
use super::settle;
use super::site::Site;
use super::views::tree_findings::FindingsQuery;
use super::views::{RulingForm, templates};
use crate::cli::report::html::environment::{SCRIPT, STYLE};
use glee_agents::Stop;

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

pub(crate) fn router(site: Arc<Site>, stop: Stop) -> Router {
    let events = {
        let stop = stop.clone();
        move |site: State<Arc<Site>>, run: Path<String>, after: Query<After>, headers: HeaderMap| {
            events(site, run, after, headers, stop)
        }
    };
    let pages = Router::new()
        .route("/runs", get(runs))
        .route("/runs/{run}", get(run))
        .route("/runs/{run}/live", get(live))
        .route("/runs/{run}/events", get(events))
        .route("/findings", get(findings))
        .route("/disputes", get(disputes))
        .route("/statistics", get(statistics))
        .route("/disputes/{number}", get(dispute).post(settle))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&site),
            only_signed_in,
        ));
    Router::new()
        .route("/", get(enter))
        .route("/assets/{name}", get(asset))
        .nest(site.access.base(), pages)
        .fallback(missing)
        .layer(DefaultBodyLimit::max(FORM))
        .layer(middleware::from_fn_with_state(Arc::clone(&site), guard))
        .with_state(site)
}

/// Refuses an HTTP request if it names another host, or if a page of another origin sent it. Adds the security
/// headers to every HTTP response.
async fn guard(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let mut response = if !site.access.is_own_host(request.uri(), request.headers()) {
        refused(
            StatusCode::MISDIRECTED_REQUEST,
            "the request names another server",
        )
        .hint("open the address that `glee serve` printed")
        .into_response()
    } else if access::is_foreign(request.headers()) {
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

async fn only_signed_in(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    if site.access.is_signed_in(request.headers()) {
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

#[derive(Deserialize)]
struct Entry {
    token: Option<String>,
}

/// Exchanges the token in the address for a cookie.
async fn enter(
    State(site): State<Arc<Site>>,
    Query(entry): Query<Entry>,
    headers: HeaderMap,
) -> Response {
    let Some(token) = entry.token else {
        return not_signed_in("the address has no token").into_response();
    };
    if !site.access.is_valid_token(&token) {
        return not_signed_in("the token in the address is not valid").into_response();
    }
    let target = site.path("runs");
    let mut response = if access::is_link_from_elsewhere(&headers) {
        // The user followed a link on another site. A redirect would continue the navigation from that site, so
        // the browser would not send the `SameSite=Strict` cookie. Instead of a redirect, the server returns a
        // page with a link to `target`.
        let html = templates::render("serve/enter.html", context! { target });
        ([(header::CONTENT_TYPE, templates::HTML)], html).into_response()
    } else {
        Redirect::to(&target).into_response()
    };
    let cookie = HeaderValue::from_str(site.access.cookie())
        .expect("a cookie consists of visible characters");
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
}

async fn asset(Path(name): Path<String>) -> Response {
    let (kind, text) = match name.as_str() {
        "style.css" => ("text/css; charset=utf-8", STYLE),
        "serve.css" => ("text/css; charset=utf-8", OWN_STYLE),
        "report.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "serve.js" => ("text/javascript; charset=utf-8", OWN_SCRIPT),
        _ => return missing().await,
    };
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

async fn missing() -> Response {
    refused(StatusCode::NOT_FOUND, "no page has this address")
        .hint("open the address that `glee serve` printed")
        .into_response()
}

#[derive(Deserialize)]
struct Recent {
    recent: Option<u32>,
}

async fn runs(State(site): State<Arc<Site>>, Query(query): Query<Recent>) -> Response {
    site.answer(move |site| pages::runs(site, query.recent))
        .await
}

async fn run(State(site): State<Arc<Site>>, Path(run): Path<String>) -> Response {
    site.answer(move |site| pages::run(site, &run)).await
}

async fn live(State(site): State<Arc<Site>>, Path(run): Path<String>) -> Response {
    site.answer(move |site| pages::live(site, &run)).await
}

async fn disputes(
    State(site): State<Arc<Site>>,
    Query(position): Query<DisputePosition>,
) -> Response {
    site.answer(move |site| pages::disputes(site, &position))
        .await
}

async fn findings(State(site): State<Arc<Site>>, Query(query): Query<FindingsQuery>) -> Response {
    site.answer(move |site| pages::findings(site, &query)).await
}

async fn statistics(State(site): State<Arc<Site>>) -> Response {
    site.answer(pages::statistics).await
}

async fn dispute(State(site): State<Arc<Site>>, Path(number): Path<u64>) -> Response {
    site.answer(move |site| pages::dispute(site, number)).await
}

async fn settle(
    State(site): State<Arc<Site>>,
    Path(number): Path<u64>,
    headers: HeaderMap,
    Form(form): Form<RulingForm>,
) -> Response {
    site.answer(move |site| settle::settle(site, number, &headers, &form))
        .await
}

#[derive(Deserialize)]
struct After {
    after: Option<u64>,
}

/// Sends the events of a run to a browser until the browser disconnects or the server stops. The id of an event
/// is its number in the run. When the browser reconnects, it sends the id of the last event that it received.
async fn events(
    State(site): State<Arc<Site>>,
    Path(run): Path<String>,
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
    let Some(events) = site.feed.follow(run, after) else {
        return refused(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many live views are open",
        )
        .hint("close another live view")
        .into_response();
    };
    let events = events.map(|event| {
        let sent = Event::default().id(event.seq.to_string()).data(&event.data);
        Ok::<_, Infallible>(sent)
    });
    let events = events.take_until(async move { stop.stopped().await });
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}
