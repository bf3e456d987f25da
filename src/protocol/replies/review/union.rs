//! All that a reviewer's answer says, in prose and in any number of JSON results, as one list.
//!
//! Every finding counts, in the order of the answer; one that is said again in another form or in another result counts
//! once. One exception keeps corrected drafts apart: where the closing line announces just the findings of the result that
//! directly precedes it, this result stands for what is above it. It never stands for nothing, nor for graver findings
//! than its own; tagged prose gives way to a whole `review_result` only, and an earlier result to one that names one of
//! its places again. Anything else that does not add up to the number announced is incomplete.

use std::collections::HashSet;

use super::draft::Draft;
use super::result::{self, JsonResult, OfText};
use crate::domain::{AnswerStatus, RawFinding, Tag};
use crate::protocol::replies::reply::{Closing, ReplyLine, is_nonce};
use crate::protocol::replies::review::answer::ReviewAnswer;
use crate::protocol::text::json::FoundObject;
use crate::protocol::text::markdown::LineKind;
use crate::rules::review::mandatory;

#[derive(Debug)]
pub(crate) struct Results<'a> {
    of_text: OfText,
    nonce: Option<&'a str>,
    blocks: Vec<Block>,
    /// Whether nothing was said since the last of them.
    is_last: bool,
    /// Whether the last closing line directly follows one.
    is_signed_end: bool,
    /// Whether a line of prose has a finding in JSON that is not read, because it does not stand on a line of its own.
    is_within_prose: bool,
}

/// A JSON result and where it stands among the findings in prose.
#[derive(Debug)]
struct Block {
    result: JsonResult,
    /// How many findings in prose stand before it: those that are kept, and all.
    kept: usize,
    read: u64,
}

/// What identifies a finding that is said twice.
type Key = (Option<String>, Option<u32>, Option<Tag>, String);

impl<'a> Results<'a> {
    pub(crate) fn new(nonce: Option<&'a str>, of_text: OfText) -> Self {
        Self { nonce, of_text, blocks: Vec::new(), is_last: false, is_signed_end: false, is_within_prose: false }
    }

    /// Takes a JSON document, if it is a result.
    pub(crate) fn take(&mut self, object: FoundObject, draft: &mut Draft<'_>) {
        let Some(result) = result::read(&object.text, self.of_text) else { return };
        draft.cut(object.mark);
        self.blocks.push(Block { result, kept: draft.kept(), read: draft.count() });
        self.is_last = true;
    }

    /// Takes a line that is no JSON.
    pub(crate) fn pass(&mut self, step: &ReplyLine<'_>) {
        self.is_last &= step.kind == LineKind::Blank;
        self.is_within_prose |= step.is_prose() && step.text.contains('{') && step.text.contains("\"severity\"");
    }

    pub(crate) fn close(&mut self) {
        self.is_signed_end = self.is_last;
    }

    /// Leaves a repeated prompt out: what stands before the form of the closing line, where the closing line that is
    /// filled in announces just the findings behind it. `number` is what that line announces.
    pub(crate) fn leave_out_prompt(&mut self, draft: &mut Draft<'_>, number: Option<u64>) {
        let Some(form) = draft.form() else { return };
        let results: u64 = self.blocks.iter().map(|block| block.result.count).sum();
        let behind = draft.count() - form.count + results;
        if behind == 0 || number != Some(behind) || self.blocks.iter().any(|block| block.read < form.count) {
            return;
        }
        draft.forget(form);
        for block in &mut self.blocks {
            block.kept -= form.kept;
            block.read -= form.count;
        }
    }

    /// Puts everything together. `is_broken`: there is JSON with findings that cannot be read.
    pub(crate) fn unite(
        mut self,
        draft: Draft<'_>,
        closing: &Closing<'_>,
        passed_over: bool,
        is_broken: bool,
    ) -> ReviewAnswer {
        let results = || self.blocks.iter().map(|block| &block.result);
        let read = draft.count() + results().map(|result| result.count).sum::<u64>();
        let kept = draft.kept() + results().map(|result| result.findings.len()).sum::<usize>();
        let truncated = passed_over || read > kept as u64;
        let objects = results().any(JsonResult::objects);
        let malformed = results().any(|result| result.malformed);
        let is_signed_by_nonce = self.is_signed_by_nonce();
        let verdict = self.blocks.iter_mut().rev().find_map(|block| block.result.verdict.take());
        let summary = self.blocks.iter_mut().rev().find_map(|block| block.result.summary.take());
        let answer = |status, findings, notes| ReviewAnswer {
            status,
            findings,
            notes,
            truncated,
            verdict,
            summary,
            problem: None,
        };
        let is_readable = !truncated && !malformed && !is_broken;
        if is_readable && closing.number().is_some_and(|number| self.is_corrected(number, &draft)) {
            let (findings, notes) = self.last(draft);
            return answer(AnswerStatus::Complete, findings, notes);
        }
        let is_within_prose = self.is_within_prose;
        let All { findings, notes, repeated, beside } = self.all(draft);
        let unique = read - repeated;
        let is_closed = closing.is_given();
        // JSON that cannot be read is said in another way where the numbers agree.
        let is_unread = malformed || (is_broken || is_within_prose) && (unique == 0 || !is_closed);
        let adds_up = match closing.number() {
            Some(number) => number == unique || number == read,
            // The nonce of a result signs that result, not the prose beside it.
            None => !is_closed && is_signed_by_nonce && beside == 0,
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
        answer(status, findings, notes)
    }

    /// Whether results have the nonce: all that have findings, and one at least.
    fn is_signed_by_nonce(&self) -> bool {
        let signed = |block: &Block| block.result.nonce().is_some_and(|given| is_nonce(self.nonce, given));
        let is_void = |block: &Block| block.result.count == 0 && !block.result.malformed;
        self.blocks.iter().any(signed) && self.blocks.iter().all(|block| signed(block) || is_void(block))
    }

    /// Whether the last result stands for all that is above it.
    fn is_corrected(&self, number: u64, draft: &Draft<'_>) -> bool {
        let Some((last, earlier)) = self.blocks.split_last() else { return false };
        let findings = &last.result.findings;
        let is_announced = self.is_signed_end && number > 0 && last.result.count == number;
        let is_behind_prose = last.read == draft.count() && (last.read == 0 || last.result.enveloped);
        let names_again = |block: &Block| {
            let of = &block.result.findings;
            of.is_empty() || of.iter().any(|one| findings.iter().any(|other| is_same_place(one, other)))
        };
        let above = earlier.iter().flat_map(|block| &block.result.findings).chain(draft.findings());
        let is_grave_enough = findings.iter().any(is_grave) || !above.into_iter().any(is_grave);
        is_announced && is_behind_prose && earlier.iter().all(names_again) && is_grave_enough
    }

    /// The findings of the last result, everything else as notes.
    fn last(mut self, draft: Draft<'_>) -> (Vec<RawFinding>, String) {
        let last = self.blocks.pop().map(|block| block.result.findings).unwrap_or_default();
        let mut notes = draft.into_notes();
        for dropped in self.blocks.iter().flat_map(|block| &block.result.findings) {
            let place = dropped.location().map(|place| format!("{place} ")).unwrap_or_default();
            notes.push_str(&format!("\n[{}] {place}{}", dropped.severity.raw, dropped.title.as_written()));
        }
        (last, notes.trim_start().to_owned())
    }

    /// All findings in their order.
    fn all(self, draft: Draft<'_>) -> All {
        let in_prose: HashSet<Key> = draft.findings().iter().map(key).collect();
        let mut known = in_prose;
        let mut in_json = HashSet::new();
        let (mut repeated, mut blocks) = (0, Vec::new());
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
        let beside = draft.findings().iter().filter(|finding| !in_json.contains(&key(finding))).count();
        let (prose, notes) = draft.into_findings();
        let mut blocks = blocks.into_iter().peekable();
        let mut findings = Vec::new();
        for (at, finding) in prose.into_iter().enumerate() {
            while let Some((_, new)) = blocks.next_if(|(kept, _)| *kept <= at) {
                findings.extend(new);
            }
            findings.push(finding);
        }
        findings.extend(blocks.flat_map(|(_, new)| new));
        All { findings, notes, repeated, beside }
    }
}

struct All {
    findings: Vec<RawFinding>,
    notes: String,
    /// How many were left out because they are said before.
    repeated: u64,
    /// How many stand in prose alone.
    beside: usize,
}

fn key(finding: &RawFinding) -> Key {
    let words = finding.title.as_written().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let title = words.map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    (finding.file.clone(), finding.line, mandatory::normalise(&finding.severity.raw), title)
}

fn is_same_place(one: &RawFinding, other: &RawFinding) -> bool {
    one.file.is_some() && (&one.file, one.line) == (&other.file, other.line)
}

/// Whether a finding may be mandatory.
fn is_grave(finding: &RawFinding) -> bool {
    let tag = finding.severity.tag.or_else(|| mandatory::normalise(&finding.severity.raw));
    matches!(tag, None | Some(Tag::Critical | Tag::Must | Tag::High))
}
