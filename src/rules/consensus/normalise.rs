//! Phase 1: claims made comparable. Paths, categories, severities and confidences get their one form, and what one
//! reviewer says twice is folded into one entry.
//!
//! Entries stand in an order that depends on what they say and not on how they came, so everything after this does too.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt as _, HashSet};

use super::Debate;
use crate::rules::consensus::claim::{Claim, Level};
use crate::rules::consensus::debate;
use crate::rules::consensus::similarity::phrases::Phrases;
use crate::rules::parallel;

/// What a round-two observation loses for its lateness.
const LATE: u8 = 10;

/// Lines that still count as one place.
pub(crate) const NEAR: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// A weakness that can be exploited.
    Security,
    /// A defect; also what names nothing else.
    Bug,
    Architecture,
    Performance,
    TestCoverage,
}

impl Category {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Security => "security",
            Self::Bug => "bug",
            Self::Architecture => "architecture",
            Self::Performance => "performance",
            Self::TestCoverage => "test-coverage",
        }
    }
}

/// Beginnings of words and the category they point to; the first category that is found counts.
static NAMES: LazyLock<[(Phrases, Category); 4]> = LazyLock::new(|| {
    let security = "secur, vulnerab, injection, xss, csrf, ssrf, traversal, cwe-, cve-";
    let architecture = "maintain, readab, architect, design, style, naming, documentation";
    [
        (Phrases::of(security), Category::Security),
        (Phrases::of("test, coverage"), Category::TestCoverage),
        (Phrases::of("perf, n+1"), Category::Performance),
        (Phrases::of(architecture), Category::Architecture),
    ]
});

/// Beginnings of words in a text that say more than `bug`; fewer than above, since texts mention much.
static TEXTS: LazyLock<[(Phrases, Category); 3]> = LazyLock::new(|| {
    let security = "vulnerab, sql injection, command injection, cross-site, path traversal, xss, csrf";
    [
        (Phrases::of(security), Category::Security),
        (Phrases::of("untested, test coverage, missing test"), Category::TestCoverage),
        (Phrases::of("quadratic, n+1 quer"), Category::Performance),
    ]
});

/// The category of a claim: as given, else from its rule, its title, else `bug`.
pub fn category(given: Option<&str>, rule: Option<&str>, title: &str) -> Category {
    let find = |list: &[(Phrases, Category)], text: &str| {
        list.iter().find(|(phrases, _)| phrases.begin_a_word(text)).map(|(_, category)| *category)
    };
    let name = |text: &str| find(&*NAMES, text);
    let named = given.filter(|word| !word.trim().is_empty());
    match (named.and_then(name), rule.and_then(name)) {
        (Some(category), _) => category,
        (None, _) if named.is_some_and(|word| word.to_lowercase().contains("bug")) => Category::Bug,
        (None, Some(category)) => category,
        (None, None) => find(&*TEXTS, title).unwrap_or(Category::Bug),
    }
}

/// Parts of reviewers' names and who makes the model behind them.
const VENDORS: &[(&str, &str)] = &[
    ("claude", "anthropic"),
    ("opus", "anthropic"),
    ("sonnet", "anthropic"),
    ("haiku", "anthropic"),
    ("codex", "openai"),
    ("gpt", "openai"),
    ("openai", "openai"),
    ("gemini", "google"),
    ("deepseek", "deepseek"),
    ("qwen", "alibaba"),
    ("grok", "xai"),
    ("mistral", "mistral"),
    ("codestral", "mistral"),
    ("llama", "meta"),
    ("kimi", "moonshot"),
    ("glm", "zhipu"),
];

/// Who makes the model behind a reviewer's name; a name that says nothing stands for itself.
pub fn vendor(model: &str) -> String {
    let name = model.to_lowercase();
    let known = VENDORS.iter().filter_map(|(part, vendor)| Some((name.rfind(part)?, *vendor))).max();
    known.map_or(name, |(_, vendor)| vendor.to_owned())
}

/// A claim in its one form, with what the same reviewer says again.
#[derive(Clone, Debug)]
pub(crate) struct NormalClaim {
    /// The claim by its index in the input.
    pub(crate) claim: usize,
    pub(crate) repeats: Vec<usize>,
    /// The reviewer, as a number.
    pub(crate) model: u32,
    /// The file, as a number.
    pub(crate) file: Option<u32>,
    pub(crate) lines: Option<(u32, u32)>,
    pub(crate) block: Option<(u32, u32)>,
    pub(crate) category: Category,
    pub(crate) severity: Level,
    pub(crate) confidence: Option<u8>,
}

/// How the places of two entries stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceMatch {
    Same,
    Near,
    /// In the same function or method.
    Block,
    /// One of the two names no line.
    Unknown,
    Apart,
}

impl NormalClaim {
    pub(crate) fn place(&self, other: &Self) -> PlaceMatch {
        if let (Some(a), Some(b)) = (self.file, other.file)
            && a != b
        {
            return PlaceMatch::Apart;
        }
        let (Some(a), Some(b)) = (self.lines, other.lines) else {
            return PlaceMatch::Unknown;
        };
        if self.file != other.file {
            return PlaceMatch::Unknown;
        }
        let gap = a.0.max(b.0).saturating_sub(a.1.min(b.1));
        if gap == 0 {
            PlaceMatch::Same
        } else if gap <= NEAR {
            PlaceMatch::Near
        } else if self.block.is_some() && self.block == other.block {
            PlaceMatch::Block
        } else {
            PlaceMatch::Apart
        }
    }
}

/// All claims as entries, ordered by file, place and text, repeats folded.
pub(crate) fn entries(claims: &[Claim], tree: &[String]) -> Vec<NormalClaim> {
    let file_numbers = file_numbers(claims, tree);
    let nobody_else = Debate::default();
    let models = debate::reviewers(claims, &nobody_else);
    let models: HashMap<&str, u32> = models.into_iter().zip(0..).collect();
    let categories =
        parallel::each(claims, |claim| category(claim.category.as_deref(), claim.rule.as_deref(), &claim.title));
    let mut entries: Vec<NormalClaim> = claims
        .iter()
        .zip(categories)
        .enumerate()
        .map(|(index, (claim, category))| {
            let line = claim.line.filter(|line| *line > 0);
            NormalClaim {
                claim: index,
                repeats: Vec::new(),
                model: models[claim.model.as_str()],
                file: file_numbers[index],
                lines: line.map(|line| (line, claim.end_line.unwrap_or(line).max(line))),
                block: claim.block,
                category,
                severity: claim.severity.unwrap_or(Level::Medium),
                confidence: confidence(claim),
            }
        })
        .collect();
    entries.sort_by(|a, b| {
        let (x, y) = (&claims[a.claim], &claims[b.claim]);
        // Not by reviewer: the first of a tie would be favoured (rule 7).
        (a.file, a.lines)
            .cmp(&(b.file, b.lines))
            .then_with(|| (&x.title, &x.description, &x.suggestion).cmp(&(&y.title, &y.description, &y.suggestion)))
            .then_with(|| (b.severity, b.confidence).cmp(&(a.severity, a.confidence)))
            .then_with(|| x.id.cmp(&y.id))
    });
    fold(entries, claims)
}

/// The confidence that a reviewer states, a late one lowered; none is made up.
pub(crate) fn confidence(claim: &Claim) -> Option<u8> {
    let stated = claim.confidence?.min(100);
    Some(if claim.observed { stated.saturating_sub(LATE) } else { stated })
}

/// Folds what one reviewer says again of the same place: the first stands, with the graver severity and the higher
/// confidence of the two.
fn fold(entries: Vec<NormalClaim>, claims: &[Claim]) -> Vec<NormalClaim> {
    /// Reviewer, file, category, stance and text.
    type Key = (u32, Option<u32>, Category, bool, u64);
    let mut kept: Vec<NormalClaim> = Vec::with_capacity(entries.len());
    let mut known: HashMap<Key, Vec<usize>> = HashMap::new();
    for entry in entries {
        let claim = &claims[entry.claim];
        let key = (entry.model, entry.file, entry.category, claim.denies, text_hash(claim, entry.lines.is_some()));
        let same = known.entry(key).or_default();
        let is_repeat = |at: &&usize| match (kept[**at].lines, entry.lines) {
            (None, None) => true,
            (Some(_), Some(_)) => kept[**at].place(&entry) == PlaceMatch::Same,
            _ => false,
        };
        if let Some(at) = same.iter().rev().find(is_repeat).copied() {
            let first = &mut kept[at];
            first.repeats.push(entry.claim);
            first.severity = first.severity.max(entry.severity);
            first.confidence = first.confidence.max(entry.confidence);
        } else {
            same.push(kept.len());
            kept.push(entry);
        }
    }
    kept
}

/// What a claim says, letter case and punctuation aside: its title, and without a place its text too.
fn text_hash(claim: &Claim, is_located: bool) -> u64 {
    use std::hash::{DefaultHasher, Hasher as _};
    let mut said = String::with_capacity(claim.title.len() + 1);
    let description = if is_located { "" } else { claim.description.as_str() };
    for text in [claim.title.as_str(), description] {
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            if word.is_ascii() {
                let start = said.len();
                said.push_str(word);
                said[start..].make_ascii_lowercase();
            } else {
                said.extend(word.chars().flat_map(char::to_lowercase));
            }
            said.push(' ');
        }
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(said.as_bytes());
    hasher.finish()
}

/// For each claim the number of its path, in the order of the paths; a bare name is the one path that ends in it.
fn file_numbers(claims: &[Claim], tree: &[String]) -> Vec<Option<u32>> {
    let named: Vec<Option<&str>> =
        claims.iter().map(|claim| claim.file.as_deref().filter(|path| !path.trim().is_empty())).collect();
    let written: HashSet<&str> = named.iter().copied().flatten().collect();
    let paths: HashMap<&str, String> = written.into_iter().map(|path| (path, canonical(path))).collect();
    let in_tree: Vec<String> = tree.iter().map(|path| canonical(path)).collect();
    let known: BTreeSet<&str> = paths.values().chain(&in_tree).map(String::as_str).collect();
    let mut bare: HashMap<&str, Option<&str>> = HashMap::new();
    for path in known {
        if let Some((_, name)) = path.rsplit_once('/') {
            bare.entry(name).and_modify(|only| *only = None).or_insert(Some(path));
        }
    }
    let meant = |path: &str| {
        let path = paths[path].as_str();
        bare.get(path).copied().flatten().unwrap_or(path)
    };
    let meant: HashMap<&str, &str> = paths.keys().map(|path| (*path, meant(path))).collect();
    let sorted: BTreeSet<&str> = meant.values().copied().collect();
    let numbers: HashMap<&str, u32> = sorted.into_iter().zip(0..).collect();
    named.into_iter().map(|path| path.map(|path| numbers[meant[path]])).collect()
}

/// A path with slashes only and without `./`.
fn canonical(path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_categories() {
        let rows = [
            (Some("security"), None, "", Category::Security),
            (Some("Code Defect"), None, "", Category::Bug),
            (Some("Maintainability and Readability"), None, "", Category::Architecture),
            (Some("test-coverage"), None, "", Category::TestCoverage),
            (Some("sql-injection"), None, "", Category::Security),
            (None, Some("CWE-89"), "", Category::Security),
            (None, None, "SQL injection in the query builder", Category::Security),
            (None, None, "Off by one", Category::Bug),
            (Some("Performance"), None, "", Category::Performance),
        ];
        for (given, rule, title, expected) in rows {
            assert_eq!(category(given, rule, title), expected, "{given:?} {rule:?} {title}");
        }
    }

    #[test]
    fn vendors_by_the_names_of_their_models() {
        let rows = [
            ("claude", "anthropic"),
            ("Claude-Code/GPT-5", "openai"),
            ("opus-4-8", "anthropic"),
            ("codex-reviewer", "openai"),
            ("coderabbit", "coderabbit"),
        ];
        for (model, expected) in rows {
            assert_eq!(vendor(model), expected);
        }
    }

    fn claim(model: &str, file: Option<&str>, line: Option<u32>, title: &str) -> Claim {
        Claim {
            id: format!("{model}{line:?}{title}"),
            model: model.to_owned(),
            file: file.map(str::to_owned),
            line,
            title: title.to_owned(),
            ..Claim::default()
        }
    }

    #[test]
    fn a_bare_name_means_the_only_file_of_that_name() {
        let claims = [
            claim("a", Some("./src/db.rs"), Some(1), "x"),
            claim("b", Some("db.rs"), Some(1), "y"),
            claim("c", Some("main.rs"), Some(1), "z"),
        ];
        let tree = ["bin/main.rs".to_owned(), "lib/main.rs".to_owned()];
        let entries = entries(&claims, &tree);
        let file = |index| entries.iter().find(|entry| entry.claim == index).and_then(|entry| entry.file);
        assert_eq!(file(0), file(1));
        assert_ne!(file(2), file(0), "two files have that name");
    }

    #[test]
    fn what_a_reviewer_repeats_is_folded() {
        let claims = [
            claim("a", Some("x.py"), Some(10), "Leaks the handle"),
            claim("a", Some("x.py"), Some(10), "leaks the handle."),
            claim("a", Some("x.py"), Some(40), "Leaks the handle"),
            claim("b", Some("x.py"), Some(10), "Leaks the handle"),
        ];
        let folded = entries(&claims, &[]);
        let shown: Vec<_> = folded.iter().map(|entry| (entry.claim, entry.repeats.clone())).collect();
        assert_eq!(shown, [(0, vec![1]), (3, vec![]), (2, vec![])]);
    }
}
