use crate::cli::style::Style;

#[derive(Clone, Copy)]
pub struct RenderOptions<'a> {
    pub look: Style,
    /// How much is shown of what does not block.
    pub detail: Detail,
    /// The text of a file as it was reviewed, by its path inside the tree and the round (from 1); `None` where it
    /// cannot be had: the finding is then shown without its code.
    pub source: &'a dyn Fn(&str, u32) -> Option<String>,
    /// The command that would hand the findings to the coder.
    pub fix_command: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What is optional or settled in one line each.
    Short,
    Full,
}
