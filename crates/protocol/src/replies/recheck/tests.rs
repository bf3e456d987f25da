//! Tests of the parser of re-check answers.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

fn check(finding: u32, resolved: bool, reason: &str) -> Recheck {
    Recheck {
        finding: FindingId::new(finding),
        resolved,
        reason: reason.into(),
    }
}

fn read(text: &str) -> AnswersByFinding<Recheck> {
    parse(
        text.as_bytes(),
        Some("abc"),
        Some(&[FindingId::new(1), FindingId::new(2)]),
    )
    .unwrap()
}

#[test]
fn reads_prose_and_json() {
    let expected = AnswersByFinding {
        entries: vec![
            check(1, true, "the parameter is bound"),
            check(2, false, "one caller is left\nEvidence: a.rs:1"),
        ],
        complete: true,
        missing: Vec::new(),
        problems: Vec::new(),
    };
    for text in [
        "- [F1] RESOLVED: the parameter is bound\n- **[F2]** UNRESOLVED: one caller is left\n  Evidence: a.rs:1\n\n\
         GLEE-RECHECK-END nonce=abc answers=2\n",
        "[F1] resolved: the parameter is bound\n[F2] NOT RESOLVED: one caller is left\nEvidence: a.rs:1\n\
         GLEE-RECHECK-END nonce=abc answers=2",
        r#"{"nonce":"abc","checks":[{"finding":"F1","resolved":true,"reason":"the parameter is bound"},
            {"finding":"F2","resolved":false,"reason":"one caller is left\nEvidence: a.rs:1"}]}"#,
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn what_cannot_be_read_is_missing() {
    let answer = read(
        r#"{"nonce":"abc","checks":[{"finding":"F1","resolved":"yes"},{"finding":"F2","resolved":true}]}"#,
    );
    assert_eq!(
        (answer.entries, answer.missing),
        (vec![check(2, true, "")], vec![FindingId::new(1)])
    );
    let answer = read("[F1] UNRESOLVED: a\n[F1] RESOLVED: b\n[F2] RESOLVEDISH: c");
    assert_eq!(
        (answer.entries.len(), answer.missing, answer.complete),
        (0, vec![FindingId::new(1), FindingId::new(2)], false)
    );
}
