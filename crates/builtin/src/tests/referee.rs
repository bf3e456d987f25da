//! Tests that the embedded judge checks the references of an objection in the tree.

use super::*;

const PAGES: &str = "import hashlib\n\n\nclass Pages:\n    def etag(self, page):\n        return hashlib.md5(page).hexdigest()\n\n    def other(self):\n        return self.etag('')\n";
const PAGES_TEST: &str = "def test_etag_is_stable():\n    assert Pages().etag('a') == Pages().etag('a')\n\n\ndef test_nothing():\n    note = 'etag'\n";
const NOTES: &str = "# Decisions\n\nThe etag names a cached page.\nNothing else.\n";
const WEB_TEST: &str = "describe('pages', () => {\n  it('keeps the etag', () => {\n    expect(etag('a')).toBe(etag('a'));\n  });\n});\n";

/// The referee's ruling on an objection with this evidence.
fn ruled(tree: &Tree, place: &str, evidence: &[&str], text: &str) -> Value {
    let dispute = json!({
        "number": 7,
        "finding": finding("F1", place, "py-weak-hash"),
        "objection": {"finding": "F1", "answer": "DISAGREE", "text": text, "evidence": evidence},
    });
    tree.ask(
        "referee",
        &json!({"kind": "judge", "dispute": dispute, "files": []}),
    )
}

fn pages() -> Tree {
    Tree::new(&[
        ("app/pages.py", PAGES),
        ("tests/test_pages.py", PAGES_TEST),
        ("docs/notes.md", NOTES),
        ("web/pages.test.ts", WEB_TEST),
    ])
}

#[test]
fn an_objection_is_worth_what_it_refers_to() {
    let tree = pages();
    let cases: &[(&[&str], &str, &[&str])] = &[
        (&[], "ENFORCE", &["app/pages.py:6"]),
        (&["it has always been so"], "ENFORCE", &["app/pages.py:6"]),
        (
            &["tests/test_pages.py::test_etag_is_stable"],
            "DISMISS",
            &["tests/test_pages.py:1", "app/pages.py:6"],
        ),
        (
            &["tests/test_pages.py:2"],
            "DISMISS",
            &["tests/test_pages.py:2", "app/pages.py:6"],
        ),
        (
            &["docs/notes.md:3"],
            "DISMISS",
            &["docs/notes.md:3", "app/pages.py:6"],
        ),
        (
            &["web/pages.test.ts::pages::\"keeps the etag\""],
            "DISMISS",
            &["web/pages.test.ts:2", "app/pages.py:6"],
        ),
        (
            &["tests/test_pages.py:2 and docs/notes.md"],
            "DISMISS",
            &["tests/test_pages.py:2", "app/pages.py:6"],
        ),
        // The cited code exists, but does not mention the flagged definition. A name inside a string does not
        // count as a mention.
        (
            &["docs/notes.md:4"],
            "ESCALATE",
            &["docs/notes.md:4", "app/pages.py:6"],
        ),
        (
            &["tests/test_pages.py::test_nothing"],
            "ESCALATE",
            &["tests/test_pages.py:5", "app/pages.py:6"],
        ),
        (&["docs/notes.md"], "ESCALATE", &["app/pages.py:6"]),
        // Only some of the references exist or can be looked up.
        (
            &["tests/test_pages.py::test_etag_is_stable", "docs/gone.md:3"],
            "ESCALATE",
            &["tests/test_pages.py:1", "app/pages.py:6"],
        ),
        (
            &[
                "tests/test_pages.py::test_etag_is_stable",
                "https://example.org",
            ],
            "ESCALATE",
            &["tests/test_pages.py:1", "app/pages.py:6"],
        ),
        (&["#12"], "ESCALATE", &["app/pages.py:6"]),
        // The reference is to the flagged code itself.
        (
            &["app/pages.py:5"],
            "ESCALATE",
            &["app/pages.py:5", "app/pages.py:6"],
        ),
        (
            &["app/pages.py::etag"],
            "ESCALATE",
            &["app/pages.py:5", "app/pages.py:6"],
        ),
        (
            &["app/pages.py:9"],
            "DISMISS",
            &["app/pages.py:9", "app/pages.py:6"],
        ),
        // The references do not exist.
        (
            &["tests/test_pages.py::test_gone"],
            "ENFORCE",
            &["app/pages.py:6"],
        ),
        (
            &["tests/test_pages.py:99", "docs/gone.md"],
            "ENFORCE",
            &["app/pages.py:6"],
        ),
        (
            &["../secret.py:1", "/etc/hosts.txt:1"],
            "ENFORCE",
            &["app/pages.py:6"],
        ),
    ];
    for (evidence, ruling, citations) in cases {
        let answer = ruled(&tree, "app/pages.py:6", evidence, "no need");
        assert_eq!(
            (&answer["ruling"], &answer["dispute"]),
            (&json!(ruling), &json!(7)),
            "{evidence:?}: {answer}"
        );
        assert_eq!(answer["citations"], json!(citations), "{evidence:?}");
        let grounds = answer["grounds"].as_str();
        assert_eq!(grounds.is_some(), *ruling == "DISMISS", "{evidence:?}");
    }
}

#[test]
fn the_objection_itself_may_hold_the_reference() {
    let tree = pages();
    let text = "a cache key, see tests/test_pages.py::test_etag_is_stable";
    let answer = ruled(&tree, "app/pages.py:6", &[], text);
    assert_eq!(
        answer,
        json!({
            "nonce": "c0ffee",
            "dispute": 7,
            "ruling": "DISMISS",
            "rationale": "`tests/test_pages.py::test_etag_is_stable` exists and names `etag`: the objection is confirmed.",
            "grounds": "already_handled",
            "citations": ["tests/test_pages.py:1", "app/pages.py:6"],
        })
    );
}

#[test]
fn names_and_places_are_no_set_piece() {
    let rename = |text: &str| {
        text.replace("etag", "finger_mark")
            .replace("Pages", "Leaves")
    };
    let tree = Tree::new(&[
        ("src/leaves.py", &rename(PAGES)),
        ("checks/leaves_test.py", &rename(PAGES_TEST)),
    ]);
    let evidence = ["checks/leaves_test.py::test_finger_mark_is_stable"];
    assert_eq!(
        ruled(&tree, "src/leaves.py:6", &evidence, "")["ruling"],
        "DISMISS"
    );
    tree.write("checks/leaves_test.py", "");
    assert_eq!(
        ruled(&tree, "src/leaves.py:6", &evidence, "")["ruling"],
        "ENFORCE"
    );
    // Code outside of all functions has the name of the assigned variable. If the code has no name, the referee
    // escalates the dispute.
    tree.write(
        "src/leaves.py",
        "import hashlib\n\nSEED = hashlib.md5(b'').digest()\nprint(hashlib.md5(b''))\n",
    );
    tree.write(
        "checks/leaves_test.py",
        "def test_seed():\n    assert leaves.SEED\n",
    );
    let evidence = ["checks/leaves_test.py::test_seed"];
    assert_eq!(
        ruled(&tree, "src/leaves.py:3", &evidence, "")["ruling"],
        "DISMISS"
    );
    assert_eq!(
        ruled(&tree, "src/leaves.py:4", &evidence, "")["ruling"],
        "ESCALATE"
    );
}

#[test]
fn what_the_coder_wrote_in_this_run_proves_nothing() {
    let tree = pages();
    let ruled = |evidence: &str, written: Value| {
        let dispute = json!({
            "number": 7,
            "finding": finding("F1", "app/pages.py:6", "py-weak-hash"),
            "objection": {"finding": "F1", "answer": "DISAGREE", "text": "no", "evidence": [evidence]},
        });
        let request = json!({"kind": "judge", "dispute": dispute, "files": [], "written": written});
        tree.ask("referee", &request)["ruling"].clone()
    };
    let rows = [
        ("tests/test_pages.py:2", json!([]), "DISMISS"),
        (
            "tests/test_pages.py:2",
            json!([{"path": "tests/test_pages.py", "lines": [[4, 5]]}]),
            "DISMISS",
        ),
        (
            "tests/test_pages.py:2",
            json!([{"path": "tests/test_pages.py", "lines": [[2, 2]]}]),
            "ESCALATE",
        ),
        (
            "tests/test_pages.py:2",
            json!([{"path": "tests/test_pages.py"}]),
            "ESCALATE",
        ),
        (
            "tests/test_pages.py::test_etag_is_stable",
            json!([{"path": "tests/test_pages.py"}]),
            "ESCALATE",
        ),
        (
            "docs/notes.md:3 and tests/",
            json!([{"path": "tests/test_pages.py"}]),
            "ESCALATE",
        ),
    ];
    for (evidence, written, expected) in rows {
        assert_eq!(
            ruled(evidence, written.clone()),
            expected,
            "{evidence} {written}"
        );
    }
}
