//! What all commands share: lists, JSON, short names of agents, completions, the manual in a pager.

use crate::support::Sandbox;
use crate::support::pty::Pty;

const CONFIG: &str = "\
version: 1
agents:
  - {name: fixer, command: builtin:fixer, role: coder}
  - {name: rules, command: builtin:rules, role: reviewer}
  - {name: rules-again, command: builtin:rules, role: reviewer}
  - {name: mine-judge, command: claude, role: judge}
";

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .git_init()
        .write(".glee/config.yml", CONFIG)
        .write("a.py", "print(1)\n");
    sandbox
}

#[test]
fn list_and_json_work_everywhere() {
    let sandbox = project();
    for group in ["runs", "disputes", "consensus", "agents"] {
        let bare = sandbox.glee(&[group]);
        assert_eq!(bare.code, 0, "{bare}");
        assert_eq!(sandbox.glee(&[group, "list"]), bare);
        let json = sandbox.glee(&[group, "--json"]);
        assert!(
            json.code == 0 && json.stdout.starts_with(['[', '{']),
            "{json}"
        );
        assert_eq!(sandbox.glee(&[group, "list", "--json"]), json, "{group}");
    }
    for args in [
        &["config", "list"][..],
        &["config", "get", "limits"],
        &["config", "get", "review.rounds"],
        &["rules", "list"],
        &["disputes", "verify"],
        &["disputes", "check"],
        &["stats", "deadlocks"],
        &["review", "--dry-run"],
        &["doctor"],
    ] {
        let json = sandbox.glee(&[args, &["--json"]].concat());
        assert!(
            json.code == 0 && serde_json::from_str::<serde_json::Value>(&json.stdout).is_ok(),
            "{args:?}: {json}"
        );
    }
}

#[test]
fn an_agent_is_named_by_its_program_or_its_first_letters() {
    let sandbox = project();
    let planned =
        |name: &str| sandbox.glee(&["review", ".", "--dry-run", "--json", "--reviewer", name]);
    assert!(
        planned("rules-a")
            .stdout
            .contains("\"name\": \"rules-again\"")
    );
    assert!(
        planned("rul")
            .stderr
            .contains("`rul` matches several agents: `rules`, `rules-again`")
    );
    assert!(
        planned("fix")
            .stderr
            .contains("connected reviewers: rules, rules-again")
    );
    insta::assert_snapshot!(sandbox.glee(&["connect", "builtin:fixer", "--role", "coder"]), @"
    exit: 0
    --- stderr
    `fixer` is connected as coder already; nothing to change
    ");
    insta::assert_snapshot!(sandbox.glee(&["disconnect", "claude"]), @"
    exit: 0
    --- stderr
    `mine-judge` is no longer connected (.glee/config.yml)
    ");
}

#[test]
fn connect_updates_the_agent_of_the_program_and_the_role() {
    let sandbox = Sandbox::new();
    sandbox.program("claude", "#!/bin/sh\n");
    sandbox.write(
        ".glee/config.yml",
        "version: 1\nagents:\n  - {name: writer, command: claude, role: coder}\n",
    );
    let output = sandbox.glee(&["connect", "claude", "--role", "coder", "--model", "opus"]);
    assert!(
        output.code == 0
            && output
                .stderr
                .contains("`writer` is updated (.glee/config.yml): model = opus"),
        "{output}"
    );
    let output = sandbox.glee(&["connect", "claude", "--role", "coder", "--name", "second"]);
    assert!(
        output.code == 0 && output.stderr.contains("`second` is connected as coder"),
        "{output}"
    );
}

#[test]
fn completions_know_the_project() {
    let mut sandbox = project();
    sandbox.env("GLEE_COMPLETE", "fish");
    let complete = |words: &[&str]| {
        let output = sandbox.glee(&[&["--", "glee"], words].concat());
        assert_eq!(output.code, 0, "{output}");
        output.stdout
    };
    insta::assert_snapshot!(complete(&["disconnect", ""]).lines().filter(|line| !line.starts_with('-')).collect::<Vec<_>>().join("\n"), @"
    fixer	coder
    rules	reviewer
    rules-again	reviewer
    mine-judge	judge
    ");
    assert_eq!(
        complete(&["review", "--reviewer", "rules-"]),
        "rules-again\treviewer\n"
    );
    assert_eq!(
        complete(&["config", "get", "review.round"]),
        "review.rounds\t1\n"
    );
    assert_eq!(complete(&["runs", "show", "l"]), "last\tthe newest run\n");
    assert_eq!(complete(&["connect", "x", "--role", "c"]), "coder\n");
    assert!(complete(&["con"]).contains("connect\t"));
}

#[test]
fn a_script_connects_the_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = Sandbox::new().glee(&["completions", shell]);
        assert!(
            output.code == 0 && output.stdout.contains("GLEE_COMPLETE"),
            "{output}"
        );
    }
}

#[test]
fn doctor_says_what_to_do() {
    let sandbox = project();
    let gone = "  - {name: gone, command: ./gone, role: reviewer}\n";
    sandbox
        .program("claude", "#!/bin/sh\n")
        .write(".glee/config.yml", format!("{CONFIG}{gone}"));
    let output = sandbox.glee(&["doctor"]);
    let (checks, report) = output
        .stdout
        .split_once("\n\n")
        .expect("checks, then the report");
    assert!(report.starts_with("glee "), "{report}");
    let own = checks.lines().filter(|line| {
        !["git", "sandbox", "repository", "history"]
            .iter()
            .any(|name| line.contains(name))
    });
    insta::assert_snapshot!(own.collect::<Vec<_>>().join("\n"), @"
    ✓ settings     [ROOT]/.glee/config.yml
    ✗ trust        the configuration is not trusted to run `./gone (agent `gone`)`
                   hint: read it with `glee trust --show`, then run `glee trust`
    ✓ roles        a coder, a reviewer and a judge are connected
    ✓ fixer        coder, builtin
    ✓ rules        reviewer, builtin
    ✓ rules-again  reviewer, builtin
    ! mine-judge   judge, version not checked in an untrusted project, no login was found
                   hint: log in: run `claude` and type `/login`, or set ANTHROPIC_API_KEY
    ✗ gone         agent `gone` cannot be run: `[ROOT]/gone` does not exist
                   hint: give the program's path: `glee config set agents.gone.command <path>`
    2 problems to solve
    ");
}

#[cfg(unix)]
#[test]
fn the_manual_is_shown_in_a_pager() {
    let mut sandbox = Sandbox::new();
    sandbox.program(
        "man",
        "#!/bin/sh\ncat > page\necho \"shown by $MANPAGER\"\n",
    );
    sandbox.env("GLEE_PAGER", "my-pager");
    Pty::open(&sandbox, &["man", "review"])
        .expect("shown by my-pager")
        .end();
    assert!(sandbox.read("page").contains(".TH"));
    assert!(sandbox.glee(&["man", "review"]).stdout.contains(".TH"));
}
