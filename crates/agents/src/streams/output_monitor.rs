//! Detects whether a program has begun to answer, and whether the program repeats failed requests. A program whose
//! service is unavailable prints only introductory lines, or prints the same lines repeatedly.

use crate::streams::deadlines::StreamName;

/// At most this part of a line is kept: what copilot says of a limit begins after 500 bytes.
const HEAD: usize = 1024;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineMarks {
    /// Substrings of the introductory lines before an answer. The answer starts at the first output line that
    /// begins with `{` and contains none of these substrings. If the field is `None`, the whole output is the
    /// answer.
    pub(crate) preamble: Option<&'static [&'static str]>,
    /// Substrings of lines on stdout or stderr with which the program tells that requests to its service failed and
    /// that it repeats them, and how many. The first substring that a line contains counts.
    pub(crate) failed: &'static [(&'static str, u32)],
}

#[derive(Debug)]
pub(crate) struct OutputMonitor {
    marks: LineMarks,
    out: Vec<u8>,
    err: Vec<u8>,
    pub begun: bool,
    /// Requests that failed since the last line of an answer.
    pub failed: u32,
    /// The line that told of the last one.
    pub told: String,
}

impl OutputMonitor {
    pub(crate) fn new(marks: LineMarks) -> Self {
        Self {
            marks,
            out: Vec::new(),
            err: Vec::new(),
            begun: marks.preamble.is_none(),
            failed: 0,
            told: String::new(),
        }
    }

    /// Takes the next bytes. Returns whether they belong to an answer: a program that prints its answer in lines that are
    /// known can log anything on stderr while its service is silent.
    pub(crate) fn push(&mut self, stream: StreamName, bytes: &[u8]) -> bool {
        let is_out = stream == StreamName::Out;
        let mut lines = bytes.split(|byte| *byte == b'\n').peekable();
        while let (true, Some(line)) = (
            is_out && !self.begun || !self.marks.failed.is_empty(),
            lines.next(),
        ) {
            let head = if is_out { &mut self.out } else { &mut self.err };
            let room = HEAD.saturating_sub(head.len());
            head.extend_from_slice(&line[..room.min(line.len())]);
            if lines.peek().is_some() {
                let head = std::mem::take(head);
                self.take_line(is_out, &String::from_utf8_lossy(&head));
            } else if is_out && head.len() == HEAD {
                let head = String::from_utf8_lossy(head);
                self.begun |= is_answer(self.marks, &head);
            }
        }
        self.begun && (is_out || self.marks.preamble.is_none())
    }

    fn take_line(&mut self, is_out: bool, line: &str) {
        let mut marks = self.marks.failed.iter();
        let found = marks.find(|(mark, _)| line.contains(mark));
        let is_answer = is_out && is_answer(self.marks, line);
        self.begun |= is_answer;
        match found {
            Some((_, 0)) => {}
            Some((_, requests)) => {
                self.failed += requests;
                line.clone_into(&mut self.told);
            }
            None if is_answer => self.failed = 0,
            None => {}
        }
    }
}

fn is_answer(marks: LineMarks, line: &str) -> bool {
    let preamble = marks.preamble.unwrap_or_default();
    line.starts_with('{') && !preamble.iter().any(|part| line.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: LineMarks = LineMarks {
        preamble: Some(&["{\"type\":\"init\""]),
        failed: &[("\"nothing\"", 1), ("afar", 0), ("worse", 5)],
    };

    fn heads(pieces: &[&str]) -> OutputMonitor {
        let mut heads = OutputMonitor::new(MARKS);
        for piece in pieces {
            heads.push(StreamName::Out, piece.as_bytes());
        }
        heads
    }

    #[test]
    fn it_has_begun_with_the_first_line_that_says_something() {
        let long = format!("{{\"type\":\"text\",\"text\":\"{}", "x".repeat(HEAD));
        let cases: [(&[&str], bool); 7] = [
            (&["{\"type\":\"init\"}\n"], false),
            (&["Loading\n", "\n", "{\"type\":\"in", "it\"}\n"], false),
            (&["{\"type\":\"init\"}\n{\"type\":\"text\"}\n"], true),
            (
                &["{\"type\":\"init\"}\n{\"type\":", "\"text\"}", "\n"],
                true,
            ),
            // The line is incomplete, so the missing part can still contain `"type":"init"`.
            (&["{\"type\":\"text\"}"], false),
            (&[&long], true),
            (&["{\"type\":\"text\"}\n", "{\"type\":\"init\"}\n"], true),
        ];
        for (pieces, begun) in cases {
            assert_eq!(heads(pieces).begun, begun, "{pieces:?}");
        }
        assert!(OutputMonitor::new(LineMarks::default()).begun);
    }

    #[test]
    fn a_log_beside_known_lines_is_no_answer() {
        let mut known = heads(&["{\"type\":\"text\"}\n"]);
        assert!(!known.push(StreamName::Err, b"{\"type\":\"metric\"}\n"));
        assert!(known.push(StreamName::Out, b"{"));
        let mut prose = OutputMonitor::new(LineMarks::default());
        assert!(prose.push(StreamName::Err, b"thinking"));
    }

    #[test]
    fn the_requests_that_failed_since_the_last_line_of_an_answer_are_counted() {
        let vain = "{\"type\":\"init\"}\n{\"nothing\"}\n";
        let four = vain.repeat(4);
        let cases: [(&[&str], u32); 5] = [
            (&[&four], 4),
            (&[&four, "{\"type\":\"text\"}\n", vain], 1),
            (&[&four, "{\"no", "thing\"}\n"], 5),
            (&[&four, "{\"nothing\": \"worse\", \"afar\"}\n"], 5),
            (&[&four, "{\"afar\"}\n", "{\"worse\"}\n"], 9),
        ];
        for (pieces, failed) in cases {
            assert_eq!(heads(pieces).failed, failed, "{pieces:?}");
        }
        let mut both = heads(&[vain]);
        both.push(StreamName::Err, b"an error: wor");
        both.push(StreamName::Out, vain.as_bytes());
        both.push(StreamName::Err, b"se\n{\n");
        assert_eq!((both.failed, both.told.as_str()), (7, "an error: worse"));
    }
}
