//! Encloses text from files and agents in fences, for the values of a prompt template.
//!
//! The first line and the last line of a fence contain a mark. The mark is the first half of every nonce of the
//! run (see `nonce`). Text that contains the mark could end a fence early, so Glee removes the mark from a text
//! before enclosing the text in a fence. Every line inside a fence begins with a line number or a colon. Parsers
//! recognise tags, closing lines, JSON and code fences only at the beginning of a line. If an agent repeats the
//! prompt, fenced text is therefore not parsed as an answer.

use serde_json::{Value, json};

use crate::calls::parts::{
    Guideline, OfferedRunner, RulingInForce, SourceFile, StagePosition, StageSubject, below,
};
use crate::text::printable;
use glee_model::domain::{
    AgentName, CodeContext, Demonstrated, Dispute, Finding, Intent, Location, Question, RawFinding,
    Untrusted,
};
use glee_model::rules::stages::stage;

/// The closing line of a review without the word `read`.
pub fn closing_without_extent(nonce: &str) -> String {
    format!("GLEE-REVIEW-END nonce={nonce} findings=<n>")
}

/// The field that closes an answer which is JSON only.
pub fn in_json(nonce: &str) -> String {
    format!("\"nonce\": \"{nonce}\"")
}

/// Returns one line for each file, followed by one line for each finding in this file.
pub fn raised(findings: &[RawFinding]) -> Vec<String> {
    let mut text = Vec::new();
    for of_file in findings.chunk_by(|a, b| a.file == b.file) {
        text.push(printable::line(
            of_file[0].file.as_deref().unwrap_or_default(),
        ));
        text.extend(of_file.iter().map(|finding| {
            let place = finding.lines().map(lines).unwrap_or_default();
            let tag = finding
                .severity
                .tag
                .map(|tag| format!("[{tag}] "))
                .unwrap_or_default();
            printable::line(&format!("{place} {tag}{}", finding.title.as_written()))
        }));
    }
    text
}

pub fn list<T>(items: &[T], value: impl Fn(&T) -> Value) -> Value {
    items.iter().map(value).collect()
}

pub fn joined<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// The maximum number of consecutive empty lines that a prompt contains. A longer sequence of empty lines is
/// replaced by one line with the range of line numbers.
const LONG_GAP: usize = 2;

/// Every line whose number is a multiple of this number is shown with its number.
const NUMBERED: usize = 10;

pub struct DataFence<'a> {
    pub mark: &'a str,
}

impl DataFence<'_> {
    /// Renders a text as one line for use outside a fence. Removes the mark from the text, so that the text cannot
    /// end a fence, and escapes control characters.
    pub fn line(&self, text: &str) -> String {
        self.without_mark(&printable::line(text))
    }

    pub fn names(&self, names: &[AgentName]) -> String {
        joined(names, |name| self.line(&name.0))
    }

    pub fn around(&self, what: &str, text: &str) -> String {
        self.between(
            what,
            text.trim_end_matches('\n')
                .lines()
                .map(|line| format!(": {line}\n"))
                .collect(),
        )
    }

    /// Encloses the text of a file. Every tenth line has its number, and so has the first line behind a gap.
    pub fn file(&self, path: &str, text: &str) -> String {
        let mut is_after_gap = true;
        let mut numbered = String::new();
        let mut lines = text.lines().zip(1_usize..).peekable();
        while let Some((line, number)) = lines.next() {
            let mut last = number;
            while let Some((_, next)) =
                lines.next_if(|(next, _)| line.is_empty() && next.is_empty())
            {
                last = next;
            }
            if last - number < LONG_GAP {
                for number in number..=last {
                    let is_numbered = is_after_gap || number.is_multiple_of(NUMBERED);
                    numbered.push_str(&numbered_line(number, is_numbered, &format!(" {line}")));
                    is_after_gap = false;
                }
            } else {
                numbered.push_str(&format!(": ({number}-{last})\n"));
                is_after_gap = true;
            }
        }
        self.between(&format!("path={path}{}", line_ends(text)), numbered)
    }

    /// Encloses a unified diff. Every tenth line of the new text has its number; the header of a hunk has the first.
    pub fn diff(&self, path: &str, file: &str, diff: &str) -> String {
        let mut numbered = String::new();
        let mut next: Option<usize> = None;
        for line in diff.lines() {
            if let Some(first) = first_line(line) {
                next = Some(first);
                numbered.push_str(&format!(":{line}\n"));
            } else if let Some(number) = next.filter(|_| line.starts_with(['+', ' '])) {
                numbered.push_str(&numbered_line(
                    number,
                    number.is_multiple_of(NUMBERED),
                    line,
                ));
                next = Some(number + 1);
            } else {
                numbered.push_str(&format!(":{line}\n"));
            }
        }
        self.between(&format!("diff={path}{}", line_ends(file)), numbered)
    }

    pub fn between(&self, what: &str, lines: String) -> String {
        let Self { mark } = self;
        let what = self.line(what);
        let lines = self.without_mark(&lines);
        format!("<<<GLEE-DATA mark={mark} {what}\n{lines}>>>GLEE-DATA-END mark={mark}")
    }

    pub fn without_mark(&self, text: &str) -> String {
        if self.mark.is_empty() {
            text.to_owned()
        } else {
            text.replace(self.mark, "[mark]")
        }
    }

    /// The files of a review. The text of a changed file is left out where the diff shows what is under review, and the
    /// diff of a new file repeats its text.
    pub fn changes(&self, files: &[SourceFile], context: CodeContext) -> Value {
        list(files, |file| {
            let diff = file.diff.as_deref().unwrap_or_default();
            let header = diff.lines().take_while(|line| !line.starts_with("@@ "));
            let is_new = header.clone().any(|line| line == "--- /dev/null");
            let has_hunks = header.clone().count() < diff.lines().count();
            let shows_diff = !diff.is_empty() && !is_new;
            let is_hidden = shows_diff && has_hunks && context != CodeContext::Files;
            // The mode of a new file stands only in the header of the diff.
            let mode = header.filter(|line| is_new && line.starts_with("new file mode 1007"));
            json!({
                "ranges": joined(&file.changed, |range| lines(*range)),
                "deleted": file.is_deleted(),
                "text": if is_hidden { String::new() } else { self.file(&file.path, &file.text) },
                "diff": match shows_diff {
                    true => self.diff(&file.path, &file.text, diff),
                    false => self.lines(&format!("diff={}", file.path), mode.map(str::to_owned)),
                },
            })
        })
    }

    pub fn files(&self, files: &[SourceFile]) -> Value {
        list(files, |file| {
            json!({
                "ranges": joined(&file.changed, |range| lines(*range)),
                "deleted": file.is_deleted(),
                "text": self.file(&file.path, &file.text),
                "diff": file.diff.as_ref().map(|diff| self.around(&format!("diff={}", file.path), diff)),
            })
        })
    }

    pub fn lines(&self, what: &str, lines: impl Iterator<Item = String>) -> String {
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() {
            String::new()
        } else {
            self.around(what, &lines.join("\n"))
        }
    }

    pub fn guidelines(&self, guidelines: &[Guideline]) -> String {
        let lines = guidelines.iter().flat_map(Guideline::lines);
        self.lines("guidelines", lines)
    }

    pub fn intent(&self, intent: &[Intent]) -> String {
        let lines = intent.iter().flat_map(|said| below(&said.from, &said.text));
        self.lines("intent", lines)
    }

    pub fn rulings(&self, what: &str, rulings: &[RulingInForce]) -> String {
        self.lines(
            what,
            rulings.iter().map(|ruling| {
                let place = ruling
                    .location
                    .as_ref()
                    .map(|place| format!("{place} "))
                    .unwrap_or_default();
                let why = if ruling.rationale.is_empty() {
                    "no reason given"
                } else {
                    ruling.rationale.as_written()
                };
                let title = ruling.title.as_written();
                let word = ruling.disposition.as_str();
                printable::line(&format!(
                    "{}: {place}{title}: {word}: {why}",
                    ruling.dispute.mark()
                ))
            }),
        )
    }

    pub fn finding(&self, finding: &Finding, enforced: Option<&Untrusted>) -> Value {
        let raw = &finding.raw;
        let tag = raw.severity.tag.map_or_else(
            || "of an unknown severity".to_owned(),
            |tag| tag.to_string(),
        );
        let mut text: String = joined(&raw.locations(), Location::to_string);
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(raw.title.as_written());
        add(&mut text, "", &raw.body);
        if let Some(suggestion) = &raw.suggestion {
            add(&mut text, "Suggestion: ", suggestion);
        }
        for evidence in &raw.evidence {
            add(&mut text, "Evidence: ", evidence);
        }
        if let Some(guideline) = &raw.guideline {
            add(&mut text, "Rule: ", &guideline.as_str().into());
        }
        if let Some(rationale) = enforced {
            add(&mut text, "The ruling: ", rationale);
        }
        json!({
            "id": finding.id,
            "tag": tag,
            "mandatory": finding.mandatory,
            "enforced": enforced.is_some(),
            "raised_by": self.names(&finding.raised_by),
            "text": self.around(&format!("finding={}", finding.id), &text),
        })
    }

    pub fn objection(&self, dispute: &Dispute) -> String {
        let mut text = dispute.objection.text.as_written().to_owned();
        for evidence in &dispute.objection.evidence {
            add(&mut text, "Evidence: ", evidence);
        }
        self.around(&format!("objection={}", dispute.finding.id), &text)
    }

    /// The instructions are not enclosed in a fence, because the user wrote the instructions, and fences are for
    /// text from files and agents.
    pub fn stage(&self, about: &StageSubject, mut values: Value) -> Value {
        values["id"] = json!(self.line(&about.id));
        values["stage"] = json!(self.line(&about.stage));
        values["instructions"] = json!(self.without_mark(&about.instructions));
        values["prompt"] = json!(self.around("request", &about.prompt));
        values["fields"] = about
            .required_fields
            .iter()
            .map(|field| self.line(field))
            .collect();
        values
    }

    pub fn maybe(&self, what: &str, text: Option<&Untrusted>) -> String {
        text.map(|text| self.around(what, text.as_written()))
            .unwrap_or_default()
    }

    pub fn runners(&self, runners: &[OfferedRunner]) -> String {
        let lines = runners.iter().map(|OfferedRunner { name, folder }| {
            printable::line(&format!("{name}: a new file below {folder}/"))
        });
        self.lines("runners", lines)
    }

    /// Tests with their code, what they did, and the end of their output.
    pub fn demonstrated(&self, all: &[Demonstrated]) -> String {
        let texts = all.iter().map(|one| {
            let mut text = one.summary().as_written().to_owned();
            add(&mut text, "", &one.demonstration.code);
            if let Some(output) = one.output() {
                add(&mut text, "It printed: ", output);
            }
            text
        });
        self.lines("tests that were run", texts)
    }

    pub fn positions(&self, positions: &[StagePosition]) -> Value {
        positions
            .iter()
            .enumerate()
            .map(|(index, position)| {
                let approach = format!("approach_{}", stage::label(index));
                let text =
                    self.around(&format!("answer={approach}"), position.content.as_written());
                json!({ "approach": approach, "agent": self.line(&position.agent.0), "text": text })
            })
            .collect()
    }

    pub fn question(&self, question: &Question) -> Value {
        let text = self.around(&format!("question={}", question.id), &question.question);
        let options = list(&question.options, |option| self.line(option).into());
        json!({ "id": self.line(&question.id), "text": text, "options": options })
    }
}

fn numbered_line(number: usize, is_numbered: bool, line: &str) -> String {
    if is_numbered {
        format!("{number} |{line}\n")
    } else {
        format!(":{line}\n")
    }
}

/// The number of the first new line of a hunk, from its header.
fn first_line(header: &str) -> Option<usize> {
    let (_, new) = header.strip_prefix("@@ -")?.split_once(" +")?;
    let digits = new.find(|c: char| !c.is_ascii_digit()).unwrap_or(new.len());
    new[..digits].parse().ok()
}

/// Names the line ends of a text, because the numbered lines do not show them. Returns an empty text if no line ends in
/// CRLF.
fn line_ends(text: &str) -> String {
    let ends = || text.split_inclusive('\n').filter(|line| *line != "\n");
    let crlf = ends().filter(|line| line.ends_with("\r\n")).count();
    let all = ends().count();
    match crlf {
        0 => String::new(),
        _ if crlf == all => " line-ends=CRLF".to_owned(),
        _ => format!(" line-ends=CRLF in {crlf} of {all} lines"),
    }
}

pub fn lines((from, to): (u32, u32)) -> String {
    if from == to {
        from.to_string()
    } else {
        format!("{from}-{to}")
    }
}

pub fn add(text: &mut String, label: &str, more: &Untrusted) {
    let more = more.as_written();
    if !more.trim().is_empty() {
        text.push('\n');
        text.push_str(label);
        text.push_str(more.trim_end());
    }
}
