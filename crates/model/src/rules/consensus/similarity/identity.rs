//! Recognises findings about the same unchanged code. The module `likeness` decides about each pair.

use std::collections::BTreeSet;

use crate::domain::Anchor;
use crate::rules::consensus::similarity::likeness::{
    Distance, Likeness, NEAR, PairFacts, Weakness, likeness,
};
use crate::rules::consensus::similarity::vectors::{Vectors, stem};
use crate::rules::consensus::similarity::wording::{self, ComparedText, is_plain};

/// Returns the words of a title that are identifiers in `code`, sorted.
pub fn names(title: &str, code: &str) -> Vec<String> {
    let known: BTreeSet<&str> = identifiers(code).collect();
    names_among(title, |word| known.contains(word))
}

/// Yields the identifiers in `code` that have at least three bytes, with repetitions.
pub fn identifiers(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !is_part(c))
        .filter(|word| word.len() >= 3)
}

/// Returns the words of a title that satisfy `is_known`, sorted. Other forms of plain English words count, too: a title
/// says "opened" where the code has `open`.
pub fn names_among(title: &str, is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let named = title
        .split(|c: char| !is_part(c))
        .filter(|word| is_known(word) || is_plain(word) && is_known(stem(&word.to_lowercase())));
    let named: BTreeSet<&str> = named.collect();
    named
        .into_iter()
        .filter(|word| !word.chars().all(|c| c.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The texts of the findings and rulings about one file, as vectors that can be compared. Rare words have more
/// weight than common words.
pub struct Wordings<'a> {
    anchors: Vec<(&'a Anchor, ComparedText<'a>)>,
    vectors: Vectors,
}

impl<'a> Wordings<'a> {
    pub fn of(anchors: impl IntoIterator<Item = &'a Anchor>) -> Self {
        let anchors: Vec<&Anchor> = anchors.into_iter().collect();
        let texts: Vec<[&str; 1]> = anchors
            .iter()
            .map(|anchor| [anchor.text.as_str()])
            .collect();
        let vectors = Vectors::of(&texts);
        let compared = texts.iter().enumerate().zip(&anchors);
        let compared = compared.map(|((text, parts), anchor)| {
            ComparedText::of(text, parts.iter().copied(), &anchor.names, &vectors)
        });
        Self {
            anchors: std::iter::zip(anchors.iter().copied(), compared).collect(),
            vectors,
        }
    }

    /// Whether the anchor at index `b` repeats the anchor at index `a`. `distance` is the distance, in lines, between
    /// the two anchors, or `None` if the distance is unknown.
    pub fn compare(&self, a: usize, b: usize, distance: Option<u32>) -> Likeness {
        let (ours, our_text) = &self.anchors[a];
        let (theirs, their_text) = &self.anchors[b];
        if name_different_rules(ours, theirs) {
            return Likeness::Different;
        }
        let weakness = Weakness::of(ours.cwe, theirs.cwe);
        let has_rule = specific(ours).is_some();
        if ours.text == theirs.text && !ours.text.is_empty() && weakness != Weakness::Unrelated {
            let reach = if has_rule { 0 } else { NEAR };
            if distance.is_none_or(|distance| distance <= reach) {
                return Likeness::Same(2.0);
            }
            // Equal texts at distant lines report two separate defects of the same kind.
            if !weakness.is_related() {
                return Likeness::Different;
            }
        }
        let facts = PairFacts {
            distance: distance.map_or(Distance::Unknown, Distance::Lines),
            is_same_block: ours.block == theirs.block,
            weakness,
            cosine: self.vectors.cosine(a, b),
            is_repetition: true,
        };
        likeness(&facts, || {
            wording::compare(our_text, their_text, &self.vectors)
        })
    }

    /// The similarity, from 0 to 1, of two findings in different code. Returns `None` if the findings have
    /// different rules.
    pub fn resemblance(&self, a: usize, b: usize) -> Option<f32> {
        let (ours, _) = self.anchors[a];
        let (theirs, _) = self.anchors[b];
        (!name_different_rules(ours, theirs)).then(|| self.vectors.cosine(a, b))
    }
}

fn name_different_rules(ours: &Anchor, theirs: &Anchor) -> bool {
    matches!((specific(ours), specific(theirs)), (Some(a), Some(b)) if a != b)
}

/// Returns the rule of a finding if the rule is an id such as `py/weak-hash`. Returns `None` for a general word
/// such as `security`.
fn specific(anchor: &Anchor) -> Option<&str> {
    anchor.rule.as_deref().filter(|rule| is_identifier(rule))
}

fn is_identifier(rule: &str) -> bool {
    rule.contains(|c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | '/' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness(a: &Anchor, b: &Anchor) -> Option<f32> {
        let distance = a.offset.zip(b.offset).map(|(a, b)| a.abs_diff(b));
        Wordings::of([a, b])
            .compare(0, 1, distance)
            .same()
            .filter(|_| a.file == b.file && a.block == b.block)
    }

    const CODE: &str = "def login(user, password):\n    digest = md5(password + ADMIN_KEY)\n    rows = db.run(query(user))\n    \
                        token = cache[user]\n    return rows[0].digest == digest\n";

    fn anchor(offset: u32, rule: Option<&str>, title: &str) -> Anchor {
        let words: Vec<String> = title
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        Anchor {
            file: "a.py".into(),
            block: "b".into(),
            category: "security".into(),
            text: words.join(" "),
            offset: Some(offset),
            rule: rule.map(str::to_owned),
            names: names(title, CODE),
            ..Anchor::default()
        }
    }

    #[test]
    fn other_words_for_one_problem_match() {
        let rows = [
            ("Replace the weak hash", "Weak MD5 hash"),
            ("MD5 is a weak hash", "Weak hash: md5 is broken"),
            (
                "SQL injection through `user`",
                "Possible SQL injection: `user` is not escaped",
            ),
            (
                "Deleting from `cache` while iterating it",
                "`cache` is modified while iterating",
            ),
            (
                "The digest comparison is not constant-time",
                "Timing attack: digest comparison is not constant-time",
            ),
            (
                "`rows[0]` fails for an empty result",
                "`rows[0]` on an empty result raises IndexError",
            ),
            (
                "Unbounded cache grows without limit",
                "The cache grows without an upper limit",
            ),
        ];
        let mut missed = Vec::new();
        for (a, b) in rows {
            for (a, b) in [(a, b), (b, a), (a, a)] {
                if likeness(&anchor(1, None, a), &anchor(2, None, b)).is_none() {
                    missed.push((a, b));
                }
            }
        }
        assert!(missed.is_empty(), "{missed:#?}");
    }

    #[test]
    fn another_problem_of_the_same_function_and_category_does_not() {
        let rows = [
            (
                "Weak hash used for the key",
                "Hardcoded admin password lets anybody in",
            ),
            (
                "Weak hash used for the key",
                "Weak password used for the key",
            ),
            (
                "SQL injection in the query for user",
                "Command injection in the query for user",
            ),
            (
                "SQL injection through `user`",
                "SQL injection through `password`",
            ),
            ("SQL injection through user", "SQL injection through token"),
            (
                "The digest comparison is not constant-time",
                "The digest is not salted",
            ),
            (
                "Remove the redundant lock around the cache",
                "Add the missing lock around the cache",
            ),
            (
                "Token is never checked for expiry",
                "Token is written to the log",
            ),
            ("Replace the weak hash", "Handle the empty result"),
            (
                "No limit on login attempts",
                "No check of login attempts' origin",
            ),
            (
                "The index is not validated",
                "The certificate is not validated",
            ),
            ("Security issue", "Another security matter altogether"),
            ("", "Weak hash"),
        ];
        let mut wrong = Vec::new();
        for (a, b) in rows {
            for rule in [None, Some("security")] {
                let a = anchor(1, rule, a);
                let b = anchor(1, rule, b);
                wrong.extend(
                    likeness(&a, &b)
                        .or(likeness(&b, &a))
                        .map(|likeness| (a.text, b.text, likeness)),
                );
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn place_rule_and_block_count() {
        let a = anchor(1, Some("py/weak-hash"), "Weak hash");
        assert_eq!(likeness(&a, &a), Some(2.0));
        let rows = [
            (
                "the same rule at another line",
                anchor(2, Some("py/weak-hash"), "Weak hash"),
                false,
            ),
            (
                "another rule",
                anchor(1, Some("py/weak-digest"), "Weak hash"),
                false,
            ),
            ("no rule", anchor(1, None, "Weak hash"), true),
            (
                "no rule, near",
                anchor(2, None, "A weak hash is used"),
                true,
            ),
            (
                "no rule, far",
                anchor(9, None, "A weak hash is used"),
                false,
            ),
            (
                "another block",
                Anchor {
                    block: "c".into(),
                    ..a.clone()
                },
                false,
            ),
            (
                "another file",
                Anchor {
                    file: "b.py".into(),
                    ..a.clone()
                },
                false,
            ),
            (
                "recorded without an offset",
                Anchor {
                    offset: None,
                    rule: None,
                    names: vec![],
                    ..a.clone()
                },
                true,
            ),
            (
                "the rule with a title of another kind",
                anchor(1, Some("py/weak-hash"), "Hardcoded password"),
                false,
            ),
        ];
        for (what, b, expected) in rows {
            assert_eq!(likeness(&a, &b).is_some(), expected, "{what}");
            assert_eq!(likeness(&b, &a).is_some(), expected, "{what}");
        }
    }
}
