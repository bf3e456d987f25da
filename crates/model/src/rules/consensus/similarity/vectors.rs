//! Converts the texts of findings into TF-IDF vectors, so that the texts can be compared.
//!
//! A term is a stemmed word or a part of an identifier. Terms are numbered in the order of their first
//! occurrence, so the same list of texts always results in bitwise equal vectors.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;

use crate::rules::parallel;

pub fn is_stop_word(word: &str) -> bool {
    #[rustfmt::skip]
    let stops = matches!(
        word,
        "and" | "are" | "but" | "can" | "could" | "for" | "from" | "has" | "have" | "into" | "may" | "not" | "should"
            | "that" | "the" | "this" | "was" | "when" | "which" | "will" | "with" | "would"
    );
    stops
}

/// Endings that are removed from words of six or more letters. The ending `ings` precedes the ending `s`, so that
/// the longest ending is removed.
const ENDINGS: &[&str] = &["ations", "ation", "ings", "ing", "ed", "es", "ly", "s"];

/// Maps each word to the number that represents the word in vectors. A fast hash function is used, because
/// look-ups take most of the time in a large merge.
type Numbers = HashMap<Box<str>, u32, RandomState>;

pub struct Vectors {
    /// For each text, the index in `terms` at which the pairs of the text begin.
    starts: Vec<u32>,
    /// The terms of all texts, as pairs of a term id and a weight. The pairs are sorted by text, and within a
    /// text by term id. The vector of each text has length 1.
    terms: Vec<(u32, f32)>,
    /// For each term, the index in `holders` of the first text that contains the term.
    held: Vec<u32>,
    holders: Vec<u32>,
    numbers: Numbers,
}

impl Vectors {
    /// Each text consists of `N` parts.
    pub fn of<const N: usize>(texts: &[[&str; N]]) -> Self {
        let mut numbers = Numbers::default();
        let mut parts: Vec<Counts> = parallel::parts(texts, Counts::of);
        let number_of: Vec<Vec<u32>> = parts
            .iter_mut()
            .map(|counts| {
                let numbered = std::mem::take(&mut counts.words).into_iter().map(|word| {
                    let next = as_u32(numbers.len());
                    *numbers.entry(word).or_insert(next)
                });
                numbered.collect()
            })
            .collect();
        let parts: Vec<(Counts, Vec<u32>)> = parts.into_iter().zip(number_of).collect();
        let numbered = parallel::parts_of(&parts, 1, |part| {
            part.iter()
                .map(|(counts, number_of)| counts.numbered(number_of))
                .collect::<Vec<_>>()
        });
        let mut starts = vec![0];
        let mut terms = Vec::with_capacity(parts.iter().map(|(it, _)| it.terms.len()).sum());
        for ((counts, _), own) in parts.iter().zip(numbered.into_iter().flatten()) {
            for length in &counts.lengths {
                starts.push(starts[starts.len() - 1] + length);
            }
            terms.extend(own);
        }
        let mut vectors = Self {
            starts,
            terms,
            held: vec![0; numbers.len() + 1],
            holders: Vec::new(),
            numbers,
        };
        vectors.index();
        vectors.weigh();
        vectors
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn index(&mut self) {
        for (term, _) in &self.terms {
            self.held[*term as usize + 1] += 1;
        }
        for term in 1..self.held.len() {
            self.held[term] += self.held[term - 1];
        }
        let mut next = self.held.clone();
        self.holders = vec![0; self.terms.len()];
        for text in 0..self.len() {
            for at in self.starts[text]..self.starts[text + 1] {
                let place = &mut next[self.terms[at as usize].0 as usize];
                self.holders[*place as usize] = as_u32(text);
                *place += 1;
            }
        }
    }

    fn weigh(&mut self) {
        let rarities: Vec<f32> = self
            .held
            .windows(2)
            .map(|ends| rarity(ends[1] - ends[0], self.len()))
            .collect();
        for text in 0..self.len() {
            let own = self.starts[text] as usize..self.starts[text + 1] as usize;
            let mut square = 0.0;
            for (term, count) in &mut self.terms[own.clone()] {
                *count *= rarities[*term as usize];
                square += *count * *count;
            }
            let length = square.sqrt();
            for (_, weight) in &mut self.terms[own] {
                *weight /= length;
            }
        }
    }

    pub(crate) fn frequency(&self, term: u32) -> u32 {
        self.held[term as usize + 1] - self.held[term as usize]
    }

    pub fn terms(&self, text: usize) -> &[(u32, f32)] {
        &self.terms[self.starts[text] as usize..self.starts[text + 1] as usize]
    }

    pub(crate) fn holders(&self, term: u32) -> &[u32] {
        &self.holders[self.held[term as usize] as usize..self.held[term as usize + 1] as usize]
    }

    /// The terms of a word.
    pub(crate) fn terms_of(&self, word: &str) -> Vec<u32> {
        let mut terms = Vec::new();
        tokens(word, &mut String::new(), &mut |term| {
            terms.extend(self.numbers.get(term).copied());
        });
        terms
    }

    /// The cosine similarity of two texts, from 0 to 1.
    pub fn cosine(&self, a: usize, b: usize) -> f32 {
        self.shared(a, b).map(|(_, weight)| weight).sum()
    }

    /// The terms that two texts have in common.
    pub fn common(&self, a: usize, b: usize) -> Vec<u32> {
        self.shared(a, b).map(|(term, _)| term).collect()
    }

    fn shared(&self, a: usize, b: usize) -> impl Iterator<Item = (u32, f32)> {
        let mut rest = self.terms(a);
        self.terms(b).iter().filter_map(move |(term, weight)| {
            rest = &rest[rest.partition_point(|(other, _)| other < term)..];
            let (_, own) = rest.first().filter(|(other, _)| other == term)?;
            Some((*term, own * weight))
        })
    }

    pub(crate) fn comparer(&self) -> Comparer<'_> {
        Comparer {
            vectors: self,
            text: None,
            weights: vec![0.0; self.held.len()],
        }
    }
}

fn rarity(holders: u32, texts: usize) -> f32 {
    ((texts as f32 + 1.0) / (holders as f32 + 1.0)).ln() + 1.0
}

/// Compares a selected text with many other texts. The weights of the selected text are stored in a list that is
/// indexed by term, so that each comparison is fast.
pub(crate) struct Comparer<'a> {
    vectors: &'a Vectors,
    text: Option<usize>,
    weights: Vec<f32>,
}

impl Comparer<'_> {
    pub(crate) fn set(&mut self, text: usize) {
        for (term, _) in self
            .text
            .replace(text)
            .into_iter()
            .flat_map(|text| self.vectors.terms(text))
        {
            self.weights[*term as usize] = 0.0;
        }
        for (term, weight) in self.vectors.terms(text) {
            self.weights[*term as usize] = *weight;
        }
    }

    pub(crate) fn cosine(&self, other: usize) -> f32 {
        self.vectors
            .terms(other)
            .iter()
            .map(|(term, weight)| self.weights[*term as usize] * weight)
            .sum()
    }
}

struct Counts {
    words: Vec<Box<str>>,
    lengths: Vec<u32>,
    /// The distinct words of all texts, as pairs of a word id and a weight. The weight is `1 + ln(n)` if the
    /// text contains the word `n` times. The pairs are sorted by text.
    terms: Vec<(u32, f32)>,
}

impl Counts {
    fn numbered(&self, number_of: &[u32]) -> Vec<(u32, f32)> {
        let mut terms: Vec<(u32, f32)> = self
            .terms
            .iter()
            .map(|(word, count)| (number_of[*word as usize], *count))
            .collect();
        let mut rest = terms.as_mut_slice();
        for length in &self.lengths {
            let (own, others) = rest.split_at_mut(*length as usize);
            own.sort_unstable_by_key(|(term, _)| *term);
            rest = others;
        }
        terms
    }

    fn of<const N: usize>(texts: &[[&str; N]]) -> Self {
        let mut numbers = Numbers::default();
        let mut counts = Self {
            words: Vec::new(),
            lengths: Vec::with_capacity(texts.len()),
            terms: Vec::new(),
        };
        let mut found = Vec::new();
        let mut scratch = String::new();
        for text in texts {
            found.clear();
            for part in text {
                tokens(part, &mut scratch, &mut |word| {
                    let number = numbers.get(word).copied().unwrap_or_else(|| {
                        let next = as_u32(counts.words.len());
                        numbers.insert(word.into(), next);
                        counts.words.push(word.into());
                        next
                    });
                    found.push(number);
                });
            }
            found.sort_unstable();
            let before = counts.terms.len();
            for same in found.chunk_by(|a, b| a == b) {
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "no text repeats a word 2^23 times"
                )]
                let damped = if same.len() == 1 {
                    1.0
                } else {
                    1.0 + (same.len() as f32).ln()
                };
                counts.terms.push((same[0], damped));
            }
            counts.lengths.push(as_u32(counts.terms.len() - before));
        }
        counts
    }
}

pub(crate) fn as_u32(count: usize) -> u32 {
    u32::try_from(count).expect("a run has fewer than 2^32 terms")
}

/// Calls `give` for each term of a text. `lower` is a reusable buffer.
pub fn tokens(text: &str, lower: &mut String, give: &mut impl FnMut(&str)) {
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        let word = word.trim_start_matches(|c: char| c.is_ascii_digit());
        if word.len() < 2 {
            continue;
        }
        if !word.is_ascii() {
            foreign(word, give);
            continue;
        }
        lower.clear();
        lower.push_str(word);
        lower.make_ascii_lowercase();
        term(lower, give);
        parts(word.as_bytes(), &mut |part: Range<usize>| {
            if part.len() < word.len() {
                term(&lower[part], give);
            }
        });
    }
}

fn term(word: &str, give: &mut impl FnMut(&str)) {
    if word.len() > 2 && !is_stop_word(word) {
        give(stem(word));
    }
}

/// Removes the ending of a word in lower case.
pub fn stem(word: &str) -> &str {
    let may_end = word.len() > 5 && word.ends_with(['s', 'n', 'g', 'd', 'y']);
    let stem = ENDINGS
        .iter()
        .filter(|_| may_end)
        .find_map(|ending| word.strip_suffix(ending));
    stem.unwrap_or(word)
}

/// Calls `give` for a word with non-ASCII characters, and for each pair of adjacent characters of the word. The
/// pairs are necessary because some scripts have no spaces between words.
fn foreign(word: &str, give: &mut impl FnMut(&str)) {
    let lower = word.to_lowercase();
    give(&lower);
    let mut ends = lower
        .char_indices()
        .map(|(at, _)| at)
        .skip(2)
        .chain([lower.len()]);
    for (start, _) in lower.char_indices() {
        let Some(end) = ends.next() else { return };
        if end - start < lower.len() {
            give(&lower[start..end]);
        }
    }
}

/// Splits an identifier into its parts. For example, `HTTPServer_name` has the parts `HTTP`, `Server` and `name`.
fn parts(bytes: &[u8], give: &mut impl FnMut(Range<usize>)) {
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_uppercase() {
            at += 1;
        }
        let capitals = at - start;
        let is_small = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
        if capitals > 1 && is_small(at) {
            // If several capital letters precede a small letter, the last capital letter begins the next part.
            // In `HTTPServer`, `S` belongs to `Server`.
            at -= 1;
        } else {
            while is_small(at) {
                at += 1;
            }
        }
        if at == start {
            at += 1
        } else {
            give(start..at)
        }
    }
}

/// Whether a text contains a sign of code, such as a back quote, a function call or an identifier of several
/// words.
pub(crate) fn names_code(text: &str) -> bool {
    text.contains('`')
        || text.contains("()")
        || text
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .any(|word| {
                let inner = word.trim_matches('_');
                inner.contains('_')
                    || inner
                        .as_bytes()
                        .windows(2)
                        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
            })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        tokens(text, &mut String::new(), &mut |word| {
            words.push(word.to_owned())
        });
        words
    }

    #[test]
    fn words_identifiers_and_their_parts() {
        assert_eq!(
            words("The HTTPServer leaks"),
            ["httpserver", "http", "server", "leaks"]
        );
        assert_eq!(
            words("purge_expired() caching"),
            ["purge_expir", "purge", "expir", "cach"]
        );
        assert_eq!(words("sha256 of x1"), ["sha256", "sha"]);
        assert_eq!(words("메모리 누수"), ["메모리", "메모", "모리", "누수"]);
    }

    #[test]
    fn the_same_text_is_alike_and_a_rare_word_weighs_more() {
        let texts = [
            "cache leaks lock",
            "cache leaks lock",
            "cache grows",
            "lock order",
            "cache order",
        ];
        let vectors = Vectors::of(&texts.map(|text| [text, ""]));
        assert!((vectors.cosine(0, 1) - 1.0).abs() < 1e-6);
        assert!(
            vectors.cosine(0, 3) > vectors.cosine(0, 2),
            "`lock` is rarer than `cache`"
        );
        assert!(vectors.cosine(2, 3) < 1e-6);
    }
}
