//! Tests both dispute flows of the specification in a real pseudo-terminal.

#![cfg(unix)]

use nix::sys::signal::Signal;

use crate::support::Sandbox;
use crate::support::pty::Pty;

/// Raises a mandatory finding for each `eval(` in `app.py`.
const REVIEWER: &str = r#"#!/bin/sh
n=0
if [ "$GLEE_TASK" = recheck ]; then
  for id in $GLEE_FINDINGS; do echo "[$id] RESOLVED: gone"; n=$((n + 1)); done
  echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=$n"
  exit 0
fi
for place in $(grep -n 'eval(' app.py | cut -d: -f1); do
  echo "[MUST] app.py:$place Do not evaluate text from outside"; n=$((n + 1))
done
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n"
"#;

/// Objects to everything until a ruling contains `by hand`.
const CODER: &str = r#"#!/bin/sh
prompt=$(cat)
n=0
for id in $GLEE_FINDINGS; do
  n=$((n + 1))
  if printf '%s' "$prompt" | grep -q 'by hand'; then
    sed -i 's/eval(/int(/' app.py; echo "[$id] IMPLEMENTED: as ruled"
  else
    echo "[$id] DISAGREE: only our own text comes here"; echo "  Evidence: app.py:1 is private"
  fi
done
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n"
"#;

/// Dismisses and cites the code; escalates if `app.py` asks for it.
pub(crate) const JUDGE: &str = r#"#!/bin/sh
word=DISMISS
if grep -q unclear app.py; then word=ESCALATE; fi
echo "app.py:1 is private"
echo "GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=$word"
"#;

pub(crate) const ONE: &str = "def _load(text):\n    return eval(text)\n";
pub(crate) const TWO: &str =
    "def _load(text):\n    return eval(text)\n\n\ndef _scale(by):\n    return eval(by)\n";

/// A committed project with these agents; the judge is optional.
pub(crate) fn project(app: &str, judge: Option<&str>) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.env("TERM", "xterm-256color").git_init();
    sandbox.write("app.py", app);
    let agents = [
        ("lens", "reviewer", Some(REVIEWER)),
        ("pen", "coder", Some(CODER)),
        ("scales", "judge", judge),
    ];
    for (name, role, text) in agents {
        let Some(text) = text else { continue };
        sandbox.script(format!("{name}.sh"), text);
        let command = format!("./{name}.sh");
        let connected = sandbox.glee(&[
            "connect",
            name,
            "--role",
            role,
            "--name",
            name,
            "--command",
            &command,
        ]);
        assert_eq!(connected.code, 0, "{connected}");
    }
    sandbox
}

fn arbitrate(sandbox: &Sandbox) -> Pty {
    Pty::open(sandbox, &["review", "app.py", "--arbitrate"])
}

fn has(shown: &str, lines: &[&str]) {
    for line in lines {
        assert!(shown.contains(line), "no `{line}` in:\n{shown}");
    }
}

#[test]
fn with_a_judge_enter_takes_the_default_and_the_judge_rules() {
    let sandbox = project(ONE, Some(JUDGE));
    let mut pty = arbitrate(&sandbox);
    pty.expect("Dispute 1")
        .expect("Do not evaluate text from outside")
        .expect("2")
        .expect("eval(text)")
        .expect("^^^^");
    pty.expect("only our own text comes here")
        .expect("app.py:1 is private")
        .expect("How to resolve?");
    pty.expect("Esc stops the run here")
        .expect("❯ 1. Use AI judge")
        .expect("  2. I'll decide")
        .expect("  3. Discard opinion")
        .pick(0);
    let (code, shown) = pty.end();
    assert_eq!(code, 0, "{shown}");
    has(
        &shown,
        &[
            "DISMISS by scales",
            "1 dismissed",
            "✓ Nothing mandatory is open",
        ],
    );
    assert!(!shown.contains("Tip:"), "{shown}");
    assert_eq!(sandbox.read("app.py"), ONE);
}

#[test]
fn without_a_judge_a_tip_and_the_person_enforces() {
    let sandbox = project(ONE, None);
    let mut pty = arbitrate(&sandbox);
    pty.expect("How to resolve?");
    pty.expect("\x1b[33mTip: You can assign a judge with: glee connect <agent> --role judge");
    pty.expect("❯ 1. I'll decide")
        .expect("  2. Discard opinion")
        .pick(0);
    pty.expect("Your ruling on dispute 1?")
        .expect("Esc")
        .pick(0);
    pty.expect("Reason (optional):")
        .send("decided by hand")
        .send("\r");
    let (code, shown) = pty.end();
    assert_eq!(code, 0, "{shown}");
    has(
        &shown,
        &[
            "ENFORCE by Test <test@example.org>: decided by hand",
            "1 finding: 1 fixed",
        ],
    );
    assert!(!shown.contains("Use AI judge"), "{shown}");
    assert_eq!(sandbox.read("app.py"), ONE.replace("eval(", "int("));
}

#[test]
fn the_configured_default_is_preselected() {
    for (route, line, rows) in [
        ("human", "❯ 2. I'll decide", 1),
        ("discard", "❯ 3. Discard opinion", 0),
    ] {
        let sandbox = project(ONE, Some(JUDGE));
        let set = sandbox.glee(&["config", "set", "review.on_dispute.default", route]);
        assert_eq!(set.code, 0, "{set}");
        let mut pty = arbitrate(&sandbox);
        pty.expect("How to resolve?").expect(line).pick(rows);
        let (code, shown) = pty.end();
        assert_eq!(code, 0, "{shown}");
        has(&shown, &["1 discarded"]);
    }
}

#[test]
fn several_disputes_one_by_one_and_the_same_for_all() {
    let sandbox = project(TWO, Some(JUDGE));
    let mut one_by_one = arbitrate(&sandbox);
    one_by_one
        .expect("Dispute 1")
        .expect("Esc")
        .pick(0)
        .expect("2. the same for the other pending dispute")
        .pick(0);
    one_by_one
        .expect("Dispute 2")
        .expect("How to resolve?")
        .expect("Esc")
        .pick(2);
    let (code, shown) = one_by_one.end();
    assert_eq!(code, 0, "{shown}");
    has(&shown, &["1 dismissed, 1 discarded"]);

    let sandbox = project(TWO, Some(JUDGE));
    let mut all = arbitrate(&sandbox);
    all.expect("Dispute 1")
        .expect("Esc")
        .pick(0)
        .expect("2. the same for the other pending dispute")
        .pick(1);
    let (code, shown) = all.end();
    assert_eq!(code, 0, "{shown}");
    has(&shown, &["2 dismissed"]);
    assert_eq!(shown.matches("How to resolve?").count(), 1, "{shown}");
}

#[test]
fn an_escalated_dispute_comes_back_to_the_person() {
    let sandbox = project(&format!("{ONE}# unclear\n"), Some(JUDGE));
    let mut pty = arbitrate(&sandbox);
    pty.expect("How to resolve?").expect("Esc").pick(0);
    pty.expect("ESCALATE by scales")
        .expect("Your ruling on dispute 1?")
        .expect("Esc")
        .pick(1);
    pty.expect("Reason (optional):").send("\r");
    let (code, shown) = pty.end();
    assert_eq!(code, 0, "{shown}");
    has(
        &shown,
        &[
            "ESCALATE by scales",
            "DISMISS by Test <test@example.org>",
            "1 dismissed",
        ],
    );
}

#[test]
fn left_open_it_waits_and_is_settled_later() {
    let sandbox = project(ONE, None);
    let mut pty = arbitrate(&sandbox);
    pty.expect("How to resolve?")
        .expect("Esc")
        .pick(0)
        .expect("4. Leave it open")
        .pick(3);
    let (code, shown) = pty.end();
    assert_eq!(code, 3, "{shown}");
    has(
        &shown,
        &["! 1 dispute waits for you", "glee disputes resolve 1"],
    );
    let resolved = sandbox.glee(&[
        "disputes", "resolve", "1", "dismiss", "--by", "Test", "--reason", "private",
    ]);
    assert_eq!(resolved.code, 0, "{resolved}");
}

#[test]
fn an_answer_brings_the_coder_to_implement_or_to_object_again() {
    let sandbox = project(ONE, None);
    let mut pty = arbitrate(&sandbox);
    pty.expect("How to resolve?").expect("Esc").pick(0);
    pty.expect("3. Answer the coder").pick(2);
    pty.expect("Your answer:")
        .send("\r")
        .expect("Your answer:")
        .send("who else calls it?\r");
    // It objects again, and the person sees that before the next question.
    pty.expect("Dispute 1")
        .expect("answers")
        .expect("who else calls it?")
        .expect("The coder replies DISAGREE")
        .expect("3. Answer the coder")
        .pick(2);
    pty.expect("Your answer:").send("parse it by hand\r");
    let (code, shown) = pty.end();
    assert_eq!(code, 0, "{shown}");
    has(
        &shown,
        &["IMPLEMENTED by the coder: as ruled", "1 finding: 1 fixed"],
    );
    assert_eq!(sandbox.read("app.py"), ONE.replace("eval(", "int("));
    let recorded = sandbox.glee(&["disputes", "show", "1", "--json"]);
    let recorded: serde_json::Value = serde_json::from_str(&recorded.stdout).expect("JSON");
    let answered = &recorded["dispute"]["answered"];
    let said = |at: usize| (&answered[at]["answer"], &answered[at]["reply"]["answer"]);
    assert_eq!(said(0), (&"who else calls it?".into(), &"DISAGREE".into()));
    assert_eq!(said(1), (&"parse it by hand".into(), &"IMPLEMENTED".into()));
    let replay = sandbox.glee(&["-v", "runs", "replay", "last"]);
    assert_eq!(replay.code, 0, "{replay}");
    assert!(replay.stdout.contains("ENFORCED"), "{replay}");
}

#[test]
fn ctrl_c_stops_the_run_and_a_signal_does_not_wait_for_the_person() {
    let sandbox = project(ONE, Some(JUDGE));
    let mut key = arbitrate(&sandbox);
    key.expect("How to resolve?")
        .expect("Esc")
        .until_it_reads()
        .send("\x03");
    let (code, shown) = key.end();
    assert_eq!(code, 130, "{shown}");
    has(&shown, &["glee runs resume"]);
    assert!(!shown.contains("signal"), "{shown}");

    let sandbox = project(ONE, Some(JUDGE));
    let mut ruling = arbitrate(&sandbox);
    ruling.expect("How to resolve?").expect("Esc").pick(1);
    ruling
        .expect("Your ruling on dispute 1?")
        .expect("Esc")
        .until_it_reads()
        .send("\x03");
    let (code, shown) = ruling.end();
    assert_eq!(code, 130, "{shown}");
    has(&shown, &["glee runs resume"]);

    let sandbox = project(ONE, Some(JUDGE));
    let mut signal = arbitrate(&sandbox);
    signal
        .expect("How to resolve?")
        .expect("Esc")
        .until_it_reads();
    signal.terminate();
    let (code, shown) = signal.end();
    assert_eq!(code, 128 + Signal::SIGTERM as i32, "{shown}");
}

#[test]
fn a_resize_while_the_dialog_is_open_redraws_it() {
    let sandbox = project(ONE, Some(JUDGE));
    let mut pty = arbitrate(&sandbox);
    pty.expect("How to resolve?").expect("3. Discard opinion");
    for (columns, line) in [(20, "❯ 2. I'll decide"), (100, "❯ 3. Discard opinion")] {
        pty.until_it_reads().resize(columns, 24);
        pty.send("\x1b[B").expect(line);
    }
    pty.pick(0);
    let (code, shown) = pty.end();
    assert_eq!(code, 0, "{shown}");
    has(&shown, &["1 discarded"]);
    assert_eq!(shown.matches("How to resolve?").count(), 1, "{shown}");
}

#[test]
fn nobody_is_asked_without_a_terminal_or_where_it_is_not_wanted() {
    let sandbox = project(ONE, Some(JUDGE));
    let piped = sandbox.glee(&["review", "app.py", "--arbitrate"]);
    assert_eq!(piped.code, 0, "{piped}");
    let said: Vec<&str> = piped
        .stderr
        .lines()
        .filter(|line| line.contains("default"))
        .collect();
    assert_eq!(said.len(), 1, "{piped}");
    assert!(
        !piped.stderr.contains('\x1b') && !piped.stdout.contains('\x1b'),
        "{piped}"
    );

    let dumb = {
        let mut sandbox = project(ONE, Some(JUDGE));
        sandbox.env("TERM", "dumb");
        sandbox
    };
    let unwanted = project(ONE, Some(JUDGE));
    for (sandbox, args) in [
        (&dumb, &["review", "app.py", "--arbitrate"][..]),
        (
            &unwanted,
            &["review", "app.py", "--arbitrate", "--no-input"],
        ),
    ] {
        let (code, shown) = Pty::open(sandbox, args).end();
        assert_eq!(code, 0, "{shown}");
        assert!(!shown.contains("How to resolve?"), "{shown}");
    }
}

#[test]
fn spec_07_stopped_in_the_dialog_says_what_waits_and_how_to_go_on() {
    for key in ["\x1b", "\x03"] {
        let sandbox = project(ONE, Some(JUDGE));
        let mut pty = arbitrate(&sandbox);
        pty.expect("How to resolve?")
            .expect("Esc")
            .until_it_reads()
            .send(key);
        let (code, shown) = pty.end();
        assert_eq!(code, 130, "{shown}");
        has(
            &shown,
            &[
                "Stopped by you: 1 dispute waits",
                "glee runs resume",
                "glee disputes resolve 1",
            ],
        );
        assert!(!shown.contains("signal"), "no signal came: {shown}");
    }
}

#[test]
fn a_key_skips_an_agent_that_hangs_and_the_dialog_keeps_its_keys() {
    let sandbox = project(ONE, None);
    for name in ["hung", "stuck"] {
        sandbox.script(format!("{name}.sh"), "#!/bin/sh\nsleep 600\n");
        let command = format!("./{name}.sh");
        let connect = [
            "connect",
            name,
            "--role",
            "reviewer",
            "--name",
            name,
            "--command",
            &command,
        ];
        assert_eq!(sandbox.glee(&connect).code, 0);
    }
    let mut pty = arbitrate(&sandbox);
    pty.expect("1 finding").until_it_reads().send("s");
    pty.expect("Skip which agent? 1 hung   2 stuck   (another key: none)")
        .send("2");
    pty.expect("stuck` was skipped by the user").send("s");
    pty.expect("hung` was skipped by the user");
    pty.expect("How to resolve?").expect("Esc").pick(1);
    let (code, shown) = pty.end();
    assert_eq!(code, 4, "{shown}");
    has(
        &shown,
        &[
            "SKIPPED",
            "`hung` was skipped by the user",
            "`stuck` was skipped by the user",
        ],
    );
    let calls = sandbox
        .glee(&["runs", "show", "last", "--calls", "hung"])
        .stdout;
    assert_eq!(
        calls.matches("--- prompt\n").count(),
        1,
        "a skipped call is not repeated: {calls}"
    );
}

#[test]
fn spec_07_what_finished_reviewers_found_is_shown_and_kept_when_a_run_is_stopped() {
    let sandbox = project(ONE, Some(JUDGE));
    sandbox.script(
        "slow.sh",
        "#!/bin/sh\nif [ -e ready ]; then echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"; exit; fi\nsleep 600\n",
    );
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
    let mut pty = Pty::open(&sandbox, &["review", "app.py", "--arbitrate"]);
    pty.expect("1 finding").send("\x03");
    let (code, shown) = pty.end();
    assert_eq!(code, 130, "{shown}");
    has(
        &shown,
        &[
            "Stopped by you: 1 mandatory finding is open",
            "MUST[F1]",
            "glee runs resume",
        ],
    );
    assert!(!shown.contains("signal"), "{shown}");
    let kept = sandbox.glee(&["runs", "show"]);
    assert!(kept.stdout.contains("MUST[F1]"), "{kept}");
    // After resuming, only agents without an answer are called.
    sandbox.write("ready", "");
    let resumed = sandbox.glee(&["runs", "resume"]);
    assert_eq!(resumed.code, 0, "{resumed}");
    assert!(
        !resumed.stderr.contains("lens   reviewing")
            && resumed.stderr.contains("DISMISS by scales"),
        "{resumed}"
    );
}

#[test]
fn a_large_review_asks_before_it_starts() {
    let sandbox = project(ONE, None);
    let review = ["review", "app.py", "--reviewer", "lens"];
    assert_eq!(
        sandbox
            .glee(&["config", "set", "review.confirm_above", "0"])
            .code,
        0
    );
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    let mut pty = Pty::open(&sandbox, &review);
    pty.expect("This review makes 1 call").send("n");
    let (code, shown) = pty.end();
    assert_eq!(code, 2, "{shown}");
    has(
        &shown,
        &["the review was not started", "glee review --dry-run"],
    );
    assert_eq!(
        sandbox.glee(&review).code,
        1,
        "without a terminal, nobody is asked"
    );

    let set = ["config", "set", "review.confirm_above", "none"];
    assert_eq!(sandbox.glee(&set).code, 0);
    // The limit in dollars needs a price. An unknown cost is above every limit.
    assert_eq!(
        sandbox
            .glee(&["config", "set", "review.confirm_above_usd", "2"])
            .code,
        0
    );
    assert_eq!(
        sandbox
            .glee(&["config", "set", "review.reuse", "false"])
            .code,
        0
    );
    let mut pty = Pty::open(&sandbox, &review);
    pty.expect("This review makes 1 call, and its cost is unknown. Go on?")
        .send("n");
    assert_eq!(pty.end().0, 2);
    assert_eq!(
        sandbox
            .glee(&["config", "set", "agents.lens.price", "1/0.1/10"])
            .code,
        0
    );
    let (code, shown) = Pty::open(&sandbox, &review).end();
    assert_eq!(code, 1, "{shown}");
    assert!(!shown.contains("This review makes"), "{shown}");
    assert_eq!(
        sandbox
            .glee(&["config", "set", "review.confirm_above_usd", "0.000001"])
            .code,
        0
    );
    let mut pty = Pty::open(&sandbox, &review);
    pty.expect("This review makes 1 call, about <$0.01 for the prompts. Go on?")
        .send("n");
    assert_eq!(pty.end().0, 2);
}
