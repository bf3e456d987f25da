//! `--format html`: one HTML file that contains its data, its style sheet and its script, and that makes no
//! network requests.

pub(crate) mod environment;
pub(crate) mod highlight;
pub(crate) mod page;
#[cfg(test)]
mod tests;

use minijinja::context;
use minijinja::value::Value;

use crate::cli::report::html::environment::{Assets, ENVIRONMENT};
use glee_model::rules::measures::ReviewStatistics;

/// Renders the report on a run as a file that works without a server and without a network.
pub(crate) fn render(page: Value) -> String {
    page_of("report.html", page)
}

pub(crate) fn render_statistics(found: &ReviewStatistics) -> String {
    page_of("statistics.html", environment::value(found))
}

fn page_of(template: &str, page: Value) -> String {
    let assets = environment::value(&Assets::inline(&environment::nonce(&page)));
    let html = environment::render(&ENVIRONMENT, template, context! { page, assets });
    html.replace('\t', "    ")
}
