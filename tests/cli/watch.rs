//! Tests watches with real processes: the example of `docs/watch.md`, signals, kills, the screen.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::review::json as parsed;
use crate::support::pty::Pty;
use crate::support::{Output, Sandbox};

/// A reviewer that prints `verdict` beside itself: a verdict or prose.
const REVIEWER: &str = r#"#!/bin/sh
cat >/dev/null
word=$(cat "${0%/*}/verdict")
issue='{"severity": "high", "description": "look at it"}'
[ "$word" = approved ] && issue=
case $word in
approved|concerns|blocker) printf '{"nonce": "%s", "type": "review_result", "reviewer": "%s", "payload": {"verdict": "%s",
    "summary": "read", "issues": [%s]}}\n' "$GLEE_NONCE" "$GLEE_AGENT" "$word" "$issue" ;;
*) echo "$word" ;;
esac
"#;

/// A program that counts, which shows whether it is suspended.
const COUNTER: &str = r#"#!/bin/sh
echo $$ >"$HOME/pid"
n=0
while :; do n=$((n + 1)); echo $n >"$HOME/count"; sleep 0.02; done
"#;

pub(crate) fn verdict(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.root().with_file_name("bin").join("verdict")
}

pub(crate) fn scene(agents: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .program("reviewer", REVIEWER)
        .program("counter", COUNTER)
        .git_init();
    fs::write(verdict(&sandbox), "approved").expect("a written file");
    let config = sandbox.user_config();
    fs::create_dir_all(config.parent().expect("a folder")).expect("a folder");
    let text = format!(
        "watch: {{debounce: 100ms, agents: [{}]}}\nagents:\n  - {{name: codex, role: reviewer, adapter: text, command: [reviewer]}}\n  \
         - {{name: counter, role: coder, adapter: text, command: [counter]}}\n",
        agents.join(", ")
    );
    fs::write(config, text).expect("a written file");
    sandbox
}

/// A running watch, killed when dropped.
pub(crate) struct Watching<'a> {
    sandbox: &'a Sandbox,
    child: Child,
}

impl<'a> Watching<'a> {
    /// Starts a watch that may end immediately.
    fn start(sandbox: &'a Sandbox, args: &[&str]) -> Self {
        let mut command = sandbox.command(&[&["watch"], args].concat());
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        Self {
            sandbox,
            child: child.expect("glee starts"),
        }
    }

    pub(crate) fn begin(sandbox: &'a Sandbox, args: &[&str]) -> Self {
        let watching = Self::start(sandbox, args);
        watching.until("it listens", || {
            UnixStream::connect(socket(sandbox)).is_ok()
        });
        watching
    }

    fn until(&self, what: &str, holds: impl Fn() -> bool) {
        let begun = Instant::now();
        while !holds() {
            assert!(
                begun.elapsed() < Duration::from_secs(30),
                "not in 30 s: {what}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn status(&self) -> Value {
        parsed(&self.sandbox.glee(&["watch", "status", "--json"]).stdout)
    }

    fn until_action(&self, action: &str) -> Value {
        self.until(action, || {
            self.status()["last_action"] == *action && self.status()["in_cycle"] == false
        });
        self.status()
    }

    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it has ended");
    }

    /// Stops the watch; returns its exit code and output.
    fn stop(self) -> (i32, String) {
        let stopped = self.sandbox.glee(&["watch", "stop"]);
        assert_eq!(stopped.code, 0, "{stopped}");
        self.ends()
    }

    /// Waits for the end of the watch; returns its exit code and output.
    fn ends(mut self) -> (i32, String) {
        let begun = Instant::now();
        while self.child.try_wait().expect("its state").is_none() {
            assert!(begun.elapsed() < Duration::from_secs(30), "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut told = String::new();
        std::io::Read::read_to_string(self.child.stderr.as_mut().expect("its stderr"), &mut told)
            .expect("text");
        (
            self.child
                .wait()
                .expect("it has ended")
                .code()
                .expect("no signal"),
            told,
        )
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn socket(sandbox: &Sandbox) -> PathBuf {
    glee_workflows::watch::socket::address(
        &sandbox.state(),
        &sandbox.root().canonicalize().expect("a folder"),
    )
}

fn emit(sandbox: &Sandbox, args: &[&str]) -> Output {
    sandbox.glee(&[&["emit"], args].concat())
}

fn is_alive(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}

#[test]
fn the_example_of_the_page() {
    let sandbox = Sandbox::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/watch");
    for (name, text) in crate::shop::files(&example) {
        if name.ends_with("worker") || name.ends_with("reviewer") {
            sandbox.script(&name, &text);
        } else {
            sandbox.write(&name, &text);
        }
    }
    sandbox.git_init();
    let page = include_str!("../../docs/watch.md");
    let hash = page
        .lines()
        .find_map(|line| line.strip_prefix("$ glee watch --trust "))
        .expect("its command");
    let watching = Watching::begin(&sandbox, &["--trust", hash]);
    let (code, told) = watching.ends();
    assert_eq!(code, 0, "{told}");
    let status = parsed(&sandbox.glee(&["watch", "status", "--json"]).stdout);
    assert_eq!(
        (&status["cycle"], &status["status"]),
        (&json!(2), &json!("RUNNING"))
    );
    for line in [
        "  milestone claude · passwords are hashed · src/auth.py",
        "Cycle 1 MILESTONE",
        "! Cycle 1: PAUSE & CLARIFY · PAUSED",
        "  clarification requested from claude",
        "Cycle 2 CLARIFIED",
        "✓ Cycle 2: CONTINUE · RUNNING",
        "  done claude · the hash is done",
    ] {
        assert!(
            told.lines().any(|told| told == line),
            "no `{line}` in\n{told}"
        );
    }
    let log = sandbox.glee(&["runs", "show", "--log"]);
    assert!(
        log.stdout.contains(":cycle{n=1}:call{id=") && log.stdout.contains(":cycle{n=2}"),
        "{log}"
    );
    for line in ["Cycle 1: PAUSE & CLARIFY", "Cycle 2: CONTINUE"] {
        assert!(page.contains(line), "the page shows `{line}`");
    }
}

#[test]
fn where_no_watch_runs_it_is_said_what_to_do() {
    let sandbox = scene(&[]);
    let told = emit(&sandbox, &["milestone", "--agent", "claude"]);
    assert_eq!(told.code, 2, "{told}");
    assert!(
        told.stderr.contains("no watch is running") && told.stderr.contains("glee watch"),
        "{told}"
    );
    let hook = emit(
        &sandbox,
        &["milestone", "--agent", "claude", "--if-running"],
    );
    assert_eq!((hook.code, hook.stderr.as_str()), (0, ""));
    for args in [
        &["status"][..],
        &["resume"],
        &["issues"],
        &["review"],
        &["stop"],
    ] {
        let output = sandbox.glee(&[&["watch"], args].concat());
        assert_eq!(output.code, 2, "{args:?} {output}");
    }
    fs::remove_file(sandbox.user_config()).expect("a file");
    let nobody = sandbox.glee(&["watch"]);
    assert_eq!(nobody.code, 2);
    assert!(
        nobody.stderr.contains("glee connect codex --role reviewer"),
        "{nobody}"
    );
}

#[test]
fn one_watch_in_a_tree_and_it_ends_by_a_signal() {
    let sandbox = scene(&[]);
    let mut watching = Watching::begin(&sandbox, &[]);
    let second = sandbox.glee(&["watch"]);
    assert_eq!(second.code, 6, "{second}");
    let pid = nix::unistd::Pid::from_raw(watching.child.id().cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("it runs");
    assert_eq!(watching.child.wait().expect("it ends").code(), Some(130));
    assert!(!socket(&sandbox).exists(), "the socket is gone");
    drop(Watching::begin(&sandbox, &[]));
    // The socket file that remains after a kill is not a running watch.
    assert_eq!(emit(&sandbox, &["note", "--agent", "a"]).code, 2);
    drop(Watching::begin(&sandbox, &[]));
}

#[test]
fn what_was_acknowledged_is_there_after_a_kill() {
    let sandbox = scene(&[]);
    let watching = Watching::begin(&sandbox, &[]);
    let stream = UnixStream::connect(socket(&sandbox)).expect("it listens");
    let mut speaker = stream.try_clone().expect("a second end");
    std::thread::spawn(move || {
        for number in 0..200_000 {
            let line =
                json!({"type": "note", "agent": "claude", "summary": format!("step {number}")});
            if writeln!(speaker, "{line}").is_err() {
                break;
            }
        }
    });
    let mut acknowledged = 0_u64;
    let mut answers = BufReader::new(stream).lines();
    while acknowledged < 3_000 {
        let answer = parsed(&answers.next().expect("an answer").expect("text"));
        assert_eq!(answer["ok"], true);
        acknowledged += 1;
    }
    watching.kill();
    // Answers sent before the kill may still arrive.
    acknowledged += answers.map_while(Result::ok).count() as u64;
    let stood = parsed(&sandbox.glee(&["watch", "status", "--json"]).stdout);
    let recorded = stood["events"].as_u64().expect("a number");
    assert!(recorded >= acknowledged, "{recorded} of {acknowledged}");
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);

    let watching = Watching::begin(&sandbox, &[]);
    assert_eq!(watching.status()["events"], recorded);
}

#[test]
fn a_stopped_agent_stands_still_and_never_outlives_the_watch() {
    let sandbox = scene(&["counter"]);
    let watching = Watching::begin(&sandbox, &[]);
    let count = || fs::read_to_string(sandbox.home().join("count")).unwrap_or_default();
    watching.until("it counts", || !count().is_empty());
    let moves = || {
        let before = count();
        std::thread::sleep(Duration::from_millis(400));
        count() != before
    };
    assert!(moves());
    fs::write(verdict(&sandbox), "blocker").expect("a written file");
    assert_eq!(emit(&sandbox, &["milestone", "--agent", "counter"]).code, 0);
    let status = watching.until_action("stop_and_escalate");
    assert_eq!(
        (&status["status"], &status["agents"][0]["state"]),
        (&json!("PAUSED"), &json!("stands"))
    );
    assert!(!moves(), "PAUSED means something");
    let told = emit(&sandbox, &["note", "--agent", "counter"]);
    assert_eq!(
        (told.code, told.stderr.as_str()),
        (0, "note: the work is PAUSED\n")
    );
    assert_eq!(sandbox.glee(&["watch", "status"]).code, 3);

    assert_eq!(
        sandbox
            .glee(&["watch", "resume", "--reason", "looked at it"])
            .code,
        0
    );
    watching.until("it goes on", moves);
    assert_eq!(sandbox.glee(&["watch", "pause"]).code, 0);
    assert!(!moves());
    let pid = fs::read_to_string(sandbox.home().join("pid")).expect("its pid");
    assert!(is_alive(&pid));
    let watching = {
        watching.kill();
        let begun = Instant::now();
        while is_alive(&pid) {
            assert!(
                begun.elapsed() < Duration::from_secs(10),
                "a stopped agent outlives its watch"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        // `resume` works without a running watch, and the state remains PAUSED until then.
        assert_eq!(sandbox.glee(&["watch", "status"]).code, 3);
        let resumed = sandbox.glee(&["watch", "resume", "--reason", "by hand"]);
        assert_eq!(resumed.code, 0, "{resumed}");
        Watching::begin(&sandbox, &[])
    };
    assert_eq!(watching.status()["status"], "RUNNING");
    watching.until("it counts again", moves);
}

#[test]
fn an_agent_that_answers_a_prompt_is_given_a_task_and_stands_still_too() {
    let sandbox = scene(&["counter"]);
    let config = fs::read_to_string(sandbox.user_config()).expect("a file");
    let config = config.replace(
        "adapter: text, command: [counter]",
        "adapter: json, command: [counter]",
    );
    fs::write(sandbox.user_config(), config).expect("a written file");
    let untold = sandbox.glee(&["watch"]);
    assert_eq!(untold.code, 2, "{untold}");
    assert!(untold.stderr.contains("--task counter='...'"), "{untold}");
    let watching = Watching::begin(&sandbox, &["--task", "counter=count"]);
    let count = || fs::read_to_string(sandbox.home().join("count")).unwrap_or_default();
    let moves = || {
        let before = count();
        std::thread::sleep(Duration::from_millis(400));
        count() != before
    };
    watching.until("it counts", moves);
    assert_eq!(sandbox.glee(&["watch", "pause"]).code, 0);
    watching.until("it stands", || !moves());
    assert!(!moves());
    assert_eq!(sandbox.glee(&["watch", "resume"]).code, 0);
    watching.until("it goes on", moves);
    let pid = fs::read_to_string(sandbox.home().join("pid")).expect("its pid");
    assert_eq!(watching.stop().0, 0);
    assert!(!is_alive(&pid));
}

#[test]
fn an_agent_cannot_lift_its_own_pause() {
    let sandbox = scene(&["counter"]);
    let glee = env!("CARGO_BIN_EXE_glee");
    // The attack is also run by a reparented grandchild.
    sandbox.program(
        "counter",
        &format!("#!/bin/sh\nwhile :; do (\"{glee}\" watch resume >\"$HOME/tried\" 2>&1 &); sleep 0.1; done\n"),
    );
    let config = fs::read_to_string(sandbox.user_config())
        .expect("a file")
        .replace("watch: {", "watch: {pause: none, ");
    fs::write(sandbox.user_config(), config).expect("a written file");
    let watching = Watching::begin(&sandbox, &[]);
    assert_eq!(sandbox.glee(&["watch", "pause"]).code, 0);
    fs::remove_file(sandbox.home().join("tried")).ok();
    let tried = || fs::read_to_string(sandbox.home().join("tried")).unwrap_or_default();
    watching.until("it tried", || {
        tried().contains("an agent cannot send commands")
    });
    assert_eq!(watching.status()["status"], "PAUSED");
    assert_eq!(sandbox.glee(&["watch", "resume"]).code, 0);
}

#[test]
fn events_come_from_a_file_and_bad_lines_are_counted() {
    let sandbox = scene(&[]);
    sandbox.write(
        "events.jsonl",
        "{\"type\":\"note\",\"agent\":\"a\"}\nnonsense\n\n{\"type\":\"milestone\",\"agent\":\"b\",\"file\":\"x\"}\n",
    );
    let watching = Watching::begin(&sandbox, &["--events", "events.jsonl"]);
    let status = watching.until_action("continue");
    assert_eq!(
        (&status["events"], &status["malformed"]),
        (&json!(2), &json!(1))
    );
    let told = sandbox.glee(&["emit", "--from", "events.jsonl"]);
    assert_eq!(told.code, 2, "{told}");
    assert!(
        told.stderr.contains("2 events recorded")
            && told.stderr.contains("1 line is not a valid event"),
        "{told}"
    );
    let bad = emit(&sandbox, &["note", "--agent", "a b"]);
    assert_eq!(bad.code, 2, "{bad}");
    let (code, told) = watching.stop();
    assert_eq!(code, 0);
    assert!(
        told.contains("1 line was invalid; the last one: "),
        "{told}"
    );
}

#[test]
fn a_line_waits_for_no_other_line_and_for_no_end() {
    let sandbox = scene(&[]);
    let mut command = sandbox.command(&["watch", "--events", "-"]);
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut watching = Watching {
        sandbox: &sandbox,
        child: child.expect("glee starts"),
    };
    let mut lines = watching.child.stdin.take().expect("its stdin");
    watching.until("it listens", || {
        UnixStream::connect(socket(&sandbox)).is_ok()
    });
    writeln!(lines, r#"{{"type":"note","agent":"a"}}"#).expect("it listens");
    watching.until("the line is there", || watching.status()["events"] == 1);

    let mut command = sandbox.command(&["emit", "--from", "-"]);
    let mut emitting = command
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("glee starts");
    let mut more = emitting.stdin.take().expect("its stdin");
    writeln!(more, r#"{{"type":"note","agent":"b"}}"#).expect("it listens");
    watching.until("the line is there", || watching.status()["events"] == 2);
    let begun = Instant::now();
    drop(more);
    assert!(emitting.wait().expect("it ends").success());
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "it ends with its input"
    );
}

#[test]
fn keywords_in_prose_are_no_verdict() {
    let sandbox = scene(&[]);
    fs::write(
        verdict(&sandbox),
        "approved: no critical issues, not a blocker",
    )
    .expect("a written file");
    let watching = Watching::begin(&sandbox, &[]);
    assert_eq!(sandbox.glee(&["watch", "review"]).code, 0);
    let status = watching.until_action("not_reviewed");
    assert_eq!(
        (&status["status"], &status["issues"][0]["severity"]),
        (&json!("PAUSED"), &json!("absent"))
    );
    let issues = sandbox.glee(&["watch", "issues"]);
    assert!(issues.stdout.contains("gave no usable verdict"), "{issues}");
    assert_eq!(
        sandbox
            .glee(&[
                "watch",
                "issues",
                "close",
                "1",
                "--reason",
                "a typo in the script"
            ])
            .code,
        0
    );
    assert_eq!(sandbox.glee(&["watch", "issues", "close", "1"]).code, 2);
    assert_eq!(watching.stop().0, 3, "it waits for a person");
}

#[test]
fn two_reviewers_that_raise_one_issue_name_each_other_after_one_call() {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.program(
        "objects",
        r#"#!/bin/sh
cat >/dev/null
case $GLEE_AGENT in
codex) issue='The session token is written to the log by the login handler' ;;
*) issue='Anybody who reads the log of the login handler sees the session token' ;;
esac
printf '{"nonce": "%s", "type": "review_result", "reviewer": "%s", "payload": {"verdict": "concerns", "summary": "read",
  "issues": [{"severity": "high", "description": "%s", "file": "login.py"}]}}\n' "$GLEE_NONCE" "$GLEE_AGENT" "$issue"
"#,
    );
    sandbox.program(
        "agg",
        r#"#!/bin/sh
cat >/dev/null
n=0
for id in $GLEE_PAIRS; do n=$((n + 1)); echo "[$id] SAME: one log"; done
echo "GLEE-SAME-END nonce=$GLEE_NONCE answers=$n"
"#,
    );
    let config = sandbox.user_config();
    fs::create_dir_all(config.parent().expect("a folder")).expect("a folder");
    let agent = |name: &str, role: &str, command: &str| {
        format!("  - {{name: {name}, role: {role}, adapter: text, command: [{command}]}}\n")
    };
    let agents = [
        agent("codex", "reviewer", "objects"),
        agent("gemini", "reviewer", "objects"),
        agent("agg", "aggregator", "agg"),
    ];
    let text = format!("watch: {{debounce: 100ms}}\nagents:\n{}", agents.concat());
    fs::write(config, text).expect("a written file");
    let watching = Watching::begin(&sandbox, &[]);
    assert_eq!(sandbox.glee(&["watch", "review"]).code, 0);
    let status = watching.until_action("pause_and_clarify");
    let issues = &status["issues"];
    assert_eq!(
        (&issues[0]["same_as"], &issues[1]["same_as"]),
        (&json!([2]), &json!([1])),
        "{status:#}"
    );
    let shown = sandbox.glee(&["watch", "issues"]);
    assert!(shown.stdout.contains("the same as 2"), "{shown}");
    assert_eq!(watching.stop().0, 3, "it waits for a person");
    let calls = sandbox.glee(&["runs", "show", "last", "--calls"]);
    assert_eq!(calls.stdout.matches("same-1.agg.1").count(), 1, "{calls}");
}

#[test]
fn a_command_is_run_on_an_escalation_once_it_is_trusted() {
    let sandbox = scene(&[]);
    sandbox.program("tell", "#!/bin/sh\necho told >>\"$HOME/told\"\n");
    sandbox.write(".glee/config.yml", "watch:\n  notify: [tell]\n");
    let refused = sandbox.glee(&["watch"]);
    assert_eq!(refused.code, 8, "{refused}");
    assert!(refused.stderr.contains("tell (watch.notify)"), "{refused}");
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    fs::write(verdict(&sandbox), "blocker").expect("a written file");
    let watching = Watching::begin(&sandbox, &[]);
    sandbox.glee(&["watch", "review"]);
    watching.until("it was told", || sandbox.home().join("told").exists());
}

#[test]
fn spec_26_emit_waits_for_the_decision_and_says_how_to_answer() {
    let sandbox = scene(&[]);
    let config = sandbox.user_config();
    let text = fs::read_to_string(&config).expect("the configuration");
    let second = "agents:\n  - {name: gemini, role: reviewer, adapter: text, command: [reviewer]}\n  \
        - {name: claude-coder, role: coder, adapter: text, command: [claude]}\n";
    fs::write(&config, text.replace("agents:\n", second)).expect("a written file");
    fs::write(verdict(&sandbox), "concerns").expect("a written file");
    let watching = Watching::begin(&sandbox, &[]);
    let milestone = [
        "milestone",
        "--agent",
        "claude",
        "--summary",
        "passwords",
        "--file",
        "a.py",
        "--wait",
    ];
    let asked = emit(&sandbox, &milestone);
    assert_eq!(asked.code, 3, "{asked}");
    assert!(
        asked.stdout.contains("look at it"),
        "the question of this very review: {asked}"
    );
    let answer =
        "Answer with: glee emit note --agent claude-coder --clarifies 1 --summary '<your answer>'";
    assert!(asked.stdout.contains(answer), "{asked}");
    fs::write(verdict(&sandbox), "approved").expect("a written file");
    let note = [
        "note",
        "--agent",
        "claude",
        "--clarifies",
        "1",
        "--summary",
        "Argon2 it is",
        "--wait",
    ];
    let answered = emit(&sandbox, &note);
    assert_eq!(
        (answered.code, answered.stdout.as_str()),
        (0, ""),
        "the answer was reviewed: {answered}"
    );
    let status = watching.status();
    assert_eq!(
        (&status["status"], &status["cycle"], &status["issues"]),
        (&json!("RUNNING"), &json!(2), &json!([]))
    );
    let told = emit(&sandbox, &milestone);
    assert_eq!((told.code, told.stdout.as_str()), (0, ""), "{told}");
    assert_eq!(watching.status()["cycle"], 3, "it has waited");
}

/// A worker that reports a milestone, works until `~/go` exists, and exits with the code in `~/code`.
const WORKER: &str = r#"#!/bin/sh
cat >/dev/null
echo asked >>"$HOME/asked"
echo '{"type": "milestone", "summary": "the hash is in", "files": ["a.py"]}'
while [ ! -e "$HOME/go" ]; do sleep 0.02; done
[ -e "$HOME/code" ] && exit "$(cat "$HOME/code")"
printf 'All is done.\nGLEE-WORK-END nonce=%s answers=1\n' "$GLEE_NONCE"
"#;

fn workshop() -> Sandbox {
    let sandbox = scene(&["worker"]);
    sandbox.program("worker", WORKER);
    let config = fs::read_to_string(sandbox.user_config()).expect("a file");
    let config = config.replace(
        "{name: counter, role: coder, adapter: text, command: [counter]}",
        "{name: worker, role: coder, adapter: json, command: [worker]}",
    );
    fs::write(sandbox.user_config(), config).expect("a written file");
    sandbox
}

const TASK: [&str; 2] = ["--task", "worker=hash the passwords"];

#[test]
fn spec_26_an_agent_with_a_task_is_reviewed_at_its_milestones_and_the_watch_ends_after_it() {
    let sandbox = workshop();
    let home = sandbox.home().to_owned();
    let asked = || {
        fs::read_to_string(home.join("asked"))
            .unwrap_or_default()
            .lines()
            .count()
    };
    let watching = Watching::begin(&sandbox, &TASK);
    let status = watching.until_action("continue");
    assert_eq!(
        (&status["cycle"], &status["agents"][0]["state"]),
        (&json!(1), &json!("works")),
        "{status}"
    );
    assert_eq!(
        status["agents"][0]["last"]["summary"], "the hash is in",
        "{status}"
    );
    fs::write(home.join("go"), "").expect("a written file");
    let (code, told) = watching.ends();
    assert_eq!(code, 0, "{told}");
    assert!(
        told.contains("the watch ends with its last agent (`--stay` continues it)"),
        "{told}"
    );
    let cycles = sandbox.glee(&["watch", "status", "--json"]);
    assert_eq!(
        parsed(&cycles.stdout)["cycle"],
        2,
        "its answer is reviewed before the end: {cycles}"
    );

    // The task is done, and no agent is called again.
    let (code, told) = Watching::start(&sandbox, &TASK).ends();
    assert_eq!((code, asked()), (0, 1), "{told}");
    let watching = Watching::begin(&sandbox, &["--stay", TASK[0], TASK[1]]);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(watching.status()["status"], "RUNNING");
    assert_eq!(watching.stop().0, 0);
}

#[test]
fn spec_26_a_watch_that_ends_with_its_agents_says_how_they_ended() {
    let sandbox = workshop();
    fs::write(sandbox.home().join("go"), "").expect("a written file");
    fs::write(sandbox.home().join("code"), "3").expect("a written file");
    let (code, told) = Watching::start(&sandbox, &TASK).ends();
    assert_eq!(
        code, 4,
        "it did not do its task, whatever the reviewers say: {told}"
    );
    fs::remove_file(sandbox.home().join("code")).expect("a file");
    fs::write(verdict(&sandbox), "blocker").expect("a written file");
    let (code, told) = Watching::start(&sandbox, &["--fresh", TASK[0], TASK[1]]).ends();
    assert_eq!(code, 3, "a person has to decide: {told}");
    assert!(
        told.contains("the watch ends with its last agent"),
        "{told}"
    );

    // An agent that joined keeps a watch running until it reports that it is done.
    fs::write(verdict(&sandbox), "approved").expect("a written file");
    fs::remove_file(sandbox.home().join("go")).expect("a file");
    let watching = Watching::begin(&sandbox, &["--fresh", TASK[0], TASK[1]]);
    assert_eq!(emit(&sandbox, &["note", "--agent", "claude"]).code, 0);
    fs::write(sandbox.home().join("go"), "").expect("a written file");
    watching.until("it has ended", || {
        watching.status()["agents"]
            .to_string()
            .contains("\"ended\"")
    });
    watching.until_action("continue");
    assert_eq!(emit(&sandbox, &["done", "--agent", "claude"]).code, 0);
    let (code, told) = watching.ends();
    assert_eq!(code, 0, "{told}");
}

#[test]
fn spec_25_a_notification_says_what_happened() {
    let sandbox = scene(&[]);
    let config = fs::read_to_string(sandbox.user_config()).expect("a readable file");
    let second = "  - {name: gemini, role: reviewer, adapter: text, command: [reviewer]}\n";
    fs::write(sandbox.user_config(), config + second).expect("a written file");
    sandbox.program(
        "tell",
        "#!/bin/sh\ncat >\"$HOME/told.part\"\nenv | grep ^GLEE_ >\"$HOME/env\"\nprintf '%s\\n' \"$GLEE_ISSUES\" >\"$HOME/issues\"\nmv \"$HOME/told.part\" \"$HOME/told\"\n",
    );
    sandbox.write(".glee/config.yml", "watch:\n  notify: [tell]\n");
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    fs::write(verdict(&sandbox), "blocker").expect("a written file");
    let watching = Watching::begin(&sandbox, &[]);
    assert_eq!(
        emit(
            &sandbox,
            &["note", "--agent", "claude", "--summary", "Argon2 is in"]
        )
        .code,
        0
    );
    sandbox.glee(&["watch", "review"]);
    watching.until("it was told", || sandbox.home().join("told").exists());
    let read = |name: &str| fs::read_to_string(sandbox.home().join(name)).expect("a readable file");
    let told = parsed(&read("told"));
    assert_eq!(
        (&told["cycle"], &told["action"]),
        (&json!(1), &json!("STOP & ESCALATE")),
        "{told}"
    );
    assert_eq!(
        (
            &told["reviewers"][0]["reviewer"],
            &told["reviewers"][0]["verdict"]
        ),
        (&json!("codex"), &json!("blocker"))
    );
    assert!(
        told["reviewers"][0]["summary"].is_string() && told["issues"][0]["description"].is_string(),
        "{told}"
    );
    assert!(
        told["context"]["claude_summary"]
            .as_str()
            .is_some_and(|said| said.contains("Argon2 is in")),
        "{told}"
    );
    let env = read("env");
    for line in [
        "GLEE_CYCLE=1",
        "GLEE_ACTION=STOP & ESCALATE",
        "GLEE_REVIEWERS=codex: blocker, gemini: blocker",
    ] {
        assert!(env.lines().any(|known| known == line), "{line}: {env}");
    }
    let description = told["issues"][0]["description"].as_str().expect("a text");
    let issues = read("issues");
    for (line, reviewer) in issues.lines().zip(["codex (", "gemini ("]) {
        assert!(
            line.starts_with(reviewer) && line.contains(description),
            "{issues}"
        );
    }
    assert_eq!(issues.lines().count(), 2, "{issues}");
    assert!(env.contains("GLEE_SUMMARIES=codex: "), "{env}");
}

#[test]
fn the_screen_takes_keys_and_leaves_the_terminal_as_it_was() {
    let mut sandbox = scene(&[]);
    sandbox.env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
    let mut pty = Pty::open(&sandbox, &["watch"]);
    pty.expect("RUNNING")
        .expect("no review yet")
        .expect("r review");
    pty.until_it_reads()
        .send("r")
        .expect("Cycle 1")
        .expect("USER_MANUAL")
        .expect("CONTINUE");
    pty.send("p").expect("Paused").expect("PAUSED");
    pty.send("/resume looked at it\r")
        .expect("looked at it")
        .expect("RUNNING");
    pty.send("/nonsense\r")
        .expect("available commands: /review");
    pty.send("/review\r").expect("Cycle 2");
    assert_eq!(
        emit(
            &sandbox,
            &[
                "blocker",
                "--agent",
                "claude",
                "--summary",
                "which\u{1b}[31m schema?"
            ]
        )
        .code,
        0
    );
    pty.expect("which").expect("Cycle 3").expect("CONTINUE");
    pty.send("q");
    let (code, shown) = pty.end();
    assert_eq!(code, 0, "{shown}");
    assert!(
        !shown.contains("\u{1b}[31m schema"),
        "an agent's escapes stay its own"
    );
}
