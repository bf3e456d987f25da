//! Decides whether two findings about the same unchanged code report the same problem.
//!
//! Two findings report the same problem if their words are similar and their lines are near each other. Two
//! findings report different problems if their rules differ, or if one finding requests a removal and the other
//! finding reports something missing. The minimum similarity is higher if the two findings mention different kinds
//! of defects or different identifiers. The category is ignored, because different defects of one function often
//! have the same category. In doubt, two findings are different, because displaying a finding again is better than
//! hiding the finding by mistake.

use std::collections::BTreeSet;

use crate::domain::Anchor;
use crate::rules::consensus::similarity::vectors::Vectors;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Likeness {
    /// The two findings report the same problem. The number is the cosine similarity of the two texts. The
    /// number is 1 for equal texts, and less than 1 for all other texts.
    Same(f32),
    /// It is uncertain whether the two findings report the same problem. The number is the cosine similarity of
    /// the two texts.
    Unsure(f32),
    Different,
}

impl Likeness {
    pub fn same(self) -> Option<f32> {
        if let Self::Same(likeness) = self {
            Some(likeness)
        } else {
            None
        }
    }

    pub fn unsure(self) -> Option<f32> {
        if let Self::Unsure(cosine) = self {
            Some(cosine)
        } else {
            None
        }
    }
}

/// The maximum distance, in lines, at which two findings with similar words match.
pub const NEAR: u32 = 3;

/// The minimum number of terms in a long text. A long text has enough words for a comparison by words alone.
const LONG: usize = 5;

/// The minimum cosine at which two findings match. This minimum applies to two long texts, to texts about the
/// same kind of defect, and to findings with the same rule. The value is from an experiment in which eight
/// models reviewed the same code several times. With a minimum of 0.2, 1 of 1,750 pairs of findings about
/// different problems would match. With a minimum of 0.25, 1% of the pairs of findings about the same problem
/// would not match.
const SAME: f32 = 0.21;
/// The minimum cosine at which two short texts match if one of the texts mentions no kind of defect.
const SHORT: f32 = 0.5;
/// In three cases, a higher minimum cosine than `SAME` applies to two long texts. `APART` applies if each text
/// mentions a kind of defect that the other text does not mention. `DISJOINT` applies if both texts mention kinds
/// of defects, but have no kind in common. `OTHER_NAMES` applies if both texts mention identifiers, but have no
/// identifier in common.
const APART: f32 = 0.3;
const DISJOINT: f32 = 0.5;
const OTHER_NAMES: f32 = 0.35;

/// The minimum cosine at which two texts possibly report the same problem. The value was measured with pairs of
/// findings. In each pair, the earlier finding had a ruling. Of 103 pairs of findings about the same problem, 3
/// had a cosine between `UNSURE` and `SAME`. Of 451 pairs of findings about different problems, 1 had a cosine
/// between `UNSURE` and `SAME`.
const UNSURE: f32 = 0.1;

/// The kinds of defects. A title mentions a kind of defect if a word of the title begins with an entry of the
/// kind's list.
const KINDS: &[&[&str]] = &[
    &["md5", "sha1", "sha256", "hash", "digest", "checksum"],
    &[
        "password",
        "passwd",
        "credential",
        "secret",
        "hardcoded",
        "hard-coded",
        "token",
        "apikey",
    ],
    &["sql"],
    &["shell", "subprocess", "os.system", "command"],
    &["eval", "exec"],
    &["pickle", "deseriali", "unmarshal", "yaml.load"],
    &["traversal", "symlink", "zip-slip"],
    &["xss", "escap", "cross-site"],
    &["csrf"],
    &["ssrf"],
    &["redirect"],
    &["tls", "ssl", "certificate"],
    &["cipher", "encrypt", "decrypt", "aes", "nonce", "salt"],
    &["random", "entropy", "seed"],
    &["timing", "constant-time"],
    &[
        "authenti",
        "authoriz",
        "authoris",
        "permission",
        "privilege",
    ],
    &[
        "race",
        "racing",
        "deadlock",
        "lock",
        "mutex",
        "thread",
        "concurren",
        "atomic",
        "toctou",
    ],
    &["leak", "unclosed", "close", "closed", "handle"],
    &["null", "none", "nil", "undefined", "npe", "nullpointer"],
    &["overflow", "underflow", "truncat"],
    &["off-by-one", "bound", "index", "indexerror", "out-of-range"],
    &["zero", "zerodivision", "division", "divide"],
    &["timeout", "hang", "unbounded", "infinite"],
    &["retry", "retries", "backoff"],
    &["encoding", "utf", "unicode", "charset"],
    &["timezone", "utc", "dst", "naive"],
    &["performance", "quadratic", "slow", "n+1"],
    &["mutable", "default-argument"],
    &["iterating", "iteration"],
    &["swallow", "except", "exception", "catch"],
    &["garbage", "garbage-collected", "dangling"],
    &["logging", "logged", "logs"],
    &["test", "untested", "coverage"],
    &[
        "rename",
        "naming",
        "typo",
        "misspel",
        "docstring",
        "comment",
        "documentation",
    ],
    &["float", "rounding", "precision"],
    &["unused", "dead", "unreachable"],
    &["cache", "cached", "lru_cache", "memoiz"],
];

/// The minimum cosine at which a negation counts as the only difference between two texts. Two texts that differ
/// only in a negation do not match.
const EXCEPT_NEGATION: f32 = 0.95;
const NEGATIONS: &[&str] = &[
    "not", "never", "no", "without", "cannot", "isn", "aren", "doesn", "don", "nobody", "nothing",
];

/// `TOO_MUCH` lists words that request a removal. `TOO_LITTLE` lists words that report something missing.
const TOO_MUCH: &[&str] = &[
    "unnecessary",
    "redundant",
    "needless",
    "superfluous",
    "remove",
    "drop",
    "overkill",
];
const TOO_LITTLE: &[&str] = &[
    "missing", "lacks", "lacking", "add", "absent", "without", "needs", "require", "requires",
];

/// Keywords and common identifiers, such as `open`. In a title, such a word is usually plain English.
const PLAIN: &[&str] = &[
    "return", "else", "for", "not", "and", "def", "let", "var", "const", "class", "import", "from",
    "with", "use", "new", "this", "self", "try", "while", "none", "null", "true", "false", "the",
    "get", "set", "public", "private", "static", "void", "async", "await", "function", "func",
    "match", "case", "break", "continue", "raise", "throw", "except", "catch", "finally", "pass",
    "yield", "string", "int", "str", "float", "bool", "open", "close", "read", "write", "data",
    "value", "type", "print", "list", "dict",
];

/// Returns the words of a title that are identifiers in `code`, sorted and without plain English words.
pub fn names(title: &str, code: &str) -> Vec<String> {
    let known: BTreeSet<&str> = identifiers(code).collect();
    names_among(title, |word| known.contains(word))
}

/// Yields the identifiers in `code` that have at least three bytes, with repetitions.
pub fn identifiers(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !is_part(c))
        .filter(|word| word.len() >= 3)
}

/// Returns the words of a title that satisfy `is_known`, sorted and without plain English words.
pub fn names_among(title: &str, is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let named = title
        .split(|c: char| !is_part(c))
        .filter(|word| is_known(word));
    let named: BTreeSet<&str> = named
        .filter(|word| !PLAIN.contains(&word.to_lowercase().as_str()))
        .collect();
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
    profiles: Vec<Profile<'a>>,
    vectors: Vectors,
}

struct Profile<'a> {
    anchor: &'a Anchor,
    kinds: u64,
    asks_for_less: bool,
    asks_for_more: bool,
    negates: bool,
}

impl<'a> Wordings<'a> {
    pub fn of(anchors: impl IntoIterator<Item = &'a Anchor>) -> Self {
        let profiles: Vec<Profile<'a>> = anchors.into_iter().map(Profile::of).collect();
        let texts: Vec<[&str; 2]> = profiles
            .iter()
            .map(|profile| [profile.anchor.text.as_str(), ""])
            .collect();
        Self {
            vectors: Vectors::of(&texts),
            profiles,
        }
    }

    /// Compares the anchor at index `a` with the anchor at index `b`. `distance` is the distance, in lines,
    /// between the two anchors, or `None` if the distance is unknown.
    pub fn compare(&self, a: usize, b: usize, distance: Option<u32>) -> Likeness {
        let (ours, theirs) = (&self.profiles[a], &self.profiles[b]);
        if ours.asks_the_opposite(theirs) || ours.names_another_rule(theirs) {
            return Likeness::Different;
        }
        let (rule, other_rule) = (specific(ours.anchor), specific(theirs.anchor));
        if ours.anchor.text == theirs.anchor.text && !ours.anchor.text.is_empty() {
            // Equal texts at distant lines report two separate defects of the same kind.
            let same_place =
                distance.is_none_or(|distance| distance <= if rule.is_some() { 0 } else { NEAR });
            return if same_place {
                Likeness::Same(1.0)
            } else {
                Likeness::Different
            };
        }
        if distance.is_some_and(|distance| distance > NEAR) {
            return Likeness::Different;
        }
        let same_rule = rule.is_some() && rule == other_rule && distance == Some(0);
        let is_long = [a, b]
            .iter()
            .all(|text| self.vectors.terms(*text).len() >= LONG);
        let cosine = self.vectors.cosine(a, b);
        if ours.negates != theirs.negates && cosine >= EXCEPT_NEGATION {
            return Likeness::Different;
        }
        match ours.demanded(theirs, is_long, same_rule) {
            Some(demanded) if cosine >= demanded => Likeness::Same(cosine.min(0.999)),
            Some(_) if cosine >= UNSURE => Likeness::Unsure(cosine),
            Some(_) | None => Likeness::Different,
        }
    }

    /// The similarity, from 0 to 1, of two findings in different code. Returns `None` if the findings have
    /// different rules, or if one finding requests a removal and the other finding reports something missing.
    pub fn resemblance(&self, a: usize, b: usize) -> Option<f32> {
        let (ours, theirs) = (&self.profiles[a], &self.profiles[b]);
        let contradict = ours.asks_the_opposite(theirs) || ours.names_another_rule(theirs);
        (!contradict).then(|| self.vectors.cosine(a, b))
    }
}

impl<'a> Profile<'a> {
    fn of(anchor: &'a Anchor) -> Self {
        let says = |words: &[&str]| anchor.text.split(' ').any(|word| words.contains(&word));
        let (asks_for_less, asks_for_more) = (says(TOO_MUCH), says(TOO_LITTLE));
        Self {
            anchor,
            kinds: kinds(&anchor.text),
            asks_for_less,
            asks_for_more,
            negates: says(NEGATIONS),
        }
    }

    /// Returns the minimum cosine at which the likeness of two findings is [`Likeness::Same`]. Returns `None` if
    /// one or both texts are short and, in addition, the texts mention different kinds of defects or different
    /// identifiers.
    fn demanded(&self, other: &Self, is_long: bool, same_rule: bool) -> Option<f32> {
        let (ours, theirs) = (self.kinds, other.kinds);
        let (names, other_names) = (&self.anchor.names, &other.anchor.names);
        let both_name = !names.is_empty() && !other_names.is_empty();
        let names_differ = both_name && names.iter().all(|name| !other_names.contains(name));
        let contradictions = [
            (ours & !theirs != 0 && theirs & !ours != 0, APART),
            (ours != 0 && theirs != 0 && ours & theirs == 0, DISJOINT),
            (names_differ, OTHER_NAMES),
        ];
        let contradictions = contradictions
            .into_iter()
            .filter_map(|(holds, demanded)| holds.then_some(demanded));
        let least = if is_long || same_rule || ours & theirs != 0 {
            SAME
        } else {
            SHORT
        };
        let demanded = contradictions.clone().fold(least, f32::max);
        (is_long || contradictions.count() == 0).then_some(demanded)
    }

    fn asks_the_opposite(&self, other: &Self) -> bool {
        let is_more = |profile: &Self| profile.asks_for_more && !profile.asks_for_less;
        let is_less = |profile: &Self| profile.asks_for_less && !profile.asks_for_more;
        is_less(self) && is_more(other) || is_less(other) && is_more(self)
    }

    fn names_another_rule(&self, other: &Self) -> bool {
        matches!((specific(self.anchor), specific(other.anchor)), (Some(a), Some(b)) if a != b)
    }
}

/// Returns the rule of a finding if the rule is an id such as `py/weak-hash`. Returns `None` for a general word
/// such as `security`.
fn specific(anchor: &Anchor) -> Option<&str> {
    let is_identifier = |rule: &str| {
        rule.contains(|c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | '/' | '.'))
    };
    anchor.rule.as_deref().filter(|rule| is_identifier(rule))
}

fn kinds(title: &str) -> u64 {
    let lower = title.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !is_part(c))
        .filter(|word| !word.is_empty())
        .collect();
    let begins = |stem: &str| {
        let mut parts = stem.split(['-', '.', '+']);
        let first = parts.next().unwrap_or_default();
        let rest: Vec<&str> = parts.collect();
        words.iter().enumerate().any(|(at, word)| {
            let whole = stem.len() <= 4 && !rest.is_empty() || first.len() <= 3;
            let starts = if whole {
                *word == first
            } else {
                word.starts_with(first)
            };
            let next = &words[at + 1..];
            starts
                && rest
                    .iter()
                    .enumerate()
                    .all(|(index, part)| next.get(index) == Some(part))
        })
    };
    let named = KINDS
        .iter()
        .enumerate()
        .filter(|(_, stems)| stems.iter().any(|stem| begins(stem)));
    named.fold(0, |kinds, (kind, _)| kinds | (1 << kind))
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
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let words: Vec<String> = title
            .split(|c: char| !is_part(c))
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
        }
    }

    #[test]
    fn other_words_for_one_problem_match() {
        let rows = [
            (
                "Weak hash used for the key",
                "Use a strong hash for the key",
            ),
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
                let (a, b) = (anchor(1, rule, a), anchor(1, rule, b));
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
        assert_eq!(likeness(&a, &a), Some(1.0));
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
