//! Normalises the paths, categories, severities and confidences of findings. If a reviewer repeats a finding, the
//! repeated findings are merged (phase 1).
//!
//! The order of the normalised findings depends only on the findings' content, so that results are reproducible.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt as _, HashSet};

use super::debate::{self, Debate};
use super::group::{Level, Member};
use super::similarity::phrases::Phrases;
use crate::domain::Agent;
use crate::rules::parallel;

/// The number of points that are deducted from the confidence of a finding that was first raised in round 2 of a
/// debate.
const LATE: u8 = 10;

/// The maximum distance, in lines, between two findings that count as near each other.
pub(super) const NEAR: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    Security,
    /// A defect, or any finding that fits no other category.
    Bug,
    Architecture,
    Performance,
    TestCoverage,
}

impl Category {
    pub fn as_str(self) -> &'static str {
        [
            "security",
            "bug",
            "architecture",
            "performance",
            "test-coverage",
        ][self as usize]
    }
}

/// Lists of word prefixes. A prefix in the reviewer's category or rule determines the [`Category`] of the finding.
/// The first list with a matching prefix applies.
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

/// Lists of word prefixes that determine the category from the title of a finding. The first list with a matching
/// prefix applies. The list `TEXTS` contains fewer prefixes than the list `NAMES`, because titles mention many
/// topics.
static TEXTS: LazyLock<[(Phrases, Category); 3]> = LazyLock::new(|| {
    let security =
        "vulnerab, sql injection, command injection, cross-site, path traversal, xss, csrf";
    [
        (Phrases::of(security), Category::Security),
        (
            Phrases::of("untested, test coverage, missing test"),
            Category::TestCoverage,
        ),
        (Phrases::of("quadratic, n+1 quer"), Category::Performance),
    ]
});

/// Determines the category of a finding. The reviewer's category takes precedence over the rule, and the rule
/// takes precedence over the title. The default is `Bug`.
pub fn category(given: Option<&str>, rule: Option<&str>, title: &str) -> Category {
    let name = |text: &str| find(&*NAMES, text);
    let named = given.filter(|word| !word.trim().is_empty());
    match (named.and_then(name), rule.and_then(name)) {
        (Some(category), _) => category,
        (None, _) if named.is_some_and(|word| word.to_lowercase().contains("bug")) => Category::Bug,
        (None, Some(category)) => category,
        (None, None) => find(&*TEXTS, title).unwrap_or(Category::Bug),
    }
}

fn find(list: &[(Phrases, Category)], text: &str) -> Option<Category> {
    list.iter()
        .find(|(phrases, _)| phrases.begin_a_word(text))
        .map(|(_, category)| *category)
}

const VENDORS: &[(&str, &[&str])] = &[
    ("anthropic", &["claude", "opus", "sonnet", "haiku"]),
    ("openai", &["codex", "gpt", "openai"]),
    ("google", &["gemini"]),
    ("deepseek", &["deepseek"]),
    ("alibaba", &["qwen"]),
    ("xai", &["grok"]),
    ("mistral", &["mistral", "codestral"]),
    ("meta", &["llama"]),
    ("moonshot", &["kimi"]),
    ("zhipu", &["glm"]),
    ("github", &["copilot"]),
];

/// Derives the vendor of a model from the reviewer's name. If the name contains no known model, the name itself
/// counts as the vendor.
pub fn vendor(model: &str) -> String {
    known_vendor(model).map_or_else(|| model.to_lowercase(), ToOwned::to_owned)
}

/// The vendor of an agent: its key `vendor`, or else the vendor that the name of its model, its profile or its program
/// says. A model that says nothing, or else the agent, is a vendor of its own, because two programs can be the same
/// interpreter.
pub fn vendor_of(agent: &Agent) -> String {
    if let Some(vendor) = &agent.vendor {
        return vendor.to_lowercase();
    }
    let of_profile = agent.profile.as_deref();
    let of_profile = of_profile.map(|profile| profile.vendor.to_lowercase());
    if let Some(model) = &agent.model {
        let known = known_vendor(model).map(ToOwned::to_owned);
        return known
            .or(of_profile.filter(|vendor| !vendor.is_empty()))
            .unwrap_or_else(|| model.to_lowercase());
    }
    let program = agent.command.first().map(Path::new);
    let program = program.and_then(Path::file_name).and_then(OsStr::to_str);
    of_profile
        .filter(|vendor| !vendor.is_empty())
        .or_else(|| program.and_then(known_vendor).map(ToOwned::to_owned))
        .unwrap_or_else(|| agent.name.0.clone())
}

fn known_vendor(model: &str) -> Option<&'static str> {
    let name = model.to_lowercase();
    let parts = VENDORS
        .iter()
        .flat_map(|(vendor, parts)| parts.iter().map(move |part| (*part, *vendor)));
    let known = parts
        .filter_map(|(part, vendor)| Some((name.rfind(part)?, vendor)))
        .max();
    known.map(|(_, vendor)| vendor)
}

#[derive(Clone, Debug)]
pub struct NormalMember<'a> {
    pub member: &'a Member,
    pub index: usize,
    pub repeats: Vec<usize>,
    pub model: u32,
    pub file: Option<u32>,
    pub lines: Option<(u32, u32)>,
    pub block: Option<(u32, u32)>,
    /// The files and the lines of the further places.
    pub further: Vec<(u32, (u32, u32))>,
    pub category: Category,
    pub severity: Level,
    pub confidence: Option<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceMatch {
    Same,
    Near,
    Block,
    /// The locations cannot be compared, because a file or a line is missing.
    Unknown,
    Apart,
}

impl NormalMember<'_> {
    /// The files and the lines of all places.
    pub fn places(&self) -> impl Iterator<Item = (u32, (u32, u32))> {
        let main = self.file.zip(self.lines);
        main.into_iter().chain(self.further.iter().copied())
    }

    pub fn place(&self, other: &Self) -> PlaceMatch {
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
        let gap = gap(a, b);
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

/// The number of lines between two ranges, 0 if they have a line in common.
pub(super) fn gap(a: (u32, u32), b: (u32, u32)) -> u32 {
    a.0.max(b.0).saturating_sub(a.1.min(b.1))
}

pub(super) fn entries<'a>(members: &'a [Member], tree: &[String]) -> Vec<NormalMember<'a>> {
    let file_numbers = file_numbers(members, tree);
    let no_debate = Debate::default();
    let models: HashMap<&str, u32> = debate::reviewers(members, &no_debate)
        .into_iter()
        .zip(0..)
        .collect();
    let categories = parallel::each(members, |member| {
        category(
            member.raw.category.as_deref(),
            member.raw.rule.as_deref(),
            member.title(),
        )
    });
    let mut entries: Vec<NormalMember<'_>> = members
        .iter()
        .zip(categories)
        .enumerate()
        .map(|(index, (member, category))| {
            let number = |path: &str| file_numbers.get(path).copied();
            let raw = &member.raw;
            let further = raw.places.iter();
            let further = further.filter_map(|place| {
                Some((number(&place.file)?, lines(place.line, place.end_line)?))
            });
            NormalMember {
                member,
                index,
                repeats: Vec::new(),
                model: models[member.model.as_str()],
                file: raw.file.as_deref().and_then(number),
                lines: lines(raw.line, raw.end_line),
                block: member.block,
                further: further.collect(),
                category,
                severity: member.level(),
                confidence: confidence(member),
            }
        })
        .collect();
    entries.sort_by(|a, b| {
        let x = a.member;
        let y = b.member;
        // The order does not depend on the reviewers' names, so no reviewer is favoured in a tie (rule 7).
        (a.file, a.lines, x.title())
            .cmp(&(b.file, b.lines, y.title()))
            .then_with(|| (x.description(), x.suggestion()).cmp(&(y.description(), y.suggestion())))
            .then_with(|| (b.severity, b.confidence).cmp(&(a.severity, a.confidence)))
            .then_with(|| x.id.cmp(&y.id))
    });
    fold(entries)
}

fn lines(line: Option<u32>, end: Option<u32>) -> Option<(u32, u32)> {
    let line = line.filter(|line| *line > 0)?;
    Some((line, end.unwrap_or(line).max(line)))
}

pub(super) fn confidence(member: &Member) -> Option<u8> {
    let stated = member.raw.confidence?.get();
    Some(if member.observed {
        stated.saturating_sub(LATE)
    } else {
        stated
    })
}

/// Merges the findings of one reviewer that have the same location, category and text. A merged finding gets the
/// highest severity and the highest confidence of its parts.
fn fold(entries: Vec<NormalMember<'_>>) -> Vec<NormalMember<'_>> {
    /// Identifies repeated findings by reviewer, file, category, denial and text hash. The boolean in the key is
    /// true if the reviewer denies the problem.
    type Key = (u32, Option<u32>, Category, bool, u64);
    let mut kept: Vec<NormalMember<'_>> = Vec::with_capacity(entries.len());
    let mut known: HashMap<Key, Vec<usize>> = HashMap::new();
    for entry in entries {
        let text = text_hash(entry.member, entry.lines.is_some());
        let key = (
            entry.model,
            entry.file,
            entry.category,
            entry.member.denies,
            text,
        );
        let same = known.entry(key).or_default();
        if let Some(at) = same
            .iter()
            .rev()
            .find(|at| match (kept[**at].lines, entry.lines) {
                (None, None) => true,
                (Some(_), Some(_)) => kept[**at].place(&entry) == PlaceMatch::Same,
                _ => false,
            })
            .copied()
        {
            let first = &mut kept[at];
            first.repeats.push(entry.index);
            first.severity = first.severity.max(entry.severity);
            first.confidence = first.confidence.max(entry.confidence);
        } else {
            same.push(kept.len());
            kept.push(entry);
        }
    }
    kept
}

/// Hashes the title of a finding without regard to case and punctuation. If the finding has no line, the hash also
/// covers the description.
fn text_hash(member: &Member, is_located: bool) -> u64 {
    use std::hash::{DefaultHasher, Hasher as _};
    let mut said = String::with_capacity(member.title().len() + 1);
    let description = if is_located {
        "".into()
    } else {
        member.description()
    };
    for text in [member.title(), &description] {
        for word in text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
        {
            said.extend(word.chars().flat_map(char::to_lowercase));
            said.push(' ');
        }
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(said.as_bytes());
    hasher.finish()
}

/// Assigns a number to each path of the members. Paths are numbered in alphabetical order. If exactly one known path ends with a bare file name such as `main.rs`, this path replaces the bare file
/// name. A path is known if `tree` contains the path, or if a member gives the path with a folder.
fn file_numbers<'a>(members: &'a [Member], tree: &[String]) -> HashMap<&'a str, u32> {
    let named = members.iter().flat_map(|member| member.raw.files());
    let written: HashSet<&str> = named.filter(|path| !path.trim().is_empty()).collect();
    let paths: HashMap<&str, String> = written
        .into_iter()
        .map(|path| (path, canonical(path)))
        .collect();
    let in_tree: Vec<String> = tree.iter().map(|path| canonical(path)).collect();
    let in_folders = paths.values().filter(|path| path.contains('/'));
    let known: BTreeSet<&str> = in_folders.chain(&in_tree).map(String::as_str).collect();
    let mut bare: HashMap<&str, Option<&str>> = HashMap::new();
    for path in known {
        let name = path.rsplit('/').next().unwrap_or(path);
        bare.entry(name)
            .and_modify(|only| *only = None)
            .or_insert(Some(path));
    }
    let meant: HashMap<&str, &str> = HashMap::from_iter(paths.iter().map(|(written, path)| {
        let only = bare.get(path.as_str()).copied().flatten();
        (*written, only.unwrap_or(path))
    }));
    let sorted: BTreeSet<&str> = meant.values().copied().collect();
    let numbers: HashMap<&str, u32> = sorted.into_iter().zip(0..).collect();
    meant
        .into_iter()
        .map(|(path, meant)| (path, numbers[meant]))
        .collect()
}

fn canonical(path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    path.split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect::<Vec<_>>()
        .join("/")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::json;

    use super::*;
    use crate::domain::RawFinding;

    #[test]
    fn the_table_of_categories() {
        let rows = [
            (Some("security"), None, "", Category::Security),
            (Some("Code Defect"), None, "", Category::Bug),
            (
                Some("Maintainability and Readability"),
                None,
                "",
                Category::Architecture,
            ),
            (Some("test-coverage"), None, "", Category::TestCoverage),
            (Some("sql-injection"), None, "", Category::Security),
            (None, Some("CWE-89"), "", Category::Security),
            (
                None,
                None,
                "SQL injection in the query builder",
                Category::Security,
            ),
            (None, None, "Off by one", Category::Bug),
            (Some("Performance"), None, "", Category::Performance),
        ];
        for (given, rule, title, expected) in rows {
            assert_eq!(
                category(given, rule, title),
                expected,
                "{given:?} {rule:?} {title}"
            );
        }
    }

    #[test]
    fn an_agents_vendor_is_its_key_or_what_its_model_profile_or_program_says() {
        let of = |program: &str,
                  model: Option<&str>,
                  profile: Option<&str>,
                  vendor: Option<&str>| {
            let profile = profile.map(|vendor| json!({"name": program, "vendor": vendor}));
            let agent = json!({"name": "me", "role": "reviewer", "command": [program], "adapter": "text",
                "model": model, "profile": profile, "vendor": vendor});
            vendor_of(&serde_json::from_value(agent).unwrap())
        };
        let rows = [
            (("claude", None, None, None), "anthropic"),
            (("copilot", None, None, None), "github"),
            (("copilot", Some("gpt-5"), None, None), "openai"),
            (("claude", None, None, Some("Own")), "own"),
            (("claude", Some("gpt-5"), None, Some("own")), "own"),
            (("agy", None, Some("google"), None), "google"),
            (("agy", Some("sonnet"), Some("google"), None), "anthropic"),
            (("agy", Some("mock"), Some("google"), None), "google"),
            (("pi", Some("Mock"), Some(""), None), "mock"),
            (("pi", None, Some(""), None), "me"),
            (("sh", None, None, None), "me"),
        ];
        for ((program, model, profile, vendor), expected) in rows {
            assert_eq!(
                of(program, model, profile, vendor),
                expected,
                "{program} {model:?} {profile:?} {vendor:?}"
            );
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

    fn member(model: &str, file: Option<&str>, line: Option<u32>, title: &str) -> Member {
        let id = format!("{model}{line:?}{title}");
        let raw = RawFinding {
            file: file.map(str::to_owned),
            line,
            title: title.into(),
            ..RawFinding::default()
        };
        Member {
            id,
            model: model.to_owned(),
            raw,
            ..Member::default()
        }
    }

    #[test]
    fn a_bare_name_means_the_only_file_of_that_name() {
        let members = [
            member("a", Some("./src/db.rs"), Some(1), "x"),
            member("b", Some("db.rs"), Some(1), "y"),
            member("c", Some("main.rs"), Some(1), "z"),
        ];
        let tree = ["bin/main.rs".to_owned(), "lib/main.rs".to_owned()];
        let entries = entries(&members, &tree);
        let file = |index| {
            entries
                .iter()
                .find(|entry| entry.index == index)
                .and_then(|entry| entry.file)
        };
        assert_eq!(file(0), file(1));
        assert_ne!(file(2), file(0), "two files have that name");
    }

    #[test]
    fn a_file_at_the_root_is_not_the_file_of_that_name_in_a_folder() {
        let members = [
            member(
                "a",
                Some("build.rs"),
                Some(1),
                "The script leaks the handle",
            ),
            member(
                "b",
                Some("crates/x/build.rs"),
                Some(1),
                "The script leaks the handle",
            ),
        ];
        let files = |tree: &[&str]| {
            let tree: Vec<String> = tree.iter().map(ToString::to_string).collect();
            let entries = entries(&members, &tree);
            [0, 1].map(|index| {
                entries
                    .iter()
                    .find(|entry| entry.index == index)
                    .and_then(|entry| entry.file)
            })
        };
        let [root, inner] = files(&["build.rs", "crates/x/build.rs"]);
        assert_ne!(root, inner, "both files are in the tree");
        let [root, inner] = files(&["./build.rs"]);
        assert_ne!(root, inner, "the file at the root is in the tree");
        let [bare, inner] = files(&["crates/x/build.rs"]);
        assert_eq!(bare, inner, "no file at the root has that name");
    }

    #[test]
    fn what_a_reviewer_repeats_is_folded() {
        let members = [
            member("a", Some("x.py"), Some(10), "Leaks the handle"),
            member("a", Some("x.py"), Some(10), "leaks the handle."),
            member("a", Some("x.py"), Some(40), "Leaks the handle"),
            member("b", Some("x.py"), Some(10), "Leaks the handle"),
        ];
        let folded = entries(&members, &[]);
        let shown: Vec<_> = folded
            .iter()
            .map(|entry| (entry.index, entry.repeats.clone()))
            .collect();
        assert_eq!(shown, [(0, vec![1]), (3, vec![]), (2, vec![])]);
    }
}
