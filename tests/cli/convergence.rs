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
