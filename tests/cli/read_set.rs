//! Tests that an answer is reused only while what the reviewer read beside the files under review is unchanged.
//!
//! The reviewer is a program that behaves like `claude`: it prints the tool calls in the file `trace`, and no finding.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::review::json as outcome;
use crate::support::Sandbox;

const CLAUDE: &str = r#"#!/bin/sh
case "$*" in
  *--version*) echo "2.1.330 (Claude Code)"; exit ;;
  *--help*) echo "--setting-sources --strict-mcp-config --tools --permission-mode --verbose"; exit ;;
esac
prompt="$HOME/prompt.$$"
cat > "$prompt"
wc -c < "$prompt" >> "$HOME/asked"
nonce=$(sed -n 's/.*GLEE-REVIEW-END nonce=\([0-9a-f]*\).*/\1/p' "$prompt" | head -1)
echo '{"type":"system","subtype":"init","session_id":"s","model":"m"}'
cat "$HOME/trace" 2>/dev/null
[ -x "$HOME/also" ] && . "$HOME/also"
echo '{"type":"result","subtype":"success","is_error":false,"session_id":"s","usage":{},"permission_denials":[],"result":"GLEE-REVIEW-END nonce='$nonce' findings=0"}'
"#;

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.program("claude", CLAUDE);
    sandbox.git_init();
    sandbox.write(".gitignore", ".glee/\n.gitignore\nout/\n");
    for (key, value) in [("sandbox", "off"), ("review.confirm_above", "none")] {
        let set = sandbox.glee(&["config", "set", "--user", key, value]);
        assert_eq!(set.code, 0, "{set}");
    }
    let connected = sandbox.glee(&["connect", "claude", "--role", "reviewer"]);
    assert_eq!(connected.code, 0, "{connected}");
    sandbox
}

fn trace(sandbox: &Sandbox, calls: &[(&str, Value)]) {
    let mut text = String::new();
    for (number, (name, input)) in calls.iter().enumerate() {
        let id = format!("t{number}");
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        let event = json!({"type": "assistant", "parent_tool_use_id": null, "message": {"content": [block]}});
        text.push_str(&format!("{event}\n"));
    }
    fs::write(sandbox.home().join("trace"), text).expect("a file");
}

fn put(sandbox: &Sandbox, file: &str, text: &str) {
    sandbox.write(file, text);
}

fn path(sandbox: &Sandbox, file: &str) -> PathBuf {
    sandbox.root().join(file)
}

/// Reviews a target, and returns the outcome and the bytes of the prompts.
fn review(sandbox: &Sandbox, args: &[&str]) -> (Value, u64) {
    let output = sandbox.glee(&[&["review", "--no-input", "--format", "json"], args].concat());
    assert_eq!(output.code, 0, "{output}");
    let path = sandbox.home().join("asked");
    let text = fs::read_to_string(&path).unwrap_or_default();
    drop(fs::remove_file(path));
    let bytes = text
        .lines()
        .map(|line| line.trim().parse::<u64>().expect("a number"))
        .sum();
    (outcome(&output.stdout), bytes)
}

/// The tool call that the program makes, a change of the tree, and whether the program is asked again.
type Row = (&'static str, Value, fn(&Sandbox), bool);

#[test]
fn a_change_of_what_was_read_asks_again() {
    let rows: &[Row] = &[
        (
            "Read",
            json!({"file_path": "lib/n.py"}),
            |sandbox| put(sandbox, "lib/n.py", "changed\n"),
            true,
        ),
        (
            "Read",
            json!({"file_path": "lib/n.py"}),
            |sandbox| put(sandbox, "lib/m.py", "changed\n"),
            false,
        ),
        (
            "Read",
            json!({"file_path": "lib/n.py"}),
            |sandbox| put(sandbox, "lib/n.py", "x = 1\r\n"),
            true,
        ),
        (
            "Read",
            json!({"file_path": "./lib/../lib/n.py"}),
            |sandbox| put(sandbox, "lib/n.py", "x = 1"),
            true,
        ),
        (
            "Read",
            json!({"file_path": "lib/new.py"}),
            |sandbox| put(sandbox, "lib/new.py", "x\n"),
            true,
        ),
        (
            "Read",
            json!({"file_path": "lib/n.py"}),
            |sandbox| {
                fs::rename(path(sandbox, "lib/n.py"), path(sandbox, "lib/o.py")).expect("a file")
            },
            true,
        ),
        (
            "Read",
            json!({"file_path": "out/made"}),
            |sandbox| put(sandbox, "out/made", "other\n"),
            true,
        ),
        (
            "Read",
            json!({"file_path": "link"}),
            |sandbox| {
                fs::remove_file(path(sandbox, "link")).expect("a link");
                symlink("lib/m.py", path(sandbox, "link")).expect("a link");
            },
            true,
        ),
        (
            "Read",
            json!({"file_path": "link"}),
            |sandbox| put(sandbox, "lib/n.py", "y\n"),
            true,
        ),
        (
            "Glob",
            json!({"pattern": "lib/**/*.py"}),
            |sandbox| put(sandbox, "lib/deep/q.py", "q\n"),
            true,
        ),
        (
            "Glob",
            json!({"pattern": "*.py", "path": "lib"}),
            |sandbox| put(sandbox, "lib/n.py", "other\n"),
            false,
        ),
        (
            "Glob",
            json!({"pattern": "*.py", "path": "lib"}),
            |sandbox| put(sandbox, "notes.md", "x\n"),
            false,
        ),
        (
            "Grep",
            json!({"pattern": "load\\("}),
            |sandbox| put(sandbox, "lib/new.py", "load(1)\n"),
            true,
        ),
        (
            "Grep",
            json!({"pattern": "load\\("}),
            |sandbox| put(sandbox, "lib/new.py", "save(1)\n"),
            false,
        ),
        (
            "mcp__search",
            json!({"q": "x"}),
            |sandbox| put(sandbox, "notes.md", "x\n"),
            true,
        ),
        (
            "TodoWrite",
            json!({"todos": []}),
            |sandbox| put(sandbox, "lib/n.py", "changed\n"),
            false,
        ),
    ];
    for (at, (tool, input, change, expected)) in rows.iter().enumerate() {
        let sandbox = project();
        sandbox.write("app.py", "def f(x):\n    return x\n");
        for (file, text) in [
            ("lib/n.py", "x = 1\n"),
            ("lib/m.py", "m = 1\n"),
            ("out/made", "x\n"),
        ] {
            sandbox.write(file, text);
        }
        symlink("lib/n.py", path(&sandbox, "link")).expect("a link");
        trace(&sandbox, &[(tool, input.clone())]);
        let name = format!("row {at}: {tool} {input}");
        assert!(review(&sandbox, &["app.py"]).1 > 0, "{name}");
        let (again, bytes) = review(&sandbox, &["app.py"]);
        assert_eq!(bytes, 0, "{name}: nothing changed");
        assert_eq!(
            again["proof"]["reused"][0].get("reads_unknown"),
            None,
            "{name}"
        );
        change(&sandbox);
        assert_eq!(review(&sandbox, &["app.py"]).1 > 0, *expected, "{name}");
        assert_eq!(
            review(&sandbox, &["app.py"]).1,
            0,
            "{name}: the new answer is reused"
        );
    }
}

#[test]
fn a_read_stays_with_the_findings_that_are_carried_on() {
    let sandbox = project();
    let mut code = String::new();
    for number in 0..40 {
        code.push_str(&format!("def f{number}(x):\n    return x + {number}\n\n\n"));
    }
    sandbox.write("app.py", &code);
    sandbox.write("lib/n.py", "x = 1\n");
    trace(&sandbox, &[("Read", json!({"file_path": "lib/n.py"}))]);
    let (_, whole) = review(&sandbox, &["app.py"]);
    // The next answer is about a few lines and reads nothing, but the other lines rest on the first answer.
    trace(&sandbox, &[]);
    sandbox.write("app.py", code.replace("x + 7\n", "x + 77\n"));
    let (_, part) = review(&sandbox, &["app.py"]);
    assert!(part > 0 && part < whole, "{part} of {whole}");
    assert_eq!(review(&sandbox, &["app.py"]).1, 0);
    sandbox.write("lib/n.py", "x = 2\n");
    let (_, again) = review(&sandbox, &["app.py"]);
    assert!(again > whole - 100, "all of it is asked again");
}

#[test]
fn a_file_that_changed_while_the_program_read_it_makes_no_answer_to_reuse() {
    let sandbox = project();
    sandbox.write("app.py", "x = 1\n");
    sandbox.write("lib/n.py", "x = 1\n");
    trace(&sandbox, &[("Read", json!({"file_path": "lib/n.py"}))]);
    let also = sandbox.home().join("also");
    fs::write(
        &also,
        format!("echo 'x = 2' > {}\n", path(&sandbox, "lib/n.py").display()),
    )
    .expect("a file");
    fs::set_permissions(&also, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("a mode");
    let output = sandbox.glee(&["review", "app.py", "--no-input"]);
    assert!(output.code == 0 || output.code == 5, "{output}");
    fs::remove_file(also).expect("a file");
    drop(fs::remove_file(sandbox.home().join("asked")));
    assert!(review(&sandbox, &["app.py"]).1 > 0);
    assert_eq!(review(&sandbox, &["app.py"]).1, 0);
}

/// A push of 5% of the files to a reviewer that reads three unchanged neighbours a file.
#[test]
fn unchanged_neighbours_cost_nothing() {
    let sandbox = project();
    // With whole files, the share of the bytes is the share of the code that is asked about again.
    let files = ["config", "set", "--user", "review.context", "files"];
    assert_eq!(sandbox.glee(&files).code, 0);
    let mut calls = Vec::new();
    for file in 0..60 {
        for near in 0..3 {
            let near_path = format!("lib/near_{file}_{near}.py");
            sandbox.write(&near_path, format!("near = {file}\n"));
            calls.push(("Read", json!({"file_path": path(&sandbox, &near_path)})));
        }
    }
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Neighbours"]);
    sandbox.git(&["checkout", "-q", "-b", "feature"]);
    let code = |file: usize, push: usize| {
        let mut text = String::new();
        for number in 0..200 {
            text.push_str(&format!(
                "def step_{file}_{number}(value):\n    return value * {number} + {push}\n\n"
            ));
        }
        text
    };
    let write = |file: usize, push: usize| {
        sandbox.write(
            format!("src/part{}/module_{file:02}.py", file / 10),
            code(file, push),
        );
    };
    (0..60).for_each(|file| write(file, 0));
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Work"]);
    trace(&sandbox, &calls);
    let (_, whole) = review(&sandbox, &["--base", "main"]);
    for push in 1..4 {
        (0..3).for_each(|at| write((push * 17 + at) % 60, push));
        sandbox.git(&["commit", "-q", "-am", "A push"]);
        let (_, asked) = review(&sandbox, &["--base", "main"]);
        assert!(
            asked > 0 && asked * 100 <= whole * 7,
            "{asked} of {whole} bytes"
        );
    }
    assert_eq!(
        review(&sandbox, &["--base", "main"]).1,
        0,
        "an identical review asks nobody"
    );
}
