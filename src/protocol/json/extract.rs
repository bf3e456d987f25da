//! Finds the JSON objects of an answer.
//!
//! An object counts if it is the whole content of a fence, or begins and ends with a line of its own outside of fences
//! and quotes. What is no JSON after all is passed over as if it were not there.

use super::super::clean::Line;
use super::super::markdown::Kind;
use super::scan::{Progress, Scanner};

/// An object and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::protocol) struct Object<'a> {
    /// Valid JSON.
    pub(in crate::protocol) bytes: &'a [u8],
    /// The caller's mark of the line it began with: the opening line of a fence, or its own first line.
    pub(in crate::protocol) mark: usize,
    /// Whether it stands in a fence.
    pub(in crate::protocol) fenced: bool,
}

/// What a line has to do with JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::protocol) enum State<'a> {
    /// Nothing.
    Outside,
    /// It is a part of what may become an object.
    Inside,
    /// It ends an object.
    Found(Object<'a>),
}

/// Follows the lines of an answer.
#[derive(Debug, Default)]
pub(in crate::protocol) struct Extractor {
    candidate: Option<Candidate>,
    /// Whether an object was too large to keep.
    too_large: bool,
}

#[derive(Debug)]
struct Candidate {
    scanner: Scanner,
    mark: usize,
    fenced: bool,
    progress: Progress,
    /// Whether it was handed out; it stays until the next line, for its bytes are lent.
    lent: bool,
}

impl Candidate {
    fn new(mark: usize, fenced: bool) -> Self {
        Self { scanner: Scanner::new(), mark, fenced, progress: Progress::More, lent: false }
    }

    /// Takes one line. Behind the last brace only white space may follow, and the rest of a cut line is not known.
    fn push(&mut self, line: Line<'_>) {
        let begun = !self.scanner.bytes().is_empty();
        let text = if begun { line.text } else { line.text.trim_start() };
        if !begun && text.is_empty() {
            return;
        }
        let end = (!line.cut).then_some(b'\n');
        for byte in text.bytes().chain(end) {
            self.progress = match self.progress {
                Progress::More => self.scanner.push(byte),
                Progress::Done if byte.is_ascii_whitespace() => Progress::Done,
                Progress::Done => Progress::Invalid,
                Progress::Invalid | Progress::TooLarge => return,
            };
        }
        if line.cut && self.progress != Progress::Invalid {
            self.progress = Progress::TooLarge;
        }
    }
}

impl Extractor {
    /// Takes the next line. `mark` is the caller's name for it.
    pub(in crate::protocol) fn line(&mut self, line: Line<'_>, kind: Kind, mark: usize) -> State<'_> {
        match kind {
            Kind::FenceOpen => self.candidate = Some(Candidate::new(mark, true)),
            Kind::FenceClose => return self.end(),
            Kind::Code => self.go_on(line),
            Kind::Quote => self.candidate = None,
            _ => return self.prose(line, mark),
        }
        State::Outside
    }

    /// Takes the end of a fence, or of the answer.
    pub(in crate::protocol) fn end(&mut self) -> State<'_> {
        self.candidate
            .take_if(|candidate| candidate.lent || !candidate.fenced || candidate.progress != Progress::Done);
        self.lend()
    }

    /// Whether an object was passed over because of its size.
    pub(in crate::protocol) fn passed_over(&self) -> bool {
        self.too_large
    }

    fn prose(&mut self, line: Line<'_>, mark: usize) -> State<'_> {
        self.candidate.take_if(|candidate| candidate.lent);
        self.go_on(line);
        // What ends one candidate may be the beginning of the next.
        if self.candidate.is_none() && line.text.trim_start().starts_with('{') {
            self.candidate = Some(Candidate::new(mark, false));
            self.go_on(line);
        }
        match &self.candidate {
            Some(candidate) if candidate.progress == Progress::Done => self.lend(),
            Some(_) => State::Inside,
            None => State::Outside,
        }
    }

    fn go_on(&mut self, line: Line<'_>) {
        let Some(candidate) = &mut self.candidate else { return };
        candidate.push(line);
        self.too_large |= candidate.progress == Progress::TooLarge;
        self.candidate.take_if(|candidate| matches!(candidate.progress, Progress::Invalid | Progress::TooLarge));
    }

    fn lend(&mut self) -> State<'_> {
        match &mut self.candidate {
            Some(candidate) => {
                candidate.lent = true;
                let Candidate { mark, fenced, .. } = *candidate;
                State::Found(Object { bytes: candidate.scanner.bytes(), mark, fenced })
            }
            None => State::Outside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::markdown::Structure;
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let (mut structure, mut extractor) = (Structure::default(), Extractor::default());
        let mut all = Vec::new();
        let mut keep = |state: State<'_>| {
            if let State::Found(object) = state {
                all.push(String::from_utf8_lossy(object.bytes).into_owned());
            }
        };
        for (mark, text) in text.lines().enumerate() {
            let line = Line { text, cut: false };
            keep(extractor.line(line, structure.classify(text), mark));
        }
        keep(extractor.end());
        all
    }

    #[test]
    fn an_object_stands_on_lines_of_its_own_or_fills_a_fence() {
        for (text, expected) in [
            ("{}", &["{}"][..]),
            ("  {\n\"a\":\n\n1}  \nend", &["{\n\"a\":\n\n1}"]),
            ("log {}\n{} log\n{}{}\n- {}\n[{}]", &[]),
            ("{}\n{}\n\n{\"a\":1}", &["{}", "{}", "{\"a\":1}"]),
            ("{\n{}", &["{}"]),
            ("{\"a\":[\n{}\n", &[]),
            ("{\"a\":1,\n{\"b\":2}\n", &["{\"b\":2}"]),
            ("> {}\n{\n> }\n}", &[]),
            ("```json\n\n{}\n\n```", &["{}"]),
            ("~~~\n{}\n~~~\n", &["{}"]),
            ("- ```\n  {}\n  ```\n", &["{}"]),
            ("```\n{}", &["{}"]),
            ("```\n{}\n{}\n```\n{}", &["{}"]),
            ("```\ncode\n{}\n```", &[]),
            ("```\n{}\ncode\n```", &[]),
            ("{\n```\n}\n```\n", &[]),
            ("> ```\n> {}\n> ```\n", &[]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn a_cut_line_is_passed_over_only_if_it_may_be_an_object() {
        for (text, expected) in [("{\"a\":\"", true), ("{}", true), ("{ code", false), ("text", false)] {
            let mut extractor = Extractor::default();
            assert_eq!(extractor.line(Line { text, cut: true }, Kind::Text, 0), State::Outside, "{text}");
            assert_eq!(extractor.passed_over(), expected, "{text}");
        }
    }
}
