//! Tests reviewers that contradict each other: the dispute is settled like others and described correctly.

use crate::support::Sandbox;

/// Raises one mandatory finding and defends it.
const ADA: &str = r#"#!/bin/sh
case $GLEE_TASK in
defend) for id in $GLEE_FINDINGS; do echo "[$id] DEFEND: app.py:2 evaluates it"; done
  echo "GLEE-DEFEND-END nonce=$GLEE_NONCE answers=1" ;;
recheck) for id in $GLEE_FINDINGS; do echo "[$id] RESOLVED: gone"; done
  echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=1" ;;
*) echo "[MUST] app.py:2 Do not evaluate text from outside"
  echo "  \`eval\` runs whatever \`_load\` is given."
  echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1" ;;
esac
"#;

/// Finds nothing and gives reasons for its disagreement.
const BOB: &str = r#"#!/bin/sh
case $GLEE_TASK in
examine) for id in $GLEE_FINDINGS; do echo "[$id] DISAGREE -20: names.py:1 says that only constants come here"; done
  echo "GLEE-EXAMINE-END nonce=$GLEE_NONCE answers=1" ;;
*) echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0" ;;
esac
"#;

const PEN: &str = r#"#!/bin/sh
n=0
for id in $GLEE_FINDINGS; do n=$((n + 1)); sed -i 's/eval(/int(/' app.py; echo "[$id] IMPLEMENTED: done"; done
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n"
"#;

/// Dismisses if the prompt contains all statements and the cited file.
const SCALES: &str = r#"#!/bin/sh
prompt=$(cat)
has() { printf '%s' "$prompt" | grep -qF "$1"; }
word=ENFORCE
if has 'Round 2, bob: DISAGREE (confidence -20): names.py:1 says that only constants come here' \
  && has 'Round 3, ada: DEFEND: app.py:2 evaluates it' && has 'NAMES = 1'; then word=DISMISS; fi
echo "names.py:1 is a constant"
echo "GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=$word"
"#;

fn project(judge: bool) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.env("TERM", "xterm-256color").git_init();
    sandbox
        .write("app.py", "def _load(text):\n    return eval(text)\n")
        .write("names.py", "NAMES = 1\n");
    let judge = judge.then_some(("scales", "judge", SCALES));
    for (name, role, text) in [
        ("ada", "reviewer", ADA),
        ("bob", "reviewer", BOB),
        ("pen", "coder", PEN),
    ]
    .into_iter()
    .chain(judge)
    {
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

fn review(sandbox: &Sandbox, more: &[&str]) -> crate::support::Output {
    sandbox.glee(&[&["review", "app.py", "--arbitrate", "--debate"], more].concat())
}

#[test]
fn spec_02_reviewers_that_contradict_each_other_go_the_way_that_is_configured() {
    let sandbox = project(true);
    let human = review(&sandbox, &["--on-dispute", "human"]);
    assert_eq!(human.code, 3, "{human}");
    assert!(
        !human.stderr.contains("ruling on dispute"),
        "no judge was asked: {human}"
    );
    let told = "Dispute 1: reviewers contradict each other about MUST[F1]";
    assert!(human.stderr.contains(told), "{human}");
    assert!(
        !human.stderr.contains("objects"),
        "the coder was never asked: {human}"
    );

    let sandbox = project(true);
    assert_eq!(
        sandbox
            .glee(&["config", "set", "review.on_dispute.default", "discard"])
            .code,
        0
    );
    let discarded = review(&sandbox, &[]);
    assert_eq!(discarded.code, 0, "{discarded}");
    assert!(
        discarded
            .stderr
            .contains("the default is `discard`: disputed findings are discarded"),
        "{discarded}"
    );

    let sandbox = project(true);
    let judged = review(&sandbox, &[]);
    assert_eq!(judged.code, 0, "{judged}");
    assert!(
        judged
            .stderr
            .contains("the default is `judge`: the judge rules"),
        "{judged}"
    );
    assert!(judged.stderr.contains("DISMISS by scales"), "{judged}");
}

#[test]
fn spec_03_the_words_of_the_reviewers_are_in_the_dispute() {
    let sandbox = project(true);
    // The judge dismisses only if its prompt contains all statements.
    let judged = review(&sandbox, &[]);
    assert!(judged.stderr.contains("DISMISS by scales"), "{judged}");
    let said = [
        "Round 2, bob: DISAGREE (confidence -20): names.py:1 says that only constants come here",
        "Round 3, ada: DEFEND: app.py:2 evaluates it",
    ];
    let shown = sandbox.glee(&["disputes", "show", "1"]).stdout;
    assert!(
        shown.contains("\nReviewers contradict each other\n"),
        "{shown}"
    );
    assert!(
        shown.contains("Evidence: names.py:1\n"),
        "what bob cites: {shown}"
    );
    let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in said {
        assert!(folded(&shown).contains(words), "{shown}");
    }
    let record = sandbox.glee(&["disputes", "show", "1", "--json"]).stdout;
    let record: serde_json::Value = serde_json::from_str(&record).expect("pure JSON");
    assert_eq!(record["dispute"]["objector"], "reviewers", "{record:#}");
    assert!(said.iter().all(|words| {
        record["dispute"]["objection"]["text"]
            .as_str()
            .is_some_and(|text| text.contains(words))
    }));
}

#[cfg(unix)]
#[test]
fn spec_02_a_person_is_asked_how_to_resolve_what_reviewers_contradict_each_other_about() {
    let sandbox = project(true);
    let mut pty =
        crate::support::pty::Pty::open(&sandbox, &["review", "app.py", "--arbitrate", "--debate"]);
    pty.expect("How to resolve?")
        .until_it_reads()
        .send("\x1b[B\x1b[B\r");
    let (code, shown) = pty.end();
    assert_eq!(code, 0, "{shown}");
    for words in [
        "Reviewers contradict each other",
        "Round 2, bob: DISAGREE",
        "Discard opinion",
    ] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
    assert!(
        !shown.contains("The coder objects") && !shown.contains("DISMISS by"),
        "{shown}"
    );
}
