//! Tests that a judge of a known program rules on the disputes of a file in one call.

use crate::review::{json, project};
use crate::support::Sandbox;

/// Answers as `claude` does: enforces the first dispute, dismisses the second, escalates the third, and keeps each prompt. While the
/// file `down` exists, it fails.
const CLAUDE: &str = r#"#!/bin/sh
case "$*" in
*--version*) echo '9.9.9'; exit ;;
*--help*) echo '--setting-sources --strict-mcp-config --tools --permission-mode --model --effort'; exit ;;
esac
if [ -e "$HOME/down" ]; then
  cat > /dev/null
  echo '{"type":"result","subtype":"success","is_error":true,"result":"Your organisation has no access"}'
  exit 1
fi
cat > "$HOME/prompt-$(echo $GLEE_DISPUTE | tr ' ' -)"
rulings=
for dispute in $GLEE_DISPUTE; do
  case $((dispute % 3)) in
    1) ruling='"ENFORCE", "rationale": "it is ruled so"' ;;
    2) ruling='"DISMISS", "rationale": "it is checked", "grounds": "already_handled", "citations": ["app.py:9"]' ;;
    0) ruling='"ESCALATE", "rationale": "cannot tell"' ;;
  esac
  rulings="$rulings${rulings:+, }{\"dispute\": $dispute, \"ruling\": $ruling}"
done
answer=$(printf '{"nonce": "%s", "rulings": [%s]}' "$GLEE_NONCE" "$rulings" | sed 's/"/\\"/g')
echo '{"type":"system","subtype":"init","session_id":"s","model":"claude-sonnet-4-5-20250929"}'
printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"result":"'"$answer"'","usage":{"input_tokens":4000,"output_tokens":100}}'
"#;

/// The project of the tests of `glee review`, whose judge is `claude`.
fn scene() -> Sandbox {
    let sandbox = project();
    assert_eq!(sandbox.glee(&["disconnect", "scales"]).code, 0);
    sandbox.connect("claude", "judge", CLAUDE, &["--user"]);
    // The program keeps its prompts.
    let off = sandbox.glee(&["config", "set", "--user", "sandbox", "off"]);
    assert_eq!(off.code, 0, "{off}");
    sandbox
}

fn prompts(sandbox: &Sandbox) -> Vec<String> {
    let entries = std::fs::read_dir(sandbox.home()).expect("a home folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("prompt-")).collect()
}

const JUDGED: &[&str] = &["review", "app.py", "--arbitrate", "--on-dispute", "judge"];

#[test]
fn three_disputes_are_one_call_one_line_and_three_rulings() {
    let sandbox = scene();
    let output = sandbox.glee(JUDGED);
    assert_eq!(output.code, 3, "{output}");
    assert_eq!(prompts(&sandbox), ["prompt-1-2-3"], "{output}");
    for line in ["ruling on disputes 1, 2, 3", "ruled on disputes 1, 2, 3"] {
        assert!(output.stderr.contains(line), "{line}: {output}");
    }
    let calls = json(&sandbox.glee(&["stats", "--by", "role", "--json"]).stdout);
    let calls = calls["calls"].as_array().expect("a list").iter();
    let judge = calls.filter(|role| role["name"] == "judge");
    let judge: Vec<u64> = judge.filter_map(|role| role["calls"].as_u64()).collect();
    assert_eq!(judge, [1]);
    let replayed = sandbox.glee(&["runs", "replay"]);
    assert_eq!(replayed.code, 3, "{replayed}");
    assert!(!replayed.stdout.contains("not recorded"), "{replayed}");
    let shown = sandbox.glee(&["disputes", "show", "2"]);
    assert!(shown.stdout.contains("it is checked"), "{shown}");
}

#[test]
fn a_judge_that_failed_is_asked_again_when_the_run_is_resumed() {
    let sandbox = scene();
    let down = sandbox.home().join("down");
    std::fs::write(&down, "").expect("a file");
    let failed = sandbox.glee(JUDGED);
    assert_eq!(failed.code, 4, "{failed}");
    let failures = failed.stdout.matches("✗ claude").count();
    assert_eq!(failures, 1, "{failed}");
    std::fs::remove_file(&down).expect("the file is there");
    let resumed = sandbox.glee(&["runs", "resume"]);
    assert_eq!(resumed.code, 3, "{resumed}");
    assert_eq!(prompts(&sandbox), ["prompt-1-2-3"], "{resumed}");
}
