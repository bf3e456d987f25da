//! Suggestion blocks as on GitHub and GitLab: code that replaces the lines to which a comment or a finding refers.

use crate::text::markdown::{LineKind, Structure, trim_blank_lines};

/// The info strings of suggestion blocks that replace exactly the finding's lines. On GitLab, `suggestion:-2+1`
/// also replaces two lines above and one line below.
const INFO: [&str; 2] = ["suggestion", "suggestion:-0+0"];

/// Removes the suggestion block from a text, and returns the lines of the block. The text must contain exactly one
/// suggestion block, which must be closed and not blank. Otherwise, the function returns `None` and does not
/// change the text.
pub fn take(text: &mut String) -> Option<String> {
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
                open = (is_plain && INFO.contains(&info.trim()))
                    .then(|| (start, end, indentation(line)));
            }
            LineKind::FenceClose => {
                let Some((first, content, indent)) = open.take() else {
                    continue;
                };
                if found
                    .replace((first..end, content..start, indent))
                    .is_some()
                {
                    return None;
                }
            }
            _ => {}
        }
    }
    let (block, content, indent) = found.filter(|_| open.is_none())?;
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
    Some(lines)
}

/// The number of blanks and tabs at the beginning of a line.
fn indentation(line: &str) -> usize {
    line.bytes()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_block_is_taken_out_of_a_text() {
        let rows = [
            (
                "why\n```suggestion\n    a\n\n  b\n```\nmore",
                Some("    a\n\n  b"),
                "why\nmore",
            ),
            (
                "why\n  ```suggestion\n      a\n    b\n c\n\n  ```",
                Some("    a\n  b\nc\n"),
                "why",
            ),
            ("~~~ suggestion\na\n~~~", Some("a"), ""),
            (
                "````suggestion:-0+0\n```x\ny\n```\n````",
                Some("```x\ny\n```"),
                "",
            ),
            (
                "```suggestion:-1+0\na\n```",
                None,
                "```suggestion:-1+0\na\n```",
            ),
            (
                "```suggestion\na\n```\n```suggestion\na\n```",
                None,
                "```suggestion\na\n```\n```suggestion\na\n```",
            ),
            ("```suggestion\n \n```", None, "```suggestion\n \n```"),
            ("```suggestion\n```", None, "```suggestion\n```"),
            ("```suggestion\na", None, "```suggestion\na"),
            (
                "- ```suggestion\n  a\n  ```",
                None,
                "- ```suggestion\n  a\n  ```",
            ),
            (
                "```text\n```suggestion\na\n```",
                None,
                "```text\n```suggestion\na\n```",
            ),
            ("```suggestions\na\n```", None, "```suggestions\na\n```"),
        ];
        for (text, expected, rest) in rows {
            let mut left = text.to_owned();
            assert_eq!(
                (take(&mut left).as_deref(), left.as_str()),
                (expected, rest),
                "{text}"
            );
        }
    }
}
