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
