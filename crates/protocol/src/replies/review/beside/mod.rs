//! Reads what a reviewer says beside a count of 0, and decides whether the words bear the count out.
//!
//! Three answers are possible. The *form* of the text can contradict the count: a verdict that fails, a tag that was
//! not read as a finding, or a list of places with defects. Then the answer is incomplete. The *words* can be
//! doubtful: a clause speaks of code that was not read, of a defect, of advice, or nothing in the text says that
//! nothing was found. Then the reviewer is asked. Words alone never contradict, because no list of words knows what a
//! sentence means. For the same reason a defect can stand in words that nobody listed, as in `two clients can get the
//! same number`; the report therefore shows all that a reviewer says beside its findings.
//!
//! Fenced code, quotes and inline code are not read, because they repeat the code under review.

mod form;
mod nothing;
mod sentences;
mod words;

use std::sync::LazyLock;

use regex::Regex;

pub use self::form::{contradiction, fails, quoted_finding};
use self::nothing::consume_nothing;
use self::sentences::{Clause, Sentence};
use self::words::is_negation;
use crate::text::pattern;

/// The largest text that is read, in bytes. A longer text beside a count of 0 is doubtful.
const LONGEST: usize = 8 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bearing {
    Agrees,
    /// The sentence that gave the doubt.
    Doubtful(String),
    /// The part of the text that contradicts the count.
    Contradicts(String),
}

/// Whether `text`, which stands beside a count of 0, agrees with the count.
pub(crate) fn bearing(text: &str) -> Bearing {
    if text.len() > LONGEST {
        return Bearing::Doubtful(first_line(text));
    }
    if let Some(part) = contradiction(text) {
        return Bearing::Contradicts(part);
    }
    if let Some(line) = quoted_finding(text) {
        return Bearing::Doubtful(line);
    }
    let sentences = sentences::split(text);
    let mut says_nothing_found = false;
    let mut doubt = None;
    for sentence in &sentences {
        match weigh(sentence) {
            Weight::Doubtful if sentence.is_item && sentence.has_place => {
                return Bearing::Contradicts(sentence.text.clone());
            }
            Weight::Doubtful => {
                doubt.get_or_insert(sentence);
            }
            Weight::Agrees => says_nothing_found = true,
            // A line of code is named, and nothing says that it is right.
            Weight::Silent if sentence.has_place => {
                doubt.get_or_insert(sentence);
            }
            Weight::Silent => {}
        }
    }
    match doubt {
        Some(sentence) => Bearing::Doubtful(sentence.text.clone()),
        None if says_nothing_found || sentences.is_empty() => Bearing::Agrees,
        None => Bearing::Doubtful(first_line(text)),
    }
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line[..line.floor_char_boundary(300)].to_owned()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// Says that nothing was found, or that something is right.
    Agrees,
    /// Says nothing about the count.
    Silent,
    Doubtful,
}

fn weigh(sentence: &Sentence) -> Weight {
    if sentence.is_cjk {
        return weigh_cjk(&sentence.text);
    }
    if sentence.is_question
        || sentence.is_unchecked()
        || sentence.announces_work()
        || sentence.is_about_part()
        || sentence.counts()
    {
        return Weight::Doubtful;
    }
    if sentence.is_offer() {
        return Weight::Silent;
    }
    let mut weight = Weight::Silent;
    for clause in &sentence.clauses {
        match of_clause(clause, sentence) {
            Weight::Doubtful => return Weight::Doubtful,
            Weight::Agrees => weight = Weight::Agrees,
            Weight::Silent => {}
        }
    }
    weight
}

fn of_clause(clause: &Clause, sentence: &Sentence) -> Weight {
    let words = &clause.words;
    let mut consumed = vec![false; words.len()];
    let says_nothing = consume_nothing(words, &mut consumed);
    let is_good = |at: usize| {
        consumed[at]
            || words::POSITIVE.contains(words[at].as_str())
            || words[at] == "pass" && (at == 0 || words[at - 1] == ":")
    };
    let is_positive = (0..words.len()).any(is_good);
    let left = |list: &words::WordSet| {
        (0..words.len()).any(|at| !consumed[at] && list.contains(words[at].as_str()))
    };
    let is_partial =
        left(&words::READS) && left(&words::PARTS) && !says_nothing && !is_only_of_change(words);
    if is_partial || is_conditional(words) || clause.is_behind_contrast && !is_positive {
        return Weight::Doubtful;
    }
    let mut denies_hazard = false;
    for at in (0..words.len()).filter(|at| !consumed[*at]) {
        let word = words[at].as_str();
        denies_hazard |= is_negation(word)
            && words[at + 1..]
                .iter()
                .take(6)
                .any(|word| words::DEFECTS.contains(word.as_str()));
        let is_doubtful = if is_negation(word) {
            is_doubtful_negation(words, at)
        } else if words::EMPTY.contains(word) {
            at > 0
                && match words[at - 1].as_str() {
                    "is" | "was" | "are" | "were" | "be" | "completely" | "appears" | "seems"
                    | "ist" | "war" | "est" | "était" | "está" | "è" => true,
                    "," | ":" => !is_excused(words, at, &consumed),
                    _ => false,
                }
        } else if words::SURE_LIMITS.contains(word)
            || words::LIMITS.contains(word) && sentence.is_about_reading()
        {
            let since = words[..at].iter().rposition(|word| word == ":");
            let since = since.map_or(0, |since| since + 1);
            !is_excused(&words[since..], at - since, &consumed[since..])
        } else if words::DEFECTS.contains(word) || words::NOUNS.contains(word) {
            let since = words[..at]
                .iter()
                .rposition(|word| word == ",")
                .unwrap_or(0);
            let is_right = (since..words.len()).any(is_good);
            !is_excused(words, at, &consumed) && !is_right
        } else {
            // `could not` is a negation, and `what it should do` says that something is right.
            let is_own = at > 0 && matches!(words[at - 1].as_str(), "i" | "we" | "each" | "every");
            let is_idiom = words
                .get(at + 1)
                .is_none_or(|next| is_negation(next) || next == "do")
                || is_own && matches!(word, "could" | "would" | "may");
            words::RESERVATIONS.contains(word)
                && !is_positive
                && !is_idiom
                && !is_excused(words, at, &consumed)
        };
        if is_doubtful {
            return Weight::Doubtful;
        }
    }
    if is_positive || denies_hazard || left(&words::REVIEWED) || is_scope(words) {
        Weight::Agrees
    } else {
        Weight::Silent
    }
}

/// Whether the clause limits the reading to the change itself, which is what was asked.
fn is_only_of_change(words: &[String]) -> bool {
    let only = words
        .iter()
        .position(|word| word == "only" || word == "nur");
    only.is_some_and(|at| {
        let behind = words[at + 1..].iter();
        behind.take(4).any(|word| {
            matches!(
                word.as_str(),
                "changed" | "modified" | "added" | "geänderten"
            )
        })
    })
}

/// Whether an approval depends on something, as in `LGTM once the test is fixed`.
fn is_conditional(words: &[String]) -> bool {
    let approval = words
        .iter()
        .position(|word| words::APPROVALS.contains(word.as_str()));
    approval.is_some_and(|at| {
        let behind = words[at + 1..].iter();
        behind
            .take(6)
            .any(|word| words::CONDITIONS.contains(word.as_str()))
    })
}

/// Whether a word such as `leak` stands for something that is not there, or that the code or the reviewer dealt with.
fn is_excused(words: &[String], at: usize, consumed: &[bool]) -> bool {
    let from = at.saturating_sub(9);
    let mut before = (from..at)
        .filter(|index| !consumed[*index])
        .map(|index| &words[index]);
    let is_dealt_with = |word: &String| is_negation(word) || words::HANDLES.contains(word.as_str());
    let is_handled_later = words[at + 1..]
        .iter()
        .take(4)
        .any(|word| words::HANDLES.contains(word.as_str()));
    before.any(is_dealt_with)
        || is_handled_later
        || looked_for(&words[..at])
        || is_ruled_out(&words[at + 1..])
}

/// Whether a negation leaves a doubt: it says that something was not read, or neither a defect nor anything harmless
/// stands behind it.
fn is_doubtful_negation(words: &[String], at: usize) -> bool {
    // `Callers: none yet`
    let answers_label = at > 0 && words[at - 1] == ":" && words.len() - at <= 3;
    // A number is a value of the code where nothing is counted.
    let is_number = matches!(words[at].as_str(), "0" | "zero");
    let mut behind = words[at + 1..].iter().take(6);
    let is_harmless = behind.any(|word| {
        words::DEFECTS.contains(word.as_str()) || words::NEUTRAL_NEGATED.contains(word.as_str())
    });
    let is_of_reading = words.get(at + 1).is_some_and(|word| {
        words::READS.contains(word.as_str()) || matches!(word.as_str(), "given" | "shown")
    });
    !(answers_label || is_number || is_harmless) || is_of_reading
}

/// Whether the clause only names what was reviewed, as in `Scope: src/app.py`.
fn is_scope(words: &[String]) -> bool {
    matches!(words, [first, colon, ..] if colon == ":" && matches!(first.as_str(), "scope" | "file" | "files" | "range" | "target" | "umfang"))
}

/// Whether the words behind a hazard say that there is none, as in `path traversal: not applicable`.
fn is_ruled_out(behind: &[String]) -> bool {
    let Some(at) = behind.iter().position(|word| is_negation(word)) else {
        return matches!(behind.last().map(String::as_str), Some("n" | "n/a" | "na"));
    };
    let is_linked = behind[..at].iter().all(|word| {
        matches!(
            word.as_str(),
            ":" | "is"
                | "are"
                | "were"
                | "was"
                | "risk"
                | "risks"
                | "issues"
                | "found"
                | "does"
                | "do"
        )
    });
    let next = behind.get(at + 1).map_or("", String::as_str);
    let is_none = matches!(
        behind[at].as_str(),
        "none" | "no" | "nothing" | "0" | "keine" | "aucun" | "ninguno"
    );
    at <= 4
        && is_linked
        && (is_none && at < 3
            || matches!(
                next,
                "applicable"
                    | "present"
                    | "found"
                    | "relevant"
                    | "possible"
                    | "affected"
                    | "introduced"
                    | "apply"
                    | "a"
                    | "an"
            ))
}

/// Whether the words before a hazard say that the reviewer looked for the hazard.
fn looked_for(before: &[String]) -> bool {
    let mut looked = false;
    for word in before {
        looked |= words::LOOKED.contains(word.as_str()) || word == "attention" || word == "went";
        if looked
            && matches!(
                word.as_str(),
                "with"
                    | "to"
                    | "for"
                    | "that"
                    | "against"
                    | "on"
                    | "whether"
                    | "if"
                    | "at"
                    | ":"
                    | "nach"
                    | "auf"
            )
        {
            return true;
        }
    }
    false
}

static NOTHING_CJK: LazyLock<Regex> = LazyLock::new(|| pattern(words::NOTHING_CJK));

/// In languages without blanks, phrases that say that nothing was found are taken out. What is left is searched for
/// parts of words that give doubt.
fn weigh_cjk(text: &str) -> Weight {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let agrees = NOTHING_CJK.is_match(&text);
    let mut left = NOTHING_CJK.replace_all(&text, "").into_owned();
    for phrase in words::NEUTRAL_CJK.split_whitespace() {
        left = left.replace(phrase, "");
    }
    if words::DOUBT_CJK
        .split_whitespace()
        .any(|sign| left.contains(sign))
    {
        return Weight::Doubtful;
    }
    let latin = sentences::split(&left.replace(|c: char| sentences::is_cjk(c), " "));
    if latin
        .iter()
        .any(|sentence| !sentence.is_cjk && weigh(sentence) == Weight::Doubtful)
    {
        return Weight::Doubtful;
    }
    if agrees || left.to_uppercase().contains("LGTM") {
        Weight::Agrees
    } else {
        Weight::Silent
    }
}

#[cfg(test)]
mod tests;
