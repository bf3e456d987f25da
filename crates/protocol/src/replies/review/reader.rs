//! Reads tagged prose, JSON results and the closing line from a reviewer's answer, line by line.

use std::io::{self, BufRead};

use crate::replies::closing::{Closing, FINDINGS};
use crate::replies::reply::Walk;
use crate::replies::review::answer::ReviewAnswer;
use crate::replies::review::beside::{self, Bearing, bearing};
use crate::replies::review::merged_answer::Results;
use crate::replies::review::prose::ProseReader;
use crate::replies::review::withdrawn;
use crate::text::json::{ScanState, Scope};
use crate::text::location::Paths;
use glee_model::domain::{AnswerStatus, CodeRead, RulingRef};

/// Reads a reviewer's answer. If `nonce` is `None`, any nonce is accepted.
///
/// Findings are read from all JSON results and all tagged prose, and a repeated finding counts once. The module
/// `merged_answer` describes when a JSON result replaces the findings above the result. The parser runs in linear
/// time and bounded memory.
pub fn parse(input: impl BufRead, nonce: Option<&str>) -> io::Result<ReviewAnswer> {
    parse_of(input, nonce, &Paths::default(), &[])
}

/// Like [`parse`], but also recognises the paths in `paths` and references to the rulings in `shown`. The paths
/// can contain spaces.
pub fn parse_of(
    input: impl BufRead,
    nonce: Option<&str>,
    paths: &Paths,
    shown: &[RulingRef],
) -> io::Result<ReviewAnswer> {
    let mut walk = Walk::with(input, nonce, Scope::Lists);
    let mut closing = Closing::new("GLEE-REVIEW-END", FINDINGS, nonce);
    let mut prose = ProseReader::new(paths, shown);
    let mut results = Results::new(nonce, |text| parse(text.as_bytes(), None).ok());
    while let Some(step) = walk.next(prose.mark())? {
        if closing.take(&step) {
            prose.close();
            results.close();
            continue;
        }
        if closing.is_form(&step) {
            prose.form_ends(walk.repeats_prompt);
            continue;
        }
        prose.take(&step);
        match step.json {
            ScanState::Found(object) => results.take(object, &mut prose),
            ScanState::Inside => {}
            ScanState::Outside => results.pass(&step),
        }
    }
    if let Some(object) = walk.end() {
        results.take(object, &mut prose);
    }
    results.leave_out_prompt(&mut prose, closing.number());
    let mut answer = results.unite(prose, &closing, walk.json.too_large, walk.json.broken);
    for finding in &mut answer.findings {
        // Compares all digits of the id, because a reviewer can write more digits of the id than Glee displays.
        let named = finding.insists_on.take().map(|ruling| ruling.to_string());
        finding.insists_on = named
            .and_then(|named| RulingRef::among(&named, shown))
            .cloned();
    }
    for finding in &mut answer.findings {
        if withdrawn::is_withdrawn(finding) {
            withdrawn::lower(finding);
        }
    }
    if answer.status.is_complete() {
        hold_against_words(&mut answer);
    } else {
        answer.is_doubtful = walk.json.fault.is_none() && is_open_end(&answer, &closing);
        answer.problem = Some(problem(&answer, walk.json.fault, &closing));
    }
    Ok(answer)
}

/// Holds a complete answer against what the reviewer says beside its findings. An answer about part of the code is
/// incomplete. An answer without findings is also incomplete if its words contradict the number, or can do so.
fn hold_against_words(answer: &mut ReviewAnswer) {
    let words = if answer.status == AnswerStatus::Clean {
        bearing(&answer.said())
    } else {
        Bearing::Agrees
    };
    let problem = match words {
        Bearing::Contradicts(part) => {
            format!(
                "the answer announces no findings, but says: {}",
                part.trim()
            )
        }
        _ if answer.read == Some(CodeRead::Part) => {
            let said = answer.said();
            let said = said.lines().next().map(|line| format!(": {line}"));
            format!(
                "the reviewer read only part of the code (`read=part`){}",
                said.unwrap_or_default()
            )
        }
        Bearing::Doubtful(part) => {
            answer.is_doubtful = true;
            let part = part.trim();
            format!(
                "the answer announces no findings, but leaves open whether all of the code was read and nothing was found: {part}"
            )
        }
        Bearing::Agrees => return,
    };
    answer.status = AnswerStatus::Incomplete;
    answer.problem = Some(problem);
}

/// Whether nothing but the closing line of an incomplete answer is in doubt: all that looks like a finding was read, and
/// an answer without findings says that there are none.
fn is_open_end(answer: &ReviewAnswer, closing: &Closing<'_>) -> bool {
    let said = answer.said();
    let bodies = answer
        .findings
        .iter()
        .map(|finding| finding.body.as_written());
    let is_read = !answer.truncated
        && answer.read != Some(CodeRead::Part)
        && beside::quoted_finding(&said).is_none()
        && bodies
            .chain([said.as_str()])
            .all(|text| beside::contradiction(text).is_none());
    let says_none = !said.is_empty() && bearing(&said) == Bearing::Agrees;
    is_read && (!answer.findings.is_empty() || closing.problem().is_some() && says_none)
}

pub fn problem(answer: &ReviewAnswer, fault: Option<String>, closing: &Closing<'_>) -> String {
    let read = match answer.findings.len() {
        0 => "no finding was read".to_owned(),
        1 => "1 finding was read".to_owned(),
        count => format!("{count} findings were read"),
    };
    let is_empty = answer.findings.is_empty() && answer.notes.trim().is_empty();
    let cause = if let Some(fault) = fault {
        fault
    } else if answer.truncated {
        "the answer is too long to be kept".to_owned()
    } else if let Some(problem) = closing.problem() {
        if is_empty && answer.verdict.is_none() {
            format!("the answer is empty, and {problem}")
        } else {
            problem
        }
    } else if let Some(verdict) = answer
        .verdict
        .as_ref()
        .filter(|_| answer.findings.is_empty())
    {
        format!("the verdict `{verdict}` comes without a finding")
    } else {
        let announced = closing.number().unwrap_or_default();
        format!("the closing line announces {announced}")
    };
    match beside::quoted_finding(&answer.said()) {
        Some(line) => format!(
            "{cause}; {read}; what stands in a code fence or a quote is not read, such as `{line}`"
        ),
        None => format!("{cause}; {read}"),
    }
}
