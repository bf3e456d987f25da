//! Snapshots of the main screens: one session with the embedded agents in the example shop, command by command.

use crate::shop::{shop, unchanged};
use crate::support::Sandbox;

/// Runs each command and returns the commands with what they printed.
fn session(sandbox: &Sandbox, commands: &[&[&str]]) -> String {
    let screen = |args: &&[&str]| {
        format!(
            "$ glee {}\n{}\n",
            args.join(" "),
            sandbox.glee(args).stable()
        )
    };
    commands.iter().map(screen).collect()
}

#[test]
fn a_review_and_its_records() {
    let sandbox = shop(unchanged);
    insta::assert_snapshot!(session(
        &sandbox,
        &[
            &["review", "examples/shop", "--dry-run"],
            &["review", "examples/shop", "--arbitrate", "--jobs", "1"],
            &["runs"],
            &["disputes"],
            &["disputes", "show", "1"],
            &["disputes", "verify"],
            &["runs", "undo"],
        ],
    ));
}

#[test]
fn the_first_screen_has_the_verdict_and_all_that_is_open() {
    let sandbox = shop(unchanged);
    for (args, verdict, open) in [
        (
            &["review", "examples/shop"][..],
            "9 mandatory findings are open",
            1..=9,
        ),
        (
            &["review", "examples/shop", "--arbitrate"],
            "1 dispute waits for you",
            1..=1,
        ),
    ] {
        let output = sandbox.glee(args);
        // A screen of 24 lines has a line for the prompt.
        let screen: Vec<&str> = output.stdout.lines().take(23).collect();
        assert!(screen[0].contains(verdict), "{output}");
        for number in open {
            let tag = format!("[F{number}]");
            assert!(
                screen.iter().any(|line| line.contains(&tag)),
                "{tag}: {output}"
            );
        }
        assert!(screen.contains(&"Next"), "{output}");
    }
}

#[test]
fn people_and_settings() {
    let mut sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.only_own_programs();
    insta::assert_snapshot!(session(
        &sandbox,
        &[
            &["init", "--yes"],
            &[
                "connect",
                "builtin:rules",
                "--role",
                "reviewer",
                "--name",
                "second",
                "--focus",
                "security"
            ],
            &["agents"],
            &["disconnect", "second"],
            &["config", "set", "review.rounds", "3"],
            &["config", "get", "review.rounds"],
            &["config", "list", "--origin"],
            &["trust", "--show"],
        ],
    ));
}

#[test]
fn lists_without_records() {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    insta::assert_snapshot!(session(
        &sandbox,
        &[
            &["agents"],
            &["runs"],
            &["runs", "show"],
            &["findings"],
            &["disputes"],
            &["disputes", "check"],
            &["consensus"],
            &["watch", "status"],
            &["stats", "deadlocks"],
            &["review"],
        ],
    ));
}

#[test]
fn votes_and_merged_findings() {
    let sandbox = Sandbox::new();
    sandbox.write("votes.json", include_str!("screens/votes.json"));
    sandbox.write("findings.json", include_str!("screens/findings.json"));
    sandbox.write("auth.py", include_str!("screens/auth.py"));
    insta::assert_snapshot!(session(
        &sandbox,
        &[&["vote", "votes.json"], &["merge", "findings.json"]]
    ));
}

#[test]
fn in_a_subfolder_the_paths_are_those_of_the_folder() {
    let sandbox = shop(unchanged);
    let output = sandbox.glee(&["-C", "examples/shop/orders", "review", "..", "--quiet"]);
    insta::assert_snapshot!(output.stable());
    let output = sandbox.glee(&["-C", "examples/shop/orders", "review", "suppliers.py"]);
    assert!(
        output
            .stdout
            .contains("--> suppliers.py:10\n   |\n10 |     answer = requests.get"),
        "{output}"
    );

    // Live lines, disputes and citations name the same paths as the report.
    let output = sandbox.glee(&[
        "-C",
        "examples/shop/courier",
        "review",
        "..",
        "--arbitrate",
        "--jobs",
        "1",
    ]);
    for shown in [
        "MUST[F1] tracking.go:22",
        "MUST[F3] ../orders/catalog.py:19",
    ] {
        assert!(
            output.stderr.contains(shown) && output.stdout.contains(&shown.replace(' ', "  ")),
            "{shown}\n{output}"
        );
    }
    assert!(
        output
            .stdout
            .contains("../docs/network.md:7, tracking.go:22\n"),
        "{output}"
    );
    insta::assert_snapshot!(session(
        &sandbox,
        &[
            &["-C", "examples/shop/courier", "disputes"],
            &["-C", "examples/shop/courier", "disputes", "show", "1"],
            &["-C", "examples/shop/courier", "show", "F3"],
        ],
    ));
    let json = sandbox
        .glee(&["-C", "examples/shop/courier", "disputes", "--json"])
        .stdout;
    assert!(
        json.contains("\"file\": \"examples/shop/courier/tracking.go\""),
        "{json}"
    );
}
