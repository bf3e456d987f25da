//! A reviewer's answer can contain findings in prose and in JSON results. This module merges all these findings
//! into one list.
//!
//! The list contains all findings in the order of the answer. A finding in a JSON result is not added if the prose
//! or an earlier JSON result contains the same finding. An agent can write a draft and then correct the draft in a
//! JSON result. In this case, the JSON result replaces all findings above the JSON result. A JSON result that
//! replaces findings must directly precede the closing line and contain exactly the announced number of findings.
//! If a replaced finding has a high severity, the JSON result must also contain a finding with a high severity.
//! Only a complete `review_result` can replace tagged prose. If an earlier JSON result contains findings, the
//! later JSON result must have a finding at the same location as one of these findings. If no JSON result replaces
//! findings, the answer is complete only if the closing line states the number of findings, or if the nonces in
//! the JSON results sign all findings.

use std::collections::HashSet;

use super::prose::ProseReader;
use super::result::{self, JsonResult, OfText};
use crate::replies::closing::Closing;
use crate::replies::reply::ReplyLine;
use crate::replies::review::answer::ReviewAnswer;
use crate::text::nonce::is_nonce;
use crate::text::{FoundObject, LineKind};
use glee_model::domain::{AnswerStatus, CodeRead, RawFinding, Tag};
use glee_model::rules::review::mandatory;

#[derive(Debug)]
pub(crate) struct Results<'a> {
    of_text: OfText,
    nonce: Option<&'a str>,
    blocks: Vec<Block>,
    /// Whether only blank lines follow the last JSON result.
    is_last: bool,
    /// Whether a JSON result directly precedes the last closing line.
    is_signed_end: bool,
    /// Whether a line of prose seems to contain a finding in JSON. The parser ignores JSON inside prose.
    is_within_prose: bool,
}

#[derive(Debug)]
struct Block {
    result: JsonResult,
    /// The number of stored findings in the prose above the JSON result. The field `read` also counts the findings
    /// that exceeded a size limit and were not stored.
    kept: usize,
    read: u64,
}

/// The file, line, tag and title of a finding. Two findings with equal keys are the same finding.
type Key = (Option<String>, Option<u32>, Option<Tag>, String);

impl<'a> Results<'a> {
    pub(super) fn new(nonce: Option<&'a str>, of_text: OfText) -> Self {
        Self {
            nonce,
            of_text,
            blocks: Vec::new(),
            is_last: false,
            is_signed_end: false,
            is_within_prose: false,
        }
    }

    pub(super) fn take(&mut self, object: FoundObject, prose: &mut ProseReader<'_>) {
        let Some(result) = result::read(&object.text, self.of_text) else {
            return;
        };
        prose.cut(object.mark);
        self.blocks.push(Block {
            result,
            kept: prose.findings().len(),
            read: prose.count(),
        });
        self.is_last = true;
    }

    pub(super) fn pass(&mut self, step: &ReplyLine<'_>) {
        self.is_last &= step.kind == LineKind::Blank;
        self.is_within_prose |=
            step.is_prose() && step.text.contains('{') && step.text.contains("\"severity\"");
    }

    pub(super) fn close(&mut self) {
        self.is_signed_end = self.is_last;
    }

    /// Removes the findings that the answer copied from the prompt. The copied findings precede the prompt's
    /// example of the closing line. The function removes the copied findings only if the number of findings after
    /// the example equals the announced number.
    pub(crate) fn leave_out_prompt(&mut self, prose: &mut ProseReader<'_>, number: Option<u64>) {
        let Some(form) = prose.form() else { return };
        let results: u64 = self.blocks.iter().map(|block| block.result.count).sum();
        let behind = prose.count() - form.count + results;
        if behind == 0
            || number != Some(behind)
            || self.blocks.iter().any(|block| block.read < form.count)
        {
            return;
        }
        prose.forget(form);
        for block in &mut self.blocks {
            block.kept -= form.kept;
            block.read -= form.count;
        }
    }

    /// The flag `is_broken` is true if the answer contains unreadable JSON that seems to contain findings.
    pub(crate) fn unite(
        mut self,
        prose: ProseReader<'_>,
        closing: &Closing<'_>,
        too_large: bool,
        is_broken: bool,
    ) -> ReviewAnswer {
        let results = || self.blocks.iter().map(|block| &block.result);
        let read = prose.count() + results().map(|result| result.count).sum::<u64>();
        let kept =
            prose.findings().len() + results().map(|result| result.findings.len()).sum::<usize>();
        let truncated = too_large || read > kept as u64;
        let objects = results().any(JsonResult::objects);
        let malformed = results().any(|result| result.malformed);
        let extent = results()
            .map(|result| result.read)
            .fold(closing.extent(), CodeRead::joined);
        let is_signed_by_nonce = self.is_signed_by_nonce();
        let verdict = self
            .blocks
            .iter_mut()
            .rev()
            .find_map(|block| block.result.verdict.take());
        let summary = self
            .blocks
            .iter_mut()
            .rev()
            .find_map(|block| block.result.summary.take());
        let answer = ReviewAnswer {
            status: AnswerStatus::Complete,
            findings: Vec::new(),
            notes: String::new(),
            truncated,
            verdict,
            summary,
            read: extent,
            is_doubtful: false,
            problem: None,
        };
        let is_readable = !truncated && !malformed && !is_broken;
        if is_readable
            && closing
                .number()
                .is_some_and(|number| self.is_corrected(number, &prose))
        {
            let (findings, notes) = self.last(prose);
            return ReviewAnswer {
                findings,
                notes,
                ..answer
            };
        }
        let is_within_prose = self.is_within_prose;
        let All {
            findings,
            notes,
            repeated,
            only_in_prose,
        } = self.all(prose);
        let unique = read - repeated;
        let is_closed = closing.is_given();
        // If the closing line states exactly the number of findings that were read, Glee assumes that the
        // unreadable JSON contains no further findings.
        let is_unread = malformed || (is_broken || is_within_prose) && (unique == 0 || !is_closed);
        let adds_up = match closing.number() {
            Some(number) => number == unique || number == read,
            // The nonce in a JSON result signs only findings in JSON, not findings in prose.
            None => !is_closed && is_signed_by_nonce && only_in_prose == 0,
        };
        let status = if unique == 0 && !objects && !malformed && !is_closed && !is_signed_by_nonce {
            AnswerStatus::NotReviewed
        } else if truncated || is_unread || !adds_up || (unique == 0 && objects) {
            AnswerStatus::Incomplete
        } else if unique == 0 {
            AnswerStatus::Clean
        } else {
            AnswerStatus::Complete
        };
        ReviewAnswer {
            status,
            findings,
            notes,
            ..answer
        }
    }

    fn is_signed_by_nonce(&self) -> bool {
        let results = self.blocks.iter().map(|block| &block.result);
        let (signed, others): (Vec<_>, Vec<_>) = results.partition(|result| {
            let nonce = result.nonce();
            nonce.is_some_and(|given| is_nonce(self.nonce, given))
        });
        !signed.is_empty()
            && others
                .iter()
                .all(|result| result.count == 0 && !result.malformed)
    }

    fn is_corrected(&self, number: u64, prose: &ProseReader<'_>) -> bool {
        let Some((last, earlier)) = self.blocks.split_last() else {
            return false;
        };
        let findings = &last.result.findings;
        let is_announced = self.is_signed_end && number > 0 && last.result.count == number;
        let is_behind_prose =
            last.read == prose.count() && (last.read == 0 || last.result.enveloped);
        let above = earlier
            .iter()
            .flat_map(|block| &block.result.findings)
            .chain(prose.findings());
        let is_grave_enough = findings.iter().any(is_grave) || !above.into_iter().any(is_grave);
        is_announced
            && is_behind_prose
            && earlier.iter().all(|block| {
                let of = &block.result.findings;
                of.is_empty()
                    || of
                        .iter()
                        .any(|one| findings.iter().any(|other| is_same_place(one, other)))
            })
            && is_grave_enough
    }

    fn last(mut self, prose: ProseReader<'_>) -> (Vec<RawFinding>, String) {
        let last = self
            .blocks
            .pop()
            .map(|block| block.result.findings)
            .unwrap_or_default();
        let mut notes = prose.into_notes();
        for dropped in self.blocks.iter().flat_map(|block| &block.result.findings) {
            notes.push_str(&format!(
                "\n[{}] {}",
                dropped.severity.raw,
                dropped.headline()
            ));
        }
        (last, notes.trim_start().to_owned())
    }

    fn all(self, prose: ProseReader<'_>) -> All {
        let mut known: HashSet<Key> = prose.findings().iter().map(key).collect();
        let mut in_json = HashSet::new();
        let mut repeated = 0;
        let mut blocks = Vec::new();
        for Block { result, kept, .. } in self.blocks {
            let keys: Vec<Key> = result.findings.iter().map(key).collect();
            let mut new = Vec::new();
            for (finding, key) in result.findings.into_iter().zip(&keys) {
                if known.contains(key) {
                    repeated += 1;
                } else {
                    new.push(finding);
                }
            }
            blocks.push((kept, new));
            known.extend(keys.iter().cloned());
            in_json.extend(keys);
        }
        let only_in_prose = prose
            .findings()
            .iter()
            .filter(|finding| !in_json.contains(&key(finding)))
            .count();
        let (in_prose, notes) = prose.into_findings();
        let mut blocks = blocks.into_iter().peekable();
        let mut findings = Vec::new();
        for (at, finding) in in_prose.into_iter().enumerate() {
            while let Some((_, new)) = blocks.next_if(|(kept, _)| *kept <= at) {
                findings.extend(new);
            }
            findings.push(finding);
        }
        findings.extend(blocks.flat_map(|(_, new)| new));
        All {
            findings,
            notes,
            repeated,
            only_in_prose,
        }
    }
}

struct All {
    findings: Vec<RawFinding>,
    notes: String,
    repeated: u64,
    only_in_prose: usize,
}

fn key(finding: &RawFinding) -> Key {
    let words = finding
        .title
        .as_written()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let title = words.map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    (
        finding.file.clone(),
        finding.line,
        mandatory::normalise(&finding.severity.raw),
        title,
    )
}

fn is_same_place(one: &RawFinding, other: &RawFinding) -> bool {
    one.file.is_some() && (&one.file, one.line) == (&other.file, other.line)
}

fn is_grave(finding: &RawFinding) -> bool {
    mandatory::is_grave(mandatory::normalised(finding.severity.clone()).tag)
}
