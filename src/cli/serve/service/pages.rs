//! The pages of all repositories that the role of the service sees, for the people whom a proxy signs in. The pages of a
//! repository are those of `glee serve`.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use serde::Deserialize;

use super::proxy::Proxy;
use crate::cli::context::server::Server;
use crate::cli::context::{CommandError, Globals, place};
use crate::cli::report::html::environment::values;
use crate::cli::serve::access::Forms;
use crate::cli::serve::error_page::{ErrorPage, refused};
use crate::cli::serve::frame::{Frame, framed, missing};
use crate::cli::serve::routes::pages_of_site;
use crate::cli::serve::server::Seat;
use crate::cli::serve::site::Site;
use crate::cli::serve::source::Source;
use crate::cli::serve::views;
use crate::cli::serve::views::templates::{self, Navigation};
use glee_agents::Stop;
use glee_model::domain::Person;
use glee_protocol::text::printable;
use glee_system::uri;

/// The number of repositories on one page.
const ROWS: u32 = 100;

/// The navigation bar outside of a repository.
const OUTSIDE: Navigation = Navigation {
    base: None,
    project: None,
    has_repositories: true,
};

pub(super) struct Pages {
    globals: Globals,
    server: Server,
    proxy: Proxy,
    frame: Arc<Frame>,
    /// The folder with the copies of the logs of this server.
    copies: PathBuf,
}

impl Pages {
    pub(super) fn new(
        globals: &Globals,
        server: Server,
        proxy: Proxy,
    ) -> Result<Arc<Self>, CommandError> {
        // Another server can have another repository under a number.
        let key = blake3::hash(server.to_string().as_bytes()).to_hex();
        Ok(Arc::new(Self {
            globals: globals.clone(),
            copies: place::state_dir()?.join("service").join(key.as_str()),
            server,
            proxy,
            frame: Frame::new(),
        }))
    }

    /// The pages of a repository for a person. A repository that the role of the service does not see is not found.
    async fn site(&self, repository: &str, person: Person) -> Result<Arc<Site>, ErrorPage> {
        let unknown = || {
            refused(StatusCode::NOT_FOUND, "there is no such repository")
                .hint("the list has all repositories that this service sees")
        };
        let number: i32 = repository.parse().map_err(|_| unknown())?;
        let server = self.server.clone();
        // The connection ends here, so that requests that wait for their turn have none.
        let find = move || {
            let found = server.repository(number)?;
            Ok(found.map(|found| (found.title, found.is_writer)))
        };
        let found = self.frame.compute(find).await?;
        let (title, is_writer) = found.ok_or_else(unknown)?;
        Ok(Arc::new(Site {
            frame: Arc::clone(&self.frame),
            source: Source::of_server(&self.globals, &self.server, number, &self.copies),
            navigation: Navigation {
                base: Some(format!("/repositories/{number}")),
                project: Some(printable::line(&title)),
                has_repositories: true,
            },
            forms: Forms::proxied(self.proxy.form_token(&person)),
            person: is_writer.then_some(person),
        }))
    }

    fn list(&self, query: &ListQuery) -> Result<Response, ErrorPage> {
        let ListQuery { name, from } = query;
        // PostgreSQL has no texts with NUL.
        let part = name.trim().replace('\0', "");
        let mut found = self.server.repositories(&part, *from, ROWS + 1)?;
        let is_cut = found.len() > ROWS as usize;
        found.truncate(ROWS as usize);
        let page = values! {
            name,
            rows => found.iter().map(views::value).collect::<Vec<_>>(),
            previous => (*from > 0).then(|| query.at(from.saturating_sub(ROWS))),
            next => is_cut.then(|| query.at(from.saturating_add(ROWS))),
        };
        Ok(templates::page(
            StatusCode::OK,
            "serve/repositories.html",
            &OUTSIDE,
            "repositories",
            values! { page },
        ))
    }
}

pub(super) fn router(pages: Arc<Pages>, stop: Stop) -> Router {
    let of_repository =
        pages_of_site(stop)
            .route("/", get(first))
            .layer(middleware::from_fn_with_state(
                Arc::clone(&pages),
                with_site,
            ));
    let all = Router::new()
        .route("/", get(|| async { Redirect::to("/repositories") }))
        .route("/repositories", get(repositories))
        .nest("/repositories/{repository}", of_repository)
        .fallback(|| async { missing().await.with_links(&OUTSIDE) })
        .layer(middleware::from_fn_with_state(
            Arc::clone(&pages),
            only_signed_in,
        ))
        .with_state(pages);
    framed(all)
}

async fn only_signed_in(
    State(pages): State<Arc<Pages>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(person) = pages.proxy.person(request.headers()) else {
        return refused(
            StatusCode::UNAUTHORIZED,
            "the request has no `Authorization: Basic` header with a name and the secret of the proxy",
        )
        .hint("open the address of the proxy that signs you in; its operator finds in docs/server.md what it has to send")
        .into_response();
    };
    if let Some(seat) = request.extensions().get::<Seat>() {
        seat.keep();
    }
    request.extensions_mut().insert(person);
    next.run(request).await
}

#[derive(Deserialize)]
struct RepositoryPath {
    repository: String,
}

async fn with_site(
    State(pages): State<Arc<Pages>>,
    Path(RepositoryPath { repository }): Path<RepositoryPath>,
    Extension(person): Extension<Person>,
    mut request: Request,
    next: Next,
) -> Response {
    match pages.site(&repository, person).await {
        Ok(site) => {
            request.extensions_mut().insert(site);
            next.run(request).await
        }
        Err(error) => error.with_links(&OUTSIDE).into_response(),
    }
}

async fn first(Extension(site): Extension<Arc<Site>>) -> Redirect {
    Redirect::to(&site.path("runs"))
}

/// The query parameters of the list: a part of the title, and the number of repositories to skip.
#[derive(Deserialize)]
struct ListQuery {
    #[serde(default)]
    name: String,
    #[serde(default)]
    from: u32,
}

impl ListQuery {
    fn at(&self, from: u32) -> String {
        format!("name={}&from={from}", uri::segment(&self.name))
    }
}

async fn repositories(State(pages): State<Arc<Pages>>, Query(query): Query<ListQuery>) -> Response {
    let of_list = Arc::clone(&pages);
    let made = pages.frame.compute(move || of_list.list(&query)).await;
    made.unwrap_or_else(|error| error.with_links(&OUTSIDE).into_response())
}
