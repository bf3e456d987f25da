//! What speaks for a finding: the evidence that can be checked without judgement, the validation score of phase 4, and
//! the challenge of phase 5.

use std::sync::LazyLock;

use super::AdvisoryStatus;
use crate::rules::consensus::claim::{Claim, ClaimChallenge, Criteria, Level};
use crate::rules::consensus::normalise::{Category, NormalClaim};
use crate::rules::consensus::similarity::phrases::Phrases;
use crate::rules::consensus::similarity::vectors::names_code;

/// Words that begin a condition under which something happens.
static CONDITIONS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::of(
        "when, if, after, passing, given, whenever, once, during, while, unless, by, e.g, example, because, \
         second, concurrent, input, every, until, any",
    )
});

/// Beginnings of words for what goes wrong then.
static CONSEQUENCES: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::of(
        "rais, throw, crash, panic, leak, overflow, underflow, inject, fail, exception, error, lost, lose, \
         corrupt, deadlock, hang, block, bypass, exec, overwrit, return, cause, result, break, null, undefined, \
         infinite, denial, expos, never, wrong, stale, duplicate, race, skip",
    )
});

/// Phrases of known vulnerability patterns and practices.
static KNOWN_PATTERNS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::of(
        "injection, xss, cross-site, csrf, ssrf, traversal, deserializ, hardcoded, hard-coded, md5, sha1, \
         use after free, use-after-free, double free, buffer overflow, race condition, deadlock, off-by-one, \
         off by one, null pointer, null dereference, memory leak, resource leak, mutable default, toctou, \
         open redirect, integer overflow, swallow, eval(, weak hash, plaintext, timing attack, n+1 quer, \
         not awaited, never awaited, unvalidated, unsanitized, privilege escalation",
    )
});

/// What no established practice asks for.
static AGAINST_PRACTICE: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::of(
        "disable certificate, disable tls, verify=false, disable verification, ignore the error, ignore errors, \
         swallow the exception, catch all exceptions and, use eval, use md5, disable authentication, \
         skip validation, hardcode the password, store the password in plain",
    )
});

/// What can be said of a claim's evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// It cites code: a line that is not known to be missing, or names from the code.
    pub(crate) cites: bool,
    pub(crate) line: bool,
    /// It says what has to happen for it to go wrong.
    pub(crate) trigger: bool,
    /// A known pattern, or confirmed by a rule.
    pub(crate) known: bool,
    /// Its suggestion is against established practice.
    pub(crate) against: bool,
    pub(crate) suggests: bool,
    pub(crate) confirmed: bool,
    /// What was cited does not exist.
    pub(crate) refuted: bool,
}

impl Evidence {
    pub(crate) fn of(claim: &Claim, entry: &NormalClaim) -> Self {
        let advised = matches!(claim.checked.advisory, AdvisoryStatus::Confirmed { .. });
        let confirmed = claim.checked.confirmed || advised;
        let refuted = claim.checked.place == Some(false) || claim.checked.identifiers == Some(false);
        let line = entry.lines.is_some() && !refuted;
        let text = [claim.title.as_str(), claim.description.as_str()];
        let has = |what: &dyn Fn(&str) -> bool| text.into_iter().any(what);
        Self {
            cites: line || (names_code(&claim.description) || names_code(&claim.title)) && !refuted,
            line,
            trigger: has(&|text| CONDITIONS.are_words_of(text)) && has(&|text| CONSEQUENCES.begin_a_word(text)),
            known: confirmed || has(&|text| KNOWN_PATTERNS.are_in(text)),
            against: AGAINST_PRACTICE.are_in(&claim.suggestion),
            suggests: !claim.suggestion.trim().is_empty(),
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

    /// What counts between two sides of a conflict: cited code, a concrete path, a sound severity, a suggestion, a
    /// rule that confirms it; what was cited and does not exist counts against.
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

/// What is noted of a finding whose reviewer states no confidence.
pub(crate) const UNSTATED: &str =
    "no confidence stated: scored by its evidence, as what needs a review of the evidence";

/// Phase 4's validation score, and whether a critical claim lacks the confidence that it needs. Where no confidence is
/// stated, the points are those of what needs a review of the evidence, and no rule about a number applies.
pub(crate) fn score(entry: &NormalClaim, evidence: Evidence) -> (i32, bool) {
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
pub(crate) fn challenge(claim: &Claim, entry: &NormalClaim, evidence: Evidence) -> ClaimChallenge {
    let criteria = Criteria {
        specificity: evidence.cites,
        reproducibility: evidence.trigger || evidence.confirmed,
        impact: entry.severity >= Level::Medium && entry.category != Category::Architecture,
        actionability: evidence.suggests,
    };
    let place = place(claim);
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
    ClaimChallenge {
        finding: format!(
            "{} claims \"{}\" at {place} with severity {}",
            claim.model,
            claim.title,
            entry.severity.as_str()
        ),
        weakest: weakest.to_owned(),
        test,
        holds: criteria.met() >= 2,
        criteria,
    }
}

/// Where a claim stands, in words.
pub(crate) fn place(claim: &Claim) -> String {
    match (&claim.file, claim.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        (None, Some(line)) => format!("line {line}"),
        (None, None) => "no place".to_owned(),
    }
}
