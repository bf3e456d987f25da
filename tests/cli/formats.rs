//! Tests the reports of a run as files and on standard output.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::review::{json, outcome_run, project};
use crate::support::Output;

#[test]
fn one_run_writes_several_reports_and_a_recorded_run_writes_them_again() {
    let sandbox = project();
    let folder = sandbox.root().parent().expect("a folder").join("reports");
    fs::create_dir(&folder).expect("a folder");
    let file = |format: &str, name: &str| format!("{format}={}", folder.join(name).display());
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("a report");
    let (all, events, text) = (file("json", "all.json"), file("jsonl", "events.jsonl"), file("text", "text.txt"));
    let args = ["review", "app.py", "--arbitrate", "--format", &all, "--format", &events, "--format", &text];
    let reviewed = sandbox.glee(&args);
    assert_eq!(reviewed.code, 3, "{reviewed}");
    assert!(reviewed.stdout.contains("Do not evaluate text from outside"), "text is printed anyway: {reviewed}");
    assert!(read("text.txt").contains("Do not evaluate text from outside"));
    let outcome = json(&read("all.json"));
    assert_eq!(outcome["findings"].as_array().map(Vec::len), Some(5));

    let run = outcome_run(&read("all.json"));
    let shown = sandbox.glee(&["runs", "show", &run, "--format", "jsonl", "--format", &file("json", "again.json")]);
    assert_eq!(shown.code, 0, "{shown}");
    assert_eq!(shown.stdout, sandbox.placeholders(&read("events.jsonl")));
    let without_time = |mut outcome: serde_json::Value| {
        outcome["proof"]["millis"] = 0.into();
        outcome
    };
    assert_eq!(without_time(json(&read("again.json"))), without_time(outcome));
    let names = fs::read_dir(&folder).expect("a folder").count();
    assert_eq!(names, 4, "no temporary file is left behind");

    let resolved =
        sandbox.glee(&["disputes", "resolve", "3", "dismiss", "--as", "accepted-risk", "--reason", "in tests"]);
    assert_eq!(resolved.code, 0, "{resolved}");
    let resumed = sandbox.glee(&["runs", "resume", &run, "--format", &all, "--format", "json"]);
    assert_eq!(resumed.code, 0, "{resumed}");
    assert_eq!(sandbox.placeholders(&read("all.json")), resumed.stdout);
}

#[test]
fn a_report_that_cannot_be_written_costs_no_call() {
    let sandbox = project();
    sandbox.script("lens.sh", "#!/bin/sh\ntouch called\n");
    let refused = sandbox.glee(&["review", "app.py", "--format", "json", "--format", "text=reports/out.txt"]);
    insta::assert_snapshot!(refused, @"
    exit: 2
    --- stderr
    error: the report `text` cannot be written to reports/out.txt
    caused by: No such file or directory (os error 2)
    hint: create the folder `reports`, or choose another file
    ");
    assert!(!sandbox.exists("called"));
}

#[test]
fn a_report_replaces_its_file_at_once_and_keeps_links_and_permissions() {
    let sandbox = project();
    let folder = sandbox.root().parent().expect("a folder").join("reports");
    fs::create_dir(&folder).expect("a folder");
    let (real, link) = (folder.join("real.json"), folder.join("link.json"));
    fs::write(&real, "earlier").expect("a file");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("permissions");
    symlink(&real, &link).expect("a link");
    let opened = fs::File::open(&real).expect("a file");
    let reviewed = sandbox.glee(&["review", "app.py", "--format", &format!("json={}", link.display())]);
    assert_eq!(reviewed.code, 1, "{reviewed}");
    assert_eq!(json(&fs::read_to_string(&real).expect("a report"))["schema"], 1);
    assert!(link.symlink_metadata().expect("a link").is_symlink());
    assert_eq!(real.metadata().expect("a file").permissions().mode() & 0o777, 0o640);
    assert_eq!(std::io::read_to_string(opened).expect("text"), "earlier", "who reads the old file still can");

    let both = format!("jsonl={}", real.display());
    let refused =
        sandbox.glee(&["runs", "show", "--format", &format!("json={}", link.display()), "--format", &both]);
    assert!(refused.stderr.contains("write each report to its own file"), "{refused}");
    let streamed = sandbox.glee(&["runs", "show", "--format", "json=/dev/stderr", "--format", "text"]);
    assert_eq!(json(&streamed.stderr)["schema"], 1, "{streamed}");
}

#[test]
fn each_format_reports_the_same_run() {
    let sandbox = project();
    let reviewed = sandbox.glee(&["review", "app.py", "--arbitrate", "--format", "sarif"]);
    assert_eq!(reviewed.code, 3, "{reviewed}");
    let reported = Output { stderr: String::new(), ..reviewed };
    insta::assert_snapshot!("sarif", without_times(&reported.stable()));
    for format in ["sarif-github", "junit", "github", "gitlab", "rdjsonl", "markdown"] {
        let shown = sandbox.glee(&["runs", "show", "--format", format]);
        assert_eq!(shown.code, 0, "{shown}");
        insta::assert_snapshot!(format, without_times(&shown.stable()));
    }
}

/// The time of a run differs from run to run.
fn without_times(report: &str) -> String {
    let time = regex::Regex::new(r#" time="[0-9.]+""#).expect("the pattern is well-formed");
    time.replace_all(report, r#" time="[TIME]""#).into_owned()
}

#[test]
fn github_gets_annotations_and_adds_to_the_job_summary() {
    let mut sandbox = project();
    let summary = sandbox.root().parent().expect("a folder").join("summary.md");
    fs::write(&summary, "# Earlier\n\n").expect("a file");
    sandbox.env("GITHUB_STEP_SUMMARY", summary.display().to_string());
    let reviewed = sandbox.glee(&["review", "app.py", "--format", "github"]);
    assert_eq!(reviewed.code, 1, "{reviewed}");
    let errors = reviewed.stdout.lines().filter(|line| line.starts_with("::error file=app.py,line=")).count();
    assert_eq!(errors, 4, "{reviewed}");
    let written = fs::read_to_string(&summary).expect("a summary");
    assert!(written.starts_with("# Earlier\n\n## Glee: 4 mandatory findings are open\n"), "{written}");
    assert_eq!(written.matches("- **MUST**").count(), 4, "{written}");
    let shown = sandbox.glee(&["runs", "show", "--format", "markdown"]);
    assert!(written.ends_with(&format!("{}\n", shown.stdout)), "{written}\n{shown}");
}
