//! Tests `config`, `init`, `connect`, `disconnect`, `trust` and the settings they share.

use crate::support::{Output, Sandbox};

const CONFIG: &str = "\
# Ours. Ask before changing.
agents:
  - name: writer          # the first one
    command: \"claude\"
    role: coder

  # second pair of eyes
  - {name: reader, command: 'codex', role: reviewer}

review:
    on_dispute:
        default: \"human\"    # until we have a judge
        prompt_user: true
    rounds:   2

# the end
";

fn with_config() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(".glee/config.yml", CONFIG);
    sandbox
}

/// Runs a command that has to fail with a usage error and one hint, without changing a file.
fn refused(sandbox: &Sandbox, args: &[&str]) -> String {
    let config = |sandbox: &Sandbox| {
        sandbox
            .exists(".glee/config.yml")
            .then(|| sandbox.read(".glee/config.yml"))
    };
    let before = config(sandbox);
    let Output {
        code,
        stdout,
        stderr,
    } = sandbox.glee(args);
    assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
    assert_eq!(config(sandbox), before);
    assert!(!sandbox.user_config().exists());
    stderr
}

/// The command line of a refused command and what it printed, for a snapshot of several of them.
fn transcript(sandbox: &Sandbox, args: &[&str]) -> String {
    format!("$ glee {}\n{}\n", args.join(" "), refused(sandbox, args))
}

/// Runs a command that has to succeed and returns its stdout.
fn out(sandbox: &Sandbox, args: &[&str]) -> String {
    let output = sandbox.glee(args);
    assert_eq!(output.code, 0, "{output}");
    output.stdout
}

#[test]
fn an_unknown_command_is_a_usage_error() {
    let output = Sandbox::new().glee(&["conect"]);
    assert_eq!(output.code, 2);
    assert_eq!(output.stdout, "");
    assert!(
        output.stderr.contains("`conect`") && output.stderr.contains("`glee connect`"),
        "{output}"
    );
}

#[test]
fn every_command_helps_with_an_example() {
    let sandbox = Sandbox::new();
    for command in [
        vec!["init"],
        vec!["connect"],
        vec!["disconnect"],
        vec!["trust"],
        vec!["config"],
        vec!["config", "get"],
        vec!["config", "set"],
        vec!["config", "unset"],
        vec!["config", "list"],
        vec!["config", "edit"],
        vec!["config", "path"],
        vec!["config", "schema"],
    ] {
        let help = out(&sandbox, &[command.as_slice(), &["--help"]].concat());
        let call = format!("glee {}", command.join(" "));
        let (_, example) = help.split_once("Example").expect("an example");
        assert!(example.contains(&call), "{help}");
    }
}

// ---- config set, get, unset, list

#[test]
fn set_changes_one_word_and_keeps_comments_order_and_quoting() {
    let sandbox = with_config();
    let output = sandbox.glee(&["config", "set", "review.on_dispute.default", "judge"]);
    insta::assert_snapshot!(output, @"
    exit: 0
    --- stderr
    review.on_dispute.default = judge (.glee/config.yml)
    ");
    assert_eq!(
        sandbox.read(".glee/config.yml"),
        CONFIG.replace("\"human\" ", "\"judge\" ")
    );
    insta::assert_snapshot!(out(&sandbox, &["config", "get", "review.on_dispute.default"]), @"judge");
}

#[test]
fn set_addresses_agents_by_name_and_adds_what_is_not_there() {
    let sandbox = with_config();
    for (key, value) in [
        ("agents.reader.focus", "security, performance"),
        ("agents.writer.timeout", "10m"),
        ("review.verify", "[]"),
        ("limits.idle_timeout", "1m30s"),
        ("review.issues.mandatory", "[HIGH, MEDIUM]"),
        ("review.issues.optional", "LOW"),
    ] {
        out(&sandbox, &["config", "set", key, value]);
    }
    insta::assert_snapshot!(sandbox.read(".glee/config.yml"), @r#"
    # Ours. Ask before changing.
    agents:
      - name: writer          # the first one
        command: "claude"
        role: coder
        timeout: 10m

      # second pair of eyes
      - {name: reader, command: 'codex', role: reviewer, focus: [security, performance]}

    review:
        on_dispute:
            default: "human"    # until we have a judge
            prompt_user: true
        rounds:   2
        verify: []
        issues:
          mandatory: [HIGH, MEDIUM]
          optional: [LOW]

    # the end

    limits:
      idle_timeout: 1m30s
    "#);
}

#[test]
fn a_bad_value_or_key_is_one_error_with_a_hint_and_nothing_is_written() {
    let sandbox = with_config();
    let mut refusals = String::new();
    for args in [
        ["review.on_dispute.default", "judg"],
        ["review.on_dispute.defualt", "judge"],
        ["on_dispute", "judge"],
        ["review.rounds", "many"],
        ["review.rounds", "-1"],
        ["limits.call_timeout", "90"],
        ["review.debate.rounds", "2"],
        ["budget.energy", "5"],
        ["review", "x"],
        ["agents", "x"],
        ["agents.writer.role", "boss"],
        ["agents.writer.roll", "coder"],
        ["agents.nobody.role", "coder"],
        ["agents.writer.name", "reader"],
        ["limits.call_timeout", "2h"],
        ["review.judge.require_evidence", "false"],
    ] {
        refusals += &transcript(&sandbox, &["config", "set", args[0], args[1]]);
    }
    insta::assert_snapshot!(refusals);
    let fresh = Sandbox::new();
    refused(
        &fresh,
        &["config", "set", "review.on_dispute.default", "judg"],
    );
    assert!(!fresh.exists(".glee"));
}

#[test]
fn errors_in_the_file_name_line_column_and_key() {
    let mut refusals = String::new();
    for text in [
        "review:\n  on_dispute:\n    default: judg\n",
        "agents:\n  - name: a\n    comand: claude\n",
        "agents:\n  - name: a\n    command: claude\n",
        "review:\n\trounds: 1\n",
        "version: 2\n",
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(".glee/config.yml", text);
        refusals += &format!("{text}{}\n", refused(&sandbox, &["config", "list"]));
        // A writing command reports the same and writes nothing.
        let other = refused(&sandbox, &["config", "set", "review.rounds", "3"]);
        assert!(other.starts_with("error: .glee/config.yml"), "{other}");
    }
    insta::assert_snapshot!(refusals);
    let sandbox = Sandbox::new();
    sandbox.write(".glee/config.yaml", "version: 1\n");
    insta::assert_snapshot!(refused(&sandbox, &["config", "list"]), @r"
    error: wrong name of the configuration file: `.glee/config.yaml`
    hint: rename the file to `.glee/config.yml`
    ");
}

#[test]
fn setting_a_broken_key_mends_the_file() {
    let sandbox = Sandbox::new();
    sandbox.write(".glee/config.yml", "review:\n  rounds: often # hm\n");
    out(&sandbox, &["config", "set", "review.rounds", "3"]);
    assert_eq!(
        sandbox.read(".glee/config.yml"),
        "review:\n  rounds: 3 # hm\n"
    );
}

#[test]
fn values_come_from_five_layers_and_say_so() {
    let mut sandbox = with_config();
    out(&sandbox, &["config", "set", "--user", "review.jobs", "4"]);
    out(&sandbox, &["config", "set", "--user", "review.rounds", "5"]);
    sandbox.env("GLEE_REVIEW_MAX_FILE_SIZE", "2MiB");
    let origins = out(&sandbox, &["config", "list", "--origin"]);
    let interesting: Vec<&str> = origins
        .lines()
        .filter(|line| {
            [
                "agents.",
                "review.jobs",
                "review.rounds",
                "review.max_file_size",
                "review.max_shard_size",
            ]
            .iter()
            .any(|key| line.starts_with(key))
        })
        .collect();
    insta::assert_snapshot!(interesting.join("\n"), @"
    agents.reader.adapter = codex            default
    agents.reader.command = codex          * .glee/config.yml:8
    agents.reader.role = reviewer          * .glee/config.yml:8
    agents.writer.adapter = claude           default
    agents.writer.command = claude         * .glee/config.yml:4
    agents.writer.role = coder             * .glee/config.yml:5
    review.jobs = 4                        * [HOME]/.config/glee/config.yml:5
    review.max_file_size = 2MiB            * GLEE_REVIEW_MAX_FILE_SIZE
    review.max_shard_size = 128KiB           default
    review.rounds = 2                      * .glee/config.yml:14
    ");
    let json: serde_json::Value =
        serde_json::from_str(&out(&sandbox, &["config", "list", "--json"])).expect("JSON");
    let row = |key: &str| {
        let mut row = json[key].as_object().expect("an object").clone();
        let meaning = row.remove("meaning");
        assert!(meaning.is_some_and(|text| text.is_string()), "{key}");
        serde_json::Value::from(row)
    };
    assert_eq!(
        row("review.rounds"),
        serde_json::json!({"value": 2, "origin": "project", "file": ".glee/config.yml", "line": 14})
    );
    assert_eq!(
        row("review.max_file_size"),
        serde_json::json!({"value": "2MiB", "origin": "variable", "variable": "GLEE_REVIEW_MAX_FILE_SIZE"})
    );
    assert_eq!(
        row("review.max_shard_size"),
        serde_json::json!({"value": "128KiB", "origin": "default"})
    );
    // A value that a higher layer overrides is reported as hidden.
    let output = sandbox.glee(&["config", "set", "review.max_file_size", "3MiB"]);
    insta::assert_snapshot!(output.stderr, @r"
    review.max_file_size = 3MiB (.glee/config.yml)
    note: the value remains 2MiB here, because of GLEE_REVIEW_MAX_FILE_SIZE
    ");
}

#[test]
fn a_misspelt_or_bad_variable_is_an_error() {
    let mut refusals = String::new();
    for (name, value) in [
        ("GLEE_REVIEW_ROUND", "2"),
        ("GLEE_REVIEW_ON_DISPUTE_DEFAULT", "coin"),
    ] {
        let mut sandbox = Sandbox::new();
        sandbox.env(name, value);
        refusals += &format!(
            "{name}={value}\n{}\n",
            refused(&sandbox, &["config", "list"])
        );
    }
    insta::assert_snapshot!(refusals);
}

#[test]
fn get_prints_a_value_a_section_or_why_there_is_none() {
    let sandbox = with_config();
    out(
        &sandbox,
        &["config", "set", "agents.reader.env", "{TOKEN: abc}"],
    );
    insta::assert_snapshot!(out(&sandbox, &["config", "get", "review.issues.optional"]), @"[MEDIUM, LOW]");
    insta::assert_snapshot!(out(&sandbox, &["config", "get", "agents.reader.env"]), @"{TOKEN: abc}");
    insta::assert_snapshot!(out(&sandbox, &["config", "get", "agents.reader"]), @r#"
    agents.reader.adapter = codex
    agents.reader.command = codex
    agents.reader.env = {TOKEN: "***"}
    agents.reader.role = reviewer
    "#);
    let mut refusals = String::new();
    for key in [
        "agents.reader.model",
        "agents.reder.role",
        "agents.reader.rol",
        "review.round",
    ] {
        refusals += &transcript(&sandbox, &["config", "get", key]);
    }
    insta::assert_snapshot!(refusals);
}

#[test]
fn unset_brings_the_default_back() {
    let sandbox = with_config();
    let output = sandbox.glee(&["config", "unset", "review.rounds"]);
    insta::assert_snapshot!(output.stderr, @"review.rounds is no longer set in .glee/config.yml; now 1 (default)");
    assert_eq!(
        sandbox.read(".glee/config.yml"),
        CONFIG.replace("    rounds:   2\n", "")
    );
    insta::assert_snapshot!(refused(&sandbox, &["config", "unset", "review.rounds"]), @r"
    error: .glee/config.yml: `review.rounds` is not set in this file
    hint: `glee config list --origin` shows the source of every value
    ");
    insta::assert_snapshot!(refused(&sandbox, &["config", "unset", "agents.reader.role"]), @r"
    error: the agent `reader` has no role
    hint: add `role: coder`, `reviewer`, `judge` or `aggregator`
    ");
}

#[test]
fn path_and_schema_are_printed() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(out(&sandbox, &["config", "path"]), @"[ROOT]/.glee/config.yml");
    insta::assert_snapshot!(out(&sandbox, &["config", "path", "--user"]), @"[HOME]/.config/glee/config.yml");
    assert_eq!(
        out(&sandbox, &["config", "schema"]),
        include_str!("../../docs/schema/config.json")
    );
}

#[test]
fn the_project_is_the_nearest_folder_upwards_that_is_marked() {
    let sandbox = Sandbox::new();
    sandbox.git_init().write("a/b/file", "");
    insta::assert_snapshot!(out(&sandbox, &["-C", "a/b", "config", "path"]), @"[ROOT]/.glee/config.yml");
    sandbox.write("a/.glee/config.yml", "");
    insta::assert_snapshot!(out(&sandbox, &["-C", "a/b", "config", "path"]), @"[ROOT]/a/.glee/config.yml");
    insta::assert_snapshot!(refused(&sandbox, &["-C", "nowhere", "config", "path"]), @"
    error: there is no folder `nowhere`
    hint: give an existing folder after `-C`
    ");
}

#[cfg(unix)]
#[test]
fn links_pipes_and_giants_are_refused() {
    use std::os::unix::fs::symlink;
    let elsewhere = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::new();
    symlink(elsewhere.path(), sandbox.root().join(".glee")).expect("a link");
    for args in [
        vec!["config", "list"],
        vec!["config", "set", "review.rounds", "2"],
        vec!["init", "--yes"],
    ] {
        let stderr = refused(&sandbox, &args);
        assert!(
            stderr.starts_with("error: `[ROOT]/.glee` is a symbolic link\nhint: "),
            "{stderr}"
        );
    }
    assert_eq!(
        std::fs::read_dir(elsewhere.path())
            .expect("a folder")
            .count(),
        0
    );

    let sandbox = Sandbox::new();
    sandbox.write(".glee/x", "");
    let status = std::process::Command::new("mkfifo")
        .arg(sandbox.root().join(".glee/config.yml"))
        .status();
    assert!(status.expect("mkfifo runs").success());
    assert!(
        sandbox
            .glee(&["config", "list"])
            .stderr
            .starts_with("error: `[ROOT]/.glee/config.yml` is not a regular file")
    );

    let sandbox = Sandbox::new();
    sandbox.write(".glee/config.yml", " ".repeat((1 << 20) + 1));
    insta::assert_snapshot!(refused(&sandbox, &["config", "list"]), @"error: `[ROOT]/.glee/config.yml` is larger than 1 MiB");
}

// ---- config edit

#[test]
fn an_edit_counts_only_when_it_is_good() {
    let mut sandbox = with_config();
    sandbox.program(
        "good-editor",
        "#!/bin/sh\nsed -i 's/rounds:   2/rounds: 3/' \"$1\"\n",
    );
    sandbox.program(
        "bad-editor",
        "#!/bin/sh\nsed -i 's/rounds:   2/rounds: soon/' \"$1\"\n",
    );
    sandbox.program("no-editor", "#!/bin/sh\nexit 3\n");
    sandbox.env("TMPDIR", sandbox.state().display().to_string());

    sandbox.env("EDITOR", "bad-editor");
    let output = sandbox.glee(&["config", "edit"]);
    assert_eq!((output.code, output.stdout.as_str()), (2, ""));
    let (error, hint) = output.stderr.split_once("\nhint: ").expect("a hint");
    insta::assert_snapshot!(error, @"error: .glee/config.yml:14:13: `review.rounds` cannot be `soon`");
    assert_eq!(sandbox.read(".glee/config.yml"), CONFIG);
    let kept = hint
        .split('`')
        .nth(1)
        .expect("a path")
        .replace("[STATE]", &sandbox.state().display().to_string());
    assert!(
        std::fs::read_to_string(kept)
            .expect("the draft")
            .contains("rounds: soon")
    );

    sandbox.env("EDITOR", "no-editor");
    insta::assert_snapshot!(refused(&sandbox, &["config", "edit"]), @"error: the editor `no-editor` failed (exit status: 3); the file is unchanged");
    sandbox.env("EDITOR", "true");
    insta::assert_snapshot!(sandbox.glee(&["config", "edit"]).stderr, @".glee/config.yml is unchanged");
    sandbox.env("VISUAL", "good-editor");
    insta::assert_snapshot!(sandbox.glee(&["config", "edit"]).stderr, @".glee/config.yml is written");
    assert_eq!(
        sandbox.read(".glee/config.yml"),
        CONFIG.replace("rounds:   2", "rounds: 3")
    );
}

// ---- connect, disconnect

#[test]
fn connect_writes_the_agent_and_says_what_is_next() {
    let mut sandbox = Sandbox::new();
    sandbox
        .only_own_programs()
        .program("claude", "#!/bin/sh\n")
        .script("bin/mine.sh", "#!/bin/sh\n");
    let output = sandbox.glee(&["connect", "claude", "--role", "judge"]);
    insta::assert_snapshot!(output, @"
    exit: 0
    --- stderr
    `claude-judge` is connected as judge (.glee/config.yml)
    next: connect a reviewer: `glee connect <agent> --role reviewer`
    ");
    let output = sandbox.glee(&[
        "connect",
        "mine",
        "--role",
        "reviewer",
        "--command",
        "bin/mine.sh --fast 'a b'",
    ]);
    insta::assert_snapshot!(output, @"
    exit: 0
    --- stderr
    `mine-reviewer` is connected as reviewer (.glee/config.yml)
    tip: name the focus of the agent: `glee config set agents.mine-reviewer.focus security,performance`
    next: `glee review`; to have findings fixed: `glee connect <agent> --role coder`
    ");
    let output = sandbox.glee(&[
        "connect",
        "codex",
        "--role",
        "coder",
        "--name",
        "api",
        "--domain",
        "rust, src/api/**",
        "--model",
        "m-1",
        "--timeout",
        "90s",
    ]);
    insta::assert_snapshot!(output, @"
    exit: 0
    --- stderr
    `api` is connected as coder (.glee/config.yml)
    warning: `codex` was not found in any folder of PATH
    hint: install `codex`, or give the path of the program: `glee config set agents.api.command <path>`
    next: `glee review`, or `glee review --arbitrate` to have findings fixed and disputes settled
    ");
    out(
        &sandbox,
        &[
            "connect",
            "builtin:rules",
            "--role",
            "reviewer",
            "--focus",
            "security",
        ],
    );
    insta::assert_snapshot!(sandbox.read(".glee/config.yml"), @r#"
    # Glee's configuration. Every key, its value and where it comes from: `glee config list --origin`
    version: 1

    agents:
      - name: claude-judge
        command: claude
        role: judge
      - name: mine-reviewer
        command: "bin/mine.sh --fast 'a b'"
        role: reviewer
      - name: api
        command: codex
        role: coder
        domain: [rust, "src/api/**"]
        model: m-1
        timeout: 90s
      - name: rules
        command: builtin:rules
        role: reviewer
        focus: [security]
    "#);
    insta::assert_snapshot!(out(&sandbox, &["config", "get", "agents.mine-reviewer.command"]), @"bin/mine.sh --fast 'a b'");
}

#[test]
fn connect_refuses_what_cannot_work_and_writes_nothing() {
    let sandbox = Sandbox::new();
    let mut refusals = String::new();
    for args in [
        vec!["claude"],
        vec!["claude", "--role", "reviwer"],
        vec!["claude", "--role", "boss"],
        vec!["claud", "--role", "judge"],
        vec!["rules", "--role", "reviewer"],
        vec!["mine", "--role", "judge"],
        vec!["builtin:rules", "--role", "judge"],
        vec!["builtin:rule", "--role", "judge"],
        vec!["x y", "--role", "judge", "--command", "z"],
        vec!["x", "--role", "judge", "--command", "z 'a"],
        vec!["claude", "--role", "judge", "--timeout", "soon"],
        vec!["claude", "--role", "judge", "--adapter", "jsn"],
        vec!["claude", "--role", "judge", "--model=--yolo"],
    ] {
        refusals += &transcript(&sandbox, &[&["connect"], args.as_slice()].concat());
        assert!(!sandbox.exists(".glee"));
    }
    insta::assert_snapshot!(refusals);
    out(&sandbox, &["connect", "claude", "--role", "judge"]);
    insta::assert_snapshot!(refused(&sandbox, &["connect", "codex", "--role", "reviewer", "--name", "claude-judge"]), @r"
    error: the agent `claude-judge` already exists and is a judge
    hint: choose another name with `--name <name>`, or remove the existing agent: `glee disconnect claude-judge`
    ");
}

#[test]
fn spec_05_the_program_of_a_connected_agent_takes_a_further_role() {
    let sandbox = Sandbox::new();
    let mine = [
        "connect",
        "mine",
        "--role",
        "reviewer",
        "--name",
        "mine",
        "--command",
        "./mine.sh --fast",
    ];
    sandbox.glee(&[&mine[..], &["--adapter", "json", "--model", "small"]].concat());
    let said = sandbox.glee(&["connect", "mine", "--role", "judge"]);
    assert!(
        said.stderr.contains("`mine-judge` is connected as judge"),
        "{said}"
    );
    let listed = sandbox.glee(&["config", "list"]).stdout;
    for line in [
        "agents.mine-judge.command = ./mine.sh --fast",
        "agents.mine-judge.adapter = json",
        "agents.mine-judge.model = small",
        "agents.mine.role = reviewer",
    ] {
        assert!(listed.contains(line), "{line}\n{listed}");
    }
    // A name with a role suffix fails, too.
    sandbox.glee(&[
        "connect",
        "todo",
        "--role",
        "reviewer",
        "--command",
        "./todo.sh",
    ]);
    let said = sandbox.glee(&["connect", "todo", "--role", "judge"]);
    assert!(
        said.stderr.contains("`todo-judge` is connected as judge"),
        "{said}"
    );
    assert!(
        sandbox
            .glee(&["config", "list"])
            .stdout
            .contains("agents.todo-judge.command = ./todo.sh "),
        "{said}"
    );
    sandbox.glee(&["connect", "builtin:rules", "--role", "reviewer"]);
    assert!(
        refused(&sandbox, &["connect", "rules", "--role", "judge"]).contains("cannot be a judge")
    );
}

#[test]
fn spec_05_connect_of_what_is_connected_updates_it() {
    let sandbox = Sandbox::new();
    sandbox.glee(&[
        "connect", "codex", "--role", "reviewer", "--focus", "security",
    ]);
    let said = sandbox.glee(&["connect", "codex", "--role", "reviewer", "--model", "large"]);
    assert!(
        said.stderr.contains("`codex-reviewer` is updated"),
        "{said}"
    );
    let listed = sandbox.glee(&["config", "list"]).stdout;
    assert!(
        listed.contains("agents.codex-reviewer.model = large"),
        "{listed}"
    );
    assert!(
        listed.contains("agents.codex-reviewer.focus = [security]"),
        "what is not named stays: {listed}"
    );
    assert_eq!(listed.matches("codex-reviewer.role").count(), 1, "{listed}");
    // The agent's own name works, too.
    sandbox.glee(&[
        "connect",
        "codex-reviewer",
        "--role",
        "reviewer",
        "--focus",
        "speed",
    ]);
    let listed = sandbox.glee(&["config", "list"]).stdout;
    assert!(
        listed.contains("agents.codex-reviewer.focus = [speed]"),
        "{listed}"
    );
    assert_eq!(
        sandbox
            .glee(&["config", "set", "agents.codex.focus", "tests"])
            .code,
        0
    );
    assert_eq!(
        out(&sandbox, &["config", "get", "agents.codex.focus"]),
        "[tests]\n"
    );
    let same = sandbox.glee(&["connect", "codex", "--role", "reviewer", "--model", "large"]);
    assert!(same.stderr.contains("nothing to change"), "{same}");
}

#[test]
fn disconnect_removes_the_agent_alone() {
    let sandbox = with_config();
    insta::assert_snapshot!(refused(&sandbox, &["disconnect", "reder"]), @r"
    error: there is no agent `reder` in .glee/config.yml
    hint: did you mean `reader`?
    ");
    out(&sandbox, &["config", "set", "review.reviewers", "reader"]);
    let output = sandbox.glee(&["disconnect", "reader"]);
    insta::assert_snapshot!(output, @"
    exit: 0
    --- stderr
    `reader` is no longer connected (.glee/config.yml)
    note: `reader` in `review.reviewers` is not a connected reviewer; `glee config set review.reviewers all`
    ");
    assert_eq!(
        sandbox.read(".glee/config.yml"),
        CONFIG
            .replace("  - {name: reader, command: 'codex', role: reviewer}\n", "")
            .replace(
                "    rounds:   2\n",
                "    rounds:   2\n    reviewers: [reader]\n"
            )
    );
    let sandbox = Sandbox::new();
    out(
        &sandbox,
        &["connect", "--user", "claude", "--role", "judge"],
    );
    insta::assert_snapshot!(sandbox.glee(&["disconnect", "claude-judge"]).stderr, @r"
    error: there is no agent `claude-judge` in .glee/config.yml
    hint: remove the agent from the user's configuration file: `glee disconnect --user claude-judge`
    ");
    out(&sandbox, &["disconnect", "--user", "claude-judge"]);
    assert_eq!(
        out(&sandbox, &["config", "list"])
            .matches("agents.")
            .count(),
        0
    );
}

// ---- init

#[test]
fn init_without_an_agent_connects_the_embedded_ones() {
    let mut sandbox = Sandbox::new();
    sandbox.only_own_programs();
    let output = sandbox.glee(&["init"]);
    insta::assert_snapshot!(output, @"
    exit: 0
    --- stderr
    no known agent program is installed (`glee agents --known` lists them); the embedded agents are available
    without a terminal, Glee uses the suggestion
    [ROOT]/.glee/config.yml is written:
      coder      fixer
      reviewer   rules
      judge      referee
    check: `glee agents --check` asks each agent one harmless question
    next: `glee review`, or `glee review --arbitrate` to have findings fixed and disputes settled
    ");
    let text = sandbox.read(".glee/config.yml");
    let id = text.split('"').nth(1).expect("an id in quotes").to_owned();
    insta::assert_snapshot!(text.replace(&id, "[ID]"), @r#"
    # Glee's configuration. Every key, its value and where it comes from: `glee config list --origin`
    version: 1

    # Identifies the history of this project in every clone and checkout.
    project:
      id: "[ID]"

    # The agents and their roles. Add more with: glee connect <agent> --role coder|reviewer|judge|aggregator
    agents:
      - name: fixer
        command: builtin:fixer
        role: coder
      - name: rules
        command: builtin:rules
        role: reviewer
      - name: referee
        command: builtin:referee
        role: judge

    review:
      # The findings that a coder must implement or object to, and those that it may discard.
      opinions: {mandatory: [MUST], optional: [SHOULD]}
      issues: {mandatory: [HIGH], optional: [MEDIUM, LOW]}
      # Who decides if the coder objects to a mandatory finding.
      on_dispute:
        prompt_user: true   # ask on a terminal
        default: judge      # judge | human | discard
      judge:
        escalate_to: human  # if the judge is uncertain
    "#);
}

#[test]
fn init_connects_what_is_installed() {
    let mut sandbox = Sandbox::new();
    sandbox
        .only_own_programs()
        .program("claude", "#!/bin/sh\n")
        .program("gemini", "#!/bin/sh\n");
    let output = sandbox.glee(&["init", "--yes"]);
    insta::assert_snapshot!(output, @"
    exit: 0
    --- stderr
    installed: claude, gemini
    suggested: claude codes and judges in calls of their own, and reviews nothing that it judges
    [ROOT]/.glee/config.yml is written:
      coder      claude-coder
      reviewer   gemini-reviewer
      judge      claude-judge
      aggregator claude-aggregator
    check: `glee agents --check` asks each agent one harmless question
    next: `glee review`, or `glee review --arbitrate` to have findings fixed and disputes settled
    ");
    // The examples in its comments are valid.
    let text = sandbox
        .read(".glee/config.yml")
        .replace("    # domain", "    domain")
        .replace("    # focus", "    focus");
    sandbox.write(".glee/config.yml", text);
    insta::assert_snapshot!(out(&sandbox, &["config", "get", "agents.gemini-reviewer.focus"]), @"[security, performance]");
}

#[test]
fn init_overwrites_nothing_unasked() {
    let sandbox = with_config();
    let stderr = refused(&sandbox, &["init", "--yes"]);
    insta::assert_snapshot!(stderr, @r"
    error: [ROOT]/.glee/config.yml exists already
    hint: add agents with `glee connect <agent> --role <role>`, edit the file with `glee config edit`, or replace the file with `glee init --force`
    ");
    let output = sandbox.glee(&["init", "--yes", "--force"]);
    assert!(
        output
            .stderr
            .contains("the old configuration is kept in [ROOT]/.glee/config.yml.old\n"),
        "{output}"
    );
    assert_eq!(sandbox.read(".glee/config.yml.old"), CONFIG);
}

// ---- trust

const RUNS: &str = "\
agents:
  - name: lint
    command: [sh, -c, 'echo hi']
    role: reviewer
    env: {MODE: fast}
review:
  verify: [make check]
";

#[test]
fn trust_shows_records_lists_and_forgets() {
    let sandbox = Sandbox::new();
    sandbox.write(".glee/config.yml", RUNS);
    let shown = out(&sandbox, &["trust", "--show"]);
    let hash = shown
        .lines()
        .last()
        .and_then(|line| line.strip_suffix(" (not trusted)"))
        .expect("a hash")
        .to_owned();
    assert_eq!(
        shown,
        format!(
            "sh -c 'echo hi' (agent `lint`)\nMODE=fast (set for agent `lint`)\nmake check (review.verify)\n{hash} (not trusted)\n"
        )
    );
    assert_eq!(
        sandbox.glee(&["trust"]).stderr,
        format!(
            "trusted in [ROOT]:\n  sh -c 'echo hi' (agent `lint`)\n  MODE=fast (set for agent `lint`)\n  make check (review.verify)\n{hash}\nnext: glee review\n"
        )
    );
    assert!(out(&sandbox, &["trust", "--show"]).ends_with("(trusted)\n"));
    assert_eq!(
        out(&sandbox, &["trust", "--list"]),
        format!(
            "[ROOT]\n  sh -c 'echo hi' (agent `lint`)\n  MODE=fast (set for agent `lint`)\n  make check (review.verify)\n  {hash} since [TIME]\n"
        )
    );
    // Comments and settings without commands do not affect trust.
    sandbox.write(".glee/config.yml", format!("# c\n{RUNS}  rounds: 3\n"));
    assert!(out(&sandbox, &["trust", "--show"]).ends_with("(trusted)\n"));
    sandbox.write(".glee/config.yml", RUNS.replace("echo hi", "echo ho"));
    assert!(out(&sandbox, &["trust", "--show"]).ends_with("(not trusted)\n"));
    sandbox.write(".glee/config.yml", RUNS);
    insta::assert_snapshot!(sandbox.glee(&["trust", "--revoke"]).stderr, @"this project is no longer trusted");
    assert!(out(&sandbox, &["trust", "--show"]).ends_with("(not trusted)\n"));
    assert_eq!(out(&sandbox, &["trust", "--list"]), "");
}

#[test]
fn what_is_typed_is_trusted_unless_something_else_was_not() {
    let connect = [
        "connect",
        "mine",
        "--role",
        "reviewer",
        "--command",
        "./mine.sh",
    ];
    let sandbox = Sandbox::new();
    out(&sandbox, &connect);
    assert!(out(&sandbox, &["trust", "--show"]).ends_with("(trusted)\n"));
    out(
        &sandbox,
        &[
            "config",
            "set",
            "agents.mine-reviewer.command",
            "./mine.sh --more",
        ],
    );
    out(&sandbox, &["config", "set", "review.verify", "make check"]);
    assert!(out(&sandbox, &["trust", "--show"]).ends_with("(trusted)\n"));

    let sandbox = Sandbox::new();
    sandbox.write(".glee/config.yml", RUNS);
    let output = sandbox.glee(&connect);
    assert!(
        output.stderr.contains(
            "note: this configuration is not trusted to run programs: run `glee trust`\n"
        ),
        "{output}"
    );
    assert!(out(&sandbox, &["trust", "--show"]).ends_with("(not trusted)\n"));
    out(&sandbox, &["trust"]);
    out(&sandbox, &["disconnect", "mine-reviewer"]);
    assert!(out(&sandbox, &["trust", "--show"]).ends_with("(trusted)\n"));
}

#[test]
fn trust_has_nothing_to_do_where_nothing_runs() {
    let sandbox = with_config();
    insta::assert_snapshot!(sandbox.glee(&["trust"]).stderr, @".glee/config.yml runs nothing that needs trust");
    insta::assert_snapshot!(refused(&sandbox, &["--trust", "deadbeef", "config", "list"]), @r"
    error: invalid hash `deadbeef`
    hint: write the hash as `glee trust --show` prints it: `blake3:` and 64 hexadecimal digits
    ");
}

#[test]
fn nothing_of_an_untrusted_project_runs() {
    let mut sandbox = Sandbox::new();
    sandbox.env("CI", "true");
    sandbox
        .write("a.py", "print(1)\n")
        .script("lint.sh", "#!/bin/sh\ntouch ran\n");
    sandbox.write(
        ".glee/config.yml",
        "agents: [{name: lint, command: ./lint.sh, role: reviewer}]\n",
    );
    let output = sandbox.glee(&["review", "a.py"]);
    let hash = out(&sandbox, &["trust", "--show"])
        .lines()
        .find_map(|line| line.strip_suffix(" (not trusted)").map(str::to_owned))
        .expect("a hash");
    assert_eq!((output.code, output.stdout.as_str()), (8, ""));
    assert_eq!(
        output.stderr,
        format!(
            "error: this project is not trusted; with trust, its `.glee` runs, sets or uses\n  ./lint.sh (agent \
             `lint`)\n  lint.sh (a file that a command names, d5a10844d299)\n{hash}\n\
             hint: read the configuration, then trust the project with `glee trust`, or only for one command with \
             `--trust {hash}`\n"
        )
    );
    assert!(!sandbox.exists("ran"));
    // The file it writes in the tree is one that a reviewer may not write.
    sandbox.env("GLEE_SANDBOX", "off");
    let code = sandbox.glee(&["review", "a.py", "--trust", &hash]).code;
    assert!(code != 8 && sandbox.exists("ran"), "{code}");
}

#[test]
fn trust_covers_a_script_in_the_project_and_its_namesake_in_the_surrounding_tree() {
    let sandbox = Sandbox::new();
    sandbox
        .git_init()
        .script("lint.sh", "#!/bin/sh\n")
        .script("app/lint.sh", "#!/bin/sh\n");
    sandbox.write(
        "app/.glee/config.yml",
        "agents: [{name: lint, command: ./lint.sh, role: reviewer}]\n",
    );
    let shown = || out(&sandbox, &["-C", "app", "trust", "--show"]);
    for changed in ["app/lint.sh", "lint.sh"] {
        out(&sandbox, &["-C", "app", "trust"]);
        assert!(shown().ends_with(" (trusted)\n"));
        sandbox.write(changed, "#!/bin/sh\ntouch ran\n");
        assert!(shown().ends_with(" (not trusted)\n"), "{changed}");
    }
    insta::assert_snapshot!(shown().rsplit_once("blake3:").expect("a hash").0, @"
    ./lint.sh (agent `lint`)
    ../lint.sh (a file that a command names, d5a10844d299)
    lint.sh (a file that a command names, d5a10844d299)
    ");
}

// ---- on a terminal

#[cfg(unix)]
mod terminal {
    use super::*;
    use crate::support::pty::Pty;

    fn init(sandbox: &Sandbox) -> Pty {
        let mut command = sandbox.command(&["init"]);
        command.env("TERM", "xterm-256color");
        Pty::spawn(command)
    }

    #[test]
    fn init_asks_who_does_what() {
        let mut sandbox = Sandbox::new();
        sandbox
            .only_own_programs()
            .program("claude", "#!/bin/sh\n")
            .program("codex", "#!/bin/sh\n");
        let mut pty = init(&sandbox);
        pty.expect("Who writes code?")
            .expect("no agent")
            .send("\x1b[B\r");
        pty.expect("Who reviews?")
            .expect("builtin:rules")
            .send("\x1b[B\x1b[B \r");
        pty.expect("Who judges disputes?")
            .expect("no agent")
            .send("\r");
        pty.expect("next: ").end();
        let agents = ["coder", "reviewer", "judge", "aggregator"].map(|role| {
            sandbox
                .read(".glee/config.yml")
                .split("  - name: ")
                .skip(1)
                .filter(|entry| entry.contains(&format!("role: {role}\n")))
                .map(|entry| entry.lines().next().unwrap_or_default().to_owned())
                .collect::<Vec<_>>()
        });
        assert_eq!(
            agents,
            [
                vec!["codex-coder".to_owned()],
                vec!["codex-reviewer".to_owned(), "rules".to_owned()],
                vec!["claude-judge".to_owned()],
                vec!["claude-aggregator".to_owned()]
            ]
        );
    }

    #[test]
    fn ctrl_c_shows_the_cursor_again_and_writes_nothing() {
        let mut sandbox = Sandbox::new();
        sandbox.only_own_programs();
        let mut pty = init(&sandbox);
        pty.expect("no agent").until_it_reads().send("\x03");
        pty.expect("\x1b[?25h");
        // If SIGINT is ignored, as under nohup, the exit code reports the interruption.
        let (code, shown) = pty.end();
        assert!(matches!(code, 130 | -2), "{code} {shown}");
        assert!(!sandbox.exists(".glee"));
    }
}

#[test]
fn a_tag_that_becomes_mandatory_is_no_longer_optional() {
    let sandbox = Sandbox::new();
    // As `glee init` writes it.
    sandbox.write(
        ".glee/config.yml",
        "version: 1\nreview:\n  opinions:\n    mandatory: [MUST]\n    optional: [SHOULD]\n  issues:\n    mandatory: [HIGH]\n    optional: [MEDIUM, LOW]\n",
    );
    let set = |key: &str, tags: &str| {
        let set = sandbox.glee(&["config", "set", key, tags]);
        assert_eq!(set.code, 0, "{set}");
        set.stderr
    };
    let said = set("review.opinions.mandatory", "MUST,SHOULD");
    assert!(said.contains("review.opinions.optional = []"), "{said}");
    set("review.issues.optional", "HIGH,MEDIUM,LOW");
    let list = out(&sandbox, &["config", "list"]);
    for line in [
        "review.opinions.mandatory = [MUST, SHOULD]",
        "review.opinions.optional = []",
        "review.issues.mandatory = []",
        "review.issues.optional = [HIGH, MEDIUM, LOW]",
    ] {
        assert!(list.contains(line), "{line}\n{list}");
    }
    // What a file repeats is no difference.
    set("review.opinions.mandatory", "MUST");
    let list = out(&sandbox, &["config", "list"]);
    let row = |key: &str| {
        list.lines()
            .find(|line| line.starts_with(key))
            .map(str::to_owned)
    };
    let repeated = row("review.opinions.mandatory = [MUST]").expect("a row");
    assert!(!repeated.contains(" * "), "{repeated}");
    let changed = row("review.opinions.optional").expect("a row");
    assert!(changed.contains(" * "), "{changed}");
}

#[test]
fn a_second_judge_is_said_to_be_unused() {
    let sandbox = Sandbox::new();
    let connect = |name: &str| {
        sandbox.glee(&[
            "connect",
            "builtin:referee",
            "--role",
            "judge",
            "--name",
            name,
        ])
    };
    let first = connect("first");
    assert!(!first.stderr.contains("is not used"), "{first}");
    let second = connect("second");
    assert!(
        second
            .stderr
            .contains("`second` is not used: `first` was connected first"),
        "{second}"
    );
    sandbox.program("oracle", "#!/bin/sh\n");
    let own = sandbox.glee(&["connect", "oracle", "--role", "judge"]);
    assert!(
        !own.stderr.contains("is not used"),
        "an embedded judge only stands in: {own}"
    );
}
