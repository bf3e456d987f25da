//! Splits an agent's answer into lines and JSON objects.

use std::io::{self, BufRead};

use crate::replies::answer_lines::AnswerLines;
use crate::text::json::Extractor;
use crate::text::nonce::{self, is_nonce};
use crate::text::{FoundObject, LineKind, ScanState, Scope, Structure};

/// Reads an answer line by line. If an agent repeats its prompt, all lines from `<<<GLEE-DATA mark=<mark> ...` to
/// `>>>GLEE-DATA-END mark=<mark>` are treated as a quote.
#[derive(Debug)]
pub(crate) struct Walk<'a, R> {
    lines: AnswerLines<'a, R>,
    structure: Structure,
    pub json: Extractor,
    nonce: Option<&'a str>,
    in_data: bool,
    /// Whether the answer has repeated fenced data of its prompt.
    pub(crate) repeats_prompt: bool,
}

#[derive(Debug)]
pub struct ReplyLine<'a> {
    pub text: &'a str,
    pub kind: LineKind,
    pub json: ScanState,
}

impl ReplyLine<'_> {
    pub(crate) fn is_prose(&self) -> bool {
        self.kind.is_prose() && self.json == ScanState::Outside
    }
}

impl<'a, R: BufRead> Walk<'a, R> {
    pub(crate) fn new(input: R, nonce: Option<&'a str>) -> Self {
        Self::with(input, nonce, Scope::Objects)
    }

    pub(crate) fn with(input: R, nonce: Option<&'a str>, scope: Scope) -> Self {
        Self {
            lines: AnswerLines::new(input, nonce),
            structure: Structure::default(),
            json: Extractor::new(scope),
            nonce,
            in_data: false,
            repeats_prompt: false,
        }
    }

    /// Returns the next line. `mark` is a number. The caller uses the number to identify the line (see
    /// `FoundObject::mark`).
    pub(crate) fn next(&mut self, mark: usize) -> io::Result<Option<ReplyLine<'_>>> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        if !self.in_data && !self.structure.in_fence() {
            self.lines.take_off_fence()?;
        }
        let line = self.lines.current();
        let text = line.text;
        let is_data = if self.in_data {
            self.in_data = !is_data_mark(text, ">>>GLEE-DATA-END", self.nonce);
            true
        } else {
            self.in_data =
                !self.structure.in_fence() && is_data_mark(text, "<<<GLEE-DATA", self.nonce);
            self.repeats_prompt |= self.in_data;
            self.in_data
        };
        let kind = if is_data {
            LineKind::Quote
        } else {
            self.structure.classify(text)
        };
        Ok(Some(ReplyLine {
            text,
            kind,
            json: self.json.line(line, kind, mark),
        }))
    }

    /// Returns the JSON object in the last code fence if the answer ends inside this fence.
    pub(crate) fn end(&mut self) -> Option<FoundObject> {
        match self.json.end() {
            ScanState::Found(object) => Some(object),
            ScanState::Outside | ScanState::Inside => None,
        }
    }
}

fn is_data_mark(line: &str, name: &str, nonce: Option<&str>) -> bool {
    let given = line
        .strip_prefix(name)
        .and_then(|rest| rest.strip_prefix(" mark="));
    let given = given.and_then(|rest| rest.split_whitespace().next());
    given.is_some_and(|given| is_nonce(nonce.map(nonce::mark), given))
}
