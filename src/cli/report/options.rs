use crate::cli::style::Style;

#[derive(Clone, Copy)]
pub struct RenderOptions<'a> {
    pub style: Style,
    pub detail: Detail,
    /// The reviewed text of a file by its path in the tree and its round (from 1). If `None`, findings are shown
    /// without code.
    pub source: &'a dyn Fn(&str, u32) -> Option<String>,
    pub fix_command: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Shows optional and settled findings in one line each.
    Short,
    Full,
}
