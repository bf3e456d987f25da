//! Parses a judge's answer to a dispute (section 3.5 of the design).
//!
//! A ruling is accepted only at the end of the answer. An earlier ruling in a quote or in a code fence is
//! ordinary text. If the answer contains several rulings outside quotes and code fences, all these rulings must
//! have the same word, for example `DISMISS`.

pub mod error;
mod shape;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, BufRead};

use crate::replies::reply::{ReplyLine, Walk};
use crate::replies::ruling::error::{Claimed, DisputeMatch, ExpectedRuling, RulingError};
use crate::text::{LineKind, ScanState, location};
use glee_model::domain::{DemonstrationRequest, DisputeNumber, Ruling, RulingWord, Untrusted};

const RATIONALE_CAP: usize = 256 << 10;

const CITATIONS_CAP: usize = 100;

/// Reads the ruling on `dispute`. If `nonce` is `None`, any nonce is accepted. If `dispute` is `None`, any dispute
/// is accepted.
///
/// A ruling is a JSON object or a closing line. The answer must end with one or more rulings. Between and after
/// the rulings, only blank lines are allowed. The text before a closing line is the rationale, and the locations
/// in this text are the citations. A line `Coder-evidence: <why>` can directly precede the closing line. The text
/// `<why>` is the reason why the ruling relies on code that the coder wrote in this run. The outer result fails
/// only if `input` cannot be read. The inner result fails if the answer is not a valid ruling.
pub fn parse(
    input: impl BufRead,
    nonce: Option<&str>,
    dispute: impl Into<Option<DisputeNumber>>,
) -> io::Result<Result<Ruling, RulingError>> {
    Ok(match parse_answer(input, nonce, dispute)? {
        Ok(JudgeReply::Ruling(ruling)) => Ok(ruling),
        Ok(JudgeReply::Request(_)) => Err(RulingError::Missing),
        Err(error) => Err(error),
    })
}

/// Reads the rulings on several disputes from one JSON object with the list `rulings`, which ends the answer. Each value is
/// what [`parse_answer`] returns for one dispute.
///
/// The outer result fails only if `input` cannot be read. The inner result fails if the answer does not end with such an object.
pub fn parse_each(
    input: impl BufRead,
    nonce: &str,
) -> io::Result<Result<RulingsByDispute, RulingError>> {
    let mut walk = Walk::new(input, Some(nonce));
    let mut given = Vec::new();
    let mut is_last = false;
    while let Some(step) = walk.next(0)? {
        match step.json {
            ScanState::Found(object) => {
                let rulings = shape::rulings(&object.text, nonce);
                is_last = rulings.is_some();
                given.extend(rulings.into_iter().flatten());
            }
            ScanState::Outside
                if matches!(
                    step.kind,
                    LineKind::Blank | LineKind::FenceOpen | LineKind::Code
                ) => {}
            ScanState::Inside | ScanState::Outside => is_last = false,
        }
    }
    if let Some(object) = walk.end()
        && let Some(rulings) = shape::rulings(&object.text, nonce)
    {
        is_last = true;
        given.extend(rulings);
    }
    if given.is_empty() {
        let fault = walk.json.fault.map(RulingError::Malformed);
        return Ok(Err(fault.unwrap_or(RulingError::NoList)));
    }
    if !is_last {
        return Ok(Err(RulingError::TextBehind));
    }
    let mut rulings = RulingsByDispute::new();
    for (dispute, claimed) in given {
        let said = claimed.map(|claimed| Reasons::default().complete(claimed));
        match rulings.entry(dispute) {
            Entry::Vacant(free) => drop(free.insert(said)),
            Entry::Occupied(mut known) => {
                let both = [known.get(), &said].map(word);
                if let [Some(one), Some(other)] = both
                    && one != other
                {
                    *known.get_mut() = Err(RulingError::Contradiction(vec![one, other]));
                }
            }
        }
    }
    Ok(Ok(rulings))
}

/// What a judge answers to each dispute, or why the answer is not valid.
pub type RulingsByDispute = BTreeMap<DisputeNumber, Result<JudgeReply, RulingError>>;

fn word(said: &Result<JudgeReply, RulingError>) -> Option<RulingWord> {
    match said {
        Ok(JudgeReply::Ruling(ruling)) => Some(ruling.ruling),
        Ok(JudgeReply::Request(_)) | Err(_) => None,
    }
}

/// What a judge answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JudgeReply {
    Ruling(Ruling),
    /// The judge asks one side for a demonstration before it rules.
    Request(DemonstrationRequest),
}

/// Reads a ruling as [`parse`] does, or in its place the question for a demonstration: a JSON object with the field
/// `demonstrate`.
pub fn parse_answer(
    input: impl BufRead,
    nonce: Option<&str>,
    dispute: impl Into<Option<DisputeNumber>>,
) -> io::Result<Result<JudgeReply, RulingError>> {
    let asked = ExpectedRuling {
        nonce,
        dispute: dispute.into(),
    };
    let mut walk = Walk::new(input, nonce);
    let mut candidates = Candidates::default();
    let mut reasons = Reasons::default();
    while let Some(step) = walk.next(0)? {
        match step.json {
            ScanState::Found(object) => match shape::object(&object.text, asked) {
                Some(claim) => candidates.take(claim, object.fenced),
                None => candidates.text(),
            },
            ScanState::Outside if step.is_prose() => match shape::line(step.text.trim(), asked) {
                Some(claim) => candidates.take(claim, false),
                None => {
                    candidates.text();
                    reasons.take(&step);
                }
            },
            ScanState::Inside => candidates.pending = true,
            ScanState::Outside => {
                match step.kind {
                    LineKind::Blank => {}
                    LineKind::FenceOpen | LineKind::Code => candidates.pending = true,
                    _ => candidates.text(),
                }
                reasons.take(&step);
            }
        }
    }
    if let Some(object) = walk.end()
        && let Some(claim) = shape::object(&object.text, asked)
    {
        candidates.take(claim, object.fenced);
    }
    if walk.json.too_large {
        return Ok(Err(RulingError::TooLarge));
    }
    let decided = candidates.decide().map(|claimed| reasons.complete(claimed));
    Ok(decided.map_err(|error| match (error, walk.json.fault) {
        (RulingError::Missing, Some(fault)) => RulingError::Malformed(fault),
        (error, _) => error,
    }))
}

#[derive(Debug, Default)]
struct Candidates {
    unfenced: Vec<RulingWord>,
    group: Vec<RulingWord>,
    wrong: Option<RulingError>,
    /// The error for the last ruling with a wrong nonce or a wrong dispute number.
    foreign: Option<RulingError>,
    last: Option<Claimed>,
    any: bool,
    text_behind: bool,
    /// Whether the last lines are code or the beginning of a JSON object, and can therefore contain an unfinished
    /// ruling.
    pending: bool,
}

impl Candidates {
    fn take(&mut self, claim: DisputeMatch, fenced: bool) {
        if std::mem::take(&mut self.text_behind) {
            self.group.clear();
            (self.wrong, self.foreign, self.last) = (None, None, None);
        }
        (self.any, self.pending) = (true, false);
        match claim {
            // A ruling with a wrong nonce is treated as a quotation. If a ruling on a different dispute follows
            // a valid ruling, the whole answer is invalid.
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
        let last = self
            .last
            .ok_or_else(|| self.foreign.unwrap_or(RulingError::Missing))?;
        let all = [
            RulingWord::Enforce,
            RulingWord::Dismiss,
            RulingWord::Escalate,
        ];
        let said = all
            .into_iter()
            .filter(|word| self.group.contains(word) || self.unfenced.contains(word));
        let said: Vec<_> = said.collect();
        if said.len() > 1 {
            Err(RulingError::Contradiction(said))
        } else {
            Ok(last)
        }
    }
}

fn add(words: &mut Vec<RulingWord>, word: RulingWord) {
    if !words.contains(&word) {
        words.push(word);
    }
}

const CODER_EVIDENCE: &str = "coder-evidence:";

#[derive(Debug, Default)]
struct Reasons {
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
            self.coder_evidence = step
                .kind
                .is_prose()
                .then(|| coder_evidence(step.text))
                .flatten();
        }
        if !step.kind.is_prose() {
            return;
        }
        let mut rest = step.text;
        while self.citations.len() < CITATIONS_CAP
            && let Some(place) = location::find(rest)
        {
            let location = place.location().to_string();
            if !self.citations.contains(&location) {
                self.citations.push(location);
            }
            rest = &rest[place.range.end..];
        }
    }

    /// If the ruling has no rationale, the text before the ruling becomes the rationale. If the ruling is a
    /// closing line, the citations and the coder's evidence are read from the text before the closing line.
    fn complete(self, claimed: Claimed) -> JudgeReply {
        let Claimed {
            mut ruling,
            request,
            is_line,
        } = claimed;
        if let Some(request) = request {
            return JudgeReply::Request(request);
        }
        if ruling.rationale.is_empty() {
            let text = self.text.trim();
            ruling.rationale = if self.left_out {
                format!("{text}\n[...]").into()
            } else {
                text.into()
            };
        }
        if is_line {
            ruling.citations = self.citations.into_iter().map(Untrusted::from).collect();
            ruling.coder_evidence = self.coder_evidence;
        }
        JudgeReply::Ruling(ruling)
    }
}

fn coder_evidence(line: &str) -> Option<Untrusted> {
    let line = line.trim();
    let named = line
        .get(..CODER_EVIDENCE.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(CODER_EVIDENCE));
    if named {
        shape::reason(&line[CODER_EVIDENCE.len()..])
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
