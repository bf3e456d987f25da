//! Tests `glee parse`, which parses an agent's answer.

use crate::support::Sandbox;

const REVIEW: &str = "\
Two things.

- **[MUST]** `src/db.py:4-9` – Bind the parameter
  A name may hold a quote.
- [nit] A \u{1b}[31mred\u{1b}[0m\u{202e} title

GLEE-REVIEW-END nonce=4f2a findings=2
";

#[test]
fn a_review_is_printed_as_json() {
    insta::assert_snapshot!(Sandbox::new().glee_with(&["parse", "--nonce", "4f2a"], REVIEW), @r#"
    exit: 0
    --- stdout
    {
      "status": "complete",
      "findings": [
        {
          "tag": "MUST",
          "tag_raw": "MUST",
          "title": "Bind the parameter",
          "body": "A name may hold a quote.",
          "file": "src/db.py",
          "line": 4,
          "end_line": 9
        },
        {
          "tag": null,
          "tag_raw": "nit",
          "title": "A red\u202e title",
          "body": "",
          "file": null,
          "line": null,
          "end_line": null
        }
      ],
      "notes": "Two things.",
      "truncated": false
    }
    "#);
}

#[test]
fn a_review_is_printed_for_people() {
    let sandbox = Sandbox::new();
    sandbox.write("answer.txt", REVIEW);
    insta::assert_snapshot!(sandbox.glee(&["parse", "answer.txt", "--format", "text"]), @r#"
    exit: 0
    --- stdout
    complete: 2 findings
      [MUST] src/db.py:4-9 Bind the parameter
          A name may hold a quote.
      [nit] A red\u{202e} title
    notes:
      Two things.
    "#);
    insta::assert_snapshot!(sandbox.glee(&["parse", "answer.txt", "--format", "text", "--nonce", "other"]), @r#"
    exit: 0
    --- stdout
    incomplete: 2 findings
      [MUST] src/db.py:4-9 Bind the parameter
          A name may hold a quote.
      [nit] A red\u{202e} title
          GLEE-REVIEW-END nonce=4f2a findings=2
    notes:
      Two things.
    "#);
}

#[test]
fn responses_and_rechecks_are_printed() {
    let sandbox = Sandbox::new();
    let response = "[F1] IMPLEMENTED: bound\n[F2] DISAGREE: a constant\nEvidence: src/db.py:2\n";
    insta::assert_snapshot!(sandbox.glee_with(&["parse", "--kind", "response", "--format", "text", "-"], response), @r#"
    exit: 0
    --- stdout
    incomplete: 2 answers
      [F1] IMPLEMENTED
          bound
      [F2] DISAGREE
          a constant
          Evidence: src/db.py:2
    problem: the closing line `GLEE-RESPONSE-END` is missing
    "#);
    let recheck = "[F1] RESOLVED: bound\nGLEE-RECHECK-END nonce=1 answers=1\n";
    insta::assert_snapshot!(sandbox.glee_with(&["parse", "--kind", "recheck"], recheck), @r#"
    exit: 0
    --- stdout
    {
      "checks": [
        {
          "finding": "F1",
          "resolved": true,
          "reason": "bound"
        }
      ],
      "complete": true,
      "missing": [],
      "problems": []
    }
    "#);
}

#[test]
fn a_ruling_is_printed_or_why_there_is_none() {
    let sandbox = Sandbox::new();
    let ruling = "src/db.py:2 is a constant.\nGLEE-RULING nonce=1 dispute=7 ruling=DISMISS\n";
    let parse = |extra: &[&str]| {
        sandbox.glee_with(&[&["parse", "--kind", "ruling"], extra].concat(), ruling)
    };
    insta::assert_snapshot!(parse(&["--dispute", "7"]), @r#"
    exit: 0
    --- stdout
    {
      "ruling": "DISMISS",
      "rationale": "src/db.py:2 is a constant.",
      "citations": [
        "src/db.py:2"
      ]
    }
    "#);
    insta::assert_snapshot!(parse(&["--format", "text"]), @r#"
    exit: 0
    --- stdout
    DISMISS
      src/db.py:2 is a constant.
      see src/db.py:2
    "#);
    insta::assert_snapshot!(parse(&["--dispute", "8", "--format", "text"]), @r#"
    exit: 0
    --- stdout
    no ruling: the ruling is on dispute `7`, but the request was about dispute 8
    "#);
}

#[test]
fn what_cannot_be_read_is_one_error() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.glee(&["parse", "absent.txt"]), @r#"
    exit: 2
    --- stderr
    error: there is no file `absent.txt`
    hint: name a file with an agent's answer, or pipe one in: `glee parse < answer.txt`
    "#);
    insta::assert_snapshot!(sandbox.glee(&["parse", "."]), @r#"
    exit: 2
    --- stderr
    error: failed to read `.`
    caused by: it is a folder, not a regular file
    hint: name a file with an agent's answer, or pipe one in: `glee parse < answer.txt`
    "#);
    insta::assert_snapshot!(sandbox.glee(&["parse", "--dispute", "3"]), @r#"
    exit: 2
    --- stderr
    error: `--dispute` applies only to rulings
    hint: add `--kind ruling`
    "#);
}
