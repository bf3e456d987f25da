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
    let (all, events, text) = (
        file("json", "all.json"),
        file("jsonl", "events.jsonl"),
        file("text", "text.txt"),
    );
    let args = [
        "review",
        "app.py",
        "--arbitrate",
        "--format",
        &all,
        "--format",
        &events,
        "--format",
        &text,
    ];
    let reviewed = sandbox.glee(&args);
    assert_eq!(reviewed.code, 3, "{reviewed}");
    assert!(
        reviewed
            .stdout
            .contains("Do not evaluate text from outside"),
        "text is printed anyway: {reviewed}"
    );
    assert!(read("text.txt").contains("Do not evaluate text from outside"));
    let outcome = json(&read("all.json"));
    assert_eq!(outcome["findings"].as_array().map(Vec::len), Some(5));

    let run = outcome_run(&read("all.json"));
    let shown = sandbox.glee(&[
        "runs",
        "show",
        &run,
        "--format",
        "jsonl",
        "--format",
        &file("json", "again.json"),
    ]);
    assert_eq!(shown.code, 0, "{shown}");
    assert_eq!(shown.stdout, sandbox.placeholders(&read("events.jsonl")));
    let without_time = |mut outcome: serde_json::Value| {
        outcome["proof"]["millis"] = 0.into();
        outcome
    };
    assert_eq!(
        without_time(json(&read("again.json"))),
        without_time(outcome)
    );
    let names = fs::read_dir(&folder).expect("a folder").count();
    assert_eq!(names, 4, "no temporary file is left behind");

    let resolved = sandbox.glee(&[
        "disputes",
        "resolve",
        "3",
        "dismiss",
        "--by",
        "Test",
        "--as",
        "accepted-risk",
        "--reason",
        "in tests",
    ]);
    assert_eq!(resolved.code, 0, "{resolved}");
    let resumed = sandbox.glee(&["runs", "resume", &run, "--format", &all, "--format", "json"]);
    assert_eq!(resumed.code, 0, "{resumed}");
    assert_eq!(sandbox.placeholders(&read("all.json")), resumed.stdout);
}

#[test]
fn a_report_that_cannot_be_written_costs_no_call() {
    let sandbox = project();
    sandbox.script("lens.sh", "#!/bin/sh\ntouch called\n");
    let refused = sandbox.glee(&[
        "review",
        "app.py",
        "--format",
        "json",
        "--format",
        "text=reports/out.txt",
    ]);
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
    let reviewed = sandbox.glee(&[
        "review",
        "app.py",
        "--format",
        &format!("json={}", link.display()),
    ]);
    assert_eq!(reviewed.code, 1, "{reviewed}");
    assert_eq!(
        json(&fs::read_to_string(&real).expect("a report"))["schema"],
        1
    );
    assert!(link.symlink_metadata().expect("a link").is_symlink());
    assert_eq!(
        real.metadata().expect("a file").permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(
        std::io::read_to_string(opened).expect("text"),
        "earlier",
        "who reads the old file still can"
    );

    let both = format!("jsonl={}", real.display());
    let refused = sandbox.glee(&[
        "runs",
        "show",
        "--format",
        &format!("json={}", link.display()),
        "--format",
        &both,
    ]);
    assert!(
        refused.stderr.contains("write each report to its own file"),
        "{refused}"
    );
    // A pipe. In the folder of the second name, nobody can create a file beside it.
    for stream in ["/dev/stderr", "/proc/self/fd/2"] {
        let json_there = format!("json={stream}");
        let streamed = sandbox.glee(&["runs", "show", "--format", &json_there, "--format", "text"]);
        assert_eq!(json(&streamed.stderr)["schema"], 1, "{streamed}");
    }
}

#[test]
fn each_format_reports_the_same_run() {
    let sandbox = project();
    let reviewed = sandbox.glee(&["review", "app.py", "--arbitrate", "--format", "sarif"]);
    assert_eq!(reviewed.code, 3, "{reviewed}");
    let reported = Output {
        stderr: String::new(),
        ..reviewed
    };
    insta::assert_snapshot!("sarif", without_times(&reported.stable()));
    for format in [
        "sarif-github",
        "junit",
        "github",
        "gitlab",
        "rdjsonl",
        "markdown",
    ] {
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
    let summary = sandbox
        .root()
        .parent()
        .expect("a folder")
        .join("summary.md");
    fs::write(&summary, "# Earlier\n\n").expect("a file");
    sandbox.env("GITHUB_STEP_SUMMARY", summary.display().to_string());
    let reviewed = sandbox.glee(&["review", "app.py", "--format", "github"]);
    assert_eq!(reviewed.code, 1, "{reviewed}");
    let errors = reviewed
        .stdout
        .lines()
        .filter(|line| line.starts_with("::error file=app.py,line="))
        .count();
    assert_eq!(errors, 4, "{reviewed}");
    let written = fs::read_to_string(&summary).expect("a summary");
    assert!(
        written.starts_with("# Earlier\n\n## Glee: 4 mandatory findings are open\n"),
        "{written}"
    );
    assert_eq!(written.matches("- **MUST**").count(), 4, "{written}");
    let shown = sandbox.glee(&["runs", "show", "--format", "markdown"]);
    assert!(
        written.ends_with(&format!("{}\n", shown.stdout)),
        "{written}\n{shown}"
    );
}

#[test]
fn a_full_disk_behind_standard_output_does_not_prevent_the_other_reports() {
    let mut sandbox = project();
    let folder = sandbox.root().parent().expect("a folder").to_owned();
    let (summary, file) = (folder.join("summary.md"), folder.join("out.json"));
    sandbox.env("GITHUB_STEP_SUMMARY", summary.display().to_string());
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("a full device");
    let named = format!("json={}", file.display());
    let mut command =
        sandbox.command(&["review", "app.py", "--format", "github", "--format", &named]);
    let output = command.stdout(full).output().expect("glee starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("error: the report cannot be written to standard output"),
        "{stderr}"
    );
    assert!(
        stderr.contains("print the report again with `glee runs show "),
        "{stderr}"
    );
    assert!(
        fs::read_to_string(&summary)
            .expect("a summary")
            .contains("4 mandatory findings are open")
    );
    assert_eq!(
        json(&fs::read_to_string(&file).expect("a report"))["schema"],
        1
    );
}

#[test]
fn a_report_in_the_tree_does_not_prevent_a_resume() {
    let sandbox = project();
    sandbox.write("old.json", "an earlier file\n");
    let reports = ["--format", "json=new.json", "--format", "json=old.json"];
    let reviewed = sandbox.glee(&[&["review", "app.py", "--arbitrate"][..], &reports].concat());
    assert_eq!(reviewed.code, 3, "{reviewed}");
    let first = sandbox.read("new.json");
    let run = outcome_run(&first);
    assert_eq!(
        sandbox
            .glee(&[
                "disputes",
                "resolve",
                "3",
                "enforce",
                "--by",
                "Test",
                "--reason",
                "it is real"
            ])
            .code,
        0
    );

    // A report that somebody changed is a file like others.
    sandbox.write("new.json", "edited\n");
    let refused = sandbox.glee(&["runs", "resume", &run]);
    assert_eq!(refused.code, 3, "{refused}");
    assert!(
        refused.stderr.contains("stopped: new.json\n"),
        "only the edited file: {refused}"
    );
    sandbox.write("new.json", &first);

    let resumed = sandbox.glee(&["runs", "resume", &run]);
    assert_ne!(resumed.code, 2, "{resumed}");
    let (new, old) = (sandbox.read("new.json"), sandbox.read("old.json"));
    assert!(
        new != first && new == old,
        "the reports show the end of the run: {resumed}"
    );
    let outcome = json(&new);
    let changed: Vec<&str> = outcome["changes"]
        .as_array()
        .expect("changes")
        .iter()
        .filter_map(|change| change["file"].as_str())
        .collect();
    assert_eq!(
        changed,
        ["app.py"],
        "no report counts as a change of the coder"
    );
    let undone = sandbox.glee(&["runs", "undo", &run]);
    assert_eq!(undone.code, 0, "{undone}");
    assert_eq!(sandbox.read("new.json"), new, "undo keeps the report");
}
