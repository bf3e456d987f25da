//! A judge's answer (section 3.5 of the design).
//!
//! A ruling is taken from the end of the answer only: what is quoted, fenced or argued before it is text. Whatever is
//! not exactly one ruling of the right nonce and dispute is none.

pub(crate) mod error;
mod shape;

use std::io::{self, BufRead};

use crate::domain::{DisputeNumber, Location, Ruling, RulingWord, Untrusted};
use crate::protocol::replies::reply::{ReplyLine, Walk};
use crate::protocol::replies::ruling::error::{Claimed, DisputeMatch, ExpectedRuling, RulingError};
use crate::protocol::text::json::ScanState;
use crate::protocol::text::location;
use crate::protocol::text::markdown::LineKind;

/// The most text that is kept as the rationale of a ruling in prose, in bytes.
const RATIONALE_CAP: usize = 256 << 10;

/// The most places that are taken out of the rationale of a ruling in prose.
const CITATIONS_CAP: usize = 100;

/// Reads the ruling on `dispute`. Without a nonce any nonce counts, without a number any dispute.
///
/// A ruling is a JSON object (fenced or on lines of its own) or a closing line; only blank lines and further rulings may
/// follow it. A ruling in a fence that text follows is a quotation. For a ruling in prose the text before it is the
/// rationale, and the places named there are its citations; a last line `Coder-evidence: <why>` before the closing line
/// says why places count that the coder wrote in this run.
/// The outer result fails only where `input` cannot be read; the inner one says why the answer is no ruling.
pub fn parse<R: BufRead>(
    input: R,
    nonce: Option<&str>,
    dispute: impl Into<Option<DisputeNumber>>,
) -> io::Result<Result<Ruling, RulingError>> {
    let asked = ExpectedRuling { nonce, dispute: dispute.into() };
    let mut walk = Walk::new(input, nonce);
    let mut docket = Docket::default();
    let mut reasons = Reasons::default();
    while let Some(step) = walk.next(0)? {
        match step.json {
            ScanState::Found(object) => match shape::object(&object.text, asked) {
                Some(claim) => docket.take(claim, object.fenced),
                None => docket.text(),
            },
            ScanState::Outside if step.is_prose() => match shape::line(step.text.trim(), asked) {
                Some(claim) => docket.take(claim, false),
                None => {
                    docket.text();
                    reasons.take(&step);
                }
            },
            // What is not known yet to be a ruling: the line that ends it says so.
            ScanState::Inside => docket.pending = true,
            ScanState::Outside => match step.kind {
                LineKind::Blank => reasons.take(&step),
                LineKind::FenceOpen | LineKind::Code => {
                    docket.pending = true;
                    reasons.take(&step);
                }
                _ => {
                    docket.text();
                    reasons.take(&step);
                }
            },
        }
    }
    if let Some(object) = walk.end()
        && let Some(claim) = shape::object(&object.text, asked)
    {
        docket.take(claim, object.fenced);
    }
    if walk.json.too_large {
        return Ok(Err(RulingError::TooLarge));
    }
    let decided = docket.decide().map(|claimed| reasons.complete(claimed));
    Ok(decided.map_err(|error| match (error, walk.json.fault) {
        (RulingError::Missing, Some(fault)) => RulingError::Malformed(fault),
        (error, _) => error,
    }))
}

/// The claims of an answer.
#[derive(Debug, Default)]
struct Docket {
    /// Words of rulings outside of fences, wherever they stand.
    unfenced: Vec<RulingWord>,
    /// Words of rulings since the last text.
    group: Vec<RulingWord>,
    /// What is wrong with a ruling since the last text.
    wrong: Option<RulingError>,
    /// What the last foreign ruling since the last text has wrong.
    foreign: Option<RulingError>,
    last: Option<Claimed>,
    any: bool,
    /// Whether text follows the last claim.
    text_behind: bool,
    /// Whether lines follow it of which it is not known yet whether they are one.
    pending: bool,
}

impl Docket {
    fn take(&mut self, claim: DisputeMatch, fenced: bool) {
        if std::mem::take(&mut self.text_behind) {
            self.group.clear();
            (self.wrong, self.foreign, self.last) = (None, None, None);
        }
        (self.any, self.pending) = (true, false);
        match claim {
            // Another nonce is quoted; another dispute behind the ruling is the judge's own doubt.
            DisputeMatch::Foreign(error @ RulingError::Dispute { .. }) if self.last.is_some() => {
                self.wrong = Some(error)
            }
            DisputeMatch::Foreign(error) => self.foreign = Some(error),
            DisputeMatch::Own(Err(error)) => self.wrong = Some(error),
            DisputeMatch::Own(Ok(claimed)) => {
                let word = claimed.ruling.ruling;
                add(&mut self.group, word);
                if !fenced {
                    add(&mut self.unfenced, word);
                }
                self.last = Some(claimed);
            }
        }
    }

    fn text(&mut self) {
        (self.text_behind, self.pending) = (true, false);
    }

    fn decide(self) -> Result<Claimed, RulingError> {
        if !self.any {
            return Err(RulingError::Missing);
        }
        if self.text_behind || self.pending {
            return Err(RulingError::TextBehind);
        }
        if let Some(error) = self.wrong {
            return Err(error);
        }
        let last = self.last.ok_or_else(|| self.foreign.unwrap_or(RulingError::Missing))?;
        let all = [RulingWord::Enforce, RulingWord::Dismiss, RulingWord::Escalate];
        let said = all.into_iter().filter(|word| self.group.contains(word) || self.unfenced.contains(word));
        let said: Vec<_> = said.collect();
        if said.len() > 1 { Err(RulingError::Contradiction(said)) } else { Ok(last) }
    }
}

fn add(words: &mut Vec<RulingWord>, word: RulingWord) {
    if !words.contains(&word) {
        words.push(word);
    }
}

/// How the line begins that says why what the coder wrote in this run counts as evidence.
const CODER_EVIDENCE: &str = "coder-evidence:";

/// The text of an answer and the places it names.
#[derive(Debug, Default)]
struct Reasons {
    /// The last line that is not blank, if it says why what the coder wrote counts.
    coder_evidence: Option<Untrusted>,
    text: String,
    citations: Vec<String>,
    left_out: bool,
}

impl Reasons {
    fn take(&mut self, step: &ReplyLine<'_>) {
        if self.text.len() + step.text.len() < RATIONALE_CAP {
            self.text.push_str(step.text);
            self.text.push('\n');
        } else {
            self.left_out = true;
        }
        if !step.text.trim().is_empty() {
            self.coder_evidence = step.kind.is_prose().then(|| coder_evidence(step.text)).flatten();
        }
        if !step.kind.is_prose() {
            return;
        }
        let mut rest = step.text;
        while self.citations.len() < CITATIONS_CAP
            && let Some(place) = location::find(rest)
        {
            let location =
                Location { file: place.file, line: Some(place.line), end_line: place.end_line }.to_string();
            if !self.citations.contains(&location) {
                self.citations.push(location);
            }
            rest = &rest[place.range.end..];
        }
    }

    /// Gives a ruling in prose its rationale and citations, and one in JSON without a rationale the text before it.
    fn complete(self, claimed: Claimed) -> Ruling {
        let Claimed { mut ruling, is_line } = claimed;
        if ruling.rationale.is_empty() {
            let text = self.text.trim();
            ruling.rationale = if self.left_out { format!("{text}\n[...]").into() } else { text.into() };
        }
        if is_line {
            ruling.citations = self.citations.into_iter().map(Untrusted::from).collect();
            ruling.coder_evidence = self.coder_evidence;
        }
        ruling
    }
}

/// The reason on a line `Coder-evidence: <why>`.
fn coder_evidence(line: &str) -> Option<Untrusted> {
    let line = line.trim();
    let named = line.get(..CODER_EVIDENCE.len()).is_some_and(|start| start.eq_ignore_ascii_case(CODER_EVIDENCE));
    if named { shape::reason(&line[CODER_EVIDENCE.len()..]) } else { None }
}

#[cfg(test)]
mod tests;
