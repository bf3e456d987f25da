//! Tests `glee agents`: connected agents, availability of their programs, published schemas.

use serde_json::json;

use crate::support::Sandbox;

const AGENTS: &str = "\
version: 1
agents:
  - {name: writer, command: claude, role: coder, domain: [rust, \"src/**\"]}
  - {name: reader, command: ./review.sh, role: reviewer, focus: [security]}
  - {name: absent, command: codex, role: reviewer}
  - {name: rules, command: 'builtin:rules', role: reviewer}
";

/// The user's own file is trusted without confirmation.
fn connected() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.only_own_programs();
    std::fs::create_dir_all(sandbox.user_config().parent().expect("a parent folder"))
        .expect("a folder");
    std::fs::write(sandbox.user_config(), AGENTS).expect("a written file");
    sandbox.program(
        "claude",
        "#!/bin/sh\n[ \"$*\" = --version ] && echo '9.8.7 (Claude Code)'\n",
    );
    sandbox.script("review.sh", "#!/bin/sh\n: > it-was-run\n");
    sandbox
}

#[test]
fn agents_are_listed_with_program_and_version() {
    let sandbox = connected();
    insta::assert_snapshot!(sandbox.glee(&["agents"]).stable(), @r"
    exit: 0
    --- stdout
    NAME  ROLE  COMMAND  FOR  VERSION  PROGRAM
    writer  coder  claude  rust, src/**  9.8.7  [BIN]/claude
    reader  reviewer  ./review.sh  security  -        [ROOT]/review.sh
    absent  reviewer  codex  -             -        missing
      missing: agent `absent` cannot be run: `codex` was not found in any folder of PATH
      hint: install `codex`, or give the path of the program: `glee config set agents.absent.command <path>`
    rules  reviewer  builtin:rules  -             0.1.0  built in
    ");
    assert!(!sandbox.exists("it-was-run"));
}

#[test]
fn spec_14_an_effort_that_a_program_cannot_be_told_is_refused_before_anybody_is_asked() {
    let sandbox = connected();
    sandbox.write("a.rs", "fn a() {}\n");
    let set = |key: &str, value: &str| sandbox.glee(&["config", "set", "--user", key, value]);
    let wrong = set("agents.writer.effort", "huge");
    assert_eq!(wrong.code, 2, "{wrong}");
    assert!(
        wrong.stderr.contains("allowed: low, medium, high, max"),
        "{wrong}"
    );
    assert_eq!(set("agents.writer.effort", "high").code, 0);
    let config = std::fs::read_to_string(sandbox.user_config()).expect("a configuration");
    let refused_by_set = set("agents.reader.effort", "high");
    // A file that somebody edited is refused by the review.
    let edited = config.replace("name: reader", "name: reader, effort: high");
    assert_ne!(edited, config);
    std::fs::write(sandbox.user_config(), edited).expect("a written file");
    let refused_by_review = sandbox.glee(&["review", "--reviewer", "reader", "a.rs"]);
    let message = "the effort `high` of agent `reader` cannot be set: the adapter `text` has no option for an effort";
    for refused in [refused_by_set, refused_by_review] {
        assert_eq!(refused.code, 2, "{refused}");
        assert!(refused.stderr.contains(message), "{refused}");
        assert!(
            refused
                .stderr
                .contains("hint: remove `agents.reader.effort`"),
            "{refused}"
        );
    }
    assert!(!sandbox.exists("it-was-run"));
    assert_eq!(
        sandbox
            .glee(&["config", "unset", "--user", "agents.reader.effort"])
            .code,
        0
    );
    let asked = sandbox.glee(&["review", "--reviewer", "reader", "a.rs"]);
    assert!(!asked.stderr.contains("effort"), "{asked}");
}

#[test]
fn agents_are_listed_as_json() {
    let output = connected().glee(&["agents", "--json"]);
    let rows: serde_json::Value = serde_json::from_str(&output.stdout).expect("pure JSON");
    assert_eq!(
        rows,
        json!([
            {
                "name": "writer", "role": "coder", "used": true, "command": ["claude"], "adapter": "claude",
                "domain": ["rust", "src/**"], "focus": [], "model": null,
                "program": "[BIN]/claude", "version": "9.8.7 (Claude Code)", "missing": null,
            },
            {
                "name": "reader", "role": "reviewer", "used": true, "command": ["./review.sh"], "adapter": "text",
                "domain": [], "focus": ["security"], "model": null,
                "program": "[ROOT]/review.sh", "version": null, "missing": null,
            },
            {
                "name": "absent", "role": "reviewer", "used": true, "command": ["codex"], "adapter": "codex",
                "domain": [], "focus": [], "model": null, "program": null, "version": null,
                "missing": {
                    "error": "agent `absent` cannot be run: `codex` was not found in any folder of PATH",
                    "hint": "install `codex`, or give the path of the program: `glee config set agents.absent.command <path>`",
                },
            },
            {
                "name": "rules", "role": "reviewer", "used": true, "command": ["builtin:rules"], "adapter": "builtin",
                "domain": [], "focus": [], "model": null, "program": null, "version": "0.1.0", "missing": null,
            },
        ])
    );
}

#[test]
fn no_agent_is_no_error() {
    insta::assert_snapshot!(Sandbox::new().glee(&["agents"]), @r"
    exit: 0
    --- stderr
    no agent is connected; connect an agent with `glee connect <agent> --role <role>`
    ");
}

/// The reviewer answers wrongly, the coder edits no file, and the embedded reviewer answers without a call.
#[test]
fn each_agent_is_checked_with_one_question() {
    let sandbox = connected();
    sandbox.script("review.sh", "#!/bin/sh\ncat > /dev/null\necho hello\n");
    let text = sandbox.glee(&["agents", "--check"]);
    let lines: Vec<&str> = text
        .stdout
        .lines()
        .filter(|line| !line.starts_with("        "))
        .collect();
    assert_eq!(
        lines,
        [
            "FAILED  writer (coder, claude 9.8.7)",
            "FAILED  reader (reviewer, text)",
            "FAILED  absent (reviewer, codex)",
            "ok      rules (reviewer, builtin 0.1.0)",
        ],
        "{text}"
    );
    let json = sandbox.glee(&["agents", "--check", "--json"]);
    let agents: Vec<serde_json::Value> = serde_json::from_str(&json.stdout).expect("a list");
    let facts = |agent: &serde_json::Value| {
        (
            agent["name"].clone(),
            agent["passed"].clone(),
            agent["answered"].clone(),
        )
    };
    assert_eq!(
        agents.iter().map(facts).collect::<Vec<_>>(),
        [
            ("writer", false, false),
            ("reader", false, false),
            ("absent", false, false),
            ("rules", true, true)
        ]
        .map(|(name, passed, answered)| (json!(name), json!(passed), json!(answered)))
    );
    assert_eq!((text.code, json.code), (4, 4));
}

#[test]
fn the_embedded_agents_pass_the_check() {
    let sandbox = Sandbox::new();
    for (name, role) in [
        ("fixer", "coder"),
        ("rules", "reviewer"),
        ("referee", "judge"),
    ] {
        let program = format!("builtin:{name}");
        assert_eq!(sandbox.glee(&["connect", &program, "--role", role]).code, 0);
    }
    let text = sandbox.glee(&["agents", "--check"]);
    assert_eq!(text.code, 0, "{text}");
    for line in [
        "ok      ",
        "answered with the nonce\n",
        "created and changed no file\n",
    ] {
        assert_eq!(text.stdout.matches(line).count(), 3, "{text}");
    }
}

#[test]
fn an_untrusted_project_runs_nothing() {
    let sandbox = Sandbox::new();
    sandbox.script("claude", "#!/bin/sh\n: > it-was-run\n");
    sandbox.write(
        ".glee/config.yml",
        "version: 1\nagents: [{name: a, command: ./claude, role: coder}]\n",
    );
    insta::assert_snapshot!(sandbox.glee(&["agents"]).stable(), @r"
    exit: 0
    --- stdout
    NAME  ROLE  COMMAND  FOR  VERSION  PROGRAM
    a  coder  ./claude  -    -        [ROOT]/claude
    --- stderr
    this project is not trusted, so Glee did not run the agents' programs to find their versions; see `glee trust`
    ");
    assert!(!sandbox.exists("it-was-run"));
}

#[test]
fn a_schema_is_printed_as_it_is_published() {
    let sandbox = Sandbox::new();
    for form in ["request", "review", "response", "ruling", "recheck"] {
        let published = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("docs/schema/{form}.json"));
        let published = std::fs::read_to_string(published).expect("it is published");
        assert_eq!(sandbox.glee(&["agents", "schema", form]).stdout, published);
    }
}

/// opencode has no flag that prevents loading them, in any role.
#[test]
fn a_program_that_would_run_modules_of_the_tree_is_not_started() {
    let mut sandbox = Sandbox::new();
    sandbox.only_own_programs();
    let config = sandbox.user_config();
    std::fs::create_dir_all(config.parent().expect("a parent folder")).expect("a folder");
    std::fs::write(
        &config,
        "version: 1\nagents:\n  - {name: reader, command: opencode, role: reviewer}\n",
    )
    .expect("a written file");
    sandbox.program(
        "opencode",
        "#!/bin/sh\necho 'opencode run --pure --format' >> asked\necho '--pure --format'\n",
    );
    sandbox.write("a.py", "x = 1\n");
    sandbox.write(".opencode/plugins/it.js", "");
    let output = sandbox.glee(&["review", "a.py"]);
    assert_eq!(output.code, 4, "{output}");
    let said = "✗ reader  `reader` would run the modules in `.opencode/plugins` of the tree";
    assert!(output.stderr.contains(said), "{output}");
    let hint = "use another agent, or move the folder away: no flag of opencode prevents this";
    assert!(output.stderr.contains(hint), "{output}");
    assert!(!sandbox.exists("asked"), "not even for its help");
}
