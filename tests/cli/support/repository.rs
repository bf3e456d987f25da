//! A repository with a reviewer, and shells that work in it.

use super::{Output, Sandbox};

pub(crate) const CONFIG: &str =
    "version: 1\nagents:\n  - {name: rules, command: builtin:rules, role: reviewer}\n";
pub(crate) const EVIL: &str = "def run(text):\n    return eval(text)\n";
pub(crate) const GOOD: &str = "def run(text):\n    return len(text)\n";

/// A repository whose only agent is the embedded reviewer, with `glee` on the PATH.
pub(crate) fn repository() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write(".glee/config.yml", CONFIG);
    sandbox.write("app.py", GOOD);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Connect a reviewer"]);
    let glee = assert_cmd::cargo::cargo_bin!("glee").display();
    sandbox.program("glee", &format!("#!/bin/sh\nexec '{glee}' \"$@\"\n"));
    sandbox
}

/// The same with a bare repository as its remote `origin`, which has the branch `main`.
pub(crate) fn with_remote() -> Sandbox {
    let sandbox = repository();
    sandbox.git(&["init", "-q", "--bare", "-b", "main", "../origin.git"]);
    sandbox.git(&["remote", "add", "origin", "../origin.git"]);
    sandbox.git(&["push", "-q", "-u", "origin", "main"]);
    sandbox
}

/// Types a line in a shell in the project folder.
pub(crate) fn sh(sandbox: &Sandbox, line: &str) -> Output {
    let output = sandbox
        .shell()
        .args(["-c", line])
        .output()
        .expect("a shell starts");
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: sandbox.placeholders(&String::from_utf8_lossy(&output.stdout)),
        stderr: sandbox.placeholders(&String::from_utf8_lossy(&output.stderr)),
    }
}

/// Types a line that has to succeed.
pub(crate) fn ok(sandbox: &Sandbox, line: &str) -> Output {
    let output = sh(sandbox, line);
    assert_eq!(output.code, 0, "{line}: {output}");
    output
}
