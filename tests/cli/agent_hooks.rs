//! Tests `glee hook agent` and `glee hook print`: an agent that ends its turn gets back what is mandatory and open, and
//! nothing that goes wrong in Glee holds it up.

use std::time::{Duration, Instant};

use crate::review::json;
use crate::support::{Output, Sandbox};

/// Raises a mandatory finding for each `md5`, and an optional one for each `TODO`, in `a.py`.
const LENS: &str = r#"#!/bin/sh
cat > /dev/null
n=0
for place in $(grep -n 'md5' a.py | cut -d: -f1); do
  echo "[MUST] a.py:$place Do not hash passwords with md5"; n=$((n + 1))
done
for place in $(grep -n 'TODO' a.py | cut -d: -f1); do
  echo "[LOW] a.py:$place Finish this"; n=$((n + 1))
done
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n"
"#;

/// A repository with a reviewer, and with `text` as an uncommitted file.
fn project(lens: &str, text: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.connect("lens", "reviewer", lens, &["--user"]);
    sandbox.write("a.py", text);
    sandbox
}

/// The agent ends a turn of the session `id`.
fn stop(sandbox: &Sandbox, id: &str, more: &[&str]) -> Output {
    let input = serde_json::json!({
        "session_id": id, "cwd": sandbox.root(), "hook_event_name": "Stop", "stop_hook_active": false
    });
    let args = [&["hook", "agent", "claude", "--mode", "block"], more].concat();
    sandbox.glee_with(&args, &input.to_string())
}

fn is_free(output: &Output) -> bool {
    output.code == 0 && output.stdout == "{}\n"
}

fn log(sandbox: &Sandbox) -> String {
    std::fs::read_to_string(sandbox.state().join("agent-hooks/log")).unwrap_or_default()
}

#[test]
fn mandatory_findings_are_handed_back_at_most_twice() {
    let sandbox = project(LENS, "a = md5(x)\n# TODO\n");
    let first = stop(&sandbox, "s1", &[]);
    assert_eq!(first.code, 0, "{first}");
    let answer = json(&first.stdout);
    assert_eq!(answer["decision"], "block", "{first}");
    let reason = answer["reason"].as_str().expect("a reason");
    assert!(reason.contains("F1 MUST a.py:1 Do not hash"), "{reason}");
    assert!(
        reason.contains("> glee answer F1 implemented|disagree"),
        "{reason}"
    );
    assert!(!reason.contains("Finish this"), "optional: {reason}");

    let unchanged = stop(&sandbox, "s1", &[]);
    assert!(is_free(&unchanged), "nothing changed: {unchanged}");
    sandbox.write("a.py", "a = md5(x)\nb = md5(y)\n");
    let second = stop(&sandbox, "s1", &[]);
    assert_eq!(json(&second.stdout)["decision"], "block", "{second}");
    for round in 0..3 {
        sandbox.write("a.py", format!("a = md5(x)\nb = md5({round})\n"));
        let third = stop(&sandbox, "s1", &[]);
        assert!(is_free(&third), "the bound: {third}");
    }
    let other = stop(&sandbox, "s2", &[]);
    assert_eq!(json(&other.stdout)["decision"], "block", "{other}");
    sandbox.write("a.py", "a = sha256(x)\n");
    assert!(is_free(&stop(&sandbox, "s2", &[])), "fixed");
    assert_eq!(log(&sandbox), "");
}

#[test]
fn a_commit_of_the_session_is_reviewed_with_what_follows_it() {
    let sandbox = project(LENS, "a = sha256(x)\n");
    assert!(is_free(&stop(&sandbox, "s", &[])));
    sandbox.write("a.py", "a = md5(x)\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Work"]);
    let committed = stop(&sandbox, "s", &[]);
    assert_eq!(json(&committed.stdout)["decision"], "block", "{committed}");
}

#[test]
fn each_host_gets_its_form() {
    let sandbox = project(LENS, "a = md5(x)\n");
    for (host, key, word) in [
        ("claude", "decision", "block"),
        ("codex", "decision", "block"),
        ("qwen", "decision", "block"),
        ("gemini", "decision", "deny"),
        ("cursor", "followup_message", ""),
    ] {
        let input = serde_json::json!({
            "session_id": host, "conversation_id": host, "cwd": sandbox.root(), "workspace_roots": [sandbox.root()]
        })
        .to_string();
        let args = ["hook", "agent", host, "--mode", "block"];
        let answer = json(&sandbox.glee_with(&args, &input).stdout);
        let said = answer[key].as_str().unwrap_or_default();
        assert!(
            said.starts_with(word) && !said.is_empty(),
            "{host} {answer}"
        );

        let again = input.replace(host, &format!("{host} 2"));
        let warned = sandbox.glee_with(&["hook", "agent", host], &again);
        assert_eq!(warned.code, 0, "{warned}");
        let warned = json(&warned.stdout);
        assert!(warned.get("decision").is_none(), "{host} {warned}");
        assert!(warned.get("followup_message").is_none(), "{host} {warned}");

        let printed = sandbox.glee(&["hook", "print", host, "--mode", "block"]);
        let command = format!("glee hook agent {host} --timeout 280s --mode block || exit 0");
        assert!(printed.stdout.contains(&command), "{printed}");
        json(&printed.stdout);
    }
}

#[test]
fn no_failure_of_glee_holds_the_agent_up() {
    let broken = "#!/bin/sh\nexit 9\n";
    let limited =
        "#!/bin/sh\necho 'You have hit your usage limit. Rate limit reached (429).' >&2\nexit 1\n";
    let writes = "#!/bin/sh\ncat >/dev/null\necho x >> a.py\necho \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"\n";
    for (name, lens) in [("4", broken), ("75", limited), ("5", writes)] {
        let sandbox = project(lens, "a = md5(x)\n");
        sandbox.glee(&["config", "set", "--user", "sandbox", "off"]);
        let failed = stop(&sandbox, "s", &["--timeout", "40s"]);
        assert!(is_free(&failed), "{name} {failed}");
        assert!(
            log(&sandbox).contains("exit code"),
            "{name} {}",
            log(&sandbox)
        );
    }

    let sandbox = project(LENS, "a = md5(x)\n");
    sandbox.write(".glee/config.yml", "agents: [\n");
    assert!(is_free(&stop(&sandbox, "s", &[])), "a broken configuration");
    assert!(log(&sandbox).contains("claude: "), "{}", log(&sandbox));

    let sandbox = project(LENS, "a = md5(x)\n");
    let unknown = "agents:\n- name: x\n  role: reviewer\n  command: [./x.sh]\n";
    sandbox.write(".glee/config.yml", unknown);
    assert!(
        is_free(&stop(&sandbox, "s", &[])),
        "an untrusted configuration"
    );

    let sandbox = Sandbox::new();
    sandbox.write("a.py", "a = md5(x)\n");
    assert!(is_free(&stop(&sandbox, "s", &[])), "no repository");

    let mut sandbox = project(LENS, "a = md5(x)\n");
    for input in ["", "{", "[]", "{}", "null", "{\"session_id\": 7}", "\u{0}"] {
        let output = sandbox.glee_with(&["hook", "agent", "claude", "--mode", "block"], input);
        assert!(is_free(&output), "{input:?} {output}");
    }
    for args in [
        &["hook", "agent"][..],
        &["hook", "agent", "nobody"],
        &["hook", "agent", "claude", "--timeout", "soon"],
        &["hook", "agent", "claude", "--unknown"],
        &["-C", "/nowhere", "hook", "agent", "claude"],
    ] {
        let output = sandbox.glee(args);
        assert!(is_free(&output), "{args:?} {output}");
    }
    sandbox.env("GLEE_LOG", "no level at all=,,=");
    assert!(
        is_free(&stop(&sandbox, "s", &[])),
        "a broken filter of the log"
    );
    sandbox.env("GLEE_LOG", "").env("GLEE_AGENT", "pen");
    assert!(is_free(&stop(&sandbox, "s", &[])), "a coder of a run");
    sandbox
        .env("GLEE_AGENT", "")
        .env("GLEE_STATE_DIR", "/proc/nowhere");
    assert!(is_free(&stop(&sandbox, "s", &[])), "no state folder");
    sandbox.env("GLEE_STATE_DIR", sandbox.state().display().to_string());
    let works = stop(&sandbox, "s", &[]);
    assert_eq!(json(&works.stdout)["decision"], "block", "{works}");
}

#[test]
fn a_slow_review_ends_in_time_and_is_not_repeated() {
    let slow = "#!/bin/sh\necho begun >> \"$HOME/begun\"\nsleep 60\n";
    let sandbox = project(slow, "a = md5(x)\n");
    let began = Instant::now();
    let late = stop(&sandbox, "s", &["--timeout", "6s"]);
    assert!(is_free(&late), "{late}");
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    let why = log(&sandbox);
    assert!(
        why.contains("in time") || why.contains("exit code 75"),
        "{why}"
    );
    assert!(is_free(&stop(&sandbox, "s", &["--timeout", "6s"])));
    let nothing = stop(&sandbox, "paid", &["--usd", "0"]);
    assert!(is_free(&nothing), "no money: {nothing}");
}

#[test]
fn an_open_dispute_is_not_handed_back() {
    let sandbox = project(LENS, "a = md5(x)\n");
    let judge = "#!/bin/sh\ncat >/dev/null\necho cannot tell\necho \"GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=ESCALATE\"\n";
    sandbox.connect("scales", "judge", judge, &[]);
    let first = stop(&sandbox, "s", &[]);
    assert_eq!(json(&first.stdout)["decision"], "block", "{first}");
    let objected = sandbox.glee(&["answer", "F1", "disagree", "--reason", "no password"]);
    assert_eq!(objected.code, 3, "{objected}");
    assert!(is_free(&stop(&sandbox, "s", &[])), "nothing changed");
    sandbox.write("b.txt", "more\n");
    let disputed = stop(&sandbox, "s", &[]);
    assert!(is_free(&disputed), "{disputed}");
    let dismissed = ["disputes", "resolve", "1", "dismiss", "--by", "Test"];
    assert_eq!(sandbox.glee(&dismissed).code, 0);
    sandbox.write("b.txt", "more still\n");
    assert!(is_free(&stop(&sandbox, "s", &[])), "dismissed");
}

#[test]
fn a_detached_run_under_way_holds_no_hook_up() {
    let bin = "$(dirname \"$0\")";
    let waits = format!("#!/bin/sh\nwhile [ ! -e \"{bin}/go\" ]; do sleep 0.1; done\n{LENS}");
    let sandbox = project(&waits, "a = md5(x)\n");
    let begun = sandbox.glee(&["review", "--detach"]);
    assert_eq!(begun.code, 0, "{begun}");
    let held = stop(&sandbox, "s", &["--timeout", "6s"]);
    assert!(
        is_free(&held),
        "its reviewer does not answer in time: {held}"
    );
    let go = sandbox.root().with_file_name("bin").join("go");
    std::fs::write(go, "").expect("a written file");
    let other = stop(&sandbox, "t", &[]);
    assert_eq!(json(&other.stdout)["decision"], "block", "{other}");
    assert_eq!(
        sandbox
            .glee(&["runs", "wait", "last", "--timeout", "60s"])
            .code,
        1
    );
}

#[test]
fn without_glee_the_hook_lets_the_agent_go() {
    let sandbox = project(LENS, "a = md5(x)\n");
    for agent in ["claude", "codex", "gemini", "qwen", "cursor"] {
        let printed = sandbox.glee(&["hook", "print", agent]);
        let settings = printed.stdout;
        let start = settings
            .find("glee hook agent")
            .unwrap_or_else(|| panic!("{agent}: {settings}"));
        let command = settings[start..].split('"').next().unwrap_or_default();
        let shell = std::process::Command::new("/bin/sh")
            .args(["-c", command])
            .env("PATH", "/nowhere")
            .output()
            .expect("a shell");
        assert!(
            shell.status.success() && shell.stdout.is_empty(),
            "{agent}: {command}: {shell:?}"
        );
    }
}

#[test]
fn ten_sessions_at_once_do_not_disturb_each_other() {
    let sandbox = project(LENS, "a = md5(x)\n");
    std::thread::scope(|scope| {
        let sandbox = &sandbox;
        let stops: Vec<_> = (0..10)
            .map(|number| {
                let stop = move || stop(sandbox, &format!("s{number}"), &["--timeout", "4m"]);
                scope.spawn(stop)
            })
            .collect();
        for stopped in stops {
            let stopped = stopped.join().expect("a hook ends");
            assert_eq!(stopped.code, 0, "{stopped}");
            assert_eq!(
                json(&stopped.stdout)["decision"],
                "block",
                "{stopped} {}",
                log(sandbox)
            );
        }
    });
}
