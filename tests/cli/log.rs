//! Tests the output of `-v`, `GLEE_LOG` and the log of a run; stdout contains none of it.

use std::fs;

use crate::support::Sandbox;

const KEY: &str = "ghp_aQ3kT9xZ2mB7vL5pR8wY1cN4dF6gH0jKsEuI";

/// A reviewer that answers, and one that fails with a key and a control character in its error.
fn scene() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .program(
            "answers",
            "#!/bin/sh\ncat >/dev/null\necho \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"\n",
        )
        .program(
            "fails",
            &format!("#!/bin/sh\ncat >/dev/null\nprintf 'no\\033[31m {KEY}' >&2\nexit 7\n"),
        );
    sandbox.write("a.py", "x = 1\n").git_init();
    let agents = ["answers", "fails"].map(|name| {
        format!("  - {{name: {name}, role: reviewer, adapter: text, command: [{name}]}}\n")
    });
    let config = sandbox.user_config();
    fs::create_dir_all(config.parent().expect("a folder")).expect("a folder");
    fs::write(
        config,
        format!("limits: {{retries: 0}}\nagents:\n{}", agents.concat()),
    )
    .expect("a written file");
    sandbox
}

fn kept(sandbox: &Sandbox) -> std::path::PathBuf {
    let mut waiting = vec![sandbox.state()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            match entry.file_type().expect("an entry").is_dir() {
                true => waiting.push(entry.path()),
                false if entry.file_name() == "log.txt" => return entry.path(),
                false => {}
            }
        }
    }
    panic!("no log found");
}

#[test]
fn a_run_keeps_a_log_with_a_span_for_each_part() {
    let sandbox = scene();
    let quiet = sandbox.glee(&["review", "a.py", "--format", "json"]);
    assert_eq!(quiet.code, 4, "{quiet}");
    assert!(!quiet.stderr.contains("INFO"), "{quiet}");
    let log = sandbox.glee(&["runs", "show", "--log"]);
    assert_eq!(log.code, 0, "{log}");
    let line = |part: &str| {
        let found = log.stdout.lines().find(|line| line.contains(part));
        found
            .unwrap_or_else(|| panic!("no `{part}` in\n{}", log.stdout))
            .to_owned()
    };
    let answered = line(": answered");
    for part in [
        "run{id=",
        ":round{n=1}:call{id=\"review-1-0.answers.1\" agent=\"answers\"}:try{n=1 program=text pid=",
        " exit=0",
        " bytes=",
        " ms=",
    ] {
        assert!(answered.contains(part), "no `{part}` in {answered}");
    }
    assert_eq!(answered.matches("pid=").count(), 1, "{answered}");
    let failed = line("WARN");
    assert!(
        failed.contains("exit=7") && failed.contains("kind=\"crashed\""),
        "{failed}"
    );
    // No secrets and no control sequences.
    let bytes = fs::read_to_string(kept(&sandbox)).expect("a log is text");
    assert!(
        bytes.contains("no") && !bytes.contains(KEY) && !bytes.contains('\u{1b}'),
        "{bytes}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(kept(&sandbox))
            .expect("a file")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let doctor = sandbox.glee(&["doctor"]);
    let named = doctor
        .stdout
        .lines()
        .find(|line| line.starts_with("logs "))
        .expect("a line on logs");
    assert!(named.contains("log.txt"), "{named}");
}

#[test]
fn verbose_says_more_on_stderr_and_nothing_else_on_stdout() {
    let sandbox = scene();
    let plain = sandbox.glee(&["review", "a.py", "--format", "jsonl"]);
    let counts = ["-q", "-v", "-vv"].map(|flag| {
        let told = sandbox.glee(&["review", "a.py", "--full", "--format", "jsonl", flag]);
        assert_eq!(
            told.stdout.lines().count(),
            plain.stdout.lines().count(),
            "{flag}: {told}"
        );
        assert!(
            told.stdout.lines().all(|line| line.starts_with('{')),
            "{flag}: {told}"
        );
        assert!(
            !told.stderr.contains(KEY) && !told.stderr.contains('\u{1b}'),
            "{flag}: {told}"
        );
        (
            told.stderr.matches(" INFO ").count(),
            told.stderr.matches("DEBUG ").count(),
        )
    });
    assert_eq!(counts[0], (0, 0));
    assert!(counts[1].0 >= 4 && counts[1].1 == 0, "{counts:?}");
    assert!(counts[2].1 >= 4, "{counts:?}");
}

#[test]
fn the_filter_is_the_variables() {
    let mut sandbox = scene();
    sandbox.env("GLEE_LOG", "off,glee_store::history=debug");
    let told = sandbox.glee(&["review", "a.py", "-q"]);
    assert!(told.stderr.contains("recorded run_started"), "{told}");
    assert!(!told.stderr.contains("answered"), "{told}");
    sandbox.env("GLEE_LOG", "][");
    let refused = sandbox.glee(&["review", "a.py"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused.stdout.is_empty() && refused.stderr.contains("`GLEE_LOG`"),
        "{refused}"
    );
    assert_eq!(sandbox.glee(&["--version"]).code, 0, "it needs no log");
}

#[test]
fn a_run_without_a_log_says_so() {
    let sandbox = scene();
    assert_eq!(sandbox.glee(&["runs", "show", "--log"]).code, 2);
    sandbox.glee(&["review", "a.py"]);
    fs::remove_file(kept(&sandbox)).expect("it is there");
    let gone = sandbox.glee(&["runs", "show", "--log", "last"]);
    assert_eq!(gone.code, 2, "{gone}");
    assert!(
        gone.stderr.contains("hint: ") && gone.stderr.contains("log.txt"),
        "{gone}"
    );
}
