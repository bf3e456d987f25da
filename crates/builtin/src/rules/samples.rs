//! Tests the packaged rules with the samples in `tests/rules/<language>/<rule>.<ext>`.
//!
//! In a sample, the rule must match all lines that end in `expect`, and no other lines. A comment `ok: ...`
//! explains why the rule must not match a line. For a rule with a fix, `<rule>.fixed.<ext>` is the sample with all
//! fixes applied.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::catalog::{Catalog, RuleInfo};
use crate::recheck::mistakes;

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::packaged().unwrap());

struct Sample {
    rule: String,
    file: PathBuf,
    text: String,
}

impl Sample {
    /// Returns a path outside test folders, because some rules exclude test files.
    fn path(&self, extension: &str) -> String {
        format!("src/{}.{extension}", self.rule)
    }

    fn extension(&self) -> &str {
        self.file.extension().unwrap().to_str().unwrap()
    }

    fn expected(&self) -> BTreeSet<u32> {
        let lines = self.text.lines().zip(1..);
        lines
            .filter(|(line, _)| line.trim_end().ends_with(" expect"))
            .map(|(_, number)| number)
            .collect()
    }
}

fn samples() -> Vec<Sample> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/rules");
    let folders = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
    });
    let samples = files
        .filter(|file| !file.to_str().unwrap().contains(".fixed."))
        .map(|file| Sample {
            rule: file.file_stem().unwrap().to_str().unwrap().to_owned(),
            text: fs::read_to_string(&file).unwrap(),
            file,
        });
    samples.collect()
}

fn lines(catalog: &Catalog, path: &str, text: &str, rule: &str) -> BTreeSet<u32> {
    catalog
        .scan(path, text, None)
        .hits
        .into_iter()
        .filter(|hit| hit.rule == rule)
        .map(|hit| hit.lines.0)
        .collect()
}

fn fixed(catalog: &Catalog, path: &str, text: &str, rule: &str) -> String {
    let mut text = text.to_owned();
    let mut left = usize::MAX;
    loop {
        let mut hits: Vec<_> = catalog
            .scan(path, &text, None)
            .hits
            .into_iter()
            .filter(|hit| hit.rule == rule)
            .collect();
        assert!(
            hits.len() < left,
            "{rule}: a fix leaves its match in place\n{text}"
        );
        left = hits.len();
        let Some(edit) = hits.pop().and_then(|hit| hit.edit) else {
            return text;
        };
        text.replace_range(edit.range, &edit.text);
    }
}

#[test]
fn every_rule_matches_its_samples_and_nothing_else() {
    let catalog = &*CATALOG;
    let mut wrong = Vec::new();
    for sample in samples() {
        let name = sample.file.display();
        assert!(
            catalog.info(&sample.rule).is_some(),
            "{name} belongs to no rule"
        );
        // The rules for JavaScript also apply to TypeScript.
        let extensions: &[&str] = match sample.extension() {
            "js" => &["js", "ts", "tsx"],
            other => &[other],
        };
        let expected = sample.expected();
        for extension in extensions {
            let found = lines(catalog, &sample.path(extension), &sample.text, &sample.rule);
            if found != expected {
                wrong.push(format!(
                    "{name} as .{extension}: lines {found:?} match, expected {expected:?}"
                ));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_rule_has_three_samples_and_three_near_misses() {
    let catalog = &*CATALOG;
    let samples: BTreeMap<String, Sample> = samples()
        .into_iter()
        .map(|sample| (sample.rule.clone(), sample))
        .collect();
    for info in catalog.infos() {
        let sample = samples
            .get(&info.id)
            .unwrap_or_else(|| panic!("{} has no sample", info.id));
        assert!(
            sample.expected().len() >= 3,
            "{} has fewer than three samples",
            info.id
        );
        let near_misses = sample
            .text
            .lines()
            .filter(|line| line.contains(" ok: "))
            .count();
        assert!(
            near_misses >= 3,
            "{} has fewer than three near misses",
            info.id
        );
        assert_eq!(
            mistakes(&sample.path(sample.extension()), &sample.text),
            0,
            "{} does not parse",
            info.id
        );
    }
}

#[test]
fn every_fix_gives_the_text_beside_its_sample_which_no_longer_matches() {
    let catalog = &*CATALOG;
    for sample in samples() {
        if !catalog.info(&sample.rule).unwrap().fixable {
            continue;
        }
        let path = sample.path(sample.extension());
        let text = fixed(catalog, &path, &sample.text, &sample.rule);
        let (was, is) = match sample.extension() {
            "py" => (" # expect", " # fixed"),
            _ => (" // expect", " // fixed"),
        };
        let beside = sample
            .file
            .with_extension(format!("fixed.{}", sample.extension()));
        assert_eq!(
            text.replace(was, is),
            fs::read_to_string(&beside).unwrap(),
            "{}",
            beside.display()
        );
        assert_eq!(
            lines(catalog, &path, &text, &sample.rule),
            BTreeSet::new(),
            "{}",
            sample.rule
        );
        assert_eq!(
            mistakes(&path, &text),
            0,
            "{} no longer parses",
            sample.rule
        );
    }
}

#[test]
fn the_packaged_rules_say_everything_about_themselves() {
    const CATEGORIES: [&str; 30] = [
        "sql-injection",
        "command-injection",
        "code-injection",
        "path-traversal",
        "unsafe-deserialisation",
        "xss",
        "xxe",
        "weak-hash",
        "weak-cipher",
        "weak-random",
        "hard-coded-secret",
        "tls-verification",
        "insecure-cookie",
        "permissive-permissions",
        "temp-file-race",
        "unchecked-unwrap",
        "swallowed-exception",
        "ignored-error",
        "resource-leak",
        "mutable-default",
        "debug-enabled",
        "infinite-timeout",
        "comparison-bug",
        "concurrency",
        "error-identity",
        "cause-lost",
        "unbounded-read",
        "regex-range",
        "placeholder",
        "commented-out-code",
    ];
    /// Rules whose findings are instances of no single weakness. A comparison can always be true (CWE-571) or always
    /// be false (CWE-570); the other defects are mistakes in the use of a language's event loop or of its default
    /// values, which the enumeration does not name.
    const WITHOUT_WEAKNESS: [&str; 10] = [
        "go-comparison-always-same",
        "java-comparison-always-same",
        "js-comparison-always-same",
        "py-comparison-always-same",
        "rs-comparison-always-same",
        "js-async-foreach",
        "py-async-sleep",
        "py-blocking-in-async",
        "rs-blocking-in-async",
        "py-mutable-default",
    ];
    let catalog = &*CATALOG;
    let rules: Vec<&RuleInfo> = catalog.infos().collect();
    for info in &rules {
        let is_without = WITHOUT_WEAKNESS.contains(&info.id.as_str());
        assert_eq!(
            info.cwe.is_none(),
            is_without,
            "{}: {:?}",
            info.id,
            info.cwe
        );
        let category = info.category.as_deref().unwrap_or_default();
        assert!(
            CATEGORIES.contains(&category),
            "{}: category `{category}`",
            info.id
        );
        assert!(info.note.is_some(), "{} has no note", info.id);
        assert!(
            !info.message.contains(['\n', '\r']),
            "{}: the message is one line",
            info.id
        );
    }
    assert!(rules.len() >= 40, "{} rules", rules.len());
    let languages: BTreeSet<&str> = rules.iter().map(|info| info.language.as_str()).collect();
    let all = BTreeSet::from(["Go", "Java", "JavaScript", "Python", "Rust", "TypeScript"]);
    assert!(languages.is_superset(&all), "{languages:?}");
}
