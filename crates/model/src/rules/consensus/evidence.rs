//! Assesses the evidence of a finding by fixed rules. Computes the validation score (phase 4 of the
//! specification), and challenges weak findings (phase 5).

use std::sync::LazyLock;

use super::group::{Criteria, EvidenceChallenge, Level, Member};
use super::normalise::{Category, NormalMember};
use super::similarity::phrases::Phrases;
use super::similarity::vectors::names_code;
use crate::domain::AdvisoryStatus;

/// Words that introduce a condition in the text of a finding.
const CONDITIONS: &str = "when, if, after, passing, given, whenever, once, during, while, unless, by, e.g, example, \
                          because, second, concurrent, input, every, until, any";

/// Prefixes of words that describe a failure in the text of a finding.
const CONSEQUENCES: &str = "rais, throw, crash, panic, leak, overflow, underflow, inject, fail, exception, error, \
                            lost, lose, corrupt, deadlock, hang, block, bypass, exec, overwrit, return, cause, \
                            result, break, null, undefined, infinite, denial, expos, never, wrong, stale, \
                            duplicate, race, skip";

const KNOWN_PATTERNS: &str = "injection, xss, cross-site, csrf, ssrf, traversal, deserializ, hardcoded, hard-coded, \
                              md5, sha1, use after free, use-after-free, double free, buffer overflow, \
                              race condition, deadlock, off-by-one, off by one, null pointer, null dereference, \
                              memory leak, resource leak, mutable default, toctou, open redirect, \
                              integer overflow, swallow, eval(, weak hash, plaintext, timing attack, n+1 quer, \
                              not awaited, never awaited, unvalidated, unsanitized, privilege escalation";

const AGAINST_PRACTICE: &str = "disable certificate, disable tls, verify=false, disable verification, \
                                ignore the error, ignore errors, swallow the exception, catch all exceptions and, \
                                use eval, use md5, disable authentication, skip validation, hardcode the password, \
                                store the password in plain";

static PHRASES: LazyLock<[Phrases; 4]> =
    LazyLock::new(|| [CONDITIONS, CONSEQUENCES, KNOWN_PATTERNS, AGAINST_PRACTICE].map(Phrases::of));

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Evidence {
    /// Whether the finding cites a line or an identifier of the code. False if a check shows that the cited code
    /// is missing.
    pub cites: bool,
    pub line: bool,
    pub trigger: bool,
    /// Whether the finding describes a typical pattern of defects, or is confirmed by a rule or an advisory.
    pub known: bool,
    pub against: bool,
    pub suggests: bool,
    pub confirmed: bool,
    pub refuted: bool,
}

impl Evidence {
    pub(super) fn of(entry: &NormalMember<'_>) -> Self {
        let [conditions, consequences, known_patterns, against_practice] = &*PHRASES;
        let checked = &entry.member.checked;
        let suggestion = entry.member.suggestion();
        let confirmed =
            checked.confirmed || matches!(checked.advisory, AdvisoryStatus::Confirmed { .. });
        let refuted = checked.place == Some(false) || checked.identifiers == Some(false);
        let line = entry.lines.is_some() && !refuted;
        let texts = [entry.member.title(), &entry.member.description()];
        let has = |what: &dyn Fn(&str) -> bool| texts.into_iter().any(what);
        Self {
            cites: line || has(&names_code) && !refuted,
            line,
            trigger: has(&|text| conditions.are_words_of(text))
                && has(&|text| consequences.begin_a_word(text)),
            known: confirmed || has(&|text| known_patterns.are_in(text)),
            against: against_practice.are_in(suggestion),
            suggests: !suggestion.trim().is_empty(),
            confirmed,
            refuted,
        }
    }

    /// Rates the evidence with 1 to 3 points (phase 4, step 2). A cited line with a concrete trigger gets 3 points,
    /// other cited code gets 2 points, and a finding without cited code gets 1 point.
    fn quality(self) -> i32 {
        match (self.line && self.trigger, self.cites) {
            (true, _) => 3,
            (false, true) => 2,
            (false, false) => 1,
        }
    }

    /// Computes the weight of a finding's evidence in a conflict. A cited line, a trigger, a plausible severity, a
    /// suggestion and a confirmation each add one point. Two points are deducted if the cited code does not exist.
    pub(super) fn weight(self, severity: Level, confidence: Option<u8>) -> i32 {
        let sound =
            severity < Level::High || confidence.is_none_or(|sure| sure >= 70) && self.trigger;
        let points = [
            self.line,
            self.trigger,
            sound,
            self.suggests,
            self.confirmed,
        ];
        i32::try_from(points.into_iter().filter(|point| *point).count()).unwrap_or(0)
            - 2 * i32::from(self.refuted)
    }

    /// Whether the evidence is concrete enough to accept a critical finding that only one reviewer raised (rule
    /// 9).
    pub(crate) fn is_concrete(self) -> bool {
        self.line && self.trigger || self.confirmed
    }
}

pub(crate) const EXTRAORDINARY: &str = "extraordinary claim requiring extraordinary evidence";

pub(crate) const REVERSAL: &str = "evidence that the cited code does not behave as described";

pub(super) const UNSTATED: &str =
    "no confidence stated: scored as a finding whose evidence requires a review";

/// Returns the validation score of a finding (phase 4). The returned boolean is true if the finding is critical
/// and has a confidence below 70. If no confidence is stated, the score is computed as if the confidence were
/// between 60 and 79.
pub(super) fn score(entry: &NormalMember<'_>, evidence: Evidence) -> (i32, bool) {
    let confidence = entry.confidence;
    let mut score = match confidence {
        Some(80..) => 3,
        Some(60..80) | None => 2,
        Some(40..60) => 1,
        Some(0..40) => 0,
    };
    score += evidence.quality();
    let extraordinary =
        entry.severity == Level::Critical && confidence.is_some_and(|sure| sure < 70);
    if extraordinary {
        score -= 2;
    }
    if entry.severity == Level::Low && confidence.is_some_and(|sure| sure > 80) {
        score += 1;
    }
    score += 2 * i32::from(evidence.known) - i32::from(evidence.against);
    (score, extraordinary)
}

pub(super) fn challenge(entry: &NormalMember<'_>, evidence: Evidence) -> EvidenceChallenge {
    let criteria = Criteria {
        specificity: evidence.cites,
        reproducibility: evidence.trigger || evidence.confirmed,
        impact: entry.severity >= Level::Medium && entry.category != Category::Architecture,
        actionability: evidence.suggests,
    };
    let member = entry.member;
    let place = place(member);
    let weakest = if evidence.refuted {
        "the cited code does not exist"
    } else if !evidence.cites {
        "the finding cites no code"
    } else if !evidence.trigger {
        "the finding describes no trigger"
    } else if !evidence.suggests {
        "the finding suggests no change"
    } else if entry.confidence.is_some_and(|sure| sure < 70) {
        "the reviewer is unsure"
    } else {
        "no other reviewer reported the problem"
    };
    let test = match (evidence.line, evidence.trigger) {
        (true, true) => {
            format!("cause the described condition at {place} and check for the described effect")
        }
        (true, false) => format!("find an input or a sequence of calls that makes {place} fail"),
        (false, _) => {
            "name the file and line of the problem, and an input that triggers it".to_owned()
        }
    };
    EvidenceChallenge {
        finding: format!(
            "{} claims \"{}\" at {place} with severity {}",
            member.model,
            member.title(),
            entry.severity
        ),
        weakest: weakest.to_owned(),
        test,
        holds: criteria.met() >= 2,
        criteria,
    }
}

pub(super) fn place(member: &Member) -> String {
    match (&member.raw.file, member.raw.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        (None, Some(line)) => format!("line {line}"),
        (None, None) => "an unknown location".to_owned(),
    }
}
