//! `glee mcp` with the client library `mcp` of PyPI.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::python;
use crate::support::Sandbox;

/// Raises a finding for each `md5` while the file `slow` is not beside it, and takes each change for a fix.
const LENS: &str = r#"#!/bin/sh
cat > /dev/null
if [ "$GLEE_TASK" = recheck ]; then
  echo "[$GLEE_FINDINGS] RESOLVED: looked"
  echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=1"
  exit
fi
while [ -e "$(dirname "$0")/slow" ]; do sleep 0.05; done
n=0
for place in $(grep -n 'md5' a.py | cut -d: -f1); do
  echo "[MUST] a.py:$place Do not hash passwords with md5, line $place"; n=$((n + 1))
done
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n"
"#;

const JUDGE: &str = r#"#!/bin/sh
cat > /dev/null
echo "A person has to say. See a.py:1."
echo "GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=ESCALATE"
"#;

/// A project with a reviewer and a judge, and the folder of its programs.
fn project() -> (Sandbox, PathBuf) {
    let mut sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.connect("lens", "reviewer", LENS, &["--user"]);
    sandbox.connect("referee", "judge", JUDGE, &["--user"]);
    let glee = assert_cmd::cargo::cargo_bin!("glee").display();
    sandbox.program("glee", &format!("#!/bin/sh\nexec '{glee}' \"$@\"\n"));
    sandbox.write("a.py", "a = md5(x)\nb = md5(y)\n");
    let bin = sandbox.root().with_file_name("bin");
    sandbox.env("SLOW", bin.join("slow").display().to_string());
    (sandbox, bin)
}

/// Plays a function of `mcp_client.py`; `None` where the library cannot be installed.
fn play(sandbox: &Sandbox, name: &str) -> Option<()> {
    let python = python::programs()?.join("python");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/mcp_client.py");
    let mut shell = sandbox.shell();
    shell.args(["-c", "exec \"$0\" \"$@\""]).arg(python);
    let output = shell.args([script, name]).output().expect("a shell starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {said}");
    Some(())
}

/// The processes of the reviewer and of detached runs of the project.
fn left(bin: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc is readable").flatten() {
        let line = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        if line.contains(&bin.join("lens").display().to_string()) {
            lines.push(line);
        }
    }
    lines
}

#[test]
fn a_client_reviews_answers_disputes_and_a_person_rules() {
    let (sandbox, _) = project();
    if play(&sandbox, "life").is_none() {
        return;
    }
    let record = sandbox.glee(&["disputes", "show", "1", "--json"]).stdout;
    assert!(record.contains("Test (asked by "), "{record}");
    assert!(record.contains("a cache key"), "{record}");
    assert!(!record.contains("test@example.org"), "{record}");
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
}

#[test]
fn a_dispute_on_which_nobody_rules_stays_open() {
    let (sandbox, _) = project();
    play(&sandbox, "unruled");
}

#[test]
fn a_caller_gets_no_more_than_the_command_line_gives() {
    let (sandbox, bin) = project();
    if play(&sandbox, "hostile").is_some() {
        assert_eq!(left(&bin), [""; 0]);
    }
}

#[test]
fn what_nobody_asked_is_not_believed() {
    let (sandbox, _) = project();
    play(&sandbox, "lies");
}

#[test]
fn a_client_that_dies_leaves_nothing_running() {
    let (sandbox, bin) = project();
    if play(&sandbox, "dies").is_none() {
        return;
    }
    let deadline = Instant::now() + Duration::from_secs(30);
    while !left(&bin).is_empty() || sandbox.glee(&["runs"]).stdout.contains("  works  ") {
        assert!(Instant::now() < deadline, "{:?}", left(&bin));
        std::thread::sleep(Duration::from_millis(100));
    }
    let listed = sandbox.glee(&["runs"]).stdout;
    assert_eq!(listed.matches("interrupted").count(), 2, "{listed}");
}
