//! Tests `glee vote`, which decides tuples by three votes.

use crate::support::Sandbox;

const VOTES: &str = r#"{"actions_by_tuple": {
  "t1": {"A": {"action_type": " flip ", "reason_code": "negation_scope", "new_value": {"polarity": "negative"}},
         "B": {"action_type": "DROP"}, "C": {"action_type": "KEEP"}},
  "t2": {"A": {"action_type": "DROP"}, "B": {"action_type": "DROP"}, "C": {"reason_code": "no action is KEEP"}},
  "t3": {"A": {"action_type": "DROP"}, "B": {"action_type": "DROP"}, "C": {}},
  "t4": null
}, "conflict_flags": [{"tuple_ids": ["t2", "t3"], "conflict_type": "polarity_mismatch"},
                      {"tuple_ids": ["t3", "t2"], "conflict_type": "granularity_overlap_candidate"}]}"#;

/// The action, reason and rule of each decision in a line.
fn decisions(line: &str) -> Vec<String> {
    let decided: Vec<serde_json::Value> = serde_json::from_str(line).expect("a list of decisions");
    let shown = |value: &serde_json::Value| {
        format!(
            "{} {} {} {}",
            value["target_tuple_ids"][0], value["action_type"], value["reason_code"], value["rule"]
        )
    };
    decided.iter().map(shown).collect()
}

#[test]
fn votes_are_decided_in_the_order_of_the_input() {
    let output = Sandbox::new().glee_with(&["vote"], VOTES);
    assert_eq!(
        decisions(&output.stdout),
        [
            r#""t1" "FLIP" null 3"#,
            r#""t2" "FLAG" "FACET_MINORITY_SIGNAL" 1"#,
            r#""t3" "DROP" null 1"#,
            r#""t4" "KEEP" null 1"#,
        ]
    );
    let first: Vec<serde_json::Value> = serde_json::from_str(&output.stdout).expect("a list");
    assert_eq!(
        first[0].to_string(),
        r#"{"action_type":"FLIP","target_tuple_ids":["t1"],"actor":"ARB","reason_code":null,"final_action":"FLIP","flag_reason":null,"deciding_code":"negation_scope","new_value":{"polarity":"negative"},"rule":3}"#
    );
}

#[test]
fn spec_11_an_absent_vote_and_what_decided_are_named() {
    let output = Sandbox::new().glee_with(&["vote"], VOTES);
    let decided: Vec<serde_json::Value> = serde_json::from_str(&output.stdout).expect("a list");
    let shown = |field: &str| {
        decided
            .iter()
            .map(|row| row[field].to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        shown("final_action"),
        [r#""FLIP""#, r#""FLAG""#, r#""DROP""#, r#""KEEP""#]
    );
    assert_eq!(
        shown("flag_reason"),
        ["null", r#""FACET_MINORITY_SIGNAL""#, "null", "null"]
    );
    assert_eq!(
        shown("deciding_code"),
        [r#""negation_scope""#, "null", "null", "null"]
    );
    // The vote of `t2` without an action is present; that of `t3` is missing.
    assert_eq!(
        shown("absent"),
        ["null", "null", r#"["C"]"#, r#"["A","B","C"]"#]
    );
}

#[test]
fn spec_10_two_flips_to_different_values_are_no_majority() {
    let votes = |second: &str| {
        let flip = |value: &str| {
            format!(r#"{{"action_type": "FLIP", "new_value": {{"polarity": "{value}"}}}}"#)
        };
        format!(
            r#"{{"actions_by_tuple": {{"t": {{"A": {}, "B": {}, "C": {{"action_type": "KEEP"}}}}}}}}"#,
            flip("positive"),
            flip(second)
        )
    };
    let decided = |second: &str| {
        decisions(&Sandbox::new().glee_with(&["vote"], &votes(second)).stdout)[0].clone()
    };
    assert_eq!(decided("positive"), r#""t" "FLIP" null 1"#);
    assert_eq!(decided("negative"), r#""t" "FLAG" "POLARITY_UNCERTAIN" 2"#);
}

#[test]
fn versions_and_priorities_can_be_chosen() {
    let sandbox = Sandbox::new();
    let second = |args: &[&str]| decisions(&sandbox.glee_with(args, VOTES).stdout)[1].clone();
    assert_eq!(second(&["vote", "--rules", "v1"]), r#""t2" "DROP" null 1"#);
    assert_eq!(
        second(&["vote", "--facet-priority", "polarity_mismatch=C"]),
        r#""t2" "DROP" null 1"#
    );
    assert_eq!(
        second(&[
            "vote",
            "--facet-priority",
            "granularity_overlap_candidate=a,c"
        ]),
        r#""t2" "FLAG" "FACET_MINORITY_SIGNAL" 1"#
    );
    let refused = sandbox.glee_with(&["vote", "--facet-priority", "x=D"], VOTES);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("name the voters A, B and C"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_stream_is_decided_line_by_line() {
    let line = VOTES.replace('\n', " ");
    let map = r#"{"actions_by_tuple": {"x": {}}, "conflict_flags": {"x": "y"}}"#;
    let output = Sandbox::new().glee_with(&["vote", "--batch", "-"], &format!("{line}\n\n{map}\n"));
    let lines: Vec<_> = output.stdout.lines().map(decisions).collect();
    assert_eq!((lines.len(), lines[0].len()), (2, 4));
    assert_eq!(lines[1], [r#""x" "KEEP" null 1"#]);
}

#[test]
fn what_holds_no_votes_is_one_error_with_a_hint() {
    let sandbox = Sandbox::new();
    let rows = [
        ("", "EOF while parsing"),
        ("[]", "expected an object with `actions_by_tuple`"),
        ("{}", "missing field `actions_by_tuple`"),
        (
            r#"{"actions_by_tuple": {"t": {"A": {"action_type": "REMOVE"}}}}"#,
            "unknown action `REMOVE`",
        ),
        (
            r#"{"actions_by_tuple": {"t": {"D": {}}}}"#,
            "unknown field `D`",
        ),
        (
            r#"{"actions_by_tuple": {"t": {}, "t": {}}}"#,
            "tuple `t` occurs twice",
        ),
        (
            r#"{"actions_by_tuple": {"t": {"A": 3}}}"#,
            "expected a vote: an object with `action_type`",
        ),
    ];
    for (input, problem) in rows {
        let output = sandbox.glee_with(&["vote"], input);
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{input}");
        assert!(
            output
                .stderr
                .starts_with("error: standard input has no valid votes: "),
            "{}",
            output.stderr
        );
        assert!(
            output.stderr.contains(problem),
            "{input}: {}",
            output.stderr
        );
        assert!(output.stderr.contains("\nhint: "), "{}", output.stderr);
    }
    let output = sandbox.glee_with(&["vote", "--batch"], "{\"actions_by_tuple\": {}}\n{]\n");
    assert_eq!((output.code, output.stdout.as_str()), (2, "[]\n"));
    assert!(
        output.stderr.contains("line 2 of standard input"),
        "{}",
        output.stderr
    );
    assert_eq!(sandbox.glee(&["vote", "nowhere.json"]).code, 2);
}
