//! Reads the lines of an answer, and takes off the code fence in which an agent wrapped its answer.
//!
//! A fenced block is the answer if its last line is a closing line with the right nonce. In such a block further fences
//! can stand, which begin with three marks and a word such as `suggestion`. The block ends with the fence that closes
//! the first one; a fence that is never closed wraps nothing.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use crate::text::Fence;
use crate::text::lines::{CleanLines, Line};
use crate::text::nonce::is_nonce;

/// How many bytes of one answer are read ahead, all fences taken together. An answer whose fences hold more is read as
/// it stands.
const AHEAD_CAP: usize = 8 << 20;

#[derive(Debug)]
pub(crate) struct AnswerLines<'a, R> {
    lines: CleanLines<R>,
    nonce: Option<&'a str>,
    current: OwnedLine,
    ahead: VecDeque<OwnedLine>,
    read_ahead: usize,
}

#[derive(Debug, Default)]
struct OwnedLine {
    text: String,
    cut: bool,
}

impl OwnedLine {
    fn as_line(&self) -> Line<'_> {
        Line {
            text: &self.text,
            cut: self.cut,
        }
    }
}

impl<'a, R: BufRead> AnswerLines<'a, R> {
    pub(crate) fn new(input: R, nonce: Option<&'a str>) -> Self {
        Self {
            lines: CleanLines::new(input),
            nonce,
            current: OwnedLine::default(),
            ahead: VecDeque::new(),
            read_ahead: 0,
        }
    }

    /// Reads the next line. Returns whether there is one.
    pub(crate) fn advance(&mut self) -> io::Result<bool> {
        if let Some(line) = self.ahead.pop_front() {
            self.current = line;
            return Ok(true);
        }
        let Some(line) = self.lines.next()? else {
            return Ok(false);
        };
        self.current.text.clear();
        self.current.text.push_str(line.text);
        self.current.cut = line.cut;
        Ok(true)
    }

    pub(crate) fn current(&self) -> Line<'_> {
        self.current.as_line()
    }

    /// If the current line opens a fence around the answer, empties both lines of the fence.
    pub(crate) fn take_off_fence(&mut self) -> io::Result<()> {
        let Some(fence) = Fence::opened_by(&self.current.text) else {
            return Ok(());
        };
        let nonce = self.nonce;
        let mut open = vec![fence];
        let mut ends_with_closing = false;
        let mut at = 0;
        while let Some(text) = self.peek(at)? {
            if open.last().is_some_and(|fence| fence.is_closed_by(text)) {
                open.pop();
                if open.is_empty() {
                    break;
                }
            } else if let Some(inner) = Fence::opened_by(text) {
                open.push(inner);
            } else if !text.trim().is_empty() {
                ends_with_closing = is_closing(text, nonce);
            }
            at += 1;
        }
        if open.is_empty() && ends_with_closing {
            self.current.text.clear();
            self.ahead[at].text.clear();
        }
        Ok(())
    }

    /// Returns the text of the line `at` lines behind the next one.
    fn peek(&mut self, at: usize) -> io::Result<Option<&str>> {
        if at == self.ahead.len() {
            let Some(line) = self.lines.next()? else {
                return Ok(None);
            };
            self.ahead.push_back(OwnedLine {
                text: line.text.to_owned(),
                cut: line.cut,
            });
        }
        self.read_ahead += self.ahead[at].text.len() + 1;
        Ok((self.read_ahead <= AHEAD_CAP).then(|| self.ahead[at].text.as_str()))
    }
}

/// Whether a line is a closing line of any kind of answer. The example in the prompt has `<n>` instead of a number.
fn is_closing(line: &str, nonce: Option<&str>) -> bool {
    let line = line.trim().trim_matches(['`', '*', '_']);
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default();
    let given = words.next().and_then(|word| word.strip_prefix("nonce="));
    name.starts_with("GLEE-")
        && given.is_some_and(|given| is_nonce(nonce, given))
        && !line.contains('<')
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    /// The text of an answer without its outer fences.
    fn unwrapped(answer: &str) -> String {
        let mut structure = crate::text::Structure::default();
        let mut lines = AnswerLines::new(answer.as_bytes(), Some("n"));
        let mut text = String::new();
        while lines.advance().unwrap() {
            if !structure.in_fence() {
                lines.take_off_fence().unwrap();
            }
            let line = lines.current().text;
            structure.classify(line);
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    #[test]
    fn a_fence_that_ends_with_the_closing_line_is_taken_off() {
        for (answer, expected) in [
            ("```\na\nEND\n```", "\na\nEND\n\n"),
            ("a\n```text\nEND\n\n```\nb", "a\n\nEND\n\n\nb\n"),
            ("~~~~\n```\nEND\n```\n~~~~", "\n\nEND\n\n\n"),
            (
                "```\na\n```suggestion\nx\n```\nb\nEND\n```",
                "\na\n```suggestion\nx\n```\nb\nEND\n\n",
            ),
            ("```\nx\n```\n```\nEND\n```", "```\nx\n```\n\nEND\n\n"),
            ("- ```\n  END\n  ```", "\n  END\n\n"),
            // The block ends otherwise, or never.
            ("```\nEND\nb\n```", "```\nEND\nb\n```\n"),
            ("```\nEND", "```\nEND\n"),
            ("```\nFORM\n```", "```\nFORM\n```\n"),
            ("```\nOTHER\n```", "```\nOTHER\n```\n"),
        ] {
            let written = |text: &str| {
                text.replace("END", "GLEE-REVIEW-END nonce=n findings=0")
                    .replace("FORM", "GLEE-REVIEW-END nonce=n findings=<n>")
                    .replace("OTHER", "GLEE-REVIEW-END nonce=m findings=0")
            };
            assert_eq!(unwrapped(&written(answer)), written(expected), "{answer}");
        }
    }

    #[test]
    fn what_is_read_ahead_is_bounded() {
        let block = "```\n```x\n".repeat(AHEAD_CAP / 8);
        let answer = format!("{block}```\nGLEE-REVIEW-END nonce=n findings=0\n```");
        assert_eq!(unwrapped(&answer).len(), answer.len() + 1);
    }
}
