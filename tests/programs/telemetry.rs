//! The calls of a run, read by OpenTelemetry's own messages.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::python;
use crate::support::Sandbox;

/// Answers as `claude` does, with a model and tokens and without a cost.
const CLAUDE: &str = r#"#!/bin/sh
case "$*" in
*--version*) echo '9.9.9'; exit ;;
*--help*) echo '--setting-sources --strict-mcp-config --tools --permission-mode --model --effort'; exit ;;
esac
cat >/dev/null
echo '{"type":"system","subtype":"init","session_id":"s","model":"claude-sonnet-4-5-20250929"}'
printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"result":"GLEE-REVIEW-END nonce='$GLEE_NONCE' findings=0 read=all","usage":{"input_tokens":4000,"cache_read_input_tokens":6000,"output_tokens":1000}}'
"#;

fn read(python: &std::path::Path, message: &str, text: &str) -> Vec<Value> {
    let mut child = Command::new(python.join("python"))
        .args(["tests/programs/telemetry.py", message])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(text.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{message}: {text}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn a_run_is_spans_and_metrics_of_open_telemetry() {
    let Some(python) = python::programs() else {
        return;
    };
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("app.py", "print(1)\n");
    sandbox.connect("claude", "reviewer", CLAUDE, &["--user"]);
    sandbox.connect("bad", "reviewer", "#!/bin/sh\nexit 3\n", &["--user"]);
    let files = [
        "otlp-traces=../traces.jsonl",
        "otlp-metrics=../metrics.jsonl",
    ];
    let reviewed = sandbox.glee(&[
        "review", "app.py", "--format", files[0], "--format", files[1],
    ]);
    assert_eq!(reviewed.code, 4, "one of two reviewers fails: {reviewed}");

    let text = sandbox.read("../traces.jsonl");
    let shown = sandbox.glee(&["runs", "show", "--format", "otlp-traces"]);
    assert_eq!(shown.stdout, text, "the record gives the same");
    let spans = read(&python, "TracesData", &text);
    let named = |name: &str| {
        let mut spans = spans.iter().filter(|span| span["name"] == name);
        spans.next().unwrap_or_else(|| panic!("{name}: {text:?}"))
    };
    let root = named("glee review");
    assert_eq!(root["parent"], "");
    assert_eq!(root["attributes"]["glee.exit"], "agent_failed");
    let call = named("invoke_agent claude");
    assert_eq!(call["parent"], root["id"]);
    assert_eq!((&call["kind"], &call["status"]), (&3.into(), &1.into()));
    for (key, value) in [
        ("gen_ai.operation.name", Value::from("invoke_agent")),
        ("gen_ai.provider.name", Value::from("anthropic")),
        ("gen_ai.agent.name", Value::from("claude")),
        (
            "gen_ai.response.model",
            Value::from("claude-sonnet-4-5-20250929"),
        ),
        ("gen_ai.usage.input_tokens", Value::from(10_000)),
        ("gen_ai.usage.cache_read.input_tokens", Value::from(6_000)),
        ("gen_ai.usage.output_tokens", Value::from(1_000)),
        ("glee.role", Value::from("reviewer")),
    ] {
        assert_eq!(call["attributes"][key], value, "{key}: {call:#}");
    }
    let cost = call["attributes"]["glee.cost.usd"]
        .as_f64()
        .expect("it is known");
    assert!((cost - 0.0288).abs() < 1e-6, "{cost}");
    let failed = named("invoke_agent bad");
    assert_eq!(failed["status"], 2);
    assert_eq!(failed["attributes"]["error.type"], "crashed", "{failed:#}");

    let points = read(&python, "MetricsData", &sandbox.read("../metrics.jsonl"));
    let tokens = |kind: &str| {
        let of_kind = |point: &&Value| {
            point["name"] == "gen_ai.client.token.usage"
                && point["attributes"]["gen_ai.token.type"] == kind
        };
        points
            .iter()
            .filter(of_kind)
            .map(|point| point["sum"].as_f64())
            .collect::<Vec<_>>()
    };
    assert_eq!(tokens("input"), [Some(10_000.0)]);
    assert_eq!(tokens("output"), [Some(1_000.0)]);
    let mut calls = 0;
    for point in &points {
        assert_eq!(point["count"], point["buckets"], "{point:#}");
        assert_eq!(point["bounds"], 0, "one bucket more than bounds");
        if point["name"] == "gen_ai.client.operation.duration" {
            calls += point["count"].as_u64().expect("a number");
        }
    }
    assert_eq!(calls, 2);
}
