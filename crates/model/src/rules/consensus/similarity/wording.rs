//! Compares two texts word by word: which words they have in common, and in which order.

use crate::rules::consensus::similarity::likeness::Wording;
use crate::rules::consensus::similarity::vectors::{Vectors, is_stop_word, stem};

/// Only this number of words at the beginning of a text is compared in order.
const LONGEST: usize = 120;

/// Keywords and common identifiers, such as `open`. In a title, such a word is usually plain English, even if it is in
/// the code: it names nothing.
const PLAIN: &[&str] = &[
    "return", "else", "for", "not", "and", "def", "let", "var", "const", "class", "import", "from",
    "with", "use", "new", "this", "self", "try", "while", "none", "null", "true", "false", "the",
    "get", "set", "public", "private", "static", "void", "async", "await", "function", "func",
    "match", "case", "break", "continue", "raise", "throw", "except", "catch", "finally", "pass",
    "yield", "string", "int", "str", "float", "bool", "open", "close", "read", "write", "data",
    "value", "type", "print", "list", "dict",
];

const NEGATIONS: &[&str] = &[
    "not", "never", "no", "without", "cannot", "isn", "aren", "doesn", "don", "nobody",
];

/// A text: its words in lower case, and the names in the code that it mentions.
#[derive(Debug)]
pub struct ComparedText<'a> {
    /// The index of the text in the vectors.
    text: usize,
    stems: Vec<String>,
    is_negated: bool,
    /// The names without plain English words.
    names: Vec<&'a str>,
    /// The terms of the names in the vectors.
    terms: Vec<u32>,
}

impl<'a> ComparedText<'a> {
    pub fn of<'t>(
        text: usize,
        parts: impl IntoIterator<Item = &'t str>,
        names: &'a [String],
        vectors: &Vectors,
    ) -> Self {
        let words = parts
            .into_iter()
            .flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_'))
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .take(LONGEST);
        let words: Vec<String> = words.collect();
        let mut terms: Vec<u32> = names
            .iter()
            .flat_map(|name| vectors.terms_of(name))
            .collect();
        terms.sort_unstable();
        let names = names.iter().map(String::as_str);
        Self {
            text,
            is_negated: words.iter().any(|word| NEGATIONS.contains(&word.as_str())),
            stems: words.iter().map(|word| stem(word).to_owned()).collect(),
            names: names.filter(|name| !is_plain(name)).collect(),
            terms,
        }
    }

    fn names_term(&self, term: u32) -> bool {
        self.terms.binary_search(&term).is_ok()
    }

    fn lacks(&self, name: &str) -> bool {
        !self.names.contains(&name)
    }

    /// Whether a word, given as a stem, is one of the names. A word of one or two letters that is no English word is
    /// always a name.
    fn names_word(&self, word: &str) -> bool {
        word.chars().count() <= 2
            || self
                .names
                .iter()
                .any(|name| stem(&name.to_lowercase()) == word)
    }
}

pub fn compare(a: &ComparedText<'_>, b: &ComparedText<'_>, vectors: &Vectors) -> Wording {
    let common = vectors.common(a.text, b.text);
    let are_named = !a.names.is_empty() && !b.names.is_empty();
    let has_common_name = a.names.iter().any(|name| !b.lacks(name));
    let plain = common
        .iter()
        .filter(|term| !a.names_term(**term) && !b.names_term(**term))
        .count();
    let Aligned {
        order,
        replaced,
        has_more,
    } = aligned(&a.stems, &b.stems);
    Wording {
        common: common.len(),
        telling: plain + usize::from(has_common_name),
        names_differ: are_named && !has_common_name,
        names_apart: a.names.iter().any(|name| b.lacks(name))
            && b.names.iter().any(|name| a.lacks(name)),
        order,
        is_replaced: !replaced.is_empty(),
        is_renamed: replaced.iter().any(|(x, y)| match (&x[..], &y[..]) {
            ([x], [y]) => a.names_word(x) && b.names_word(y),
            _ => false,
        }),
        is_negated: a.is_negated != b.is_negated && !has_more,
    }
}

/// Words of one text, and the words that stand in the same place of the other text.
type Replaced<'a> = (Vec<&'a str>, Vec<&'a str>);

struct Aligned<'a> {
    /// The share of the words that are in the common sequence.
    order: f32,
    /// The words between them that both texts have in one place and that say something that the other text does not.
    replaced: Vec<Replaced<'a>>,
    /// Whether a text says anything that the other text does not, except for a negation.
    has_more: bool,
}

/// Aligns two texts by their longest common sequence of words.
fn aligned<'a>(a: &'a [String], b: &'a [String]) -> Aligned<'a> {
    let width = b.len() + 1;
    // `longest[i * width + j]` is the length of the longest common sequence of `a[i..]` and `b[j..]`.
    let mut longest = vec![0_u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * width + j] = if a[i] == b[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let mut replaced = Vec::new();
    let mut has_more = false;
    let mut gap: Replaced<'_> = (Vec::new(), Vec::new());
    let mut i = 0;
    let mut j = 0;
    loop {
        let at_end = i == a.len() && j == b.len();
        let is_common = i < a.len() && j < b.len() && a[i] == b[j];
        if at_end || is_common {
            let (x, y) = std::mem::take(&mut gap);
            has_more |= x.iter().chain(&y).any(|word| !NEGATIONS.contains(word));
            if !x.is_empty() && !y.is_empty() {
                replaced.push((x, y));
            }
        }
        if at_end {
            break;
        }
        if is_common {
            (i, j) = (i + 1, j + 1);
        } else if j == b.len()
            || i < a.len() && longest[(i + 1) * width + j] >= longest[i * width + j + 1]
        {
            gap.0
                .extend(Some(a[i].as_str()).filter(|word| says(word, b)));
            i += 1;
        } else {
            gap.1
                .extend(Some(b[j].as_str()).filter(|word| says(word, a)));
            j += 1;
        }
    }
    let all = u16::try_from(a.len() + b.len()).expect("texts are cut");
    let order = if all == 0 {
        0.0
    } else {
        2.0 * f32::from(longest[0]) / f32::from(all)
    };
    Aligned {
        order,
        replaced,
        has_more,
    }
}

fn says(word: &str, other: &[String]) -> bool {
    !is_small(word) && !is_stop_word(word) && !other.iter().any(|known| known == word)
}

/// Whether a word of a title is plain English, even if it is in the code.
pub fn is_plain(word: &str) -> bool {
    let word = word.to_lowercase();
    PLAIN.contains(&word.as_str()) || PLAIN.contains(&stem(&word))
}

/// Whether a word is a short English word that says nothing by itself.
fn is_small(word: &str) -> bool {
    #[rustfmt::skip]
    let is_small = matches!(
        word,
        "a" | "an" | "as" | "at" | "be" | "because" | "by" | "do" | "i" | "if" | "in" | "is" | "it" | "no" | "of" | "on"
            | "or" | "so" | "to" | "up" | "we"
    );
    is_small
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(a: &str, b: &str) -> (f32, usize) {
        let vectors = Vectors::of(&[[a], [b]]);
        let [a, b] = [a, b].map(|text| ComparedText::of(0, [text], &[], &vectors));
        let aligned = aligned(&a.stems, &b.stems);
        (aligned.order, aligned.replaced.len())
    }

    #[test]
    fn a_replaced_word_and_the_order_of_the_rest() {
        assert_eq!(
            order(
                "The token is written to the log",
                "The password is written to the log"
            ),
            (12.0 / 14.0, 1)
        );
        assert_eq!(
            order("Weak hash", "The hash is weak"),
            (2.0 / 6.0, 0),
            "moved"
        );
        assert_eq!(
            order("weak hash used", "weak hash"),
            (4.0 / 5.0, 0),
            "added"
        );
        assert_eq!(order("", ""), (0.0, 0));
    }
}
