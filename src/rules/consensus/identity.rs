//! Whether two findings about the same unchanged code name the same problem.
//!
//! A category never decides: two defects of one function often share it. The words have to be alike by the measure that
//! merges findings, the lines have to be near, and nothing may contradict: another kind of defect, another identifier of
//! the code, another rule, or the opposite request. Where it is uncertain the answer is no, so that a finding is shown
//! once more instead of being hidden by a decision about something else.

use std::collections::BTreeSet;

use super::words::{self, Vectors};
use crate::domain::Anchor;

/// How far apart two lines of one block may be for words alone to match.
const NEAR: u32 = 3;

/// The least cosine of two titles that name the same kind of defect, and of two of which one names none.
const SAME_KIND: f32 = 0.2;
const NO_KIND: f32 = 0.5;

/// Kinds of defects, and how the words that name each begin.
const KINDS: &[&[&str]] = &[
    &["md5", "sha1", "sha256", "hash", "digest", "checksum"],
    &["password", "passwd", "credential", "secret", "hardcoded", "hard-coded", "token", "apikey"],
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
    &["authenti", "authoriz", "authoris", "permission", "privilege"],
    &["race", "racing", "deadlock", "lock", "mutex", "thread", "concurren", "atomic", "toctou"],
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
    &["rename", "naming", "typo", "misspel", "docstring", "comment", "documentation"],
    &["float", "rounding", "precision"],
    &["unused", "dead", "unreachable"],
    &["cache", "cached", "lru_cache", "memoiz"],
];

/// Words that ask to take something away, and words that say it is missing.
const TOO_MUCH: &[&str] = &["unnecessary", "redundant", "needless", "superfluous", "remove", "drop", "overkill"];
const TOO_LITTLE: &[&str] =
    &["missing", "lacks", "lacking", "add", "absent", "without", "needs", "require", "requires"];

/// Words of code that texts use as plain English.
const PLAIN: &[&str] = &[
    "return", "else", "for", "not", "and", "def", "let", "var", "const", "class", "import", "from", "with", "use",
    "new", "this", "self", "try", "while", "none", "null", "true", "false", "the", "get", "set", "public",
    "private", "static", "void", "async", "await", "function", "func", "match", "case", "break", "continue",
    "raise", "throw", "except", "catch", "finally", "pass", "yield", "string", "int", "str", "float", "bool",
    "open", "close", "read", "write", "data", "value", "type", "print", "list", "dict",
];

/// The names of code in a title, sorted: those that `code` has as identifiers of their own.
pub fn names(title: &str, code: &str) -> Vec<String> {
    let known: BTreeSet<&str> = identifiers(code).collect();
    names_among(title, |word| known.contains(word))
}

/// The identifiers of some code, as often as they occur.
pub fn identifiers(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !is_part(c)).filter(|word| word.len() >= 3)
}

/// The names of code in a title, sorted, of which `is_known` tells what the code has.
pub fn names_among(title: &str, is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let named = title.split(|c: char| !is_part(c)).filter(|word| is_known(word));
    let named: BTreeSet<&str> = named.filter(|word| !PLAIN.contains(&word.to_lowercase().as_str())).collect();
    named.into_iter().filter(|word| !word.chars().all(|c| c.is_ascii_digit())).map(str::to_owned).collect()
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How surely two anchors mean the same problem, 0 to 1; `None` where they do not, or where it is not certain.
pub fn likeness(a: &Anchor, b: &Anchor) -> Option<f32> {
    Profile::of(a).likeness(&Profile::of(b))
}

/// An anchor with what its words say, read once for any number of comparisons.
#[derive(Clone, Debug)]
pub struct Profile<'a> {
    anchor: &'a Anchor,
    /// The kinds of defects that it names, one bit each.
    kinds: u64,
    asks_for_less: bool,
    asks_for_more: bool,
    /// The words by which texts are compared, sorted.
    terms: Vec<String>,
}

impl<'a> Profile<'a> {
    pub fn of(anchor: &'a Anchor) -> Self {
        let says = |words: &[&str]| anchor.text.split(' ').any(|word| words.contains(&word));
        let mut terms = Vec::new();
        words::tokens(&anchor.text, &mut String::new(), &mut |term| terms.push(term.to_owned()));
        terms.sort_unstable();
        terms.dedup();
        Self {
            anchor,
            kinds: kinds(&anchor.text),
            asks_for_less: says(TOO_MUCH),
            asks_for_more: says(TOO_LITTLE),
            terms,
        }
    }

    /// How surely two anchors mean the same problem, 0 to 1; `None` where they do not, or where it is not certain. 1 is
    /// said of equal words alone.
    pub fn likeness(&self, other: &Self) -> Option<f32> {
        let (a, b) = (self.anchor, other.anchor);
        if a.file != b.file || a.block != b.block || self.contradicts(other) {
            return None;
        }
        let distance = match (a.offset, b.offset) {
            (Some(a), Some(b)) => Some(a.abs_diff(b)),
            // What was recorded before offsets were is compared by its words.
            _ => None,
        };
        if a.text == b.text && !a.text.is_empty() {
            // Equal words at two lines are two places of one kind of defect.
            let same_place =
                distance.is_none_or(|distance| distance <= if specific(a).is_some() { 0 } else { NEAR });
            return same_place.then_some(1.0);
        }
        // Texts without a common word are not alike at all.
        if distance.is_some_and(|distance| distance > NEAR) || !self.shares_a_term(other) {
            return None;
        }
        let vectors = Vectors::of(&[[a.text.as_str(), ""], [b.text.as_str(), ""]]);
        let cosine = vectors.cosine(0, 1);
        let same_kind = self.kinds & other.kinds != 0;
        let same_rule = specific(a).is_some() && specific(a) == specific(b) && distance == Some(0);
        let demanded = if same_kind || same_rule { SAME_KIND } else { NO_KIND };
        (cosine >= demanded).then_some(cosine.min(0.999))
    }

    /// Whether something that is said of one cannot be meant by the other.
    fn contradicts(&self, other: &Self) -> bool {
        let (a, b) = (self.anchor, other.anchor);
        let other_name =
            !a.names.is_empty() && !b.names.is_empty() && a.names.iter().all(|name| !b.names.contains(name));
        let other_rule = matches!((specific(a), specific(b)), (Some(a), Some(b)) if a != b);
        let is_more = |profile: &Self| profile.asks_for_more && !profile.asks_for_less;
        let is_less = |profile: &Self| profile.asks_for_less && !profile.asks_for_more;
        let opposite = is_less(self) && is_more(other) || is_less(other) && is_more(self);
        are_apart(self.kinds, other.kinds) || other_name || other_rule || opposite
    }

    fn shares_a_term(&self, other: &Self) -> bool {
        let (mut ours, mut theirs) = (self.terms.as_slice(), other.terms.as_slice());
        while let ([a, rest_a @ ..], [b, rest_b @ ..]) = (ours, theirs) {
            match a.cmp(b) {
                std::cmp::Ordering::Less => ours = rest_a,
                std::cmp::Ordering::Greater => theirs = rest_b,
                std::cmp::Ordering::Equal => return true,
            }
        }
        false
    }
}

/// The rule of a finding, where it is an identifier and not a word such as `security`.
fn specific(anchor: &Anchor) -> Option<&str> {
    let is_identifier =
        |rule: &str| rule.contains(|c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | '/' | '.'));
    anchor.rule.as_deref().filter(|rule| is_identifier(rule))
}

/// Whether each of two titles names a kind of defect that the other does not.
fn are_apart(a: u64, b: u64) -> bool {
    a & !b != 0 && b & !a != 0
}

/// The kinds of defects that a title names, one bit each.
fn kinds(title: &str) -> u64 {
    let lower = title.to_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words: Vec<&str> = lower.split(|c: char| !is_part(c)).filter(|word| !word.is_empty()).collect();
    let begins = |stem: &str| {
        let mut parts = stem.split(['-', '.', '+']);
        let first = parts.next().unwrap_or_default();
        let rest: Vec<&str> = parts.collect();
        words.iter().enumerate().any(|(at, word)| {
            let whole = stem.len() <= 4 && !rest.is_empty() || first.len() <= 3;
            let starts = if whole { *word == first } else { word.starts_with(first) };
            let next = &words[at + 1..];
            starts && rest.iter().enumerate().all(|(index, part)| next.get(index) == Some(part))
        })
    };
    let named = KINDS.iter().enumerate().filter(|(_, stems)| stems.iter().any(|stem| begins(stem)));
    named.fold(0, |kinds, (kind, _)| kinds | (1 << kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "def login(user, password):\n    digest = md5(password + ADMIN_KEY)\n    rows = db.run(query(user))\n    \
                        token = cache[user]\n    return rows[0].digest == digest\n";

    fn anchor(offset: u32, rule: Option<&str>, title: &str) -> Anchor {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let words: Vec<String> =
            title.split(|c: char| !is_part(c)).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
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
            ("Weak hash used for the key", "Use a strong hash for the key"),
            ("Replace the weak hash", "Weak MD5 hash"),
            ("MD5 is a weak hash", "Weak hash: md5 is broken"),
            ("SQL injection through `user`", "Possible SQL injection: `user` is not escaped"),
            ("Deleting from `cache` while iterating it", "`cache` is modified while iterating"),
            ("The digest comparison is not constant-time", "Timing attack: digest comparison is not constant-time"),
            ("`rows[0]` fails for an empty result", "`rows[0]` on an empty result raises IndexError"),
            ("Unbounded cache grows without limit", "The cache grows without an upper limit"),
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
            ("Weak hash used for the key", "Hardcoded admin password lets anybody in"),
            ("Weak hash used for the key", "Weak password used for the key"),
            ("SQL injection in the query for user", "Command injection in the query for user"),
            ("SQL injection through `user`", "SQL injection through `password`"),
            ("SQL injection through user", "SQL injection through token"),
            ("The digest comparison is not constant-time", "The digest is not salted"),
            ("Remove the redundant lock around the cache", "Add the missing lock around the cache"),
            ("Token is never checked for expiry", "Token is written to the log"),
            ("Replace the weak hash", "Handle the empty result"),
            ("No limit on login attempts", "No check of login attempts' origin"),
            ("The index is not validated", "The certificate is not validated"),
            ("Security issue", "Another security matter altogether"),
            ("", "Weak hash"),
        ];
        let mut wrong = Vec::new();
        for (a, b) in rows {
            for rule in [None, Some("security")] {
                let (a, b) = (anchor(1, rule, a), anchor(1, rule, b));
                wrong.extend(likeness(&a, &b).or(likeness(&b, &a)).map(|likeness| (a.text, b.text, likeness)));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn place_rule_and_block_count() {
        let a = anchor(1, Some("py/weak-hash"), "Weak hash");
        assert_eq!(likeness(&a, &a), Some(1.0));
        let rows = [
            ("the same rule at another line", anchor(2, Some("py/weak-hash"), "Weak hash"), false),
            ("another rule", anchor(1, Some("py/weak-digest"), "Weak hash"), false),
            ("no rule", anchor(1, None, "Weak hash"), true),
            ("no rule, near", anchor(2, None, "A weak hash is used"), true),
            ("no rule, far", anchor(9, None, "A weak hash is used"), false),
            ("another block", Anchor { block: "c".into(), ..a.clone() }, false),
            ("another file", Anchor { file: "b.py".into(), ..a.clone() }, false),
            ("recorded without an offset", Anchor { offset: None, rule: None, names: vec![], ..a.clone() }, true),
            ("the rule with a title of another kind", anchor(1, Some("py/weak-hash"), "Hardcoded password"), false),
        ];
        for (what, b, expected) in rows {
            assert_eq!(likeness(&a, &b).is_some(), expected, "{what}");
            assert_eq!(likeness(&b, &a).is_some(), expected, "{what}");
        }
    }
}
