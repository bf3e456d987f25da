//! The scope of a dismissal: only the problem that was ruled on, not others in the same function.

use serde_json::json;

use crate::runner::Cases;
use crate::scene::{Kind, Scene, emit, outcome};

/// A JSON review with these findings: line, category, rule and title.
fn review(findings: &[(u32, &str, Option<&str>, &str)]) -> String {
    let findings: Vec<_> = findings
        .iter()
        .map(|(line, category, rule, title)| {
            json!({"severity": "MUST", "file": "app.py", "line": line, "category": category, "rule": rule, "title": title})
        })
        .collect();
    json!({"nonce": "{nonce}", "findings": findings}).to_string()
}

/// The states of a second review's findings after the first finding was dismissed, and the exit code.
fn again(
    first: &[(u32, &str, Option<&str>, &str)],
    second: &[(u32, &str, Option<&str>, &str)],
) -> (i32, Vec<String>) {
    let mut scene = Scene::new(Kind::Git);
    scene.play("rev", "review", [emit(&review(first))]);
    let dismissed = scene.arbitrate();
    assert_eq!(dismissed.code, 0, "{dismissed}");
    scene.play("rev", "review", [emit(&review(second))]);
    let output = scene.review();
    let findings = outcome(&output)["findings"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    (
        output.code,
        findings
            .iter()
            .map(|finding| finding["state"].as_str().unwrap_or_default().to_owned())
            .collect(),
    )
}

pub(crate) fn add(cases: &mut Cases) {
    const ROW: &str = "a dismissal covers one problem";
    const HASH: &str = "Weak hash used for the key";
    let others = [
        (
            1,
            "security",
            None,
            "Hardcoded admin password lets anybody in",
        ),
        (2, "security", None, "Weak password used for the key"),
        (2, "security", None, "Key is logged in plain text"),
        (
            2,
            "SECURITY",
            Some("security"),
            "Command injection through data",
        ),
        (2, "security", Some("CWE-798"), HASH),
        (
            2,
            "crypto",
            Some("CWE-328"),
            "Credentials are part of the source",
        ),
        (
            1,
            "security",
            None,
            "The caller's permission is never checked",
        ),
    ];
    for (line, category, rule, title) in others {
        cases.add(ROW, format!("{title}, rule {rule:?}"), move || {
            let known = rule
                .filter(|rule| *rule == "CWE-328")
                .or(rule.map(|_| "CWE-327"));
            let (code, states) = again(
                &[(2, category, known, HASH)],
                &[(line, category, rule, title)],
            );
            assert_eq!((code, states), (1, vec!["open".to_owned()]));
        });
    }
    let same = [
        (2, "security", None, HASH),
        (2, "crypto", None, "Weak hash for the key"),
        (1, "security", None, "The key is made by a weak hash"),
        (2, "", None, "MD5 is a weak hash for this key"),
    ];
    for (line, category, rule, title) in same {
        cases.add(ROW, format!("said again: {title}"), move || {
            let (code, states) = again(
                &[(2, "security", rule, HASH)],
                &[(line, category, rule, title)],
            );
            assert_eq!((code, states), (0, vec!["already_ruled".to_owned()]));
        });
    }
    cases.add(
        ROW,
        "two problems of one reviewer, one of them ruled on",
        || {
            let second = [
                (2, "security", None, HASH),
                (1, "security", None, "Weak hash, and the key is unsalted"),
            ];
            let (code, mut states) = again(&second[..1], &second);
            states.sort();
            assert_eq!(
                (code, states),
                (1, vec!["already_ruled".to_owned(), "open".to_owned()])
            );
        },
    );
    cases.add(ROW, "one rule at two lines of one function", || {
        let code = "def key(data):\n    a = md5(data)\n    b = md5(a)\n    return b\n";
        let mut scene = Scene::new(Kind::Git);
        scene.write("app.py", code);
        scene.play(
            "rev",
            "review",
            [emit(&review(&[(
                2,
                "security",
                Some("py/weak-hash"),
                "Weak hash",
            )]))],
        );
        assert_eq!(scene.arbitrate().code, 0);
        scene.play(
            "rev",
            "review",
            [emit(&review(&[(
                3,
                "security",
                Some("py/weak-hash"),
                "Weak hash",
            )]))],
        );
        let output = scene.review();
        assert_eq!(output.code, 1, "{output}");
    });
}
