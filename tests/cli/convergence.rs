//! Rounds that raise findings in the lines of earlier fixes again and again.

use crate::support::Sandbox;

const CODER: &str = r#"#!/bin/sh
cat >/dev/null
count=$(cat calls 2>/dev/null || echo 0); count=$((count + 1)); echo $count > calls
EDIT
n=0; for id in $GLEE_FINDINGS; do echo "[$id] IMPLEMENTED: guard $count"; n=$((n + 1)); done
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n"
"#;

const REVIEWER: &str = r#"#!/bin/sh
cat >/dev/null
if [ "$GLEE_TASK" = recheck ]; then
  n=0; for id in $GLEE_FINDINGS; do echo "[$id] RESOLVED: it is there"; n=$((n + 1)); done
  echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=$n"; exit
fi
count=$(cat calls 2>/dev/null || echo 0)
echo "[MUST] app.py:LINE Case $count is not handled"
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1"
"#;

/// Reviews for up to seven rounds; the reviews that were made, and the report.
fn rounds(edit: &str, line: &str) -> (usize, String) {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    let lines: String = (1..=30).map(|n| format!("x{n} = {n}\n")).collect();
    sandbox.write("app.py", &lines);
    sandbox.connect("lens", "reviewer", &REVIEWER.replace("LINE", line), &[]);
    sandbox.connect("writer", "coder", &CODER.replace("EDIT", edit), &[]);
    let args = ["review", "app.py", "--fix", "--rounds", "7", "--no-input"];
    let output = sandbox.glee(&args);
    let calls = sandbox.read("calls");
    (calls.trim().parse().expect("a number"), output.stdout)
}

#[test]
fn three_rounds_that_raise_findings_in_earlier_fixes_are_the_last_ones_and_are_named() {
    // Each fix inserts a line above those of the fixes before it, and the next finding is about the oldest.
    let insert = "sed -i \"10a guard$count = 1\" app.py";
    let (made, report) = rounds(insert, "$((10 + (count > 0 ? count : 0)))");
    assert_eq!(made, 4, "{report}");
    let told: String = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("the rounds do not converge"), "{report}");
    assert!(
        told.contains("(F2 app.py:11, F3 app.py:12, F4 app.py:13)"),
        "{report}"
    );
}

#[test]
fn rounds_that_raise_findings_elsewhere_go_on() {
    let insert = "sed -i \"1i guard$count = 1\" app.py";
    let (made, report) = rounds(insert, "$((14 + 2 * count))");
    assert_eq!(made, 7, "{report}");
    assert!(!report.contains("converge"), "{report}");
}

const OF_LINE: &str = r#"#!/bin/sh
cat >/dev/null
line=$(cat ../line)
[ "$line" = 0 ] || echo "[MUST] app.py:$line Case $(cat ../push) is not handled"
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$([ "$line" = 0 ] && echo 0 || echo 1)"
"#;

/// Pushes to one branch, each of which is reviewed twice. A push replaces a line of the file by two, and the review raises
/// a finding in a line of its own, or none. Returns the words of the last report.
fn pushes(pushes: &[(usize, Option<usize>)]) -> String {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.connect("lens", "reviewer", OF_LINE, &[]);
    sandbox.git(&["checkout", "-q", "-b", "topic"]);
    let mut lines: Vec<String> = (1..=60).map(|n| format!("x{n} = {n}")).collect();
    let mut told = String::new();
    for (push, (replaced, raised)) in pushes.iter().enumerate() {
        let replacement = [1, 2].map(|half| format!("push{push}_{half} = {half}"));
        lines.splice(replaced - 1..*replaced, replacement);
        sandbox.write("app.py", lines.join("\n") + "\n");
        sandbox.write("../line", raised.unwrap_or(0).to_string());
        sandbox.write("../push", push.to_string());
        sandbox.git(&["add", "app.py"]);
        sandbox.git(&["commit", "-q", "-m", &format!("push {push}")]);
        for _ in 0..2 {
            let output = sandbox.glee(&["review", "--base", "main", "--no-input"]);
            assert_eq!(output.code, i32::from(raised.is_some()), "{output}");
            told = output.stdout;
        }
    }
    told.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn three_pushes_that_raise_findings_in_the_fix_of_the_last_one_are_named() {
    let in_fixes = [
        (1, Some(20)),
        (20, Some(21)),
        (21, Some(22)),
        (22, Some(22)),
    ];
    let told = pushes(&in_fixes);
    assert!(
        told.contains("the reviews of this target do not converge: each of the last 3 raised"),
        "{told}"
    );
    assert!(
        told.contains("(F2 app.py:21, F3 app.py:22, F4 app.py:22)"),
        "{told}"
    );
    let told = pushes(&in_fixes[..3]);
    assert!(!told.contains("converge"), "{told}");
}

#[test]
fn pushes_with_findings_outside_the_fixes_or_none_converge() {
    for other in [
        // The finding is elsewhere.
        [
            (1, Some(20)),
            (20, Some(21)),
            (21, Some(50)),
            (50, Some(51)),
            (51, Some(52)),
        ],
        // The branch grows, each push by something else.
        [
            (1, Some(1)),
            (10, Some(10)),
            (20, Some(20)),
            (30, Some(30)),
            (40, Some(40)),
        ],
        // One review raises nothing.
        [
            (1, Some(20)),
            (20, Some(21)),
            (21, None),
            (21, Some(21)),
            (21, Some(22)),
        ],
    ] {
        let told = pushes(&other);
        assert!(!told.contains("converge"), "{other:?}\n{told}");
    }
}
