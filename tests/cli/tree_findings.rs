//! Tests `glee findings`: the findings of several runs, with edits, fixes, rulings and undo between the runs.

use crate::review::{json, project};
use crate::support::Sandbox;

/// The open findings, one line each: line, title, state and number of hidden findings.
fn open(sandbox: &Sandbox, args: &[&str]) -> Vec<String> {
    let listed = sandbox.glee(&[&["findings", "--json"], args].concat());
    assert_eq!(listed.code, 0, "{listed}");
    let listing = json(&listed.stdout);
    let findings = listing["findings"]
        .as_array()
        .expect("findings are a list")
        .iter();
    let line = |finding: &serde_json::Value| {
        let place = &finding["now"];
        let at = place["line"]
            .as_u64()
            .map_or_else(String::new, |line| format!(":{line}"));
        let file = place["file"].as_str().unwrap_or("-");
        format!(
            "{file}{at} {} {}",
            finding["standing"].as_str().unwrap_or("?"),
            finding["state"].as_str().unwrap_or("?")
        )
    };
    findings.map(line).collect()
}

fn review(sandbox: &Sandbox) -> String {
    let run = json(&sandbox.glee(&["review", "app.py", "--json"]).stdout);
    run["run"].as_str().expect("a run").to_owned()
}

#[test]
fn edits_move_and_close_findings_and_the_newest_run_decides() {
    let sandbox = project();
    assert_eq!(
        sandbox.glee(&["findings"]).stdout,
        "No findings yet: nothing was reviewed.\n"
    );
    let first = review(&sandbox);
    let all = [
        "app.py:2 open open",
        "app.py:6 open open",
        "app.py:10 open open",
        "app.py:14 open open",
        "app.py:14 open open",
    ];
    assert_eq!(open(&sandbox, &[]), all);

    // Lines above a block move its findings. A change of a block closes the findings of the block.
    let edited = format!(
        "# one\n# two\n{}",
        sandbox
            .read("app.py")
            .replace("eval(factor)", "float(factor)")
    );
    sandbox.write("app.py", &edited);
    let moved = [
        "app.py:4 open open",
        "app.py:8 open open",
        "app.py:16 open open",
        "app.py:16 open open",
    ];
    assert_eq!(open(&sandbox, &[]), moved);
    assert_eq!(open(&sandbox, &["--all"])[4], "- gone open");

    // A second run raises the same findings again: each is listed once, with its newest run.
    let second = review(&sandbox);
    assert_eq!(open(&sandbox, &[]), moved);
    let listing = json(&sandbox.glee(&["findings", "--all", "--json"]).stdout);
    let runs: Vec<&str> = listing["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|found| found["run"].as_str())
        .collect();
    assert_eq!(
        runs,
        [&second, &second, &second, &second, &first].map(String::as_str)
    );

    // Code that moves to another file keeps its findings; a removed file has none.
    let (above, trace) = edited.split_once("def trace").expect("trace is a function");
    sandbox.write("app.py", above);
    sandbox.write(
        "lib/other.py",
        format!("import app\n\n\ndef trace{trace}\n"),
    );
    assert_eq!(
        open(&sandbox, &["--path", "lib"]),
        Vec::<String>::new(),
        "two lines are too short to be recognised"
    );
    sandbox.write("app.py", "");
    assert_eq!(open(&sandbox, &[]), Vec::<String>::new());
}

#[test]
fn a_fix_closes_a_finding_and_its_undo_opens_the_finding_again() {
    let sandbox = project();
    review(&sandbox);
    assert_eq!(sandbox.glee(&["fix", "F1"]).code, 1);
    assert_eq!(open(&sandbox, &[]).len(), 4);
    assert!(open(&sandbox, &["--all"]).contains(&"- closed resolved".to_owned()));
    assert_eq!(sandbox.glee(&["runs", "undo"]).code, 0);
    let undone = open(&sandbox, &[]);
    assert_eq!(
        (undone.len(), undone[0].as_str()),
        (5, "app.py:2 reverted reverted")
    );
    assert!(sandbox.glee(&["findings"]).stdout.contains("fix undone"));
    assert_eq!(sandbox.glee(&["runs", "undo", "--redo"]).code, 0);
    assert_eq!(open(&sandbox, &[]).len(), 4);
}

#[test]
fn a_ruling_closes_the_finding_in_every_run_until_it_is_reopened_or_ends() {
    let sandbox = project();
    let first = review(&sandbox);
    review(&sandbox);
    // The ruling is about the finding of the older run, and the newer run raised the finding too.
    let accept = [
        "dismiss", "--by", "Test", "F2", "--run", &first, "--reason", "ours",
    ];
    assert_eq!(sandbox.glee(&accept).code, 0);
    assert_eq!(
        open(&sandbox, &[]),
        [
            "app.py:2 open open",
            "app.py:10 open open",
            "app.py:14 open open",
            "app.py:14 open open"
        ]
    );
    assert!(open(&sandbox, &["--all"]).contains(&"app.py:6 closed already_ruled".to_owned()));
    let reopened = sandbox.glee(&["disputes", "reopen", "1", "--reason", "not only ours"]);
    assert_eq!(reopened.code, 0, "{reopened}");
    assert_eq!(open(&sandbox, &[])[1], "app.py:6 open disputed");
    assert_eq!(
        sandbox
            .glee(&["disputes", "resolve", "1", "enforce", "--by", "Test"])
            .code,
        0
    );
    assert_eq!(open(&sandbox, &[])[1], "app.py:6 open already_ruled");
    assert!(
        sandbox
            .glee(&["findings"])
            .stdout
            .contains("already ruled (dispute 1)")
    );

    // The newer run applied the ruling itself; when the ruling is reopened, its finding is disputed again.
    let sandbox = project();
    review(&sandbox);
    assert_eq!(
        sandbox
            .glee(&["dismiss", "--by", "Test", "F1", "--reason", "ours"])
            .code,
        0
    );
    assert_eq!(open(&sandbox, &[]).len(), 4);
    review(&sandbox);
    assert_eq!(
        open(&sandbox, &[]).len(),
        4,
        "the newer run applied the ruling"
    );
    assert_eq!(
        sandbox
            .glee(&["disputes", "reopen", "1", "--reason", "no"])
            .code,
        0
    );
    assert_eq!(open(&sandbox, &[])[0], "app.py:2 open disputed");
}

#[test]
fn filters_hide_findings_and_say_so() {
    let sandbox = project();
    review(&sandbox);
    assert_eq!(open(&sandbox, &["--severity", "low"]).len(), 1);
    assert_eq!(
        open(&sandbox, &["--severity", "must,low", "--path", "*.py"]).len(),
        5
    );
    insta::assert_snapshot!(
        [
            sandbox.glee(&["findings"]).stable(),
            sandbox.glee(&["findings", "--severity", "low"]).stable(),
            sandbox
                .glee(&["findings", "--severity", "low", "--path", "lib"])
                .stable(),
            sandbox.glee(&["findings", "--severity", "huge"]).stable(),
            sandbox.glee(&["findings", "--path", "["]).stable(),
        ]
        .join("\n")
    );
    sandbox.write("lib/here.py", "");
    let below = sandbox.glee(&["-C", "lib", "findings", "--path", "../app.py"]);
    assert!(below.stdout.contains("../app.py:2"), "{below}");
}

#[test]
fn reports_have_what_is_open_in_the_tree_from_all_runs() {
    let sandbox = project();
    let none = sandbox.glee(&["findings", "--format", "sarif"]);
    assert_eq!(none.code, 2, "{none}");
    review(&sandbox);
    // Another run, and lines above the findings of the first one.
    sandbox.write("other.py", sandbox.read("app.py"));
    let other = sandbox.glee(&["review", "other.py", "--json"]);
    assert_eq!(other.code, 1, "{other}");
    sandbox.write(
        "app.py",
        format!("# one\n# two\n{}", sandbox.read("app.py")),
    );

    let args = [
        "findings",
        "--severity",
        "must",
        "--format",
        "sarif",
        "--format",
        "html=page.html",
    ];
    let written = sandbox.glee(&args);
    assert_eq!(written.code, 0, "{written}");
    let sarif = json(&written.stdout);
    let places = |result: &serde_json::Value| {
        let place = &result["locations"][0]["physicalLocation"];
        let file = place["artifactLocation"]["uri"].as_str().unwrap_or("?");
        format!("{file}:{}", place["region"]["startLine"])
    };
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let mut found: Vec<String> = results.iter().map(places).collect();
    found.sort();
    let listed = open(&sandbox, &["--severity", "must"]);
    let mut expected: Vec<&str> = listed
        .iter()
        .filter_map(|line| line.split(' ').next())
        .collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert!(found.len() >= 4, "{found:?}");
    let page = sandbox.read("page.html");
    assert!(
        page.contains("other.py") && page.contains("app.py:4"),
        "the page of {found:?}"
    );
    assert_eq!(sandbox.glee(&["findings", "--format", "jsonl"]).code, 2);
}
