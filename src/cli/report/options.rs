//! The options of a report: which findings are shown, and in how much detail.

use crate::cli::style::Style;

#[derive(Clone, Copy)]
pub struct RenderOptions<'a> {
    pub style: Style,
    pub detail: Detail,
    /// Returns the text of a reviewed file. The arguments are the path of the file in the tree and the number of
    /// the round, counted from 1. If the result is `None`, the report shows findings without code.
    pub source: &'a dyn Fn(&str, u32) -> Option<String>,
    pub fix_command: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Shows one line for each finding that is optional or was already ruled on.
    Short,
    Full,
}
