//! Tests which files count as reviewed, what the report says about incomplete answers, and that the next steps of a
//! report work as they are printed.

use std::fs;

use crate::review::json;
use crate::support::{Output, Sandbox};

const EMBEDDED: &str =
    "version: 1\nagents:\n  - {name: rules, command: builtin:rules, role: reviewer}\n";

/// A project whose only agent is the embedded reviewer, and files in three languages.
fn embedded() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write(".glee/config.yml", EMBEDDED);
    commit(&sandbox, "Configure the review");
    sandbox.write("a.c", "int main(void) { return 0; }\n");
    sandbox.write("a.py", "x = 1\n");
    sandbox.write("a.rb", "def load(text)\n  eval(text)\nend\n");
    sandbox
}

fn commit(sandbox: &Sandbox, subject: &str) {
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", subject]);
}

/// A project with a program as reviewer, which prints `answer`.
fn answering(answer: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.program(
        "lens",
        &format!("#!/bin/sh\ncat >/dev/null\ncat <<END\n{answer}\nEND\n"),
    );
    sandbox.write("a.py", "x = 1\n");
    let connected = sandbox.glee(&[
        "connect",
        "lens",
        "--role",
        "reviewer",
        "--name",
        "lens",
        "--command",
        "lens",
        "--user",
    ]);
    assert_eq!(connected.code, 0, "{connected}");
    sandbox
}

/// The commands that the report suggests.
fn next_steps(output: &Output) -> Vec<String> {
    let steps = output.stdout.split("\nNext\n").nth(1).unwrap_or_default();
    steps
        .lines()
        .filter_map(|line| line.trim_start().split("  ").next())
        .map(str::to_owned)
        .collect()
}

/// Runs a suggested command as a shell would.
fn typed(sandbox: &Sandbox, command: &str) -> Output {
    let words = shlex::split(command).expect("a command");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(words.first(), Some(&"glee"), "{command}");
    sandbox.glee(&words[1..])
}

#[test]
fn languages_without_rules_are_not_clean() {
    let sandbox = embedded();
    let output = sandbox.glee(&["review", "a.rb", "a.c"]);
    assert_eq!(output.code, 4, "{output}");
    insta::assert_snapshot!(output.stable());
    let again = sandbox.glee(&["review", "a.rb", "a.c"]);
    assert_eq!(again.code, 4, "{again}");
    assert!(
        !again.to_string().contains("reused"),
        "nobody read the files: {again}"
    );
    let runs = sandbox.glee(&["runs"]).stdout;
    assert_eq!(runs.matches("not reviewed").count(), 2, "{runs}");
    let outcome = json(
        &sandbox
            .glee(&["review", "a.rb", "a.c", "--format", "json"])
            .stdout,
    );
    assert_eq!(outcome["exit"], "agent_failed");
    assert_eq!(outcome["proof"]["reviewers"][0]["status"], "not_reviewed");
    let unread =
        serde_json::json!([{"file": "a.c", "language": "C"}, {"file": "a.rb", "language": "Ruby"}]);
    assert_eq!(outcome["proof"]["unread"], unread);
}

#[test]
fn a_file_without_rules_among_others_is_named() {
    let sandbox = embedded();
    let output = sandbox.glee(&["review", "a.rb", "a.py"]);
    assert_eq!(output.code, 0, "{output}");
    insta::assert_snapshot!(output.stable());
    sandbox.write(
        ".glee/config.yml",
        format!("{EMBEDDED}review: {{skipped: fail}}\n"),
    );
    assert_eq!(sandbox.glee(&["review", "a.rb", "a.py"]).code, 4);
    assert_eq!(sandbox.glee(&["review", "a.py"]).code, 0);
}

#[test]
fn another_reviewer_reads_what_the_rules_cannot() {
    let sandbox = embedded();
    sandbox.program(
        "lens",
        "#!/bin/sh\ncat >/dev/null\necho \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"\n",
    );
    sandbox.write(
        ".glee/config.yml",
        format!("{EMBEDDED}  - {{name: lens, adapter: text, command: [lens], role: reviewer}}\n"),
    );
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    let output = sandbox.glee(&["review", "--jobs", "1", "a.rb", "a.c"]);
    assert_eq!(output.code, 0, "{output}");
    insta::assert_snapshot!(output.stable());
}

#[test]
fn the_configuration_of_the_project_is_no_code() {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("a.py", "x = 1\n");
    commit(&sandbox, "Add a");
    sandbox.write(".glee/config.yml", EMBEDDED);
    insta::assert_snapshot!(sandbox.glee(&["review"]).stable(), @r"
    exit: 0
    --- stdout
    ✓ Nothing to review in uncommitted changes: .glee/config.yml (the configuration of Glee)

    Next
      glee review .  review the whole project
    ");
    assert_eq!(sandbox.glee(&["review", "."]).code, 0);
    assert_eq!(
        sandbox.glee(&["review", ".glee/config.yml"]).code,
        4,
        "the embedded reviewer cannot read it"
    );
    sandbox.write("a.py", "x = 2\n");
    let reviewed = json(&sandbox.glee(&["review", "--format", "json"]).stdout);
    assert_eq!(reviewed["proof"]["covered"][0]["file"], "a.py");
    assert_eq!(reviewed["proof"]["skipped"][0]["reason"], "configuration");
    commit(&sandbox, "Configure");
    sandbox.write(".glee/config.yml", format!("{EMBEDDED}# more\n"));
    let reviewed = sandbox.glee(&["review"]);
    assert!(reviewed.stdout.contains("Nothing to review"), "{reviewed}");
}

#[test]
fn a_change_that_adds_the_configuration_is_told_how_to_go_on() {
    let mut sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.git(&["checkout", "-q", "-b", "change"]);
    sandbox.write(".glee/config.yml", EMBEDDED);
    sandbox.write("a.py", "x = eval(input())\n");
    commit(&sandbox, "Configure the review");
    let args = ["review", "--base", "main"];
    sandbox.env("CI", "true");
    let refused = sandbox.glee(&args);
    assert_eq!(refused.code, 2, "{refused}");
    insta::assert_snapshot!(refused.stable());
    assert_eq!(
        sandbox.env("CI", "false").glee(&args).code,
        1,
        "on the user's machine, the work tree applies"
    );

    // A reviewer of the machine reviews the change, and the configuration that the change adds does not apply.
    let config = sandbox.user_config();
    fs::create_dir_all(config.parent().expect("a folder")).expect("a folder");
    fs::write(config, EMBEDDED).expect("a written file");
    sandbox.env("CI", "true");
    let outcome = json(
        &sandbox
            .glee(&["review", "--base", "main", "--format", "json"])
            .stdout,
    );
    let bodies: Vec<&str> = outcome["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|finding| finding["body"].as_str())
        .collect();
    assert!(
        bodies
            .iter()
            .any(|body| body.contains("has no configuration of Glee")),
        "{bodies:?}"
    );
}

#[test]
fn an_incomplete_answer_says_why_and_can_be_read() {
    let sandbox = answering(
        "[MUST] a.py:1 Say more\n\x1b[31mred\nGLEE-REVIEW-END nonce=$GLEE_NONCE findings=1 read=part",
    );
    let output = sandbox.glee(&["review", "a.py"]);
    assert_eq!(output.code, 4, "{output}");
    insta::assert_snapshot!(output.stable());
    let command = output
        .stdout
        .split("see the answer: ")
        .nth(1)
        .and_then(|rest| rest.lines().next());
    let shown = typed(&sandbox, command.expect("a command"));
    assert_eq!(shown.code, 0, "{shown}");
    for part in [
        "lens (reviewer)",
        "--- prompt\n",
        "a.py",
        "--- answer\n",
        "[MUST] a.py:1 Say more",
        "findings=1 read=part",
    ] {
        assert!(shown.stdout.contains(part), "no `{part}` in {shown}");
    }
    assert!(!shown.stdout.contains('\u{1b}'), "{shown}");
    let all = sandbox.glee(&["runs", "show", "last", "--calls"]);
    assert_eq!(
        all.stdout.matches("--- answer\n").count(),
        2,
        "an incomplete answer is asked for twice: {all}"
    );
    let other = sandbox.glee(&["runs", "show", "last", "--calls", "nobody"]);
    assert_eq!(other.code, 2, "{other}");
    assert!(
        other
            .stderr
            .contains("hint: choose one of `review-1-0.lens.1`, `review-1-0.lens.2`"),
        "{other}"
    );
}

#[test]
fn an_answer_without_a_review_says_why() {
    let sandbox = answering("Looks good to me.");
    let output = sandbox.glee(&["review", "a.py"]);
    assert_eq!(output.code, 4, "{output}");
    insta::assert_snapshot!(output.stable());
}

#[test]
fn the_next_steps_work_without_a_coder() {
    let sandbox = embedded();
    sandbox.write("sub/bad.py", "x = eval(input())\n");
    let quiet = sandbox.glee(&["-q", "review", "-q", "sub/bad.py"]);
    assert_eq!((quiet.code, next_steps(&quiet)), (1, Vec::new()), "{quiet}");
    let first = sandbox.glee(&["--no-input", "review", "--no-input", "sub/bad.py"]);
    assert_eq!(first.code, 1, "{first}");
    let steps = next_steps(&first);
    assert_eq!(
        steps,
        [
            "glee connect builtin:fixer --role coder",
            "glee --no-input review --no-input sub/bad.py --fix"
        ]
    );
    let shown = next_steps(&sandbox.glee(&["-C", "sub", "runs", "show"]));
    let root = sandbox.root().display().to_string();
    assert_eq!(
        sandbox.placeholders(&shown[1]),
        "glee -C [ROOT] review --fix sub/bad.py"
    );
    let resumed = next_steps(&sandbox.glee(&["runs", "resume"]));
    assert_eq!(resumed[1], "glee review --fix sub/bad.py");
    for step in &steps {
        let output = typed(&sandbox, step);
        assert!(matches!(output.code, 0 | 1), "`{step}`: {output}");
    }
    for step in [shown[1].replace("[ROOT]", &root), resumed[1].clone()] {
        let output = typed(&sandbox, &step);
        assert!(matches!(output.code, 0 | 1), "`{step}`: {output}");
    }
}

#[test]
fn a_diff_from_standard_input_is_resumed_without_it() {
    let sandbox = embedded();
    sandbox.write("bad.py", "x = eval(input())\n");
    sandbox.git(&["add", "-N", "bad.py"]);
    let diff = sandbox.git(&["diff", "bad.py"]);
    let first = sandbox.glee_with(&["review", "--diff", "-"], &diff);
    assert_eq!(first.code, 1, "{first}");
    assert_eq!(
        next_steps(&first),
        Vec::<String>::new(),
        "standard input cannot be read again"
    );
    let resumed = sandbox.glee(&["runs", "resume"]);
    assert_eq!(resumed.code, 1, "{resumed}");
    assert_eq!(next_steps(&resumed), Vec::<String>::new());
    sandbox.write("bad.diff", diff);
    let first = sandbox.glee(&["review", "--diff", "bad.diff"]);
    assert_eq!(next_steps(&first)[1], "glee review --diff bad.diff --fix");
    assert_eq!(
        next_steps(&sandbox.glee(&["runs", "show"]))[1],
        "glee review --fix --diff bad.diff"
    );
}

#[test]
fn a_file_that_is_nested_too_deeply_is_not_reviewed_and_the_rest_is() {
    let calls = |count: usize| format!("{}x{}", "f(".repeat(count), ")".repeat(count));
    let rows = [
        ("deep.py", calls(20_000), "eval(text)"),
        ("deep.js", format!("{};", calls(3_000)), "eval(text);"),
        (
            "deep.ts",
            format!("x{};", ".then(f)".repeat(400)),
            "eval(text);",
        ),
        (
            "deep.py",
            format!("x = 1{}", " + 1".repeat(2_000)),
            "eval(text)",
        ),
    ];
    for (file, deep, flaw) in rows {
        let sandbox = Sandbox::new();
        sandbox.git_init();
        sandbox.write(".glee/config.yml", EMBEDDED);
        commit(&sandbox, "Configure the review");
        sandbox.write(file, format!("{deep}\n{flaw}\n"));
        let output = sandbox.glee(&["review", "--format", "json"]);
        assert_eq!(output.code, 4, "{output}");
        let outcome = json(&output.stdout);
        assert_eq!(outcome["findings"][0]["line"], 2, "{output}");
        let reviewer = &outcome["proof"]["reviewers"][0];
        assert_eq!(reviewer["status"], "incomplete", "{output}");
        let problems = reviewer["problems"].as_array().expect("the problems");
        assert_eq!(problems.len(), 1, "{output}");
        let problem = problems[0]["problem"].as_str().expect("a problem");
        let reason = format!("not reviewed: {file} is nested more than 256 levels deep");
        assert!(problem.ends_with(&reason), "{problem}");
    }
}
