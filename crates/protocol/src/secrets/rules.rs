//! Loads the rules for secrets, and finds secrets in a text.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{LazyLock, OnceLock, PoisonError, RwLock};

use aho_corasick::AhoCorasick;
use memchr::memmem;
use regex::bytes::{Captures, Regex, RegexBuilder};
use serde::{Deserialize, Deserializer};

const PACKAGED: &str = include_str!("gitleaks.toml");

static RULES: LazyLock<RuleSet> = LazyLock::new(RuleSet::packaged);

/// Additional rules for secrets in URLs (passwords and tokens), because gitleaks has no rules for these secrets.
const OWN: &str = include_str!("own.toml");

/// Gitleaks uses this pattern to recognise the end of a value in a configuration file.
const END: &str = r#"(?:[\x60'"\s;]|\\[nr]|$"#;

/// The replacement for the pattern [`END`] in the rules that Glee loads. `PROSE_END` also matches punctuation
/// that ends a value in prose.
const PROSE_END: &str = r#"(?:[\x60'"\s;.,:!?/|&*()\[\]{}<>]|\\[nr]|$"#;

/// Every regular expression that finds a secret after a name, such as `password = secret`, contains this part.
/// Glee keeps [`END`] in an expression with this part, because with [`PROSE_END`] the expression would match too
/// much prose.
const NAMED: &str = r"[\w.-]{0,50}?";

const LARGEST_REGEX: usize = 64 << 20;

pub(crate) struct FoundSecret {
    pub at: Range<usize>,
    pub rule: &'static str,
}

/// The id of the rule for values of environment variables.
const ENVIRONMENT: &str = "environment";

static KNOWN: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());

/// From now on, the secret values of these variables are secrets in every text. A value of at least eight characters
/// is secret if the name of the variable says so, as in `API_KEY`. Without such a name, a value of at least twelve
/// letters and digits (both) is secret, except the name of a model, a region or a version.
pub fn know(variables: &BTreeMap<String, String>) {
    let secret = variables
        .iter()
        .filter(|(name, value)| is_secret(name, value))
        .map(|(_, value)| value.clone());
    KNOWN
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .extend(secret);
}

fn is_secret(name: &str, value: &str) -> bool {
    const SECRET: &[&str] = &[
        "KEY", "TOKEN", "SECRET", "PASS", "PWD", "AUTH", "CRED", "COOKIE", "PRIVATE", "PAT",
    ];
    const PUBLIC: &[&str] = &["MODEL", "REGION", "VERSION", "NAME"];
    let name = name.to_ascii_uppercase();
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    let is_random = value.len() >= 12
        && has(u8::is_ascii_alphabetic)
        && has(u8::is_ascii_digit)
        && !has(|byte| matches!(byte, b'/' | b':' | b' '));
    let is_path = value.starts_with(['/', '~', '.']);
    value.len() >= 8 && !is_path && (says(&name, SECRET) || is_random && !says(&name, PUBLIC))
}

fn says(name: &str, words: &[&str]) -> bool {
    words.iter().any(|word| match word.len() {
        0..=3 => name
            .split('_')
            .any(|part| part == *word || part == format!("API{word}")),
        _ => name.contains(word),
    })
}

fn known(text: &[u8]) -> Vec<FoundSecret> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let mut found = Vec::new();
    for value in &*known {
        let places = memmem::find_iter(text, value);
        found.extend(places.map(|start| FoundSecret {
            at: start..start + value.len(),
            rule: ENVIRONMENT,
        }));
    }
    found
}

pub(super) fn find(text: &[u8]) -> Vec<FoundSecret> {
    find_by(text, |_| true)
}

pub(crate) fn find_by(text: &[u8], is_selected: impl Fn(&str) -> bool) -> Vec<FoundSecret> {
    let set = &*RULES;
    let hits: BTreeSet<usize> = set
        .keywords
        .find_overlapping_iter(text)
        .flat_map(|hit| &set.rules_of[hit.pattern().as_usize()])
        .copied()
        .collect();
    let mut found = match is_selected(ENVIRONMENT) {
        true => known(text),
        false => Vec::new(),
    };
    for rule in hits
        .into_iter()
        .map(|index| &set.rules[index])
        .filter(|rule| is_selected(&rule.id))
    {
        let matches = rule
            .regex
            .as_ref()
            .and_then(Expression::get)
            .into_iter()
            .flat_map(|regex| regex.captures_iter(text));
        let real = matches.filter_map(|captures| rule.secret(&captures, text, &set.allowed));
        found.extend(real.map(|at| FoundSecret { at, rule: &rule.id }));
    }
    found.retain(|found| !in_placeholder(text, &found.at));
    // If two rules match the same text, a specific rule takes precedence over a generic rule.
    found.sort_by_key(|found| {
        (
            found.at.start,
            std::cmp::Reverse(found.at.end),
            found.rule.starts_with("generic"),
        )
    });
    found.dedup_by(|next, kept| next.at.start < kept.at.end);
    found
}

fn in_placeholder(text: &[u8], at: &Range<usize>) -> bool {
    const BEGIN: &[u8] = b"[secret:";
    let head = &text[..text.len().min(at.start + BEGIN.len())];
    let Some(start) = memmem::rfind(head, BEGIN) else {
        return false;
    };
    let rest = &text[start + BEGIN.len()..];
    let Some(end) = rest.iter().position(|byte| *byte == b']') else {
        return false;
    };
    let inside = &rest[..end];
    let is_placeholder = inside
        .iter()
        .rposition(|byte| *byte == b':')
        .is_some_and(|colon| {
            let rule = &inside[..colon];
            let digits = &inside[colon + 1..];
            digits.len() == 4
                && digits.iter().all(u8::is_ascii_hexdigit)
                && (rule == ENVIRONMENT.as_bytes()
                    || RULES.rules.iter().any(|known| known.id.as_bytes() == rule))
        });
    is_placeholder && start <= at.start && at.end <= start + BEGIN.len() + end + 1
}

struct RuleSet {
    rules: Vec<Rule>,
    keywords: AhoCorasick,
    /// For each keyword, the indices of the rules with this keyword. A rule applies only to texts that contain one
    /// of the rule's keywords.
    rules_of: Vec<Vec<usize>>,
    allowed: Allowed,
}

#[derive(Deserialize)]
struct Packaged {
    #[serde(default)]
    allowlist: Allowed,
    rules: Vec<Rule>,
}

/// A regular expression in Go's syntax. The expression is compiled at its first use, because most expressions are
/// never used.
#[derive(Deserialize)]
#[serde(from = "String")]
struct Expression {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl From<String> for Expression {
    fn from(source: String) -> Self {
        Self {
            source,
            compiled: OnceLock::new(),
        }
    }
}

impl Expression {
    /// Returns `None` if the expression cannot be compiled. Unicode classes are disabled. Secrets contain only
    /// ASCII characters, and Unicode classes would slow down the compilation.
    fn get(&self) -> Option<&Regex> {
        self.compiled
            .get_or_init(|| {
                RegexBuilder::new(&escape_braces(&self.source))
                    .unicode(false)
                    .size_limit(LARGEST_REGEX)
                    .build()
                    .ok()
            })
            .as_ref()
    }
}

/// Escapes braces that do not denote a repetition. Go accepts such braces unescaped, but the crate `regex` does
/// not.
fn escape_braces(source: &str) -> String {
    let mut escaped = String::with_capacity(source.len());
    let mut after_backslash = false;
    for (at, letter) in source.char_indices() {
        if letter == '{' && !after_backslash {
            let counts = source[at + 1..]
                .split_once('}')
                .map_or("", |(counts, _)| counts);
            if counts.is_empty() || !counts.chars().all(|c| c.is_ascii_digit() || c == ',') {
                escaped.push('\\');
            }
        }
        after_backslash = letter == '\\' && !after_backslash;
        escaped.push(letter);
    }
    escaped
}

#[derive(Deserialize)]
struct Rule {
    id: String,
    /// The regular expression; `None` if the rule matches only file paths.
    regex: Option<Expression>,
    #[serde(default)]
    entropy: f64,
    #[serde(rename = "secretGroup")]
    group: Option<usize>,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default, rename = "allowlists")]
    allowed: Vec<Allowed>,
}

/// An exception to a rule. If an exception applies to a match of the rule, the match is not a secret.
#[derive(Default, Deserialize)]
struct Allowed {
    #[serde(default)]
    regexes: Vec<Expression>,
    /// A match that contains one of these words, in upper or lower case, is not a secret.
    #[serde(default, deserialize_with = "words")]
    stopwords: Option<Words>,
    #[serde(default, rename = "regexTarget")]
    target: Target,
    /// An exception with the condition `AND` applies only to certain file paths. Glee ignores such an exception,
    /// because the checked texts have no path.
    condition: Option<String>,
}

/// The automaton of a list of words. It is built at its first use: most texts have no match of the rule.
type Words = LazyLock<AhoCorasick, Box<dyn FnOnce() -> AhoCorasick + Send>>;

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Target {
    #[default]
    Secret,
    Match,
    Line,
}

impl RuleSet {
    fn packaged() -> Self {
        let Packaged {
            allowlist: allowed,
            mut rules,
        } = packaged(PACKAGED);
        for Expression { source, .. } in rules.iter_mut().filter_map(|rule| rule.regex.as_mut()) {
            if !source.contains(NAMED) {
                *source = source.replace(END, PROSE_END);
            }
        }
        rules.extend(packaged(OWN).rules);
        rules.retain(|rule| rule.regex.is_some());
        let mut rules_of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, rule) in rules.iter().enumerate() {
            for keyword in &rule.keywords {
                rules_of.entry(keyword).or_default().push(index);
            }
        }
        let keywords = automaton(rules_of.keys());
        let rules_of = rules_of.into_values().collect();
        Self {
            rules,
            keywords,
            rules_of,
            allowed,
        }
    }
}

fn packaged(text: &str) -> Packaged {
    toml::from_str(text).expect("the packaged rules are well-formed")
}

fn automaton(words: impl IntoIterator<Item: AsRef<[u8]>>) -> AhoCorasick {
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(words);
    automaton.expect("the packaged words fit an automaton")
}

fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Words>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    Ok(Some(LazyLock::new(Box::new(|| automaton(words)))))
}

impl Rule {
    fn secret(&self, captures: &Captures, text: &[u8], always: &Allowed) -> Option<Range<usize>> {
        let whole = captures.get(0)?.range();
        let group = match self.group {
            Some(group) => captures.get(group)?.range(),
            None => {
                let groups = captures.iter().skip(1).flatten();
                groups
                    .map(|group| group.range())
                    .find(|range| !range.is_empty())
                    .unwrap_or(whole.clone())
            }
        };
        let secret = &text[group.clone()];
        // The entropy is checked first, because this check is fast. A check of the exceptions can compile regular
        // expressions, which is slow.
        let is_random =
            !secret.is_empty() && (self.entropy == 0.0 || entropy(secret) > self.entropy);
        if !is_random {
            return None;
        }
        let mut exceptions = std::iter::once(always)
            .chain(&self.allowed)
            .filter(|allowed| allowed.condition.is_none());
        let is_allowed = exceptions
            .clone()
            .filter_map(|allowed| allowed.stopwords.as_ref())
            .any(|words| words.is_match(secret))
            || exceptions.any(|allowed| {
                let target = match allowed.target {
                    Target::Secret => secret,
                    Target::Match => &text[whole.clone()],
                    Target::Line => {
                        let start = text[..whole.start]
                            .iter()
                            .rposition(|byte| *byte == b'\n')
                            .map_or(0, |at| at + 1);
                        let end = text[whole.end..]
                            .iter()
                            .position(|byte| *byte == b'\n')
                            .map_or(text.len(), |at| whole.end + at);
                        &text[start..end]
                    }
                };
                allowed
                    .regexes
                    .iter()
                    .filter_map(Expression::get)
                    .any(|regex| regex.is_match(target))
            });
        (!is_allowed).then_some(group)
    }
}

/// The entropy of a text, in bits per byte.
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
    fn every_packaged_stopword_is_found_in_any_case() {
        let sets = || {
            RULES
                .rules
                .iter()
                .flat_map(|rule| &rule.allowed)
                .chain(std::iter::once(&RULES.allowed))
                .filter_map(|set| set.stopwords.as_ref())
        };
        let written: toml::Value = toml::from_str(PACKAGED).expect("the packaged rules");
        let words = |value: &toml::Value| {
            value
                .get("stopwords")
                .and_then(toml::Value::as_array)
                .cloned()
                .unwrap_or_default()
        };
        let rules = written["rules"].as_array().expect("rules");
        let allowed = rules
            .iter()
            .filter_map(|rule| rule.get("allowlists")?.as_array())
            .flatten();
        let words: Vec<toml::Value> = allowed
            .chain([&written["allowlist"]])
            .flat_map(words)
            .collect();
        assert!(words.len() > 1_000);
        for word in words {
            let word = format!("x{}9", word.as_str().expect("a word").to_uppercase());
            assert!(sets().any(|set| set.is_match(&word)), "{word}");
        }
        assert!(!sets().any(|set| set.is_match("q")));
    }

    #[test]
    fn every_rule_of_upstream_is_there() {
        let names: Vec<&str> = include_str!("upstream-ids.txt").lines().collect();
        assert!(names.len() >= 222, "{}", names.len());
        // `pkcs12-file` matches file names, not text.
        let missing: Vec<&&str> = names
            .iter()
            .filter(|name| {
                **name != "pkcs12-file" && !RULES.rules.iter().any(|rule| rule.id == **name)
            })
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn every_packaged_rule_can_be_compiled() {
        let broken: Vec<&str> = RULES
            .rules
            .iter()
            .filter(|rule| rule.regex.as_ref().and_then(Expression::get).is_none())
            .map(|rule| rule.id.as_str())
            .collect();
        assert_eq!(broken, [""; 0]);
        let groupless = RULES.rules.iter().filter(|rule| {
            rule.group.is_some_and(|group| {
                group >= {
                    rule.regex
                        .as_ref()
                        .and_then(Expression::get)
                        .map_or(0, Regex::captures_len)
                }
            })
        });
        assert_eq!(
            groupless.map(|rule| rule.id.as_str()).collect::<Vec<_>>(),
            [""; 0]
        );
        let exceptions = || {
            RULES
                .rules
                .iter()
                .flat_map(|rule| &rule.allowed)
                .chain(std::iter::once(&RULES.allowed))
        };
        assert!(
            exceptions()
                .flat_map(|allowed| &allowed.regexes)
                .all(|regex| regex.get().is_some())
        );
    }
}
