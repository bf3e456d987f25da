//! Tests of answers in JSON.

use super::*;
use glee_model::domain::Cwe;

#[test]
fn results_in_json() {
    use AnswerStatus::{Clean, Complete, Incomplete, NotReviewed};
    let list = r#"{"findings":[{"severity":"high","title":"a"}],"nonce":"abc"}"#;
    let empty = r#"{"findings":[],"nonce":"abc"}"#;
    let result = |verdict: &str, issues: &str| {
        let head = r#"{"type":"review_result","nonce":"abc","payload":{"verdict":""#;
        [head, verdict, r#"","issues":"#, issues, "}}"].concat()
    };
    let end = |n: u32| format!("GLEE-REVIEW-END nonce=abc findings={n}");
    for (text, status, expected) in [
        (list.to_owned(), Complete, &["HIGH|a"][..]),
        (list.replace("abc", "abd"), Incomplete, &["HIGH|a"]),
        (list.replace(",\"nonce\":\"abc\"", ""), Incomplete, &["HIGH|a"]),
        (format!("{}\n{}", list.replace("abc", "abd"), end(1)), Complete, &["HIGH|a"]),
        (format!("{list}\n{}", end(2)), Incomplete, &["HIGH|a"]),
        (empty.to_owned(), Clean, &[]),
        (empty.replace("abc", "abd"), NotReviewed, &[]),
        (result("approved", "[]"), Clean, &[]),
        (result("Approved", "null"), Clean, &[]),
        (result("blocker", "[]"), Incomplete, &[]),
        (result("concerns", "[]").replace("abc", "abd"), Incomplete, &[]),
        (result("needs work", "[]"), Incomplete, &[]),
        (result("blocker", r#"[{"severity":"low","description":"a\nb\n\nc"}]"#), Complete, &["LOW|a b"]),
        // Several, and among others.
        (format!("{list}\n{empty}"), Complete, &["HIGH|a"]),
        (format!("{empty}\n{list}"), Complete, &["HIGH|a"]),
        (format!("{list}\n{}\n{}", empty.replace(",\"nonce\":\"abc\"", ""), end(0)), Incomplete, &["HIGH|a"]),
        (format!("{list}\n{}", list.replace("high", "low")), Complete, &["HIGH|a", "LOW|a"]),
        (format!("{list}\n{list}"), Complete, &["HIGH|a"]),
        (format!("{list}\n{}", list.replace(",\"nonce\":\"abc\"", "").replace("high", "low")), Incomplete, &["HIGH|a", "LOW|a"]),
        (format!("{list}\n{}", list.replace("abc", "abd")), Incomplete, &["HIGH|a"]),
        (format!("[LOW] x\n```json\n{list}\n```\n{{\"cost\":1}}\nbye"), Incomplete, &["LOW|x", "HIGH|a"]),
        (format!("[HIGH] a\n{list}"), Complete, &["HIGH|a"]),
        (format!("[HIGH] a\n{empty}"), Incomplete, &["HIGH|a"]),
        (format!("{empty}\n[HIGH] a"), Incomplete, &["HIGH|a"]),
        (format!("[LOW] x\n{list}\n{}", end(2)), Complete, &["LOW|x", "HIGH|a"]),
        (format!("{list}\n[LOW] x\n{}", end(2)), Complete, &["HIGH|a", "LOW|x"]),
        (format!("[LOW] x\n{list}\n{}", end(1)), Incomplete, &["LOW|x", "HIGH|a"]),
        (format!("[HIGH] a\n{list}\n{}", end(2)), Complete, &["HIGH|a"]),
        (format!("{list}\n{{\"findings\":[{{\"title\":\"b\",}}]}}"), Incomplete, &["HIGH|a"]),
        // A result at the signed end stands for what is above it only with as grave a finding, in its form.
        (format!("[LOW] x\n{}\n{}", result("concerns", r#"[{"severity":"low","title":"y"}]"#), end(1)), Complete, &["LOW|y"]),
        (format!("[MUST] x\n{}\n{}", result("concerns", r#"[{"severity":"low","title":"y"}]"#), end(1)), Incomplete, &["MUST|x", "LOW|y"]),
        (format!("[LOW] x\n{}\nquote\n{}", result("concerns", r#"[{"severity":"low","title":"y"}]"#), end(1)), Incomplete, &["LOW|x", "LOW|y"]),
        (format!("[LOW] x\n{}\n{}", result("approved", "[]"), end(0)), Incomplete, &["LOW|x"]),
        // Other shapes.
        (format!("[{list}]\n{}", end(0)), Incomplete, &["HIGH|a"]),
        (format!("[{list}]"), Complete, &["HIGH|a"]),
        (format!("{}\n{}", r#"[{"severity":"low","message":"b"}]"#, end(0)), Incomplete, &["LOW|b"]),
        (format!("{}\n{}", "[\n{\"severity\":\"low\",\"message\":\"b\"}\n]", end(1)), Complete, &["LOW|b"]),
        (format!("{}\n{}\n{}", r#"{"severity":"low","text":"b"}"#, r#"{"severity":"P1","body":"c"}"#, end(2)), Complete, &["LOW|b", "?P1|c"]),
        (format!("```jsonl\n{}\n{}\n```\n{}", r#"{"severity":"low","text":"b"}"#, r#"{"severity":"must","name":"c"}"#, end(0)), Incomplete, &["LOW|b", "MUST|c"]),
        (r#"{"nonce":"abc","files":[{"file":"x.rs","issues":[{"severity":"low","title":"b"}]},{"path":"y.rs","issues":[]}]}"#.to_owned(), Complete, &["LOW|b|x.rs"]),
        (r#"{"nonce":"abc","findings":{"x.rs":[{"severity":"low","title":"b","line":2}]}}"#.to_owned(), Complete, &["LOW|b|x.rs:2"]),
        (r#"{"nonce":"abc","result":{"review":{"findings":[{"severity":"low","title":"b"}]}}}"#.to_owned(), Complete, &["LOW|b"]),
        (r#"{"nonce":"abc","findings":[[{"severity":"low","title":"b"}]]}"#.to_owned(), Complete, &["LOW|b"]),
        (r#"{"nonce":"abc","findings":[{"severity":"low","title":"b"},null]}"#.to_owned(), Incomplete, &["LOW|b"]),
        (r#"{"nonce":"abc","findings":[{}]}"#.to_owned(), Complete, &["?|(a finding without a text)"]),
        (r#"{"nonce":"abc","findings":"[MUST] x.rs:2 b"}"#.to_owned(), Complete, &["MUST|b|x.rs:2"]),
        (r#"{"nonce":"abc","findings":"[{\"severity\":\"low\",\"title\":\"b\"}]"}"#.to_owned(), Complete, &["LOW|b"]),
        (format!("{}\n{}", r#"{"findings":"the lock is never released"}"#, end(0)), Incomplete, &[]),
        (r#"{"nonce":"abc","findings":null}"#.to_owned(), NotReviewed, &[]),
        (r#"{"nonce":"abc","findings":[{"severity":"low","title":"b","location":{"path":"x.rs","start_line":3}}]}"#.to_owned(), Complete, &["LOW|b|x.rs:3"]),
        (r#"{"nonce":"abc","findings":[{"severity":"low","title":"b","location":"my dir/x.rs:3-4"}]}"#.to_owned(), Complete, &["LOW|b|my dir/x.rs:3-4"]),
        (r#"{"nonce":"abc","findings":[{"severity":"low","comment":"b","file":"x.rs:3"}]}"#.to_owned(), Complete, &["LOW|b|x.rs:3"]),
        (format!("{}\n{}", r#"{"severity":"INFO","message":"starting"}"#, end(0)), Clean, &[]),
        // No results.
        (format!("> {list}\n\n{}", end(0)), Clean, &[]),
        (format!("```py\nx = 1\n{list}\n```\n{}", end(0)), Clean, &[]),
        (format!("# {list}\n{}", end(0)), Incomplete, &[]),
        // Findings that cannot be read are never nothing.
        (format!("so {list}\n{}", end(0)), Incomplete, &[]),
        (format!("{list},\n{}", end(0)), Incomplete, &[]),
        (format!("{}\n{}", list.replace("[{", "[/* x */{"), end(0)), Incomplete, &[]),
        (format!("{}\n{}", &list[..20], end(0)), Incomplete, &[]),
        (format!("{}\n[LOW] x\n{}", list.replace("}]", "},]"), end(1)), Complete, &["LOW|x"]),
        (r#"{"findings":"none","nonce":"abc"}"#.to_owned(), NotReviewed, &[]),
        (r#"{"findings":["a"],"nonce":"abc"}"#.to_owned(), Complete, &["?|a"]),
        (r#"{"findings":[["high","a"]],"nonce":"abc"}"#.to_owned(), Incomplete, &[]),
        (r#"{"type":"other","nonce":"abc","payload":{"issues":[]}}"#.to_owned(), NotReviewed, &[]),
        (r#"{"type":"review_result","nonce":"abc","payload":{}}"#.to_owned(), NotReviewed, &[]),
        (r#"{"result":{"findings":[]},"nonce":"abc"}"#.to_owned(), NotReviewed, &[]),
        (r#"{"error":{"severity":"high"}}"#.to_owned(), NotReviewed, &[]),
        ("{\n\"findings\": [\n[null]\n".to_owned(), NotReviewed, &[]),
    ] {
        assert_eq!(findings(&text), expected, "{text}");
        assert_eq!(read(&text).status, status, "{text}");
    }
}

#[test]
fn fields_in_json() {
    let answer = read(
        r#"{"summary": "s", "verdict": "concerns", "findings": [
            {"severity": " High ", "title": " a\n b ", "description": "d\n\ne", "path": "x.rs", "line": "L12-L18",
             "category": "c", "suggestion": "f", "replacement": "  h\n", "confidence": "85%", "cwe": ["CWE-9999", 89], "evidence": ["g", 1], "rule": "r", "other": [1e999]},
            {"severity": 2, "title": "", "description": "", "line": -1, "confidence": 1e999},
            {"title": "b", "line": 7.5, "end_line": 9, "confidence": 0.25, "cwe": "CWE-9999"},
            {"severity": "low", "severity": "must", "title": "c", "line": 3, "end_line": 9, "confidence": -5},
            {"tag": "HIGH", "tag_raw": "P1", "title": "d", "line": "7:3", "confidence": 100000000000000000000000000}
        ]}"#,
    );
    let blank = RawFinding {
        cwe: None,
        places: Vec::new(),
        severity: Severity {
            tag: None,
            raw: String::new(),
        },
        title: "".into(),
        body: "".into(),
        file: None,
        line: None,
        end_line: None,
        category: None,
        suggestion: None,
        confidence: None,
        evidence: Vec::new(),
        rule: None,
        guideline: None,
        insists_on: None,
        replacement: None,
        demonstration: None,
    };
    let expected = vec![
        RawFinding {
            cwe: Some(Cwe(89)),
            places: Vec::new(),
            severity: Severity {
                tag: Some(Tag::High),
                raw: "High".to_owned(),
            },
            title: "a b".into(),
            body: "d\n\ne".into(),
            file: Some("x.rs".to_owned()),
            line: Some(12),
            end_line: Some(18),
            category: Some("c".to_owned()),
            suggestion: Some("f".into()),
            confidence: Some(Confidence::clamped(85)),
            evidence: vec!["g".into()],
            rule: Some("r".to_owned()),
            guideline: None,
            insists_on: None,
            replacement: Some("  h\n".into()),
            demonstration: None,
        },
        RawFinding {
            severity: Severity {
                tag: None,
                raw: "2".to_owned(),
            },
            title: "(a finding without a text)".into(),
            ..blank.clone()
        },
        RawFinding {
            title: "b".into(),
            body: "CWE-9999".into(),
            confidence: Some(Confidence::clamped(25)),
            ..blank.clone()
        },
        RawFinding {
            severity: Severity {
                tag: Some(Tag::Must),
                raw: "must".to_owned(),
            },
            title: "c".into(),
            line: Some(3),
            end_line: Some(9),
            confidence: Some(Confidence::clamped(0)),
            ..blank.clone()
        },
        RawFinding {
            severity: Severity {
                tag: Some(Tag::High),
                raw: "P1".to_owned(),
            },
            title: "d".into(),
            line: Some(7),
            confidence: Some(Confidence::clamped(100)),
            ..blank
        },
    ];
    assert_eq!(answer.findings, expected);
    assert_eq!(
        (answer.verdict.as_deref(), answer.summary.as_deref()),
        (Some("concerns"), Some("s"))
    );
}

#[test]
fn prose_around_json_is_kept_as_notes() {
    let answer =
        read("so\n```json\n{\"findings\":[]}\n```\nbye\n{\"findings\":[{\"title\":\"a\"}]}\nend");
    assert_eq!(answer.notes, "so\nbye\nend");
    let draft =
        "{\"findings\":[{\"severity\":\"low\",\"title\":\"b\",\"file\":\"x.rs\",\"line\":1}]}";
    let last = draft.replace("\"b\"", "\"c\"");
    let answer = read(&format!(
        "first\n{draft}\nthen\n{last}\nGLEE-REVIEW-END nonce=abc findings=1"
    ));
    assert_eq!(
        (answer.status, answer.findings.len()),
        (AnswerStatus::Complete, 1)
    );
    assert_eq!(answer.notes, "first\nthen\n[low] x.rs:1 b");
}

#[test]
fn a_weakness_is_read_from_brackets_fields_and_names_of_rules() {
    for (text, title, cwe) in [
        (
            "[MUST] a.py:3 Bind it (confidence 85, security, CWE-89)",
            "Bind it",
            Some(89),
        ),
        (
            "[MUST] a.py:3 Bind it\n  (confidence 85, security, CWE-089)",
            "Bind it",
            Some(89),
        ),
        (
            "[MUST] a.py:3 Bind it (confidence 85, CWE-9999)",
            "Bind it (CWE-9999)",
            None,
        ),
        ("[MUST] a.py:3 CWE-89: bind it", "CWE-89: bind it", Some(89)),
        ("[MUST] a.py:3 Bind it\n  CWE-89", "Bind it", None),
        (
            r#"{"findings": [{"severity": "MUST", "title": "Bind it", "cwe": 89}]}"#,
            "Bind it",
            Some(89),
        ),
        (
            r#"{"findings": [{"severity": "MUST", "title": "Bind it", "rule": "CWE-89"}]}"#,
            "Bind it",
            Some(89),
        ),
        (
            r#"{"findings": [{"severity": "MUST", "title": "Bind it", "cwe": null}]}"#,
            "Bind it",
            None,
        ),
    ] {
        let answer = read(&format!("{text}\nGLEE-REVIEW-END nonce={NONCE} findings=1"));
        let [found] = &answer.findings[..] else {
            panic!("{text}: {} findings", answer.findings.len());
        };
        assert_eq!(
            (found.title.as_written(), found.cwe),
            (title, cwe.map(Cwe)),
            "{text}"
        );
        assert!(answer.status.is_complete(), "{text}");
    }
}
