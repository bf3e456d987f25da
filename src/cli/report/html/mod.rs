//! `--format html`: one HTML file that contains its data, its style sheet and its script, and that makes no
//! network requests.

pub(crate) mod environment;
pub(crate) mod highlight;
pub(crate) mod page;
pub(crate) mod statistics;
#[cfg(test)]
mod tests;

use minijinja::context;
use serde::Serialize;

use crate::cli::report::html::environment::{Assets, ENVIRONMENT};
use crate::cli::report::html::page::Page;
use crate::cli::report::html::statistics::StatisticsView;

/// Renders the page as a file that works without a server and without a network.
pub(crate) fn render(page: &Page) -> String {
    page_of("report.html", page)
}

pub(crate) fn render_statistics(view: &StatisticsView) -> String {
    page_of("statistics.html", view)
}

fn page_of<T: Serialize>(template: &str, page: &T) -> String {
    let assets = environment::value(&Assets::inline(&environment::nonce(page)));
    let html = environment::render(
        &ENVIRONMENT,
        template,
        context! { page => environment::value(page), assets },
    );
    html.replace('\t', "    ")
}
