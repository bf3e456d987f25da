//! `--format html`: one HTML file that contains its data, its style sheet and its script, and that makes no
//! network requests.

pub(crate) mod environment;
pub(crate) mod highlight;
pub(crate) mod page;
#[cfg(test)]
mod tests;

use minijinja::context;

use crate::cli::report::html::environment::{Assets, ENVIRONMENT};
use crate::cli::report::html::page::Page;

/// Renders the page as a file that works without a server and without a network.
pub(crate) fn render(page: &Page) -> String {
    let assets = environment::value(&Assets::inline(&environment::nonce(page)));
    let html =
        environment::render(&ENVIRONMENT, "report.html", context! { page => environment::value(page), assets });
    html.replace('\t', "    ")
}
