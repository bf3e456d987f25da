//! Finds the JSON objects in an answer.
//!
//! An object is found if it is the complete content of a code fence. Outside code fences and quotes, an object is
//! found if the first and the last line of the object contain no other text. With [`Scope::Lists`], the same rules
//! also apply to JSON lists. The parser ignores invalid JSON, but records whether the invalid JSON seems to
//! contain findings.

use super::super::markdown::LineKind;
use super::scan::{OBJECT_CAP, ScanProgress, Scanner, Scope};
use crate::text::lines::Line;

/// The parser recognises an answer by this JSON key.
const NONCE: &str = "\"nonce\"";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundObject {
    pub text: String,
    /// The number `mark` that the caller passed for the first line of the object. For an object in a code fence,
    /// `mark` belongs to the opening line of the fence.
    pub mark: usize,
    pub fenced: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanState {
    Outside,
    Inside,
    Found(FoundObject),
}

#[derive(Debug, Default)]
pub struct Extractor {
    candidate: Option<Candidate>,
    scope: Scope,
    pub too_large: bool,
    pub broken: bool,
    lines: u64,
    /// The error, with line and column, in the first invalid JSON that seems to be an answer.
    pub fault: Option<String>,
}

#[derive(Debug)]
struct Candidate {
    scanner: Scanner,
    /// The text of all complete objects that precede the current object in the same fence. A comma follows each
    /// object.
    earlier: String,
    mark: usize,
    /// The 1-based line in which the object begins, and the number of bytes before the object in this line.
    start: (u64, usize),
    fenced: bool,
    progress: ScanProgress,
}

impl Candidate {
    fn new(mark: usize, fenced: bool, scope: Scope) -> Self {
        let scanner = Scanner::new(scope);
        let earlier = String::new();
        Self {
            scanner,
            earlier,
            mark,
            start: (0, 0),
            fenced,
            progress: ScanProgress::More,
        }
    }

    fn fault(&self) -> Option<String> {
        let text = self.scanner.text();
        let is_answer = self.has_findings() || text.contains(NONCE);
        let error = serde_json::from_str::<serde::de::IgnoredAny>(text).err();
        is_answer.then(|| match error {
            Some(error) => {
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or_default();
                let (first, indent) = self.start;
                let line = (first + error.line() as u64).saturating_sub(1);
                let column = error.column() + if error.line() == 1 { indent } else { 0 };
                format!("the JSON cannot be read: {message} at line {line} column {column}")
            }
            None => "there is text after the JSON, on its line or in its fence".to_owned(),
        })
    }

    fn has_findings(&self) -> bool {
        ["\"findings\"", "\"issues\"", "\"severity\""]
            .iter()
            .any(|name| self.scanner.text().contains(name))
    }

    /// Returns the object, or a list of all objects if the fence contains several objects.
    fn into_object(self) -> FoundObject {
        let Self {
            scanner,
            earlier,
            mark,
            fenced,
            ..
        } = self;
        let text = scanner.into_text();
        FoundObject {
            text: if earlier.is_empty() {
                text
            } else {
                format!("[{earlier}{text}]")
            },
            mark,
            fenced,
        }
    }

    fn push(&mut self, line: Line<'_>, number: u64) {
        let begun = !self.scanner.text().is_empty();
        let text = if begun {
            line.text
        } else {
            line.text.trim_start()
        };
        if !begun && text.is_empty() {
            return;
        }
        let scope = self.scanner.scope;
        let may_repeat =
            self.fenced && scope == Scope::Lists && self.progress == ScanProgress::Done;
        if may_repeat && text.trim_start().starts_with('{') {
            self.earlier.extend([self.scanner.text(), ","]);
            self.scanner = Scanner::new(scope);
            let is_too_large = self.earlier.len() > OBJECT_CAP;
            self.progress = if is_too_large {
                ScanProgress::TooLarge
            } else {
                ScanProgress::More
            };
            return self.push(line, number);
        }
        if !begun {
            self.start = (number, line.text.len() - text.len());
        }
        let progress = match self.progress {
            ScanProgress::More => self.scanner.line(text, line.cut),
            ScanProgress::Done if text.trim().is_empty() => ScanProgress::Done,
            _ => ScanProgress::Invalid,
        };
        self.progress = if line.cut && progress != ScanProgress::Invalid {
            ScanProgress::TooLarge
        } else {
            progress
        };
    }
}

impl Extractor {
    pub fn new(scope: Scope) -> Self {
        Self {
            scope,
            ..Self::default()
        }
    }

    pub fn line(&mut self, line: Line<'_>, kind: LineKind, mark: usize) -> ScanState {
        self.lines += 1;
        match kind {
            LineKind::FenceOpen => self.candidate = Some(Candidate::new(mark, true, self.scope)),
            LineKind::FenceClose => return self.end(),
            LineKind::Code => self.push(line),
            LineKind::Quote => {
                let invalid = self.candidate.take();
                self.reject(invalid);
            }
            _ => return self.prose(line, mark),
        }
        ScanState::Outside
    }

    pub fn end(&mut self) -> ScanState {
        match self.candidate.take() {
            Some(done) if done.fenced && done.progress == ScanProgress::Done => {
                ScanState::Found(done.into_object())
            }
            invalid => {
                self.reject(invalid);
                ScanState::Outside
            }
        }
    }

    fn prose(&mut self, line: Line<'_>, mark: usize) -> ScanState {
        self.push(line);
        // The line that invalidates one candidate object can be the first line of another JSON object.
        if self.candidate.is_none() && self.scope.begins(line.text.trim_start()) {
            self.candidate = Some(Candidate::new(mark, false, self.scope));
            self.push(line);
        }
        match self
            .candidate
            .take_if(|candidate| candidate.progress == ScanProgress::Done)
        {
            Some(done) => ScanState::Found(done.into_object()),
            None if self.candidate.is_some() => ScanState::Inside,
            None => ScanState::Outside,
        }
    }

    fn push(&mut self, line: Line<'_>) {
        let Some(candidate) = &mut self.candidate else {
            return;
        };
        candidate.push(line, self.lines);
        self.too_large |= candidate.progress == ScanProgress::TooLarge;
        let invalid = self.candidate.take_if(|candidate: &mut Candidate| {
            matches!(
                candidate.progress,
                ScanProgress::Invalid | ScanProgress::TooLarge
            )
        });
        self.reject(invalid);
    }

    fn reject(&mut self, candidate: Option<Candidate>) {
        if let Some(candidate) = candidate {
            self.broken |= candidate.has_findings();
            // Only the first error is kept, because the first error can cause the later errors.
            self.fault = self.fault.take().or_else(|| candidate.fault());
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
        let mut structure = Structure::default();
        let mut extractor = Extractor::new(scope);
        let mut all = Vec::new();
        let mut keep = |state: ScanState| {
            if let ScanState::Found(object) = state {
                all.push(object.text);
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
            let mut structure = Structure::default();
            let mut extractor = Extractor::default();
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
        for (text, expected) in [
            ("{\"a\":\"", true),
            ("{}", true),
            ("{ code", false),
            ("text", false),
        ] {
            let mut extractor = Extractor::default();
            assert_eq!(
                extractor.line(Line { text, cut: true }, LineKind::Text, 0),
                ScanState::Outside,
                "{text}"
            );
            assert_eq!(extractor.too_large, expected, "{text}");
        }
    }
}
