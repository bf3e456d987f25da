//! The rule set, and what it recognises in a text.
//!
//! Expressions are compiled when they are first needed; most never are.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::bytes::{Captures, Regex, RegexBuilder};
use serde::Deserialize;

/// What of `gitleaks.toml` is read, as JSON (`build.rs`).
const PACKAGED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/secrets.json"));

static RULES: LazyLock<RuleSet> = LazyLock::new(RuleSet::packaged);

/// The rule whose keywords (`key`, `token`, `auth`) stand in almost every text.
const USUAL: &str = "generic-api-key";

/// Reads the rules beside what the caller does meanwhile, so that the first text need not wait for them.
pub fn prepare() {
    std::thread::spawn(|| RULES.rules.iter().find(|rule| rule.id == USUAL).map(|rule| rule.regex.get()));
}

/// A secret: where, and by which rule.
pub(super) struct Found {
    pub(super) at: Range<usize>,
    pub(super) rule: &'static str,
}

/// The secrets of a text, in order, none overlapping another.
pub(super) fn find(text: &[u8]) -> Vec<Found> {
    find_by(text, |_| true)
}

/// The secrets of a text that some rules know, chosen by their names.
pub(super) fn find_by(text: &[u8], is_asked: impl Fn(&str) -> bool) -> Vec<Found> {
    let set = &*RULES;
    let hits: BTreeSet<usize> = set
        .keywords
        .find_overlapping_iter(text)
        .flat_map(|hit| &set.rules_of[hit.pattern().as_usize()])
        .copied()
        .collect();
    let mut found: Vec<Found> = Vec::new();
    for rule in hits.into_iter().map(|index| &set.rules[index]).filter(|rule| is_asked(&rule.id)) {
        let secrets = rule.regex.get().into_iter().flat_map(|regex| regex.captures_iter(text));
        let real = secrets.filter_map(|captures| rule.secret(&captures, text, &set.allowed));
        found.extend(real.map(|at| Found { at, rule: &rule.id }));
    }
    // Of two that see the same, the one that knows what it is names it.
    found.sort_by_key(|found| (found.at.start, std::cmp::Reverse(found.at.end), found.rule.starts_with("generic")));
    let mut end = 0;
    found.retain(|found| {
        let free = found.at.start >= end;
        if free {
            end = found.at.end;
        }
        free
    });
    found
}

/// The rules, and the words without which none of them can match.
struct RuleSet {
    rules: Vec<Rule>,
    keywords: AhoCorasick,
    /// For each keyword the rules that need it.
    rules_of: Vec<Vec<usize>>,
    allowed: Vec<Allowed>,
}

struct Rule {
    id: String,
    regex: Lazy,
    entropy: f64,
    group: Option<usize>,
    allowed: Vec<Allowed>,
}

/// A regular expression that is compiled when it is first needed; most never are.
struct Lazy {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Lazy {
    fn new(source: String) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    /// Without Unicode classes it is compiled in a fraction of the time, and the secrets are ASCII.
    fn get(&self) -> Option<&Regex> {
        let source = || escape_braces(&self.source);
        let compile = || RegexBuilder::new(&source()).unicode(false).size_limit(64 << 20).build().ok();
        self.compiled.get_or_init(compile).as_ref()
    }
}

/// Escapes braces that begin no repetition: Go, for which the rules are written, takes them as they stand.
fn escape_braces(source: &str) -> String {
    let mut escaped = String::with_capacity(source.len());
    let mut after_backslash = false;
    for (at, letter) in source.char_indices() {
        if letter == '{' && !after_backslash {
            let counts = source[at + 1..].split_once('}').map_or("", |(counts, _)| counts);
            if counts.is_empty() || !counts.chars().all(|c| c.is_ascii_digit() || c == ',') {
                escaped.push('\\');
            }
        }
        after_backslash = letter == '\\' && !after_backslash;
        escaped.push(letter);
    }
    escaped
}

/// What is no secret although it looks like one.
struct Allowed {
    regexes: Vec<Lazy>,
    stopwords: Stopwords,
    target: Target,
}

/// Words that no secret holds; sought only where something looks like a secret.
struct Stopwords {
    words: Vec<String>,
    sought: AtomicUsize,
    compiled: OnceLock<Option<AhoCorasick>>,
}

impl Stopwords {
    /// So often they are sought one by one: most runs meet few texts that look like secrets, and need no automaton.
    const ONE_BY_ONE: usize = 50;

    fn new(words: Vec<String>) -> Self {
        let words = words.into_iter().map(|word| word.to_ascii_lowercase()).collect();
        Self { words, sought: AtomicUsize::new(0), compiled: OnceLock::new() }
    }

    fn occur_in(&self, secret: &[u8]) -> bool {
        if self.words.is_empty() {
            return false;
        }
        if self.sought.fetch_add(1, Ordering::Relaxed) < Self::ONE_BY_ONE {
            let secret = secret.to_ascii_lowercase();
            return self.words.iter().any(|word| memchr::memmem::find(&secret, word.as_bytes()).is_some());
        }
        let compile = || AhoCorasick::builder().ascii_case_insensitive(true).build(&self.words).ok();
        self.compiled.get_or_init(compile).as_ref().is_some_and(|words| words.is_match(secret))
    }
}

/// What an exception's expressions are matched against.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Target {
    /// The secret alone.
    #[default]
    Secret,
    /// All that the rule matched.
    Match,
    /// The lines that it stands on.
    Line,
}

#[derive(Deserialize)]
struct WrittenSet {
    allowlist: WrittenAllowed,
    rules: Vec<WrittenRule>,
}

#[derive(Deserialize)]
struct WrittenRule {
    id: String,
    regex: Option<String>,
    #[serde(default)]
    entropy: f64,
    #[serde(rename = "secretGroup")]
    group: Option<usize>,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    allowlists: Vec<WrittenAllowed>,
}

#[derive(Deserialize)]
struct WrittenAllowed {
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
    #[serde(default, rename = "regexTarget")]
    target: Target,
    /// `AND` joins the expressions with paths, which a text alone does not have.
    #[serde(default)]
    condition: Option<String>,
}

impl WrittenAllowed {
    fn read(self) -> Option<Allowed> {
        self.condition.is_none().then(|| Allowed {
            regexes: self.regexes.into_iter().map(Lazy::new).collect(),
            stopwords: Stopwords::new(self.stopwords),
            target: self.target,
        })
    }
}

impl RuleSet {
    fn packaged() -> Self {
        let written: WrittenSet = serde_json::from_slice(PACKAGED).expect("the packaged rules are well-formed");
        let mut keywords: Vec<String> = Vec::new();
        let mut rules_of: Vec<Vec<usize>> = Vec::new();
        let mut rules = Vec::new();
        for rule in written.rules {
            let Some(regex) = rule.regex else { continue };
            for keyword in rule.keywords {
                let index = keywords.iter().position(|known| *known == keyword).unwrap_or_else(|| {
                    keywords.push(keyword);
                    rules_of.push(Vec::new());
                    keywords.len() - 1
                });
                rules_of[index].push(rules.len());
            }
            rules.push(Rule {
                id: rule.id,
                regex: Lazy::new(regex),
                entropy: rule.entropy,
                group: rule.group,
                allowed: rule.allowlists.into_iter().filter_map(WrittenAllowed::read).collect(),
            });
        }
        let keywords = AhoCorasick::builder().ascii_case_insensitive(true).build(&keywords);
        Self {
            rules,
            keywords: keywords.expect("the packaged keywords fit an automaton"),
            rules_of,
            allowed: written.allowlist.read().into_iter().collect(),
        }
    }
}

impl Rule {
    /// Where the secret of a match stands, unless it is none after all.
    fn secret(&self, captures: &Captures<'_>, text: &[u8], always: &[Allowed]) -> Option<Range<usize>> {
        let whole = captures.get(0)?.range();
        let group = match self.group {
            Some(group) => captures.get(group)?.range(),
            None => {
                let groups = captures.iter().skip(1).flatten();
                groups.map(|group| group.range()).find(|range| !range.is_empty()).unwrap_or(whole.clone())
            }
        };
        let secret = &text[group.clone()];
        let line = || {
            let start = text[..whole.start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let end =
                text[whole.end..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| whole.end + at);
            &text[start..end]
        };
        // What costs least comes first: an expression is compiled for it, once.
        let is_random = !secret.is_empty() && (self.entropy == 0.0 || entropy(secret) > self.entropy);
        let exceptions = || always.iter().chain(&self.allowed);
        let is_allowed = || {
            exceptions().any(|allowed| allowed.stopwords.occur_in(secret))
                || exceptions().any(|allowed| {
                    let target = match allowed.target {
                        Target::Secret => secret,
                        Target::Match => &text[whole.clone()],
                        Target::Line => line(),
                    };
                    allowed.regexes.iter().filter_map(Lazy::get).any(|regex| regex.is_match(target))
                })
        };
        (is_random && !is_allowed()).then_some(group)
    }
}

/// Shannon's entropy of a text, in bits a byte.
fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    let length = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / length;
            -share * share.log2()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopwords_are_found_in_any_case_one_by_one_and_all_at_once() {
        let stopwords = Stopwords::new(vec!["Sample".to_owned(), "change".to_owned()]);
        for _ in 0..2 * Stopwords::ONE_BY_ONE {
            assert!(stopwords.occur_in(b"aSAMPLE1") && stopwords.occur_in(b"Change"));
            assert!(!stopwords.occur_in(b"simple") && !stopwords.occur_in(b""));
        }
        assert!(stopwords.compiled.get().is_some());
        assert!(!Stopwords::new(Vec::new()).occur_in(b"sample"));
    }

    #[test]
    fn every_packaged_rule_can_be_compiled() {
        let broken: Vec<&str> =
            RULES.rules.iter().filter(|rule| rule.regex.get().is_none()).map(|rule| rule.id.as_str()).collect();
        assert_eq!(broken, [""; 0]);
        assert!(RULES.rules.iter().all(|rule| {
            rule.group.is_none_or(|group| rule.regex.get().is_some_and(|regex| group < regex.captures_len()))
        }));
        let exceptions = || RULES.rules.iter().flat_map(|rule| &rule.allowed).chain(&RULES.allowed);
        assert!(exceptions().flat_map(|allowed| &allowed.regexes).all(|regex| regex.get().is_some()));
    }
}
