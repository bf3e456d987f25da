//! Detects whether a program has begun to answer, and whether the program repeats failed requests. A program whose
//! service is unavailable prints only introductory lines, or prints the same lines repeatedly.

const HEAD: usize = 240;
/// Glee ends a program after this number of consecutive failed requests of the program to its service.
const MOST_FAILED: u32 = 5;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineMarks {
    /// Substrings of the introductory lines before an answer. The answer starts at the first output line that
    /// begins with `{` and contains none of these substrings. If the field is `None`, the whole output is the
    /// answer.
    pub(crate) preamble: Option<&'static [&'static str]>,
    /// Each line that reports a failed request contains this substring. The program itself repeats failed
    /// requests.
    pub(crate) fruitless: Option<&'static str>,
}

#[derive(Debug)]
pub(crate) struct OutputMonitor {
    marks: LineMarks,
    head: Vec<u8>,
    pub begun: bool,
    failed: u32,
}

impl OutputMonitor {
    pub(crate) fn new(marks: LineMarks) -> Self {
        Self {
            marks,
            head: Vec::new(),
            begun: marks.preamble.is_none(),
            failed: 0,
        }
    }

    pub(crate) fn repeats(&self) -> bool {
        self.failed >= MOST_FAILED
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> bool {
        let mut lines = bytes.split(|byte| *byte == b'\n').peekable();
        while let (true, Some(line)) = (!self.begun || self.marks.fruitless.is_some(), lines.next())
        {
            let room = HEAD.saturating_sub(self.head.len());
            self.head.extend_from_slice(&line[..room.min(line.len())]);
            if lines.peek().is_some() {
                self.take_line();
                self.head.clear();
            } else if self.head.len() == HEAD {
                self.begun |= self.is_answer();
            }
        }
        self.begun
    }

    fn take_line(&mut self) {
        if !self.is_answer() {
            return;
        }
        self.begun = true;
        let head = String::from_utf8_lossy(&self.head);
        self.failed = if self.marks.fruitless.is_some_and(|mark| head.contains(mark)) {
            self.failed + 1
        } else {
            0
        };
    }

    fn is_answer(&self) -> bool {
        let head = String::from_utf8_lossy(&self.head);
        let preamble = self.marks.preamble.unwrap_or_default();
        head.starts_with('{') && !preamble.iter().any(|part| head.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: LineMarks = LineMarks {
        preamble: Some(&["{\"type\":\"init\""]),
        fruitless: Some("\"nothing\""),
    };

    fn heads(pieces: &[&str]) -> OutputMonitor {
        let mut heads = OutputMonitor::new(MARKS);
        for piece in pieces {
            heads.push(piece.as_bytes());
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
    fn it_goes_on_for_ever_once_it_has_got_nothing_too_often_in_a_row() {
        let vain = "{\"type\":\"init\"}\n{\"nothing\"}\n";
        let five = vain.repeat(5);
        let four = vain.repeat(4);
        let cases: [(&[&str], bool); 4] = [
            (&[&four], false),
            (&[&five], true),
            (&[&four, "{\"type\":\"text\"}\n", vain], false),
            (&[&four, "{\"no", "thing\"}\n"], true),
        ];
        for (pieces, endless) in cases {
            assert_eq!(heads(pieces).repeats(), endless, "{pieces:?}");
        }
    }
}
