//! Splits the bytes of an answer into lines, and cleans each line.
//!
//! The reader removes escape sequences, a byte order mark at the beginning, and CR before LF. Invalid UTF-8 is
//! replaced by U+FFFD. At most [`LINE_CAP`] bytes of a line are in memory.

use std::borrow::Cow;
use std::io::{self, BufRead, Read as _};
use std::sync::LazyLock;

use regex::bytes::Regex;

/// The maximum length of a line in bytes. Bytes beyond this length are skipped.
pub(crate) const LINE_CAP: usize = 6 << 20;

/// Matches a terminal escape sequence. A control sequence begins with `ESC [`, and its final byte can be missing
/// at the end of a line. A string sequence begins with `ESC` and one of `]`, `P`, `X`, `^` and `_`, and ends
/// with BEL or `ESC \`. If a string sequence has no end, only the first two bytes of the sequence match, because
/// the following bytes can belong to the answer. All other escape sequences consist of `ESC` and one or two
/// bytes.
static ESCAPES: LazyLock<Regex> = LazyLock::new(|| {
    let sequences = r"\[[0-?]*[ -/]*(?:[@-~]|$)|[\]PX^_](?:[^\x07\x1b]*(?:\x07|\x1b\\))?|[!-/][0-~]|[0-OQ-WYZ\\`-~]|$";
    Regex::new(&format!(r"(?-u)\x1b(?:{sequences})")).expect("a regular expression")
});

#[derive(Debug)]
pub(crate) struct CleanLines<R> {
    input: R,
    line: Vec<u8>,
    begun: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub text: &'a str,
    pub cut: bool,
}

impl<R: BufRead> CleanLines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            line: Vec::new(),
            begun: false,
        }
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let Some(cut) = self.read()? else {
            return Ok(None);
        };
        if !std::mem::replace(&mut self.begun, true) && self.line.starts_with(b"\xef\xbb\xbf") {
            self.line.drain(..3);
        }
        if let Cow::Owned(plain) = ESCAPES.replace_all(&self.line, &b""[..]) {
            self.line = plain;
        }
        while self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        if std::str::from_utf8(&self.line).is_err() {
            self.line = replace_invalid(&self.line).into_bytes();
        }
        let text = std::str::from_utf8(&self.line).expect("invalid bytes were replaced");
        Ok(Some(Line { text, cut }))
    }

    /// Reads one raw line into the buffer. Returns whether the line was truncated; `None` at the end of the input.
    fn read(&mut self) -> io::Result<Option<bool>> {
        self.line.clear();
        let room = u64::try_from(LINE_CAP + 1).unwrap_or(u64::MAX);
        let read = self
            .input
            .by_ref()
            .take(room)
            .read_until(b'\n', &mut self.line)?;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        } else if read > LINE_CAP {
            self.line.truncate(LINE_CAP);
            self.input.skip_until(b'\n')?;
            return Ok(Some(true));
        }
        Ok((read > 0).then_some(false))
    }
}

/// Replaces invalid UTF-8 by U+FFFD. The replacement stops at about [`LINE_CAP`] bytes, because U+FFFD can be
/// longer than the bytes that it replaces.
fn replace_invalid(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        if text.len() + chunk.valid().len() > LINE_CAP {
            break;
        }
        text.push_str(chunk.valid());
        text.push_str(if chunk.invalid().is_empty() {
            ""
        } else {
            "\u{fffd}"
        });
    }
    text
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn lines(input: &[u8]) -> Vec<String> {
        let mut lines = CleanLines::new(io::BufReader::with_capacity(3, input));
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push(line.text.to_owned());
        }
        all
    }

    #[test]
    fn drops_marks_escapes_and_carriage_returns() {
        for (input, expected) in [
            (&b""[..], &[][..]),
            (b"\n", &[""]),
            (
                b"\xef\xbb\xbf[MUST] a\r\n\xef\xbb\xbfb\r\r\nc",
                &["[MUST] a", "\u{feff}b", "c"],
            ),
            (b"a\rb\r\n", &["a\rb"]),
            (b"\x1b[1m[\x1b[32mLOW\x1b[39m]\x1b[22m x", &["[LOW] x"]),
            (b"\x1b]8;;https://x.y\x1b\\link\x1b]8;;\x07 z", &["link z"]),
            (b"\x1b]0;no end\nnext", &["0;no end", "next"]),
            (b"\x1b]0;no end\x1b[1m.\n", &["0;no end."]),
            (
                b"\x1b(B\x1b7\x1b=a\x1b[38:2::1:2:3mb\x1b[?25h\x1b[3",
                &["ab"],
            ),
            (b"\x1b\xff", &["\x1b\u{fffd}"]),
            (b"end\x1b", &["end"]),
            (b"\0a\xc3\x28\xe9t\xe9", &["\0a\u{fffd}(\u{fffd}t\u{fffd}"]),
        ] {
            assert_eq!(lines(input), expected, "{}", input.escape_ascii());
        }
    }

    #[test]
    fn cuts_a_line_beyond_the_cap_and_goes_on_behind_it() {
        let mut input = vec![b'x'; LINE_CAP + 7];
        input.extend_from_slice(b"\nnext\n");
        let mut lines = CleanLines::new(&input[..]);
        let first = lines.next().unwrap().unwrap();
        assert_eq!((first.text.len(), first.cut), (LINE_CAP, true));
        assert_eq!(
            lines.next().unwrap(),
            Some(Line {
                text: "next",
                cut: false
            })
        );
        assert_eq!(lines.next().unwrap(), None);
    }

    #[test]
    fn replaced_bytes_do_not_grow_a_line_beyond_the_cap() {
        let input = vec![0xff; LINE_CAP];
        let mut lines = CleanLines::new(&input[..]);
        assert!(lines.next().unwrap().unwrap().text.len() <= LINE_CAP + 3);
    }
}
