//! What the heads of a program's lines tell while it is at work: that it has begun to answer, and that it never will.
//!
//! A program that has started is not yet one that answers: with a service that is silent, the lines in which it
//! introduces itself are all that ever comes. And one that asks its service again for ever says the same for ever.

/// How much of a line tells its kind, in bytes.
const HEAD: usize = 240;
/// How many failed requests in a row end a program.
const OFTEN: u32 = 5;

/// How the lines of a program are classified, by substrings of their first bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineMarks {
    /// Those that say nothing: introductions and beginnings. Where there is no list, every line says something;
    /// otherwise only lines that are JSON objects do.
    pub preamble: Option<&'static [&'static str]>,
    /// LineMarks a line that reports a request without an answer, which the program repeats.
    pub fruitless: Option<&'static str>,
}

#[derive(Debug)]
pub(crate) struct OutputMonitor {
    marks: LineMarks,
    head: Vec<u8>,
    /// Whether it has begun to answer.
    pub(crate) begun: bool,
    vain: u32,
}

impl OutputMonitor {
    pub(crate) fn new(marks: LineMarks) -> Self {
        Self { marks, head: Vec::new(), begun: marks.preamble.is_none(), vain: 0 }
    }

    pub(crate) fn endless(&self) -> bool {
        self.vain >= OFTEN
    }

    /// Takes the next bytes of output; returns whether the answer has begun.
    pub(crate) fn takes(&mut self, bytes: &[u8]) -> bool {
        let mut lines = bytes.split(|byte| *byte == b'\n').peekable();
        while let (true, Some(line)) = (!self.begun || self.marks.fruitless.is_some(), lines.next()) {
            let room = HEAD.saturating_sub(self.head.len());
            self.head.extend_from_slice(&line[..room.min(line.len())]);
            if lines.peek().is_some() {
                self.take_line();
                self.head.clear();
            } else if self.head.len() == HEAD {
                // What is still to come of it changes nothing, and may be long in coming.
                self.begun |= self.says();
            }
        }
        self.begun
    }

    fn take_line(&mut self) {
        if !self.says() {
            return;
        }
        self.begun = true;
        let head = String::from_utf8_lossy(&self.head);
        self.vain = if self.marks.fruitless.is_some_and(|mark| head.contains(mark)) { self.vain + 1 } else { 0 };
    }

    fn says(&self) -> bool {
        let head = String::from_utf8_lossy(&self.head);
        let mute = self.marks.preamble.unwrap_or_default();
        head.starts_with('{') && !mute.iter().any(|part| head.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: LineMarks = LineMarks { preamble: Some(&["{\"type\":\"init\""]), fruitless: Some("\"nothing\"") };

    fn heads(pieces: &[&str]) -> OutputMonitor {
        let mut heads = OutputMonitor::new(MARKS);
        for piece in pieces {
            heads.takes(piece.as_bytes());
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
            (&["{\"type\":\"init\"}\n{\"type\":", "\"text\"}", "\n"], true),
            // Not yet: it may still be a line that says nothing.
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
            assert_eq!(heads(pieces).endless(), endless, "{pieces:?}");
        }
    }
}
