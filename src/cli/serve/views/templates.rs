//! Renders the pages. Their templates extend the base template of the report.

use std::sync::LazyLock;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use minijinja::value::Value;
use minijinja::{Environment, context};

use crate::cli::context::local_time;
use crate::cli::report::html::environment::{self, Assets, values};

const HTML: &str = "text/html; charset=utf-8";

const TEMPLATES: [(&str, &str); 11] = [
    (
        "serve/dispute.html",
        include_str!("../templates/dispute.html"),
    ),
    (
        "serve/disputes.html",
        include_str!("../templates/disputes.html"),
    ),
    ("serve/enter.html", include_str!("../templates/enter.html")),
    ("serve/error.html", include_str!("../templates/error.html")),
    (
        "serve/findings.html",
        include_str!("../templates/findings.html"),
    ),
    (
        "serve/layout.html",
        include_str!("../templates/layout.html"),
    ),
    ("serve/live.html", include_str!("../templates/live.html")),
    (
        "serve/report.html",
        include_str!("../templates/report.html"),
    ),
    (
        "serve/repositories.html",
        include_str!("../templates/repositories.html"),
    ),
    ("serve/runs.html", include_str!("../templates/runs.html")),
    (
        "serve/statistics.html",
        include_str!("../templates/statistics.html"),
    ),
];

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = environment::environment();
    environment.add_filter("local_time", |at: String| at.parse().map(local_time).ok());
    environment::add_templates(&mut environment, &TEMPLATES);
    environment
});

/// What the navigation bar of a page shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Navigation {
    /// The common path prefix of the pages of one repository. `None` outside of them.
    pub(crate) base: Option<String>,
    /// The name of the repository.
    pub(crate) project: Option<String>,
    /// Whether there is a list of repositories.
    pub(crate) has_repositories: bool,
}

/// Renders a page. The parameter `section` names the entry that the navigation bar highlights.
pub(crate) fn page(
    status: StatusCode,
    template: &str,
    navigation: &Navigation,
    section: &'static str,
    content: Value,
) -> Response {
    let Navigation {
        base,
        project,
        has_repositories,
    } = navigation;
    let values = values! { base, project, has_repositories, section, ..content };
    let assets = environment::value(&Assets::served("/assets/style.css", "/assets/report.js"));
    let html = environment::render(&ENVIRONMENT, template, context! { assets, ..values });
    (status, [(header::CONTENT_TYPE, HTML)], html).into_response()
}
