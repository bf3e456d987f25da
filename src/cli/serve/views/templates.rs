//! The templates of the pages, which extend the base template of the report.

use std::sync::LazyLock;

use minijinja::value::Value;
use minijinja::{Environment, context};

use crate::cli::context::local_time;
use crate::cli::report::html::environment::{self, Assets};

pub(crate) const HTML: &str = "text/html; charset=utf-8";

const TEMPLATES: [(&str, &str); 10] = [
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

/// Renders a template that extends the base template of the report.
pub(crate) fn render(template: &str, values: Value) -> String {
    let assets = environment::value(&Assets::served("/assets/style.css", "/assets/report.js"));
    environment::render(&ENVIRONMENT, template, context! { assets, ..values })
}
