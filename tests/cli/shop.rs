//! Tests the README's example, the embedded agents on `examples/shop`, also on variants of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::Sandbox;

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/shop");

pub(crate) fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        let name = path
            .file_name()
            .expect("an entry has a name")
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            found.extend(
                files(&path)
                    .into_iter()
                    .map(|(below, text)| (format!("{name}/{below}"), text)),
            );
        } else {
            found.insert(name, fs::read_to_string(&path).expect("a text file"));
        }
    }
    found
}

/// A project with the shop in `examples/shop`, each file passed through `change`, and the project's configuration.
pub(crate) fn shop(change: impl Fn(&str, String) -> Option<(String, String)>) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write(
        ".glee/config.yml",
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(".glee/config.yml"))
            .expect("the configuration"),
    );
    for (path, text) in files(Path::new(SHOP)) {
        if let Some((path, text)) = change(&path, text) {
            sandbox.write(format!("examples/shop/{path}"), text);
        }
    }
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Open the shop"]);
    sandbox
}

pub(crate) fn unchanged(path: &str, text: String) -> Option<(String, String)> {
    Some((path.to_owned(), text))
}

fn review(sandbox: &Sandbox, code: i32) -> serde_json::Value {
    let output = sandbox.glee(&["review", "examples/shop", "--arbitrate", "--format", "json"]);
    assert_eq!(output.code, code, "{output}");
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

/// The rulings by rule of the disputed finding.
fn rulings(outcome: &serde_json::Value) -> BTreeMap<String, String> {
    let disputes = outcome["disputes"].as_array().expect("disputes are a list");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("?").to_owned();
    disputes
        .iter()
        .map(|dispute| {
            let rulings = dispute["rulings"].as_array().expect("rulings are a list");
            (
                text(&dispute["finding"]["rule"]),
                rulings
                    .iter()
                    .map(|ruling| text(&ruling["ruling"]))
                    .collect(),
            )
        })
        .collect()
}

fn expected(rows: &[(&str, &str)]) -> BTreeMap<String, String> {
    rows.iter()
        .map(|(rule, word)| ((*rule).to_owned(), (*word).to_owned()))
        .collect()
}

#[test]
fn the_whole_job_is_seen_and_undone_byte_for_byte() {
    let sandbox = shop(unchanged);
    let before = files(&sandbox.root().join("examples/shop"));
    let outcome = review(&sandbox, 3);
    assert_eq!(
        rulings(&outcome),
        expected(&[
            ("py-weak-hash", "DISMISS"),
            ("py-tls-unverified", "ENFORCE"),
            ("go-tls-unverified", "ESCALATE")
        ])
    );
    let findings = outcome["findings"].as_array().expect("findings are a list");
    let endings: std::collections::BTreeSet<&str> = findings
        .iter()
        .filter_map(|f| f["file"].as_str()?.rsplit('.').next())
        .collect();
    assert!(endings.len() >= 4, "{endings:?}");
    let open: Vec<_> = findings
        .iter()
        .filter(|f| {
            f["mandatory"] == true
                && !["resolved", "dismissed", "disputed"]
                    .contains(&f["state"].as_str().unwrap_or("?"))
        })
        .collect();
    assert!(open.is_empty(), "everything else is fixed: {open:#?}");
    assert!(
        sandbox
            .read("examples/shop/orders/settings.py")
            .contains("yaml.safe_load(file)")
    );

    let again = review(&sandbox, 3);
    let waiting = [("go-tls-unverified", "ESCALATE")];
    assert_eq!(
        rulings(&again),
        expected(&waiting),
        "what was ruled is not asked again"
    );
    let listed = sandbox.glee(&["disputes", "--recent", "10"]);
    for word in ["DISMISS", "ENFORCE", "ESCALATE"] {
        assert!(listed.stdout.contains(word), "{listed}");
    }
    let run = outcome["run"].as_str().expect("an outcome names its run");
    assert_eq!(sandbox.glee(&["runs", "undo", run]).code, 0);
    assert_eq!(files(&sandbox.root().join("examples/shop")), before);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[cfg(target_os = "linux")]
#[test]
fn flaws_fail_before_and_pass_after_and_the_test_of_an_objection_passes() {
    for has_python in [true, false] {
        let mut sandbox = shop(unchanged);
        if !has_python {
            for program in ["git", "sh"] {
                let own = sandbox.root().with_file_name("bin").join(program);
                std::os::unix::fs::symlink(format!("/usr/bin/{program}"), own).expect("a link");
            }
            sandbox.only_own_programs();
        }
        let outcome = review(&sandbox, 3);
        // Tests change no ruling and no ending.
        assert_eq!(
            rulings(&outcome),
            expected(&[
                ("py-weak-hash", "DISMISS"),
                ("py-tls-unverified", "ENFORCE"),
                ("go-tls-unverified", "ESCALATE")
            ])
        );
        let findings = outcome["findings"].as_array().expect("findings are a list");
        let mut shown = BTreeMap::new();
        for finding in findings {
            let file = finding["file"].as_str().expect("a file");
            for one in finding["demonstrations"].as_array().into_iter().flatten() {
                shown.insert(file, (one["by"].as_str(), one["result"].as_str()));
            }
        }
        if !has_python {
            assert_eq!(shown, BTreeMap::new(), "{outcome:#}");
            let output = sandbox.glee(&["review", "examples/shop", "--dry-run"]);
            let why = "note: no tests with the runner `unittest`: `python3` was not found";
            assert!(output.stderr.contains(why), "{output}");
            continue;
        }
        let of = |by, result| (Some(by), Some(result));
        let expected = BTreeMap::from([
            (
                "examples/shop/orders/receipts.py",
                of("reviewer", "passes_after"),
            ),
            (
                "examples/shop/orders/settings.py",
                of("reviewer", "passes_after"),
            ),
            ("examples/shop/orders/catalog.py", of("coder", "passes")),
        ]);
        assert_eq!(shown, expected, "{outcome:#}");
        let receipts = findings
            .iter()
            .find(|finding| finding["file"] == "examples/shop/orders/receipts.py");
        let receipts = receipts.expect("the flaw of the receipts");
        let kept = sandbox.glee(&["keep", receipts["id"].as_str().expect("an id")]);
        assert_eq!(kept.code, 0, "{kept}");
        insta::assert_snapshot!(
            sandbox.read("examples/shop/tests/test_receipts_seal.py"),
            @r#"
        """Calls `seal` and watches `hashlib.md5`."""

        import importlib
        import os
        import sys
        import unittest
        from unittest import mock

        sys.path.insert(0, os.path.abspath("examples/shop"))


        class Watched(unittest.TestCase):
            def test_md5_is_not_called(self):
                try:
                    importlib.import_module("hashlib")
                except ImportError:
                    sys.modules["hashlib"] = mock.MagicMock()
                module = importlib.import_module("orders.receipts")
                with mock.patch.object(module, "hashlib") as package:
                    module.seal(mock.MagicMock(), mock.MagicMock(), mock.MagicMock())
                package.md5.assert_not_called()
        "#
        );
    }
}

#[test]
fn text_and_markdown_count_the_same_files() {
    let sandbox = shop(unchanged);
    let args = ["review", ".", "--no-input", "--format", "markdown=shop.md"];
    let reviewed = sandbox.glee(&args);
    let page = std::fs::read_to_string(sandbox.root().join("shop.md")).expect("a written report");
    for text in [reviewed.stdout, page] {
        assert!(text.contains("10 of 13 files"), "{text}");
    }
}

#[test]
fn without_the_cited_test_the_finding_is_enforced() {
    let sandbox = shop(|path, text| {
        let (kept, _) = text
            .split_once("    def test_cache_key_is_stable")
            .unwrap_or((&text, ""));
        Some((path.to_owned(), kept.to_owned()))
    });
    assert_eq!(rulings(&review(&sandbox, 3))["py-weak-hash"], "ENFORCE");
}

#[test]
fn names_of_files_and_symbols_do_not_matter() {
    let rename = |text: &str| {
        text.replace("cache_key", "entry_name")
            .replace("catalog", "shelf")
            .replace("trackingClient", "dialer")
            .replace("tracking.go", "parcels.go")
            .replace("network.md", "lines.md")
            .replace("suppliers", "sources")
    };
    let sandbox = shop(|path, text| Some((rename(path), rename(&text))));
    assert_eq!(
        rulings(&review(&sandbox, 3)),
        expected(&[
            ("py-weak-hash", "DISMISS"),
            ("py-tls-unverified", "ENFORCE"),
            ("go-tls-unverified", "ESCALATE")
        ])
    );
}

#[test]
fn new_flaws_are_found() {
    let sandbox = shop(unchanged);
    sandbox.write(
        "examples/shop/orders/extra.py",
        "import os\nimport pickle\n\n\ndef run(name):\n    os.system('ls ' + name)\n\n\ndef load(data):\n    return pickle.loads(data)\n",
    );
    sandbox.write(
        "examples/shop/web/extra.js",
        "export function f(text) {\n  return eval(text);\n}\n",
    );
    let output = sandbox.glee(&["review", "--format", "json"]);
    assert_eq!(output.code, 1, "{output}");
    let outcome: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    let categories: std::collections::BTreeSet<&str> = outcome["findings"]
        .as_array()
        .expect("findings are a list")
        .iter()
        .filter_map(|finding| finding["category"].as_str())
        .collect();
    assert_eq!(
        categories,
        [
            "code-injection",
            "command-injection",
            "unsafe-deserialisation"
        ]
        .into_iter()
        .collect()
    );
}
