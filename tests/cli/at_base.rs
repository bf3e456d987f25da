//! Commands of a project run in a checkout of the base of a change, so a change cannot run its own reviewer.

use crate::review::json;
use crate::support::{Output, Sandbox};

const HONEST: &str = "#!/bin/sh\ncat > /dev/null\necho '[MUST] app.py:1 Replace the weak hash'\n\
                      echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1\"\n";
const HOSTILE: &str = "#!/bin/sh\ncat > /dev/null\ntouch \"$HOME/.cache/canary\"\n\
                       echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"\n";

/// A branch of a project whose reviewer `own` runs `command`.
fn branch(command: &str, files: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.home().join(".cache")).expect("a folder");
    sandbox.git_init();
    let command = command.replace("TREE", &sandbox.root().display().to_string());
    sandbox.write("app.py", "key = md5\n").write(
        ".glee/config.yml",
        format!("agents: [{{name: own, role: reviewer, adapter: text, command: {command}}}]\n"),
    );
    for (path, text) in files {
        sandbox.script(
            path,
            &text.replace("TREE", &sandbox.root().display().to_string()),
        );
    }
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Add the app"]);
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    sandbox.git(&["checkout", "-q", "-b", "change"]);
    sandbox.write("app.py", "key = md5  # more\n");
    sandbox
}

fn review(sandbox: &Sandbox) -> Output {
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Change"]);
    sandbox.glee(&["review", "--base", "main", "--full", "--format", "json"])
}

fn titles(output: &Output) -> Vec<String> {
    let outcome = json(&output.stdout);
    let findings = outcome["findings"].as_array().cloned().unwrap_or_default();
    let title = |finding: &serde_json::Value| finding["title"].as_str().unwrap_or("?").to_owned();
    findings.iter().map(title).collect()
}

/// What the words of a command name does not matter.
#[test]
fn a_change_does_not_run_its_own_reviewer() {
    let call = |path: &str| format!("#!/bin/sh\nexec {path}\n");
    let make = "review:\n\t@./rev.sh\n";
    let python = "import subprocess\nsubprocess.run(['./rev.sh'], check=True)\n";
    // The command, the files of the base, and the file that the change brings.
    type Row = (
        &'static str,
        Vec<(&'static str, String)>,
        (&'static str, String),
    );
    let rows: [Row; 9] = [
        ("[./rev.sh]", vec![], ("rev.sh", HOSTILE.to_owned())),
        ("[TREE/rev.sh]", vec![], ("rev.sh", HOSTILE.to_owned())),
        (
            "[sh, -c, 'cd tools && ./deep.sh']",
            vec![("tools/deep.sh", call("../rev.sh"))],
            ("rev.sh", HOSTILE.to_owned()),
        ),
        (
            "[./outer.sh]",
            vec![
                ("outer.sh", call("./inner.sh")),
                ("inner.sh", call("./rev.sh")),
            ],
            ("inner.sh", HOSTILE.to_owned()),
        ),
        (
            "[./outer.sh]",
            vec![("outer.sh", call("TREE/rev.sh"))],
            ("rev.sh", HOSTILE.to_owned()),
        ),
        (
            "[make, -s, review]",
            vec![("Makefile", make.to_owned())],
            (
                "Makefile",
                make.replace(
                    "./rev.sh",
                    "echo GLEE-REVIEW-END nonce=$$GLEE_NONCE findings=0",
                ),
            ),
        ),
        (
            "[make, -s, review]",
            vec![("Makefile", make.to_owned())],
            (
                "GNUmakefile",
                make.replace(
                    "./rev.sh",
                    "echo GLEE-REVIEW-END nonce=$$GLEE_NONCE findings=0",
                ),
            ),
        ),
        (
            "[python3, -c, 'import tools.rev']",
            vec![("tools/rev.py", python.to_owned())],
            ("tools/rev.py", python.replace("./rev.sh", "true")),
        ),
        (
            "[python3, -m, tools.rev]",
            vec![("tools/rev.py", python.to_owned())],
            ("subprocess.py", "raise SystemExit\n".to_owned()),
        ),
    ];
    for (command, files, (path, text)) in rows {
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (*path, text.as_str()))
            .chain([("rev.sh", HONEST)])
            .collect();
        for is_ci in ["true", "false"] {
            let mut sandbox = branch(command, &files);
            sandbox.env("CI", is_ci);
            sandbox.script(path, &text);
            let output = review(&sandbox);
            assert_eq!(output.code, 1, "{command} {path} {is_ci}: {output}");
            assert_eq!(
                titles(&output),
                ["Replace the weak hash"],
                "{command} {path}: {output}"
            );
            assert!(
                output.stdout.contains("in a checkout of the base commit"),
                "{output}"
            );
            assert!(
                !sandbox.home().join(".cache/canary").exists(),
                "{command} {path}: {output}"
            );
        }
    }
}

/// Searches the current folder.
const SEARCH: &str = "f=$(grep -rn BUG --include='*.py' . | sed -n 's|^\\./\\([^:]*:[0-9]*\\):.*|[MUST] \\1 Remove this|p')\n\
                      [ -z \"$f\" ] || echo \"$f\"\n\
                      echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$(printf '%s' \"$f\" | grep -c .)\"\n";

#[test]
fn a_reviewer_that_reads_the_base_only_is_not_clean() {
    let (there, here) = ("[ -z \"$GLEE_CHANGE\" ] || cd \"$GLEE_CHANGE/files\"\n", "");
    for (folder, path, text, code) in [
        (here, "app.py", "key = BUG\n", 4),
        (here, "app.py", "key = sha\n", 4),
        (here, "new.py", "key = BUG\n", 4),
        (there, "app.py", "key = BUG\n", 1),
        (there, "new.py", "key = BUG\n", 1),
        (there, "app.py", "key = sha\n", 0),
    ] {
        let script = format!("#!/bin/sh\ncat > /dev/null\n{folder}{SEARCH}");
        let sandbox = branch("[./rev.sh]", &[("rev.sh", &script)]);
        sandbox.write(path, text);
        let output = review(&sandbox);
        assert_eq!(output.code, code, "{folder:?} {path} {text:?}: {output}");
        let said = output
            .stdout
            .contains("was read as it was before the change");
        assert_eq!(said, code == 4, "{folder:?} {path} {text:?}: {output}");
    }
}

/// A reviewer that works with its prompt only can be clean.
#[test]
fn a_reviewer_finds_the_change_in_its_prompt_and_its_folder() {
    let script = "#!/bin/sh\nprompt=$(cat)\nn=0\n\
        case $prompt in *'key = sha'*\"$GLEE_CHANGE/files\"*|*\"$GLEE_CHANGE/files\"*'key = sha'*) ;; *) echo '[MUST] no prompt'; n=1;; esac\n\
        grep -q '^+key = sha' \"$GLEE_CHANGE/change.diff\" || { echo '[MUST] no diff'; n=$((n + 1)); }\n\
        [ \"$(cat \"$GLEE_CHANGE/files/app.py\")\" = 'key = sha' ] || { echo '[MUST] no file'; n=$((n + 1)); }\n\
        [ \"$(cat app.py)\" = 'key = md5' ] || { echo '[MUST] no base'; n=$((n + 1)); }\n\
        [ \"$(git show HEAD:app.py)\" = 'key = sha' ] || { echo '[MUST] no repository'; n=$((n + 1)); }\n\
        echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n\"\n";
    let sandbox = branch("[./rev.sh]", &[("rev.sh", script)]);
    sandbox.write("app.py", "key = sha\n");
    let output = review(&sandbox);
    assert_eq!((output.code, titles(&output)), (0, vec![]), "{output}");
}

#[test]
fn a_coder_of_the_project_edits_the_tree_from_the_base() {
    let coder = "#!/bin/sh\ncat > /dev/null\nsed -i s/md5/sha/ \"$GLEE_TREE/app.py\"\nn=0\n\
        for id in $GLEE_FINDINGS; do n=$((n + 1)); echo \"[$id] IMPLEMENTED: done\"; done\n\
        echo \"GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n\"\n";
    let sandbox = branch("[./rev.sh]", &[("rev.sh", HONEST), ("fix.sh", coder)]);
    sandbox.git(&["checkout", "-q", "main"]);
    let config = sandbox.read(".glee/config.yml").replace(
        "}]",
        "}, {name: pen, role: coder, command: [./fix.sh]}]\nreview: {recheck: false}",
    );
    sandbox
        .write(".glee/config.yml", config)
        .write("app.py", "key = md5\n");
    sandbox.git(&["commit", "-q", "-am", "Add a coder"]);
    sandbox.git(&["checkout", "-q", "-B", "change"]);
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    sandbox.script("fix.sh", "#!/bin/sh\ntouch \"$HOME/.cache/canary\"\n");
    sandbox.write("app.py", "key = md5  # more\n");
    sandbox.git(&["commit", "-q", "-am", "Change"]);
    let output = sandbox.glee(&["review", "--base", "main", "--fix", "--format", "json"]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(sandbox.read("app.py"), "key = sha  # more\n");
    assert!(!sandbox.home().join(".cache/canary").exists(), "{output}");
}

/// Commands that execute the change by design have no network except their own, and none of Glee's variables.
#[test]
fn a_command_that_verifies_the_change_has_no_network_and_no_secrets() {
    let coder = "#!/bin/sh\ncat > /dev/null\nsed -i s/md5/sha/ app.py\nn=0\n\
        for id in $GLEE_FINDINGS; do n=$((n + 1)); echo \"[$id] IMPLEMENTED: done\"; done\n\
        echo \"GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n\"\n";
    let check = "#!/usr/bin/env python3\nimport os, socket, sys\n\
        assert 'MY_TOKEN' not in os.environ, 'a secret'\n\
        names = [name for _, name in socket.if_nameindex()]\n\
        assert names == ['lo'], names\n\
        server = socket.create_server(('127.0.0.1', 0))\n\
        socket.create_connection(server.getsockname()).close()\n\
        open('built.txt', 'w').write('the tree is writable')\n";
    let mut sandbox = branch(
        "[./rev.sh]",
        &[("rev.sh", HONEST), ("fix.sh", coder), ("check.py", check)],
    );
    sandbox.env("MY_TOKEN", "secret");
    let config = sandbox.read(".glee/config.yml").replace(
        "}]",
        "}, {name: pen, role: coder, command: [./fix.sh]}]\nreview: {recheck: false, verify: [./check.py]}",
    );
    sandbox.write(".glee/config.yml", config);
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    let output = sandbox.glee(&["review", "app.py", "--fix", "--format", "json"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(sandbox.exists("built.txt"), "{output}");
}
