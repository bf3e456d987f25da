use crate::cli::style::Style;

#[derive(Clone, Copy)]
pub struct RenderOptions<'a> {
    pub style: Style,
    pub detail: Detail,
    /// The reviewed text of a file, by its path inside the tree and the round (from 1); without it, findings are shown
    /// without their code.
    pub source: &'a dyn Fn(&str, u32) -> Option<String>,
    /// The command that passes the findings to the coder.
    pub fix_command: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Optional and settled findings take one line each.
    Short,
    Full,
}
