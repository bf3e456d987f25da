//! Takes fenced blocks with a meaning of their own out of a text.

use crate::text::markdown::{LineKind, Structure, indentation, trim_blank_lines};

/// Removes the block whose info string `accept` accepts, and returns what `accept` made of the info string, with the
/// lines of the block. The text must contain exactly one such block, which must be closed and not blank. Otherwise,
/// the function returns `None` and does not change the text.
pub(crate) fn take<T>(
    text: &mut String,
    accept: impl Fn(&str) -> Option<T>,
) -> Option<(T, String)> {
    let mut structure = Structure::default();
    let mut found = None;
    let mut open = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        let end = at + line.len();
        at = end;
        match structure.classify(line.trim_end()) {
            LineKind::FenceOpen => {
                let opening = line.trim();
                let info = opening.trim_start_matches(['`', '~']);
                // A block that begins on the line of a list marker is ignored. The content of such a block is
                // indented differently from the line of the list marker.
                let is_plain = opening.len() - info.len() >= 3;
                let accepted = accept(info.trim()).filter(|_| is_plain);
                open = accepted.map(|accepted| (accepted, start, end, indentation(line)));
            }
            LineKind::FenceClose => {
                let Some((accepted, first, content, indent)) = open.take() else {
                    continue;
                };
                if found
                    .replace((accepted, first..end, content..start, indent))
                    .is_some()
                {
                    return None;
                }
            }
            _ => {}
        }
    }
    let (accepted, block, content, indent) = found.filter(|_| open.is_none())?;
    let content = text[content]
        .strip_suffix('\n')
        .filter(|content| !content.trim().is_empty())?;
    let lines: Vec<&str> = content
        .split('\n')
        .map(|line| &line[indentation(line).min(indent)..])
        .collect();
    let lines = lines.join("\n");
    text.replace_range(block, "");
    let rest = trim_blank_lines(text);
    *text = rest.to_owned();
    Some((accepted, lines))
}
