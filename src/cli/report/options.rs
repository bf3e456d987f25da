//! The options of a report: which findings are shown, and in how much detail.

use crate::cli::style::Style;

#[derive(Clone, Copy)]
pub struct RenderOptions<'a> {
    pub style: Style,
    pub detail: Detail,
    /// Returns the text of a file that was reviewed, given the file's path in the tree and the number of the round
    /// (from 1). If it returns `None`, findings are shown without code.
    pub source: &'a dyn Fn(&str, u32) -> Option<String>,
    pub fix_command: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Shows each optional or settled finding in one line.
    Short,
    Full,
}
