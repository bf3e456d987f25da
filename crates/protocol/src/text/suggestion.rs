//! Suggestion blocks as on GitHub and GitLab: code that replaces the lines to which a comment or a finding refers.

use crate::text::blocks;

/// The info strings of suggestion blocks that replace exactly the finding's lines. On GitLab, `suggestion:-2+1`
/// also replaces two lines above and one line below.
const INFO: [&str; 2] = ["suggestion", "suggestion:-0+0"];

/// Removes the suggestion block from a text, and returns the lines of the block; see [`blocks::take`].
pub fn take(text: &mut String) -> Option<String> {
    let lines = blocks::take(text, |info| INFO.contains(&info).then_some(()));
    lines.map(|((), lines)| lines)
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
