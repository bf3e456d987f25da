//! Finds the statements that nothing was found.

use super::words::{self, is_negation};

/// Marks the words of each statement that nothing was found, such as `no blocking issues` or `issues: none`. Returns
/// whether there is one.
pub(super) fn consume_nothing(words: &[String], consumed: &mut [bool]) -> bool {
    let mut found = mark_phrases(words, consumed);
    for at in 0..words.len() {
        let behind = words[at + 1..]
            .iter()
            .take(3)
            .position(|word| words::FOUND.contains(word.as_str()));
        if let Some(length) = behind
            && words::NOTHINGS.contains(words[at].as_str())
        {
            consumed[at..=at + 1 + length].fill(true);
            found = true;
        }
    }
    for at in 0..words.len() {
        let word = words[at].as_str();
        let has_kind = at >= 2 && is_negation(&words[at - 2]) && !is_negation(&words[at - 1]);
        let is_needless = words::WORK.contains(word)
            && (has_kind
                || words[at + 1..]
                    .iter()
                    .take(4)
                    .any(|next| words::NEED.contains(next.as_str())));
        if !(words::NOUNS.contains(word) || words::MILD_NOUNS.contains(word) || is_needless) {
            continue;
        }
        let earliest = at.saturating_sub(12);
        let nearest = (earliest..at)
            .rev()
            .find(|index| is_negation(&words[*index]));
        if let Some(start) = nearest
            && joins(words, start, at)
        {
            consumed[start..=at].fill(true);
            // The verb of the statement can follow, as in `no issues were found`.
            consume_tail(words, consumed, at + 1);
            found = true;
            continue;
        }
        // `Issues not found`
        if let [negation, verb, ..] = &words[at + 1..]
            && is_negation(negation)
            && words::FOUND.contains(verb.as_str())
        {
            consumed[at..at + 3].fill(true);
            found = true;
            continue;
        }
        // `Issues: none`, `findings = 0`
        let mut end = at + 1;
        while end < words.len()
            && (matches!(words[end].as_str(), ":" | "=" | "-" | "are" | "is" | "were")
                || words::FOUND.contains(words[end].as_str()))
        {
            end += 1;
        }
        let is_next =
            end > at + 1 || matches!(words.get(end).map(String::as_str), Some("нет" | "none"));
        if end < words.len()
            && is_next
            && is_negation(&words[end])
            && !matches!(words[end].as_str(), "not" | "unable" | "cannot")
            && words.get(end + 1).is_none_or(|next| {
                !next.chars().all(char::is_alphabetic) || words::FOUND.contains(next.as_str())
            })
        {
            consumed[at..=end].fill(true);
            consume_tail(words, consumed, end + 1);
            found = true;
        }
    }
    found
}

fn consume_tail(words: &[String], consumed: &mut [bool], from: usize) {
    for at in from..words.len().min(from + 5) {
        let word = words[at].as_str();
        let is_tail = words::FOUND.contains(word)
            || words::READS.contains(word)
            || matches!(
                word,
                "were"
                    | "was"
                    | "are"
                    | "is"
                    | "could"
                    | "be"
                    | "been"
                    | "to"
                    | "worth"
                    | "that"
                    | "would"
                    | "should"
                    | "must"
                    | "need"
                    | "needs"
                    | "needed"
                    | "required"
                    | "requested"
                    | "necessary"
                    | "blocking"
                    | "block"
                    | "wrong"
                    | "in"
                    | "of"
                    | "concern"
                    | "blocked"
                    | "gefunden"
                    | "festgestellt"
                    | "trouvé"
                    | "trouvée"
                    | "détecté"
                    | "encontrado"
                    | "encontrados"
                    | "encontré"
                    | "trovato"
            );
        if !is_tail {
            break;
        }
        consumed[at] = true;
    }
}

/// Whether the negation at `start` belongs to the noun at `end`: no verb of reading stands between.
fn joins(words: &[String], start: usize, end: usize) -> bool {
    let between = &words[start + 1..end];
    let is_verbal = matches!(
        words[start].as_str(),
        "not" | "never" | "unable" | "cannot" | "nicht" | "pas"
    ) || words[start].ends_with("n't");
    let is_direct = between.iter().all(|word| {
        matches!(
            word.as_str(),
            "a" | "an"
                | "any"
                | "the"
                | "new"
                | "real"
                | "actual"
                | "de"
                | "d'"
                | "any,"
                | "single"
        )
    });
    !between.iter().any(|word| {
        let word = word.as_str();
        let is_reading = words::READS.contains(word) && !words::FOUND.contains(word);
        is_reading
            || matches!(
                word,
                "caso"
                    | "case"
                    | "when"
                    | "where"
                    | "before"
                    | "after"
                    | "until"
                    | "while"
                    | "whether"
                    | "if"
                    | "how"
                    | "why"
                    | "because"
                    | "fix"
                    | "resolve"
                    | "address"
                    | "catch"
                    | "caught"
            )
    }) && (!is_verbal
        || is_direct
        || between
            .iter()
            .any(|word| words::FOUND.contains(word.as_str())))
}

const PHRASES: &[&str] = &[
    "asks for nothing",
    "nothing needs",
    "nothing requires",
    "nothing more",
    "does what it says",
    "test passes",
    "passes now",
    "now passes",
    "tests pass",
    "tests passed",
    "checks pass",
    "checks passed",
    "they pass",
    "it passes",
    "no reason to",
    "are none",
    "is none",
    "checks out",
    "check out",
    "all right",
    "as is",
    "was nothing wrong",
    "there is none",
    "nothing here i'd",
    "nothing i'd",
    "nothing to report",
    "nothing to flag",
    "nothing to add",
    "nothing to raise",
    "nothing to note",
    "nothing to object",
    "nothing to complain about",
    "nothing to fix",
    "nothing to change",
    "nothing stands out",
    "nothing stood out",
    "nothing suspicious",
    "nothing blocking",
    "nothing mandatory",
    "nothing of concern",
    "nothing concerning",
    "nothing problematic",
    "nothing wrong",
    "nothing that",
    "nothing worth",
    "found nothing",
    "find nothing",
    "see nothing",
    "saw nothing",
    "nothing found",
    "nothing here",
    "nothing else",
    "found none",
    "none found",
    "were none",
    "looks good to me",
    "looks good",
    "look good",
    "all good",
    "all clear",
    "ship it",
    "good to go",
    "good to merge",
    "safe to merge",
    "ready to merge",
    "ready to ship",
    "can be merged",
    "nichts zu beanstanden",
    "nichts gefunden",
    "rien à signaler",
    "rien à redire",
    "nada que reportar",
];

fn mark_phrases(words: &[String], consumed: &mut [bool]) -> bool {
    let mut found = false;
    for phrase in PHRASES {
        let parts: Vec<&str> = phrase.split(' ').collect();
        for at in 0..(words.len() + 1).saturating_sub(parts.len()) {
            if parts
                .iter()
                .zip(&words[at..])
                .all(|(part, word)| part == word)
            {
                consumed[at..at + parts.len()].fill(true);
                consume_tail(words, consumed, at + parts.len());
                found = true;
            }
        }
    }
    if matches!(words, [word] if words::NOTHINGS.contains(word.as_str())) {
        consumed.fill(true);
        return true;
    }
    found
}
