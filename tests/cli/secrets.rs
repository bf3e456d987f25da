//! Tests that a secret that an agent, a person or a command wrote is in no file and in no output of Glee.

use std::path::Path;

use crate::support::Sandbox;

/// Made up for this test.
const TOKEN: &str = "ghp_u8jzPde0IgxLd6GncfBAepfJBd0Kh8oOOL8k";
const PLAIN: &str = "correct-horse-battery";

const REVIEWER: &str = r#"#!/bin/sh
cat >/dev/null
if [ "$GLEE_TASK" = recheck ]; then
  for id in $GLEE_FINDINGS; do echo "[$id] RESOLVED: gone"; done
  echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=1"
  exit 0
fi
echo "[MUST] app.py:1 Rename it $SERVICE_PASSWORD"
echo "  The service answered with $SERVICE_PASSWORD"
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1"
echo "signed in with $SERVICE_PASSWORD" >&2
"#;

const OBJECTS: &str = r#"#!/bin/sh
cat >/dev/null
echo "[$GLEE_FINDINGS] DISAGREE: the name is right"
echo "  Evidence: app.py:1"
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=1"
"#;

const FIXES: &str = r#"#!/bin/sh
cat >/dev/null
echo 'two = 1' >app.py
echo "[$GLEE_FINDINGS] IMPLEMENTED: renamed"
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=1"
"#;

fn sandbox(coder: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("app.py", "one = 1\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Begin"]);
    sandbox.connect("lens", "reviewer", REVIEWER, &[]);
    sandbox.connect("pen", "coder", coder, &[]);
    sandbox
}

/// The files below `folder` that contain `secret`.
fn holding(folder: &Path, secret: &str) -> Vec<String> {
    let found = std::process::Command::new("grep")
        .args(["-rlaF", secret])
        .arg(folder)
        .output()
        .expect("grep is installed");
    let names = String::from_utf8_lossy(&found.stdout).into_owned();
    names.lines().map(str::to_owned).collect()
}

#[test]
fn a_token_in_a_persons_reason_is_recorded_nowhere() {
    let reason = format!("the token {TOKEN} is revoked");
    let rows: [&[&[&str]]; 3] = [
        &[&[
            "disputes", "resolve", "1", "dismiss", "--by", "Test", "--reason", &reason,
        ]],
        &[&[
            "disputes", "resolve", "1", "enforce", "--by", "Test", "--reason", &reason,
        ]],
        &[
            &[
                "disputes", "resolve", "1", "dismiss", "--by", "Test", "--reason", "no",
            ],
            &["disputes", "reopen", "1", "--reason", &reason],
        ],
    ];
    for commands in rows {
        let sandbox = sandbox(OBJECTS);
        let reviewed = sandbox.glee(&["review", "app.py", "--arbitrate", "--on-dispute", "human"]);
        assert_eq!(reviewed.code, 3, "{reviewed}");
        for command in commands {
            let ruled = sandbox.glee(command);
            assert_eq!(ruled.code, 0, "{ruled}");
        }
        sandbox.glee(&["disputes", "share", "--by", "T"]);
        let mut shown = String::new();
        for command in [
            &["disputes", "show", "1"][..],
            &["disputes", "show", "1", "--json"],
            &["runs", "show", "--format", "jsonl"],
            &["runs", "show"],
        ] {
            shown.push_str(&sandbox.glee(command).to_string());
        }
        assert!(!shown.contains(TOKEN), "{shown}");
        assert!(shown.contains("[secret:"), "{shown}");
        for folder in [sandbox.state(), sandbox.root()] {
            assert!(holding(&folder, TOKEN).is_empty(), "{commands:?}");
        }
    }
}

#[test]
fn a_value_of_an_agents_environment_is_recorded_nowhere() {
    let sandbox = sandbox(OBJECTS);
    let set = format!("{{SERVICE_PASSWORD: {PLAIN}}}");
    let configured = sandbox.glee(&["config", "set", "agents.lens.env", &set]);
    assert_eq!(configured.code, 0, "{configured}");
    let reviewed = sandbox.glee(&[
        "review",
        "app.py",
        "-vv",
        "--arbitrate",
        "--on-dispute",
        "human",
    ]);
    assert_eq!(reviewed.code, 3, "{reviewed}");
    let shown = sandbox.glee(&["disputes", "show", "1"]);
    for output in [&reviewed, &shown] {
        assert!(!output.to_string().contains(PLAIN), "{output}");
        assert!(output.stdout.contains("[secret:environment:"), "{output}");
    }
    // The record of trust has the configuration as the user wrote it.
    assert!(holding(&sandbox.state().join("repos"), PLAIN).is_empty());
}

#[test]
fn the_output_of_a_check_is_stored_without_secrets() {
    for command in [
        "cat secret.txt",
        "sh -c 'cat secret.txt >&2; exit 1'",
        "sh -c 'cat secret.txt secret.txt; exit 1'",
    ] {
        let sandbox = sandbox(FIXES);
        sandbox.write("secret.txt", format!("token {TOKEN}\n"));
        let set = sandbox.glee(&[
            "config",
            "set",
            "--user",
            "review.verify",
            &format!("[\"{command}\"]"),
        ]);
        assert_eq!(set.code, 0, "{set}");
        let reviewed = sandbox.glee(&["review", "app.py", "--fix", "--no-input"]);
        assert!(!reviewed.to_string().contains(TOKEN), "{reviewed}");
        let repositories = sandbox.state().join("repos");
        assert!(!holding(&repositories, "[secret:").is_empty(), "{reviewed}");
        assert_eq!(
            holding(&repositories, TOKEN),
            Vec::<String>::new(),
            "{reviewed}"
        );
    }
}
