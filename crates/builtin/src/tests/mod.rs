//! Tests the embedded agents from the outside: their answers to requests, and their changes to files.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::answer;

mod referee;

/// A temporary folder with the files in the requests to the agents.
struct Tree(TempDir);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.0.path().join(path)).unwrap()
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    /// Returns the answer of an agent to a task. If the agent fails, returns the error as text.
    fn try_ask(&self, agent: &str, task: &Value) -> Result<Value, String> {
        let request = json!({"version": 1, "nonce": "c0ffee", "agent": agent, "root": self.root(), "task": task});
        let text = answer(agent, request.to_string().as_bytes(), self.root())
            .map_err(|error| error.to_string())?;
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answer["nonce"], "c0ffee");
        Ok(answer)
    }

    fn ask(&self, agent: &str, task: &Value) -> Value {
        self.try_ask(agent, task).unwrap()
    }

    fn source(&self, path: &str) -> Value {
        json!({"path": path, "text": self.read(path)})
    }

    fn review(&self, paths: &[&str]) -> Result<Vec<Value>, String> {
        let files: Vec<Value> = paths.iter().map(|path| self.source(path)).collect();
        let answer = self.try_ask(
            "rules",
            &json!({"kind": "review", "files": files, "focus": [], "rulings": []}),
        )?;
        Ok(answer["findings"].as_array().unwrap().clone())
    }

    /// Returns the findings in `paths`. Each finding is a text such as `py-eval at a.py:1`.
    fn found(&self, paths: &[&str]) -> Vec<String> {
        self.review(paths)
            .unwrap()
            .iter()
            .map(|finding| {
                let text = |key: &str| finding[key].as_str().unwrap().to_owned();
                format!("{} at {}:{}", text("rule"), text("file"), finding["line"])
            })
            .collect()
    }

    fn fix(&self, items: &[Value]) -> Value {
        self.ask("fixer", &json!({"kind": "respond", "items": items}))
    }
}

/// A mandatory finding of a rule.
fn finding(id: &str, place: &str, rule: &str) -> Value {
    let (file, line) = place.split_once(':').unwrap();
    let line: u32 = line.parse().unwrap();
    json!({
        "id": id, "tag": "MUST", "tag_raw": "MUST", "title": "a title", "body": "", "file": file, "line": line,
        "end_line": null, "rule": rule, "mandatory": true, "raised_by": ["rules"], "round": 1,
    })
}

fn with(mut value: Value, key: &str, new: Value) -> Value {
    value[key] = new;
    value
}

const HASH: &str =
    "import hashlib\n\n\ndef etag(page):\n    return hashlib.md5(page).hexdigest()\n";

#[test]
fn a_finding_says_where_what_and_how() {
    let tree = Tree::new(&[("a.py", HASH)]);
    let expected = json!({
        "tag": "MUST",
        "tag_raw": "MUST",
        "file": "a.py",
        "line": 5,
        "end_line": null,
        "title": "`md5` is broken as a hash",
        "body": "Collisions are cheap to make. Use SHA-256, for passwords a slow hash such as `hashlib.scrypt`; \
                        where it is only a checksum, say so with `usedforsecurity=False`.",
        "suggestion": "return hashlib.sha256(page).hexdigest()",
        "replacement": "    return hashlib.sha256(page).hexdigest()",
        "category": "weak-hash",
        "cwe": "CWE-328",
        "rule": "py-weak-hash",
    });
    assert_eq!(tree.review(&["a.py"]), Ok(vec![expected]));
}

#[test]
fn only_the_lines_under_review_count() {
    let tree = Tree::new(&[("a.py", &format!("{HASH}\n\nx = hashlib.md5(y)\n"))]);
    let reviewed = |changed: Value| {
        let file = with(tree.source("a.py"), "changed", changed);
        let answer = tree.ask(
            "rules",
            &json!({"kind": "review", "files": [file], "focus": [], "rulings": []}),
        );
        answer["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["line"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(reviewed(json!([])), [5, 8]);
    assert_eq!(reviewed(json!([[4, 6]])), [5]);
    assert_eq!(reviewed(json!([[1, 1], [8, 9]])), [8]);
    assert_eq!(reviewed(json!([[6, 7]])), [] as [u64; 0]);
}

#[test]
fn one_flaw_on_a_line_is_one_finding() {
    let tree = Tree::new(&[
        (
            "a.py",
            "import hashlib\nx = hashlib.md5(hashlib.sha1(y).digest())\n",
        ),
        (
            "b.rs",
            "fn f(a: &str) -> u32 {\n    a.parse::<u32>().unwrap() + a.parse::<u32>().unwrap()\n}\n",
        ),
        ("notes.txt", "hashlib.md5(x)\n"),
    ]);
    assert_eq!(
        tree.found(&["a.py", "b.rs", "notes.txt"]),
        ["py-weak-hash at a.py:2", "rs-unwrap at b.rs:2"]
    );
}

#[test]
fn a_rule_looks_at_the_code_that_it_is_meant_for() {
    const EVAL: &str = "eval(text)\n";
    const SWALLOWED: &str = "try:\n    run()\nexcept Exception:\n    pass\n";
    const ALWAYS: &str = "assert (total, 'the total is missing')\n";
    const IGNORED: &str = "package a\n\nimport (\n\t\"os\"\n)\n\nfunc F() {\n\tdata, _ := os.ReadFile(\"a\")\n\tuse(data)\n}\n";
    let testing = IGNORED.replace("\t\"os\"\n", "\t\"os\"\n\t\"testing\"\n");
    let generated = format!("# @generated\n{EVAL}");
    let product = "fn f(a: &str) -> u32 {\n    a.parse().unwrap()\n}\n";
    let tests = format!("use a;\n#[cfg(test)]\nmod tests {{\n{product}}}\n");
    let rows: &[(&str, &str, &str)] = &[
        ("src/a.py", EVAL, "py-eval"),
        ("tests/a.py", EVAL, ""),
        ("src/test_a.py", EVAL, ""),
        ("examples/a.py", EVAL, "py-eval"),
        ("vendor/a.py", EVAL, ""),
        ("src/b.py", &generated, ""),
        ("src/a.gen.py", EVAL, ""),
        ("src/c.py", SWALLOWED, "py-swallowed-exception"),
        ("examples/c.py", SWALLOWED, ""),
        ("tests/d.py", ALWAYS, "py-comparison-always-same"),
        ("a.go", IGNORED, "go-ignored-error"),
        ("atest/a.go", &testing, ""),
        ("src/a.rs", product, "rs-unwrap"),
        ("src/b.rs", &tests, ""),
        ("src/testutil.rs", product, ""),
    ];
    for (path, text, rule) in rows {
        let tree = Tree::new(&[(path, text)]);
        let found = tree.review(&[path]).unwrap();
        let rules: Vec<&str> = found
            .iter()
            .map(|finding| finding["rule"].as_str().unwrap())
            .collect();
        let expected: Vec<&str> = Some(*rule)
            .filter(|rule| !rule.is_empty())
            .into_iter()
            .collect();
        assert_eq!(rules, expected, "{path}");
    }
}

#[test]
fn a_password_is_not_given_another_fast_hash() {
    let rows = [
        (
            "a.py",
            "import hashlib\nhashed = hashlib.md5(password.encode()).hexdigest()\n",
        ),
        (
            "a.js",
            "const hashed = createHash('sha1').update(password).digest('hex');\n",
        ),
        (
            "A.java",
            "class A {\n  byte[] hashPassword(byte[] text) {\n    return MessageDigest.getInstance(\"MD5\").digest(text);\n  }\n}\n",
        ),
    ];
    for (path, text) in rows {
        let tree = Tree::new(&[(path, text)]);
        let found = tree.review(&[path]).unwrap();
        assert_eq!(found.len(), 1, "{path}: {found:?}");
        assert_eq!(found[0]["cwe"], "CWE-916", "{path}");
        assert_eq!(found[0]["suggestion"], Value::Null, "{path}");
    }
}

#[test]
fn a_comment_silences_nothing() {
    let tree = Tree::new(&[(
        "a.py",
        "import hashlib\n# ast-grep-ignore\n# glee-allow: py-weak-hash -- no\nx = hashlib.md5(y)\n",
    )]);
    assert_eq!(tree.found(&["a.py"]), ["py-weak-hash at a.py:4"]);
}

const OWN_RULE: &str = "id: no-sleep\nlanguage: TypeScript\nseverity: warning\nmessage: Do not sleep\nrule: {pattern: sleep($N)}\n";

#[test]
fn a_project_brings_its_own_rules() {
    let tree = Tree::new(&[
        (".glee/rules/own.yml", OWN_RULE),
        ("a.ts", "sleep(1);\n"),
        ("b.tsx", "sleep(2);\n"),
        ("c.js", "sleep(3);\n"),
    ]);
    let expected = |file: &str| {
        json!({
            "tag": "MEDIUM", "tag_raw": "MEDIUM", "file": file, "line": 1, "end_line": null, "title": "Do not sleep",
            "body": "", "category": "no-sleep", "rule": "no-sleep",
        })
    };
    assert_eq!(
        tree.review(&["a.ts", "b.tsx", "c.js"]),
        Ok(vec![expected("a.ts"), expected("b.tsx")])
    );
}

#[test]
fn a_rule_that_cannot_be_used_is_an_error_with_its_place() {
    let cases = [
        ("id: x\nlanguage: Rust\nrule: {patern: a}\n", ":3: "),
        (
            "id: x\nlanguage: Cobol\nrule: {pattern: a}\n",
            ":1: language `Cobol` is not one of Rust, Python,",
        ),
        (
            "id: x\nlanguage: Bash\nrule: {pattern: a}\n",
            ":1: language `Bash` is not one of",
        ),
        (
            "id: a\nlanguage: Go\nrule: {pattern: f()}\n---\nid: x\nlanguage: Rust\nrule: {kind: no_such}\n",
            ":5: ",
        ),
        (
            "id: py-eval\nlanguage: Python\nrule: {pattern: f()}\n",
            ":1: the id `py-eval` is taken by another rule",
        ),
        (
            "id: x\nlanguage: Go\nrule: {pattern: f()}\nmetadata: {tag: URGENT}\n",
            ":1: `metadata.tag` is `URGENT`, not one of",
        ),
        (
            "language: Go\nrule: {pattern: f()}\n",
            ":1: the rule has no `id`",
        ),
    ];
    for (text, expected) in cases {
        let tree = Tree::new(&[(".glee/rules/own.yml", text), ("a.py", HASH)]);
        let error = tree.review(&["a.py"]).unwrap_err();
        let expected = format!(
            "invalid rule at `.glee/rules/own.yml{}",
            expected.replacen(": ", "`: ", 1)
        );
        assert!(error.starts_with(&expected), "{error}\n{expected}");
    }
}

#[test]
fn a_rule_file_has_to_be_a_file() {
    let tree = Tree::new(&[
        ("rule.yml", OWN_RULE),
        ("a.py", HASH),
        (".glee/rules/README.md", "not a rule"),
    ]);
    assert_eq!(tree.found(&["a.py"]), ["py-weak-hash at a.py:5"]);
    std::os::unix::fs::symlink(
        tree.root().join("rule.yml"),
        tree.root().join(".glee/rules/own.yml"),
    )
    .unwrap();
    let error = tree.review(&["a.py"]).unwrap_err();
    assert_eq!(
        error,
        "`.glee/rules/own.yml` is not a rule file: not a regular file"
    );
}

#[test]
fn several_fixes_of_a_file_fit_together() {
    let tree = Tree::new(&[(
        "a.py",
        "import hashlib, requests, yaml\n\n\ndef f(u, t):\n    a = requests.get(u, verify=False)\n    b = yaml.load(\n        t\n    \
         )\n    return hashlib.md5(yaml.load(a)).hexdigest()\n",
    )]);
    let answer = tree.fix(&[
        finding("F1", "a.py:5", "py-tls-unverified"),
        finding("F2", "a.py:5", "py-request-timeout"),
        finding("F3", "a.py:6", "py-yaml-load"),
        finding("F4", "a.py:9", "py-weak-hash"),
        finding("F5", "a.py:9", "py-yaml-load"),
    ]);
    let words: Vec<&str> = answer["answers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| answer["answer"].as_str().unwrap())
        .collect();
    assert_eq!(words, ["IMPLEMENTED"; 5], "{answer}");
    assert_eq!(
        tree.read("a.py"),
        "import hashlib, requests, yaml\n\n\ndef f(u, t):\n    a = requests.get(u, verify=True, timeout=30)\n    b = \
         yaml.safe_load(t)\n    return hashlib.sha256(yaml.safe_load(a)).hexdigest()\n"
    );
}

#[test]
fn a_fix_leaves_everything_else_as_it_is() {
    use std::os::unix::fs::PermissionsExt as _;
    let text = "\u{feff}import hashlib\r\n\r\nx = hashlib.md5(\"é\\n\")  \r\nlast = 1";
    let tree = Tree::new(&[("tool.py", text)]);
    let path = tree.root().join("tool.py");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    tree.fix(&[finding("F1", "tool.py:3", "py-weak-hash")]);
    assert_eq!(tree.read("tool.py"), text.replace("md5", "sha256"));
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o750
    );
    assert_eq!(fs::read_dir(tree.root()).unwrap().count(), 1);
}

#[test]
fn a_fix_finds_its_line_after_others_moved_it() {
    let tree = Tree::new(&[("a.py", &format!("# new\n# lines\n{HASH}"))]);
    let answer = tree.fix(&[finding("F1", "a.py:5", "py-weak-hash")]);
    assert_eq!(
        answer["answers"][0]["text"],
        "applied the fix of `py-weak-hash` at a.py:7"
    );
    assert_eq!(
        tree.read("a.py"),
        format!("# new\n# lines\n{}", HASH.replace("md5", "sha256"))
    );
}

#[test]
fn what_cannot_be_fixed_is_said() {
    let tree = Tree::new(&[
        ("a.py", "def f(x=[]):\n    eval(x)\n"),
        ("mixed.py", "import hashlib\r\nx = hashlib.md5(y)\n"),
    ]);
    let nobodys = with(finding("F3", "a.py:1", ""), "rule", Value::Null);
    let answer = tree.fix(&[
        finding("F1", "a.py:2", "py-eval"),
        with(
            finding("F2", "a.py:1", "py-mutable-default"),
            "mandatory",
            json!(false),
        ),
        nobodys.clone(),
        finding("F4", "../a.py:1", "py-eval"),
        finding("F5", "a.py:1", "py-weak-hash"),
        finding("F6", "mixed.py:2", "py-weak-hash"),
        finding("F7", "gone.py:1", "no-such-rule"),
        with(with(nobodys, "mandatory", json!(false)), "id", json!("F8")),
    ]);
    assert_eq!(
        answer["answers"],
        json!([
            {"finding": "F2", "answer": "DISCARDED", "text": "rule `py-mutable-default` has no fix for a.py:1", "evidence": []},
            {"finding": "F8", "answer": "DISCARDED", "text": "no rule raised the finding, so there is no fix", "evidence": []},
        ])
    );
    assert_eq!(
        answer["notes"]
            .as_str()
            .unwrap()
            .lines()
            .collect::<Vec<_>>(),
        [
            "F1 cannot be fixed: rule `py-eval` has no fix for a.py:2",
            "F3 cannot be fixed: no rule raised the finding, so there is no fix",
            "F4 cannot be fixed: `../a.py` is outside the tree",
            "F5 cannot be fixed: `py-weak-hash` no longer matches in a.py",
            "F6 cannot be fixed: `mixed.py` mixes line endings",
            "F7 cannot be fixed: unknown rule `no-such-rule`",
        ]
    );
    assert_eq!(tree.read("a.py"), "def f(x=[]):\n    eval(x)\n");
}

#[test]
fn a_link_is_not_followed() {
    let outside = Tree::new(&[("a.py", HASH)]);
    let tree = Tree::new(&[("b/c.py", HASH)]);
    std::os::unix::fs::symlink(outside.root(), tree.root().join("linked")).unwrap();
    std::os::unix::fs::symlink(outside.root().join("a.py"), tree.root().join("a.py")).unwrap();
    let answer = tree.fix(&[
        finding("F1", "linked/a.py:5", "py-weak-hash"),
        finding("F2", "a.py:5", "py-weak-hash"),
    ]);
    assert_eq!(
        answer["notes"],
        "F1 cannot be fixed: `linked/a.py` is outside the tree\nF2 cannot be fixed: `a.py` is outside the tree"
    );
    assert_eq!(outside.read("a.py"), HASH);
}

#[test]
fn a_waiver_is_the_objection() {
    let cases = [
        // The waivers are above the line, at the end of the line, on several lines and above the statement. The
        // waivers are written in different comment syntaxes.
        (
            "a.py",
            "# glee-allow: py-weak-hash -- an ETag, see tests/t.py::test_etag\nx = hashlib.md5(y)\n",
            "py-weak-hash:2",
            "an ETag, see tests/t.py::test_etag",
            json!(["tests/t.py::test_etag"]),
        ),
        (
            "a.py",
            "x = hashlib.md5(y)  # glee-allow: py-weak-hash -- an ETag\n",
            "py-weak-hash:1",
            "an ETag",
            json!(null),
        ),
        (
            "a.py",
            "# About the key.\n# glee-allow: py-weak-hash -- an ETag,\n#   see docs/a.md:3\nx = hashlib.md5(y)\n",
            "py-weak-hash:4",
            "an ETag, see docs/a.md:3",
            json!(["docs/a.md:3"]),
        ),
        (
            "a.py",
            "# glee-allow: py-eval, py-weak-hash -- an ETag\nx = f(\n    hashlib.md5(y),\n)\n",
            "py-weak-hash:3",
            "an ETag",
            json!(null),
        ),
        (
            "a.ts",
            "/* glee-allow: js-weak-hash -- an ETag */\nconst x = createHash('md5');\n",
            "js-weak-hash:2",
            "an ETag",
            json!(null),
        ),
        (
            "a.go",
            "package a\n\n// glee-allow: go-tls-unverified -- a probe\nvar c = tls.Config{InsecureSkipVerify: true}\n",
            "go-tls-unverified:4",
            "a probe",
            json!(null),
        ),
    ];
    for (file, text, place, reason, evidence) in cases {
        let tree = Tree::new(&[(file, text)]);
        let (rule, line) = place.split_once(':').unwrap();
        let item = finding("F1", &format!("{file}:{line}"), rule);
        let evidence = if evidence.is_null() {
            json!([])
        } else {
            evidence
        };
        let mut expected =
            json!({"finding": "F1", "answer": "DISAGREE", "text": reason, "evidence": evidence});
        assert_eq!(
            tree.fix(std::slice::from_ref(&item))["answers"],
            json!([expected.clone()]),
            "{text}"
        );
        assert_eq!(tree.read(file), text);
        expected["answer"] = json!("DISCARDED");
        let optional = with(item, "mandatory", json!(false));
        assert_eq!(
            tree.fix(&[optional])["answers"],
            json!([expected]),
            "{text}"
        );
    }
}

#[test]
fn a_ruling_takes_the_waiver_away() {
    let cases = [
        (
            "# glee-allow: py-weak-hash -- an ETag\nx = hashlib.md5(y)\n",
            "x = hashlib.sha256(y)\n",
        ),
        (
            "# About.\n# glee-allow: py-weak-hash -- an\n# ETag\nx = hashlib.md5(y)\n",
            "# About.\nx = hashlib.sha256(y)\n",
        ),
        (
            "x = hashlib.md5(y)  # glee-allow: py-weak-hash -- no\nz = 1\n",
            "x = hashlib.sha256(y)\nz = 1\n",
        ),
        ("x = hashlib.md5(y)\n", "x = hashlib.sha256(y)\n"),
    ];
    for (text, fixed) in cases {
        let tree = Tree::new(&[("a.py", text)]);
        let line = 1 + text.lines().position(|line| line.contains("md5")).unwrap();
        let item = with(
            finding("F1", &format!("a.py:{line}"), "py-weak-hash"),
            "enforced",
            json!("it stands"),
        );
        assert_eq!(
            tree.fix(&[item])["answers"][0]["answer"],
            "IMPLEMENTED",
            "{text}"
        );
        assert_eq!(tree.read("a.py"), fixed);
    }
}

#[test]
fn what_is_no_waiver_keeps_nothing_from_being_fixed() {
    for text in [
        "# glee-allow: py-eval -- another rule\nx = hashlib.md5(y)\n",
        "# glee-allow: py-weak-hash -- too far away\n\nx = hashlib.md5(y)\n",
        "note = 'glee-allow: py-weak-hash -- a string'\nx = hashlib.md5(y)\n",
        "z = 1  # glee-allow: py-weak-hash -- another statement\nx = hashlib.md5(y)\n",
    ] {
        let tree = Tree::new(&[("a.py", text)]);
        let line = text.lines().count();
        tree.fix(&[finding("F1", &format!("a.py:{line}"), "py-weak-hash")]);
        assert_eq!(tree.read("a.py"), text.replace("md5", "sha256"));
    }
    // A waiver without a reason is not an objection.
    let tree = Tree::new(&[("a.py", "x = hashlib.md5(y)  # glee-allow: py-weak-hash\n")]);
    tree.fix(&[finding("F1", "a.py:1", "py-weak-hash")]);
    assert_eq!(tree.read("a.py"), "x = hashlib.sha256(y)\n");
}

#[test]
fn a_recheck_asks_the_rule_again() {
    let diff = |before: &str, after: &str| {
        similar::TextDiff::from_lines(before, after)
            .unified_diff()
            .header("a/a.py", "b/a.py")
            .to_string()
    };
    let twice = format!("{HASH}\n\ndef other(x):\n    return hashlib.md5(x)\n");
    let cases = [
        (
            HASH,
            HASH.replace("md5", "sha256"),
            true,
            "`py-weak-hash` no longer matches at this location",
        ),
        (
            HASH,
            HASH.replace("page).hex", "page.x).hex"),
            false,
            "`py-weak-hash` still matches at a.py:5",
        ),
        (
            HASH,
            HASH.replace("def etag", "K = hashlib.md5(b'')\n\n\ndef etag")
                .replace("hashlib.md5(page)", "K"),
            false,
            "`py-weak-hash` matches at least as often as before, now at a.py:4",
        ),
        (
            HASH,
            HASH.replace("hashlib.md5(page)", "hashlib.("),
            false,
            "the change adds syntax errors to `a.py`",
        ),
        (
            &twice,
            twice.replacen("md5", "sha256", 1),
            true,
            "`py-weak-hash` no longer matches at this location",
        ),
        (
            &twice,
            twice.replacen("return", "# a comment\n    return", 1),
            false,
            "`py-weak-hash` still matches at a.py:6",
        ),
        (
            HASH,
            String::from("def etag(page):\n    return page.tag\n"),
            true,
            "`py-weak-hash` no longer matches at this location",
        ),
    ];
    for (before, after, resolved, reason) in cases {
        let tree = Tree::new(&[("a.py", &after)]);
        let change = with(
            finding("F1", "a.py:5", "py-weak-hash"),
            "response",
            json!("done"),
        );
        let change = with(change, "diff", json!(diff(before, &after)));
        let answer = tree.ask(
            "rules",
            &json!({"kind": "recheck", "changes": [change], "files": [tree.source("a.py")]}),
        );
        assert_eq!(
            answer["checks"],
            json!([{"finding": "F1", "resolved": resolved, "reason": reason}]),
            "{after}"
        );
    }
    let tree = Tree::new(&[]);
    let change = with(
        with(
            finding("F1", "a.py:5", "py-weak-hash"),
            "response",
            json!(""),
        ),
        "diff",
        json!(""),
    );
    let answer = tree.ask(
        "rules",
        &json!({"kind": "recheck", "changes": [change], "files": []}),
    );
    assert_eq!(answer["checks"][0]["resolved"], true);
}

#[test]
fn an_agent_takes_only_its_own_tasks() {
    let tree = Tree::new(&[]);
    let review = json!({"kind": "review", "files": [], "focus": [], "rulings": []});
    assert_eq!(
        tree.try_ask("fixer", &review),
        Err("`builtin:fixer` cannot answer a request to a reviewer".to_owned())
    );
    assert_eq!(
        tree.try_ask("nobody", &review),
        Err("unknown embedded agent `builtin:nobody`".to_owned())
    );
    assert_eq!(
        answer("rules", b"{", tree.root()).unwrap_err().to_string(),
        "the request to the embedded agent is \
                                                                             not valid"
    );
}
