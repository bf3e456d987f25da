//! Finds the JSON objects of an answer.
//!
//! An object counts if it is the whole content of a fence, or begins and ends with a line of its own outside of fences
//! and quotes; lists where they are asked for. What is no JSON after all is passed over as if it were not there, but
//! that something was to be findings is remembered.

use super::super::markdown::LineKind;
use super::scan::{OBJECT_CAP, ScanProgress, Scanner, Scope};
use crate::protocol::text::lines::Line;

/// What only answers have.
const NONCE: &str = "\"nonce\"";

/// An object and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundObject<'a> {
    pub(crate) text: &'a str,
    /// The caller's mark of the line it began with: the opening line of a fence, or its own first line.
    pub(crate) mark: usize,
    pub(crate) fenced: bool,
}

/// What a line has to do with JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanState<'a> {
    Outside,
    /// It is a part of what may become an object.
    Inside,
    /// It ends an object.
    Found(FoundObject<'a>),
}

#[derive(Debug, Default)]
pub(crate) struct Extractor {
    candidate: Option<Candidate>,
    scope: Scope,
    /// Whether an object was too large to keep.
    pub(crate) too_large: bool,
    /// Whether something with findings was begun that is no JSON.
    pub(crate) broken: bool,
    lines: u64,
    /// What is wrong with the first document that was begun as an answer and is no JSON, with its line and column.
    pub(crate) fault: Option<String>,
}

#[derive(Debug)]
struct Candidate {
    scanner: Scanner,
    scope: Scope,
    /// Objects that stand above it in the same fence, with a comma behind each; in the end the list of all of them.
    earlier: String,
    mark: usize,
    /// The line of the answer in which it begins, counted from 1; 0 before that.
    first: u64,
    /// The bytes before it in that line.
    indent: usize,
    fenced: bool,
    progress: ScanProgress,
    /// Whether it was handed out; it stays until the next line, for its text is lent.
    lent: bool,
}

impl Candidate {
    fn new(mark: usize, fenced: bool, scope: Scope) -> Self {
        let (scanner, earlier) = (Scanner::new(scope), String::new());
        Self {
            scanner,
            scope,
            earlier,
            mark,
            first: 0,
            indent: 0,
            fenced,
            progress: ScanProgress::More,
            lent: false,
        }
    }

    /// Keeps a complete object of a fence, and goes on with the next one.
    fn next_object(&mut self) {
        self.earlier.push_str(self.scanner.text());
        self.earlier.push(',');
        self.scanner = Scanner::new(self.scope);
        let is_too_large = self.earlier.len() > OBJECT_CAP;
        self.progress = if is_too_large { ScanProgress::TooLarge } else { ScanProgress::More };
    }

    /// What is wrong with it and where, if it was to be an answer.
    fn fault(&self) -> Option<String> {
        let text = self.scanner.text();
        let is_answer = self.has_findings() || text.contains(NONCE);
        let error = serde_json::from_str::<serde::de::IgnoredAny>(text).err();
        is_answer.then(|| match error {
            Some(error) => {
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or_default();
                let line = (self.first + error.line() as u64).saturating_sub(1);
                let column = error.column() + if error.line() == 1 { self.indent } else { 0 };
                format!("the JSON cannot be read: {message} at line {line} column {column}")
            }
            None => "text stands behind the JSON, on its line or in its fence".to_owned(),
        })
    }

    /// Whether it was to be a list of findings.
    fn has_findings(&self) -> bool {
        ["\"findings\"", "\"issues\"", "\"severity\""].iter().any(|name| self.scanner.text().contains(name))
    }

    fn finish(&mut self) -> &str {
        self.lent = true;
        if self.earlier.is_empty() {
            return self.scanner.text();
        }
        self.earlier = format!("[{}{}]", self.earlier, self.scanner.text());
        &self.earlier
    }

    /// Takes one line. Behind the last brace only white space may follow, and the rest of a cut line is not known.
    fn push(&mut self, line: Line<'_>, number: u64) {
        let begun = !self.scanner.text().is_empty();
        let text = if begun { line.text } else { line.text.trim_start() };
        if !begun && text.is_empty() {
            return;
        }
        let is_next = self.fenced && self.scope == Scope::Lists && self.progress == ScanProgress::Done;
        if is_next && text.trim_start().starts_with('{') {
            self.next_object();
            return self.push(line, number);
        }
        if !begun {
            self.first = number;
            self.indent = line.text.len() - text.len();
        }
        let progress = match self.progress {
            ScanProgress::More => self.scanner.line(text, line.cut),
            ScanProgress::Done if text.trim().is_empty() => ScanProgress::Done,
            _ => ScanProgress::Invalid,
        };
        self.progress =
            if line.cut && progress != ScanProgress::Invalid { ScanProgress::TooLarge } else { progress };
    }
}

impl Extractor {
    pub(crate) fn new(scope: Scope) -> Self {
        Self { scope, ..Self::default() }
    }

    /// Takes the next line. `mark` is the caller's name for it.
    pub(crate) fn line(&mut self, line: Line<'_>, kind: LineKind, mark: usize) -> ScanState<'_> {
        self.lines += 1;
        match kind {
            LineKind::FenceOpen => self.candidate = Some(Candidate::new(mark, true, self.scope)),
            LineKind::FenceClose => return self.end(),
            LineKind::Code => self.go_on(line),
            LineKind::Quote => {
                let none = self.candidate.take().filter(|none| !none.lent);
                self.pass_over(none);
            }
            _ => return self.prose(line, mark),
        }
        ScanState::Outside
    }

    /// Takes the end of a fence, or of the answer.
    pub(crate) fn end(&mut self) -> ScanState<'_> {
        let is_none = |candidate: &mut Candidate| {
            candidate.lent || !candidate.fenced || candidate.progress != ScanProgress::Done
        };
        let none = self.candidate.take_if(is_none).filter(|none| !none.lent);
        self.pass_over(none);
        self.lend()
    }

    fn prose(&mut self, line: Line<'_>, mark: usize) -> ScanState<'_> {
        self.candidate.take_if(|candidate| candidate.lent);
        self.go_on(line);
        // What ends one candidate may be the beginning of the next.
        if self.candidate.is_none() && self.scope.begins(line.text.trim_start()) {
            self.candidate = Some(Candidate::new(mark, false, self.scope));
            self.go_on(line);
        }
        match &self.candidate {
            Some(candidate) if candidate.progress == ScanProgress::Done => self.lend(),
            Some(_) => ScanState::Inside,
            None => ScanState::Outside,
        }
    }

    fn go_on(&mut self, line: Line<'_>) {
        let Some(candidate) = &mut self.candidate else { return };
        candidate.push(line, self.lines);
        self.too_large |= candidate.progress == ScanProgress::TooLarge;
        let ended = |candidate: &mut Candidate| {
            matches!(candidate.progress, ScanProgress::Invalid | ScanProgress::TooLarge)
        };
        let none = self.candidate.take_if(ended);
        self.pass_over(none);
    }

    /// Passes over what is no JSON after all.
    fn pass_over(&mut self, none: Option<Candidate>) {
        if let Some(none) = none {
            self.broken |= none.has_findings();
            // What comes first is why the rest cannot be read either.
            self.fault = self.fault.take().or_else(|| none.fault());
        }
    }

    fn lend(&mut self) -> ScanState<'_> {
        match &mut self.candidate {
            Some(candidate) => {
                let Candidate { mark, fenced, .. } = *candidate;
                ScanState::Found(FoundObject { text: candidate.finish(), mark, fenced })
            }
            None => ScanState::Outside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::markdown::Structure;
    use super::*;

    fn found(text: &str) -> Vec<String> {
        found_in(text, Scope::Objects)
    }

    fn found_in(text: &str, scope: Scope) -> Vec<String> {
        let (mut structure, mut extractor) = (Structure::default(), Extractor::new(scope));
        let mut all = Vec::new();
        let mut keep = |state: ScanState<'_>| {
            if let ScanState::Found(object) = state {
                all.push(object.text.to_owned());
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
    fn lists_are_found_where_they_are_asked_for() {
        for (text, expected) in [
            ("[{}]\n[]", &["[{}]", "[]"][..]),
            ("[\n{},\n{}\n]", &["[\n{},\n{}\n]"]),
            ("[MUST] a\n[ ] b\n[1] c\n[{}] d", &[]),
            ("[\n[MUST] a\n{}", &["{}"]),
            ("```json\n[{}]\n```", &["[{}]"]),
            ("```json\n{}\n\n{\n}\n```", &["[{},{\n}]"]),
            ("```json\n{}\ncode\n```", &[]),
        ] {
            assert_eq!(found_in(text, Scope::Lists), expected, "{text}");
        }
    }

    #[test]
    fn findings_that_are_no_json_are_remembered() {
        for (text, expected) in [
            ("{\"findings\":[{},]}", true),
            ("```json\n{\"issues\":[{\"a\":1}\n```", true),
            ("{\"a\":{\"severity\":\"x\"", true),
            ("{\"a\":[1,]}", false),
            ("{\"findings\":[]}\n{ code", false),
        ] {
            let (mut structure, mut extractor) = (Structure::default(), Extractor::default());
            for text in text.lines() {
                let kind = structure.classify(text);
                let _ = extractor.line(Line { text, cut: false }, kind, 0);
            }
            let _ = extractor.end();
            assert_eq!(extractor.broken, expected, "{text}");
        }
    }

    #[test]
    fn a_cut_line_is_passed_over_only_if_it_may_be_an_object() {
        for (text, expected) in [("{\"a\":\"", true), ("{}", true), ("{ code", false), ("text", false)] {
            let mut extractor = Extractor::default();
            assert_eq!(extractor.line(Line { text, cut: true }, LineKind::Text, 0), ScanState::Outside, "{text}");
            assert_eq!(extractor.too_large, expected, "{text}");
        }
    }
}
