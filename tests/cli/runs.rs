//! Tests recorded runs: replay, and deletion of old ones.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;
use std::time::Duration;

use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::review::{json, outcome_run, project};
use crate::support::Sandbox;

#[test]
fn a_run_that_a_person_settled_and_carried_on_is_decided_again_in_one_go() {
    let sandbox = project();
    let first = sandbox.glee(&["review", "app.py", "--arbitrate", "--format", "json"]);
    let run = outcome_run(&first.stdout);
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
    assert_eq!(sandbox.glee(&["runs", "resume", &run]).code, 0);
    let app = sandbox.read("app.py");

    let shown = sandbox.glee(&["runs", "show", &run, "--format", "json"]);
    let replayed = sandbox.glee(&["runs", "replay", &run, "--format", "json"]);
    assert_eq!(replayed.code, 0, "{replayed}");
    assert_eq!(json(&replayed.stdout), json(&shown.stdout));

    let other = sandbox.glee(&[
        "runs",
        "replay",
        &run,
        "--set",
        "review.on_dispute.default=human",
    ]);
    assert_eq!(other.code, 3, "{other}");
    assert!(
        other.stderr.contains("the exit code is 3, was 0"),
        "{other}"
    );
    assert_eq!(sandbox.read("app.py"), app, "nothing is changed");
    let listed = sandbox.glee(&["disputes", "--json"]);
    assert_eq!(
        json(&listed.stdout)["disputes"].as_array().map(Vec::len),
        Some(3),
        "nothing is recorded: {listed}"
    );
}

#[test]
fn a_stopped_run_reports_in_full_even_if_the_report_is_read_slowly() {
    let sandbox = project();
    sandbox.script("slow.sh", "#!/bin/sh\nsleep 600\n");
    let slow = [
        "connect",
        "slow",
        "--role",
        "reviewer",
        "--name",
        "slow",
        "--command",
        "./slow.sh",
    ];
    assert_eq!(sandbox.glee(&slow).code, 0);
    // The pipe is full, so that Glee waits with its report until the pipe is read.
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    let size = fcntl(&writer, FcntlArg::F_GETPIPE_SZ).expect("the size of a pipe");
    writer
        .write_all(&vec![b' '; usize::try_from(size).expect("a size")])
        .expect("the pipe has room");
    let mut command =
        sandbox.command(&["review", "app.py", "--reviewer", "slow", "--format", "json"]);
    let mut glee = command
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .expect("Glee runs");
    drop(command);
    let stderr = BufReader::new(glee.stderr.take().expect("stderr is piped"));
    let mut said = String::new();
    for line in stderr.lines().map(|line| line.expect("a line") + "\n") {
        said += &line;
        if line.contains("reviewing") {
            break;
        }
    }
    assert!(said.contains("reviewing"), "{said}");
    kill(Pid::from_raw(glee.id().cast_signed()), Signal::SIGTERM).expect("Glee is there");
    std::thread::sleep(Duration::from_millis(1_200));
    let mut report = String::new();
    reader.read_to_string(&mut report).expect("a report");
    assert_eq!(
        glee.wait().expect("Glee ends").code(),
        Some(143),
        "{report}"
    );
    assert_eq!(json(&report)["exit"]["signal"], 15);
}

#[test]
fn a_pruned_run_is_still_read_and_still_binds() {
    let sandbox = project();
    let first = sandbox.glee(&["review", "app.py", "--arbitrate", "--format", "json"]);
    let run = outcome_run(&first.stdout);
    let soon = "2099-01-01";
    let kept = sandbox.glee(&["runs", "prune", "--before", soon]);
    assert_eq!(kept.stdout, "Nothing to prune.\n", "a dispute is open");
    assert_eq!(
        sandbox
            .glee(&[
                "disputes",
                "resolve",
                "3",
                "dismiss",
                "--by",
                "Test",
                "--reason",
                "only in tests"
            ])
            .code,
        0
    );
    assert_eq!(
        sandbox.glee(&["runs", "prune"]).stdout,
        "Nothing to prune.\n",
        "it is not 30 days old"
    );

    let would = sandbox.glee(&["runs", "prune", "--before", soon, "--dry-run"]);
    assert!(would.stdout.contains(&run[run.len() - 8..]), "{would}");
    let pruned = sandbox.glee(&["runs", "prune", "--before", soon]);
    assert!(pruned.stdout.starts_with("Pruned 1 run: "), "{pruned}");
    assert_eq!(sandbox.git(&["for-each-ref", "refs/glee"]), "");
    insta::assert_snapshot!(sandbox.glee(&["runs", "prune", "--before", soon]).stdout, @"Nothing to prune.");

    for command in [
        ["runs", "undo", &run],
        ["runs", "resume", &run],
        ["runs", "replay", &run],
    ] {
        let refused = sandbox.glee(&command);
        assert_eq!(refused.code, 2, "{refused}");
        assert!(refused.stderr.contains("was pruned on"), "{refused}");
        assert!(refused.stderr.contains("glee runs show"), "{refused}");
    }
    let shown = sandbox.glee(&["runs", "show", &run, "--format", "json"]);
    assert_eq!(
        json(&shown.stdout)["findings"].as_array().map(Vec::len),
        Some(5),
        "{shown}"
    );
    let diff = sandbox.glee(&["runs", "diff", &run]);
    for line in [
        "-    return eval(text)\n+    return int(text)\n",
        "+    return str(template)\n",
    ] {
        assert!(
            diff.stdout.contains(line),
            "each call's changes are in the events: {diff}"
        );
    }
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
    let again = sandbox.glee(&["review", "app.py", "--arbitrate", "--format", "json"]);
    assert_eq!(again.code, 0, "what was ruled still binds: {again}");
}

#[test]
fn what_the_shell_forbids_is_named_before_an_agent_costs_anything() {
    let mut sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("app.py", "one = 1\n");
    let asked = "#!/bin/sh\ncat >/dev/null; touch asked\n\
                 echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"\n";
    sandbox.connect("lens", "reviewer", asked, &[]);
    let file = sandbox.root().join("app.py").display().to_string();
    for folder in ["/nonexistent", "/proc/self/nonexistent", file.as_str()] {
        sandbox.env("TMPDIR", folder);
        for args in [&["review", "app.py"][..], &["agents"]] {
            let output = sandbox.glee(args);
            assert_eq!(output.code, 2, "{output}");
            assert!(output.stderr.contains("temporary folder"), "{output}");
            assert!(output.stderr.contains("set `TMPDIR`"), "{output}");
            assert!(!output.stderr.contains("install"), "{output}");
        }
    }
    sandbox.env("TMPDIR", "/tmp");
    for blocks in ["0", "8", "64"] {
        let limited = sandbox
            .shell()
            .args([
                "-c",
                &format!("ulimit -f {blocks}; exec \"$0\" review app.py"),
            ])
            .arg(assert_cmd::cargo::cargo_bin!("glee"))
            .output()
            .expect("a shell");
        let said = String::from_utf8_lossy(&limited.stderr);
        assert_eq!(limited.status.code(), Some(7), "{blocks} {said}");
        assert!(
            said.contains("error: ") && said.contains("hint: "),
            "{said}"
        );
    }
    assert!(!sandbox.exists("asked"));
}
