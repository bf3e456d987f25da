//! Limits of agents, and reviewers whose program is missing.

use crate::support::Sandbox;

const CLEAN: &str =
    "#!/bin/sh\ncat >/dev/null\necho \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0 read=all\"\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("app.py", "print(1)\n");
    let set = sandbox.glee(&["config", "set", "--user", "limits.retries", "0"]);
    assert_eq!(set.code, 0, "{set}");
    sandbox
}

#[test]
fn a_limited_run_is_resumed_when_the_limit_ends() {
    let sandbox = project();
    let limited = "#!/bin/sh\ncat >/dev/null\necho \"You've hit your usage limit. Please try again in 2s.\"\nexit 1\n";
    sandbox.connect("lens", "reviewer", limited, &[]);
    let output = sandbox.glee(&["review", "app.py"]);
    assert_eq!(output.code, 75, "{output}");
    assert!(output.stdout.contains("LIMITED"), "{output}");
    assert!(output.stdout.contains("--when-reset"), "{output}");
    sandbox.program("lens", CLEAN);
    let resumed = sandbox.glee(&["runs", "resume", "last", "--when-reset"]);
    assert_eq!(resumed.code, 0, "{resumed}");
    let none = sandbox.glee(&["runs", "resume", "last", "--when-reset"]);
    assert_eq!(none.code, 2, "{none}");
    assert!(
        none.stderr.contains("no limit whose end is known"),
        "{none}"
    );
}

#[test]
fn a_missing_reviewer_is_one_that_does_not_answer() {
    for (quorum, code) in [(None, 4), (Some("1"), 0)] {
        let sandbox = project();
        sandbox.connect("lens", "reviewer", CLEAN, &[]);
        let args = [
            "connect",
            "gone",
            "--role",
            "reviewer",
            "--name",
            "gone",
            "--command",
            "no-such-program",
        ];
        assert_eq!(sandbox.glee(&args).code, 0);
        if let Some(quorum) = quorum {
            let set = sandbox.glee(&["config", "set", "review.quorum", quorum]);
            assert_eq!(set.code, 0, "{set}");
        }
        let output = sandbox.glee(&["review", "app.py"]);
        assert_eq!(output.code, code, "{output}");
        assert!(
            output
                .stdout
                .contains("gone is not installed here and gave no answer"),
            "{output}"
        );
    }
    let sandbox = project();
    let args = [
        "connect",
        "gone",
        "--role",
        "reviewer",
        "--name",
        "gone",
        "--command",
        "no-such-program",
    ];
    assert_eq!(sandbox.glee(&args).code, 0);
    let output = sandbox.glee(&["review", "app.py"]);
    assert_eq!(output.code, 2, "nobody is left: {output}");
}

/// A program that repeats each request by itself and tells so, and says that it was ended, like Copilot CLI at a service
/// that is down.
const REPEATS: &str = r#"#!/bin/sh
case "$*" in *help* | *version*) echo "--available-tools --allow-tool --disable-builtin-mcps --no-ask-user --no-custom-instructions"; exit ;; esac
cat >/dev/null
trap 'echo "{\"type\":\"agent.interrupted\"}"; exit 0' TERM
echo x >> "$HOME/.copilot/sessions"
while :; do
  echo x >> "$HOME/.copilot/requests"
  echo '{"type":"model.call_failure","data":{"statusCode":STATUS}}'
  echo '{"type":"assistant.turn_retry","data":{}}'
  sleep 0.3
done
"#;

#[test]
fn an_outage_holds_the_other_calls_of_the_program_and_is_one_failure() {
    for (status, code, cause) in [(500, 4, "unavailable"), (429, 75, "rate_limited")] {
        let sandbox = project();
        for key in ["limits.retries=3", "review.jobs=1"] {
            let (key, value) = key.split_once('=').expect("a value");
            let set = sandbox.glee(&["config", "set", "--user", key, value]);
            assert_eq!(set.code, 0, "{set}");
        }
        for n in 0..4 {
            let line = format!("x{n} = {n}\n").repeat(9_000);
            sandbox.write(format!("part{n}.py"), &line);
        }
        let script = REPEATS.replace("STATUS", &status.to_string());
        sandbox.connect("copilot", "reviewer", &script, &["--adapter", "copilot"]);
        let output = sandbox.glee(&["review", ".", "--no-input", "--format", "json"]);
        assert_eq!(output.code, code, "{output}");
        let outcome: serde_json::Value = serde_json::from_str(&output.stdout).expect("an outcome");
        let failures = outcome["failures"].as_array().expect("failures");
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert_eq!(failures[0]["cause"]["kind"], cause, "{output}");
        let shards = outcome["proof"]["reviewers"][0]["calls"].clone();
        let count = |name: &str| {
            std::fs::read_to_string(sandbox.home().join(".copilot").join(name))
                .map_or(0, |text| text.lines().count())
        };
        assert_eq!(count("sessions"), 1, "the calls: {shards}");
        assert_eq!(count("requests"), 4, "one request and three retries");
    }
}
