//! What speaks for a finding: the evidence that can be checked without judgement, the validation score of phase 4, and
//! the challenge of phase 5.

use std::sync::LazyLock;

use super::group::{Criteria, EvidenceChallenge, Level, Member};
use super::normalise::{Category, NormalMember};
use super::similarity::phrases::Phrases;
use super::similarity::vectors::names_code;
use crate::domain::AdvisoryStatus;

/// Words that begin a condition.
const CONDITIONS: &str = "when, if, after, passing, given, whenever, once, during, while, unless, by, e.g, example, \
                          because, second, concurrent, input, every, until, any";

/// Beginnings of words for a failure.
const CONSEQUENCES: &str = "rais, throw, crash, panic, leak, overflow, underflow, inject, fail, exception, error, \
                            lost, lose, corrupt, deadlock, hang, block, bypass, exec, overwrit, return, cause, \
                            result, break, null, undefined, infinite, denial, expos, never, wrong, stale, \
                            duplicate, race, skip";

/// Phrases of known vulnerability patterns and practices.
const KNOWN_PATTERNS: &str = "injection, xss, cross-site, csrf, ssrf, traversal, deserializ, hardcoded, hard-coded, \
                              md5, sha1, use after free, use-after-free, double free, buffer overflow, \
                              race condition, deadlock, off-by-one, off by one, null pointer, null dereference, \
                              memory leak, resource leak, mutable default, toctou, open redirect, \
                              integer overflow, swallow, eval(, weak hash, plaintext, timing attack, n+1 quer, \
                              not awaited, never awaited, unvalidated, unsanitized, privilege escalation";

/// Phrases that contradict established practice.
const AGAINST_PRACTICE: &str = "disable certificate, disable tls, verify=false, disable verification, \
                                ignore the error, ignore errors, swallow the exception, catch all exceptions and, \
                                use eval, use md5, disable authentication, skip validation, hardcode the password, \
                                store the password in plain";

/// Conditions, consequences, known patterns, and what contradicts practice.
static PHRASES: LazyLock<[Phrases; 4]> =
    LazyLock::new(|| [CONDITIONS, CONSEQUENCES, KNOWN_PATTERNS, AGAINST_PRACTICE].map(Phrases::of));

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// It cites code: a line that is not known to be missing, or names from the code.
    pub(crate) cites: bool,
    pub(crate) line: bool,
    /// It says what triggers the failure.
    pub(crate) trigger: bool,
    /// A known pattern, or confirmed by a rule.
    pub(crate) known: bool,
    /// Its suggestion contradicts established practice.
    pub(crate) against: bool,
    pub(crate) suggests: bool,
    pub(crate) confirmed: bool,
    /// The cited code does not exist.
    pub(crate) refuted: bool,
}

impl Evidence {
    pub(crate) fn of(entry: &NormalMember<'_>) -> Self {
        let [conditions, consequences, known_patterns, against_practice] = &*PHRASES;
        let (checked, suggestion) = (&entry.member.checked, entry.member.suggestion());
        let confirmed = checked.confirmed || matches!(checked.advisory, AdvisoryStatus::Confirmed { .. });
        let refuted = checked.place == Some(false) || checked.identifiers == Some(false);
        let line = entry.lines.is_some() && !refuted;
        let texts = [entry.member.title(), &entry.member.description()];
        let has = |what: &dyn Fn(&str) -> bool| texts.into_iter().any(what);
        Self {
            cites: line || has(&names_code) && !refuted,
            line,
            trigger: has(&|text| conditions.are_words_of(text)) && has(&|text| consequences.begin_a_word(text)),
            known: confirmed || has(&|text| known_patterns.are_in(text)),
            against: against_practice.are_in(suggestion),
            suggests: !suggestion.trim().is_empty(),
            confirmed,
            refuted,
        }
    }

    /// Phase 4's second step: a cited line with a concrete trigger 3, cited code 2, a general concern 1.
    fn quality(self) -> i32 {
        match (self.line && self.trigger, self.cites) {
            (true, _) => 3,
            (false, true) => 2,
            (false, false) => 1,
        }
    }

    /// The weight of a side of a conflict: cited code, a concrete path, a sound severity, a suggestion, a rule that
    /// confirms it; cited code that does not exist counts against it.
    pub(crate) fn weight(self, severity: Level, confidence: Option<u8>) -> i32 {
        let sound = severity < Level::High || confidence.is_none_or(|sure| sure >= 70) && self.trigger;
        let points = [self.line, self.trigger, sound, self.suggests, self.confirmed];
        i32::try_from(points.into_iter().filter(|point| *point).count()).unwrap_or(0) - 2 * i32::from(self.refuted)
    }

    /// Whether it is concrete enough for rule 9.
    pub(crate) fn is_concrete(self) -> bool {
        self.line && self.trigger || self.confirmed
    }
}

/// The note on a critical finding without the confidence that it requires.
pub(crate) const EXTRAORDINARY: &str = "extraordinary claim requiring extraordinary evidence";

/// What would reverse the acceptance of a finding.
pub(crate) const REVERSAL: &str = "evidence that the code it names does not behave so";

/// The note on a finding whose reviewer states no confidence.
pub(crate) const UNSTATED: &str =
    "no confidence stated: scored by its evidence, as what needs a review of the evidence";

/// Phase 4's validation score, and whether a critical finding lacks the required confidence. Without a stated confidence
/// the points are those of a finding that needs a review of its evidence, and no rule about a number applies.
pub(crate) fn score(entry: &NormalMember<'_>, evidence: Evidence) -> (i32, bool) {
    let confidence = entry.confidence;
    let mut score = match confidence {
        Some(80..) => 3,
        Some(60..80) | None => 2,
        Some(40..60) => 1,
        Some(0..40) => 0,
    };
    score += evidence.quality();
    let extraordinary = entry.severity == Level::Critical && confidence.is_some_and(|sure| sure < 70);
    if extraordinary {
        score -= 2;
    }
    if entry.severity == Level::Low && confidence.is_some_and(|sure| sure > 80) {
        score += 1;
    }
    score += 2 * i32::from(evidence.known) - i32::from(evidence.against);
    (score, extraordinary)
}

/// Phase 5: the challenge of a finding.
pub(crate) fn challenge(entry: &NormalMember<'_>, evidence: Evidence) -> EvidenceChallenge {
    let criteria = Criteria {
        specificity: evidence.cites,
        reproducibility: evidence.trigger || evidence.confirmed,
        impact: entry.severity >= Level::Medium && entry.category != Category::Architecture,
        actionability: evidence.suggests,
    };
    let member = entry.member;
    let place = place(member);
    let weakest = if evidence.refuted {
        "the code it cites does not exist"
    } else if !evidence.cites {
        "it cites no code"
    } else if !evidence.trigger {
        "it does not say what triggers it"
    } else if !evidence.suggests {
        "it does not say what to do instead"
    } else if entry.confidence.is_some_and(|sure| sure < 70) {
        "the reviewer itself is not sure"
    } else {
        "nobody else reported it"
    };
    let test = match (evidence.line, evidence.trigger) {
        (true, true) => {
            format!("bring about the condition it describes at {place} and watch for the effect it names")
        }
        (true, false) => format!("find an input or a sequence of calls that makes {place} go wrong"),
        (false, _) => "name the file and the line it is about, and an input that makes them go wrong".to_owned(),
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

/// The place of a member, in words.
pub(crate) fn place(member: &Member) -> String {
    match (&member.raw.file, member.raw.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        (None, Some(line)) => format!("line {line}"),
        (None, None) => "no place".to_owned(),
    }
}
