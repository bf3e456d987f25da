//! What reviews cost: prices, caps in dollars, and sums over runs and repositories.

use std::fs;

use serde_json::Value;

use crate::support::{Output, Sandbox};

/// Answers as a program of which Glee knows nothing does: without a model, tokens or a cost.
const SILENT: &str = "#!/bin/sh
cat >/dev/null
echo called >> \"$HOME/calls\"
echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0 read=all\"
";

/// Answers as `claude` does, with a model and tokens and without a cost: 1,000,000 tokens of input, of which 600,000 are
/// cached, and 100,000 of output.
const CLAUDE: &str = r#"#!/bin/sh
case "$*" in
*--version*) echo '9.9.9'; exit ;;
*--help*) echo '--setting-sources --strict-mcp-config --tools --permission-mode --model --effort'; exit ;;
esac
cat >/dev/null
echo called >> "$HOME/calls"
echo '{"type":"system","subtype":"init","session_id":"s","model":"claude-sonnet-4-5-20250929"}'
printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"result":"GLEE-REVIEW-END nonce='$GLEE_NONCE' findings=0 read=all","usage":{"input_tokens":400000,"cache_read_input_tokens":600000,"output_tokens":100000}}'
"#;

/// What a call of [`CLAUDE`] costs, at $3, $0.3 and $15 a million tokens.
const COST: f64 = 2.88;

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("app.py", "print(1)\n");
    // The programs count their calls in a file.
    set(&sandbox, "sandbox", "off");
    sandbox
}

/// A project whose only reviewer is `lens`.
fn with(text: &str) -> Sandbox {
    let sandbox = project();
    sandbox.connect("lens", "reviewer", text, &["--user"]);
    sandbox
}

fn set(sandbox: &Sandbox, key: &str, value: &str) {
    let output = sandbox.glee(&["config", "set", "--user", key, value]);
    assert_eq!(output.code, 0, "{output}");
}

fn calls(sandbox: &Sandbox) -> usize {
    fs::read_to_string(sandbox.home().join("calls")).map_or(0, |calls| calls.lines().count())
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

#[test]
fn where_nobody_can_confirm_a_dear_review_does_not_start() {
    let mut sandbox = with(SILENT);
    set(&sandbox, "agents.lens.price", "100000/1/1");
    let review = ["review", "app.py"];
    let refused = sandbox.glee(&review);
    assert_eq!((refused.code, calls(&sandbox)), (75, 0), "{refused}");
    for part in [
        "1 call of reviewers",
        "Cost",
        "`budget.ci_usd` ($5.00)",
        "GLEE_BUDGET_USD",
    ] {
        assert!(refused.stderr.contains(part), "{part}: {refused}");
    }
    assert_eq!(refused.stdout, "", "there is no report");
    // A project cannot lift the limit.
    sandbox.write(".glee/config.yml", "version: 1\nbudget: {usd: 1000000}\n");
    assert_eq!((sandbox.glee(&review).code, calls(&sandbox)), (75, 0));
    sandbox.write(".glee/config.yml", "version: 1\nbudget: {ci_usd: 6}\n");
    let looser = sandbox.glee(&review);
    assert_eq!((looser.code, calls(&sandbox)), (2, 0), "{looser}");
    fs::remove_file(sandbox.root().join(".glee/config.yml")).expect("a file");
    sandbox.env("GLEE_BUDGET_USD", "1000000");
    let allowed = sandbox.glee(&review);
    assert_eq!((allowed.code, calls(&sandbox)), (0, 1), "{allowed}");
}

#[test]
fn a_program_without_tokens_counts_by_bytes() {
    let sandbox = with(SILENT);
    set(&sandbox, "agents.lens.price", "1000/1/1");
    sandbox.connect("prism", "reviewer", SILENT, &["--user"]);
    set(&sandbox, "review.jobs", "1");
    set(&sandbox, "budget.usd", "0.01");
    let output = sandbox.glee(&["review", "app.py"]);
    assert_eq!((output.code, calls(&sandbox)), (75, 1), "{output}");
    assert!(
        output.stdout.contains("`budget.usd` is used up"),
        "{output}"
    );
    assert!(
        output
            .stdout
            .contains("the cost of lens is estimated by the bytes"),
        "{output}"
    );
    let run = &json(&sandbox.glee(&["runs", "--json"]))[0];
    assert!(run["usd"].as_f64().is_some_and(|usd| usd > 0.01), "{run}");
    let by_agent = json(&sandbox.glee(&["stats", "--by", "agent", "--json"]));
    let lens = &by_agent["calls"][0];
    assert_eq!(
        (&lens["name"], &lens["input_tokens"]),
        (&Value::from("lens"), &Value::Null),
        "unknown tokens are null"
    );
}

#[test]
fn an_unknown_cost_is_null_and_no_limit() {
    let sandbox = with(SILENT);
    set(&sandbox, "budget.usd", "0.01");
    let output = sandbox.glee(&["review", "app.py"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output
            .stdout
            .contains("`budget.usd` does not limit lens: its usage is unknown"),
        "{output}"
    );
    let run = &json(&sandbox.glee(&["runs", "--json"]))[0];
    assert_eq!(
        (&run["usd"], &run["unpriced_calls"]),
        (&Value::Null, &Value::from(1))
    );
    let sums = json(&sandbox.glee(&["stats", "--by", "role", "--json"]));
    let role = &sums["calls"][0];
    assert_eq!(
        (&role["name"], &role["calls"], &role["usd"]),
        (&Value::from("reviewer"), &Value::from(1), &Value::Null)
    );
}

#[test]
fn the_month_of_a_user_is_one_over_repositories() {
    let mut first = project();
    first.connect("claude", "reviewer", CLAUDE, &["--user"]);
    // The second repository has the same user and the same state folder.
    let mut second = project();
    second.git(&["checkout", "-q", "--orphan", "own"]);
    second.git(&["commit", "-q", "--allow-empty", "-m", "Its own history"]);
    second.git(&["branch", "-q", "-D", "main"]);
    for (name, folder) in [
        ("GLEE_STATE_DIR", first.state()),
        ("HOME", first.home()),
        ("XDG_CONFIG_HOME", first.home().join(".config")),
    ] {
        second.env(name, folder.display().to_string());
    }
    first.env("GLEE_BUDGET_MONTH_USD", "5.7");
    second.env("GLEE_BUDGET_MONTH_USD", "5.7");

    for (sandbox, level) in [
        (
            &first,
            "50% of `budget.month_usd` is used up: $2.88 of $5.70",
        ),
        (
            &second,
            "90% of `budget.month_usd` is used up: $5.76 of $5.70",
        ),
    ] {
        let output = sandbox.glee(&["review", "app.py"]);
        assert_eq!(output.code, 0, "{output}");
        assert!(output.stdout.contains(level), "{output}");
        let all = format!("{}{}", output.stdout, output.stderr);
        assert!(!all.contains("cannot be read"), "{output}");
    }
    // Both repositories are at the end of the month's budget, and no further call is made.
    for sandbox in [&first, &second] {
        sandbox.write("app.py", "print(2)\n");
        let output = sandbox.glee(&["review", "app.py"]);
        assert_eq!((output.code, calls(&first)), (75, 2), "{output}");
        assert!(
            output
                .stdout
                .contains("`budget.month_usd` is used up ($5.76 of $5.70)"),
            "{output}"
        );
    }
    for sandbox in [&first, &second] {
        for by in ["day", "week", "month", "agent", "role"] {
            let sums = json(&sandbox.glee(&["stats", "--by", by, "--json"]));
            let rows = sums["calls"].as_array().expect("a list");
            assert_eq!(rows.len(), 1, "{by}: {sums:#}");
            assert_eq!(rows[0]["usd"].as_f64(), Some(COST), "{by}");
            assert_eq!(rows[0]["input_tokens"], 1_000_000, "{by}");
        }
        let shown = sandbox.glee(&["runs"]).stdout;
        assert!(shown.contains("COST") && shown.contains("$2.88"), "{shown}");
    }
}

#[test]
fn the_plan_says_what_later_calls_usually_cost() {
    let sandbox = with(SILENT);
    set(&sandbox, "agents.lens.price", "1000/1/1");
    let coder =
        "#!/bin/sh\ncat >/dev/null\necho \"GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=0\"\n";
    sandbox.connect("pen", "coder", coder, &["--user"]);
    set(&sandbox, "agents.pen.price", "1000/1/1");
    let plan = ["review", "app.py", "--fix", "--dry-run"];
    let first = sandbox.glee(&plan);
    assert!(
        first
            .stdout
            .contains("what a call of pen (coder) costs is not recorded yet"),
        "{first}"
    );
    let raising = SILENT.replace(
        "echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0",
        "echo '[MUST] app.py:1 Print nothing'\necho \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1",
    );
    sandbox.program("lens", &raising);
    sandbox.glee(&["review", "app.py", "--fix"]);
    let later = &json(&sandbox.glee(&[&plan[..], &["--format", "json"]].concat()))["later"][0];
    assert_eq!(
        (&later["agent"], &later["role"]),
        (&Value::from("pen"), &Value::from("coder"))
    );
    assert!(
        later["usual_usd"].as_f64().is_some_and(|usd| usd > 0.0),
        "{later}"
    );
    let roles = json(&sandbox.glee(&["stats", "--by", "role", "--json"]));
    let coder = roles["calls"]
        .as_array()
        .and_then(|rows| rows.iter().find(|row| row["name"] == "coder"));
    assert!(coder.is_some_and(|row| row["usd"].is_number()), "{roles:#}");
}
