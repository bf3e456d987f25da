//! Tests `glee disputes` on prepared histories.

use std::path::PathBuf;

use glee_model::domain::event::{DisputeEvent, EventKind, Mode, Plan, ReviewEvent, Settlement};
use glee_model::domain::{
    AgentName, Answer, Disposition, DisputeNumber, Finding, FindingId, Person, RawFinding,
    Response, Ruler, Ruling, RulingRecord, RulingWord, RunId, Severity, Tag,
};
use glee_store::history::{self, Journal};
use glee_workspace::Workspace;

use crate::support::Sandbox;

pub(crate) const RUN: &str = "0190aaaa-0000-7000-8000-00000000abcd";

pub(crate) fn database(sandbox: &Sandbox) -> PathBuf {
    let workspace = Workspace::discover(&sandbox.root()).expect("a project");
    let place = workspace
        .claim_history(&sandbox.state())
        .expect("a place for the history");
    history::path_for(&sandbox.state(), &place.key)
}

/// The history as the program has it: on the server that keeps it, if one does.
pub(crate) fn history(sandbox: &Sandbox) -> Journal {
    let path = database(sandbox);
    #[cfg(feature = "server")]
    if let Some(address) = sandbox.server() {
        let names = Workspace::discover(&sandbox.root())
            .and_then(|workspace| workspace.history(&sandbox.state()))
            .expect("a place for the history")
            .names;
        let server = history::server::Server::at(address).expect("an address");
        let log = server
            .log(&names, true)
            .expect("a log")
            .expect("it is created");
        let replica = history::replica::replica_of(&path);
        return Journal::following(&replica, log).expect("a history");
    }
    Journal::open(&path).expect("a history")
}

pub(crate) fn plan() -> Plan {
    Plan {
        root: "/tree".to_owned(),
        target: "src/".to_owned(),
        tree: "blake3:0".to_owned(),
        mode: Mode::Arbitrate,
        ..Plan::default()
    }
}

pub(crate) fn finding(id: u32, tag: Tag, by: &str) -> Finding {
    Finding {
        mandatory: true,
        raised_by: vec![AgentName::from(by)],
        ..Finding::raised(
            FindingId::new(id),
            RawFinding {
                severity: Severity::known(tag),
                title: format!("Title {id}\x1b[2J").into(),
                body: "The value comes from the request.".into(),
                file: Some("src/db.rs".to_owned()),
                line: Some(id),
                end_line: None,
                category: None,
                suggestion: Some("bind it".into()),
                confidence: None,
                evidence: vec!["src/web.rs:9".into()],
                rule: None,
                guideline: None,
                cwe: None,
                places: Vec::new(),
                insists_on: None,
                replacement: None,
                demonstration: None,
            },
        )
    }
}

/// A git project whose history has three disputes: dismissed by a judge, escalated and open, open.
pub(crate) fn sandbox() -> Sandbox {
    with_disputes(Sandbox::new())
}

fn with_disputes(sandbox: Sandbox) -> Sandbox {
    sandbox.git_init();
    let run = RunId(RUN.to_owned());
    let mut journal = history(&sandbox);
    journal
        .append(
            &run,
            ReviewEvent::RunStarted {
                plan: Box::new(plan()),
            },
        )
        .expect("an event");
    for (id, tag, by) in [
        (1, Tag::Must, "codex"),
        (2, Tag::High, "gemini"),
        (3, Tag::Must, "codex"),
    ] {
        let objection = Response {
            finding: FindingId::new(id),
            answer: Answer::Disagree,
            text: "The value is a constant.".into(),
            evidence: vec!["src/names.rs:1".into()],
            demonstration: None,
        };
        journal
            .open_dispute(&run, finding(id, tag, by), objection)
            .expect("a dispute");
    }
    let judge = || Ruler::Judge {
        name: AgentName::from("claude-judge"),
    };
    let ruled = |number, ruling| {
        EventKind::Dispute(DisputeEvent::RulingGiven {
            dispute: DisputeNumber(number),
            ruling: RulingRecord::new(
                Ruling {
                    rationale: "names.rs says so".into(),
                    citations: vec!["src/names.rs:1".into()],
                    ..Ruling::bare(ruling)
                },
                judge(),
            ),
        })
    };
    let settlement = Settlement {
        disposition: Disposition::Refuted,
        by: judge(),
        reason: "".into(),
        until: None,
    };
    let settled = EventKind::Dispute(DisputeEvent::DisputeSettled {
        dispute: DisputeNumber(1),
        settlement,
    });
    journal
        .append_all(
            &run,
            [
                ruled(1, RulingWord::Dismiss),
                settled,
                ruled(2, RulingWord::Escalate),
            ],
        )
        .expect("events");
    sandbox
}

#[test]
fn lists_the_newest_first() {
    let output = sandbox().glee(&["disputes", "--recent", "10"]);
    insta::assert_snapshot!(output, @r"
    exit: 0
    --- stdout
    #  OPENED            TAG   RULING            BY            FINDING
    3  [TIME]  MUST  open                            src/db.rs:3 Title 3\u{1b}[2J
    2  [TIME]  HIGH  ESCALATE, open    claude-judge  src/db.rs:2 Title 2\u{1b}[2J
    1  [TIME]  MUST  DISMISS, refuted  claude-judge  src/db.rs:1 Title 1\u{1b}[2J
    --- stderr
    To settle an open dispute: `glee disputes show 3`, then `glee disputes resolve 3`
    ");
}

#[test]
fn lists_what_the_filters_leave() {
    let sandbox = sandbox();
    for (args, numbers) in [
        (&["--recent", "1"][..], "3"),
        (&["--open"], "3 2"),
        (&["--ruling", "dismiss"], "1"),
        (&["--ruling", "escalate"], "2"),
        (&["--ruling", "refuted"], "1"),
        (&["--reviewer", "codex"], "3 1"),
        (&["--since", "1h"], "3 2 1"),
        (&["--since", "2999-01-01"], ""),
        (&["--open", "--reviewer", "gemini"], "2"),
    ] {
        let output = sandbox.glee(&[&["disputes", "--json"], args].concat());
        let json: serde_json::Value = serde_json::from_str(&output.stdout).expect("pure JSON");
        let listed: Vec<_> = json["disputes"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|row| row["number"].to_string())
            .collect();
        assert_eq!(
            (listed.join(" ").as_str(), output.code),
            (numbers, 0),
            "{args:?}"
        );
    }
}

#[test]
fn a_bad_filter_is_a_usage_error() {
    let sandbox = Sandbox::new();
    for args in [
        ["--since", "yesterday"],
        ["--recent", "0"],
        ["--ruling", "maybe"],
    ] {
        let output = sandbox.glee(&[&["disputes"][..], &args].concat());
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output}");
        assert!(output.stderr.contains(args[1]), "{output}");
    }
}

#[test]
fn no_history_is_said_kindly_and_makes_none() {
    let sandbox = Sandbox::local();
    let output = sandbox.glee(&["disputes"]);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (0, "No disputes yet: nothing was reviewed.\n")
    );
    let output = sandbox.glee(&["disputes", "verify"]);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (0, "No history yet: nothing to verify.\n")
    );
    let output = sandbox.glee(&["disputes", "resolve", "1", "enforce", "--by", "Test"]);
    insta::assert_snapshot!(output.stderr, @r"
    error: there is no dispute 1
    hint: `glee disputes` lists the disputes
    ");
    assert_eq!(output.code, 2);
    assert_eq!(
        std::fs::read_dir(sandbox.state())
            .expect("the state folder")
            .count(),
        0
    );
}

#[test]
fn shows_one_with_all_that_was_said() {
    let output = sandbox().glee(&["disputes", "show", "1"]);
    insta::assert_snapshot!(output, @r"
    exit: 0
    --- stdout
    Dispute 1 · refuted · opened [TIME] · run 0000abcd · id bd9c5884a408f8dc

    MUST[F1] src/db.rs:1 Title 1\u{1b}[2J
      The value comes from the request.
      Suggestion: bind it
      Evidence: src/web.rs:9
      (raised by codex)

    The coder objects
      The value is a constant.
      Evidence: src/names.rs:1

    DISMISS by claude-judge
      names.rs says so
      Citations: src/names.rs:1

    Settled [TIME] by claude-judge: refuted
    ");
}

#[test]
fn a_person_settles_one_and_is_told_what_is_next() {
    let sandbox = sandbox();
    let args = [
        "disputes", "resolve", "2", "dismiss", "--by", "Test", "--as", "deferred", "--ref",
        "issue-12", "--reason", "later",
    ];
    let output = sandbox.glee(&args);
    assert_eq!(
        (output.code, output.stdout.as_str(), output.stderr.as_str()),
        (
            0,
            "F2 src/db.rs:2 Title 2\\u{1b}[2J\n  Dispute 2: DISMISS by Test, deferred to issue-12.\n",
            "Next: `glee runs resume 0000abcd` to finish the run\n"
        )
    );
    let output = sandbox.glee(&["disputes", "resolve", "3", "enforce", "--by", "Test"]);
    assert_eq!(
        (output.code, output.stdout.as_str(), output.stderr.as_str()),
        (
            0,
            "F3 src/db.rs:3 Title 3\\u{1b}[2J\n  Dispute 3: ENFORCE by Test, enforced.\n",
            "Next: `glee runs resume 0000abcd` to have the coder implement it\n"
        )
    );
    let output = sandbox.glee(&["disputes", "resolve", "2", "enforce", "--by", "Test"]);
    insta::assert_snapshot!(output.stderr, @r"
    error: dispute 2 is already settled: deferred
    hint: `glee disputes show 2` shows the ruling; to rule again, reopen the dispute with `glee disputes reopen 2`
    ");
    assert_eq!(output.code, 2);

    let journal = history(&sandbox);
    let kinds: Vec<_> = journal
        .events(&RunId(RUN.to_owned()))
        .expect("events")
        .into_iter()
        .skip(7)
        .map(|event| event.kind)
        .collect();
    let by_me = |number, ruling, rationale: &str, disposition| {
        let ruling = Ruling {
            ruling,
            rationale: rationale.into(),
            grounds: None,
            citations: Vec::new(),
            new_tag: None,
            duplicate_of: None,
            coder_evidence: None,
            members: Vec::new(),
        };
        let (dispute, by) = (
            DisputeNumber(number),
            Ruler::Human(Person {
                name: "Test".into(),
                email: "test@example.org".into(),
            }),
        );
        let settlement = Settlement {
            disposition,
            by: by.clone(),
            reason: rationale.into(),
            until: None,
        };
        [
            EventKind::Dispute(DisputeEvent::RulingGiven {
                dispute,
                ruling: RulingRecord::new(ruling, by),
            }),
            EventKind::Dispute(DisputeEvent::DisputeSettled {
                dispute,
                settlement,
            }),
        ]
    };
    let deferred = Disposition::Deferred {
        reference: "issue-12".to_owned(),
    };
    let expected = [
        by_me(2, RulingWord::Dismiss, "later", deferred),
        by_me(3, RulingWord::Enforce, "", Disposition::Enforced),
    ];
    assert_eq!(kinds, expected.concat());
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
}

#[test]
fn a_resolution_that_contradicts_itself_is_refused() {
    let sandbox = sandbox();
    for args in [
        &["2", "enforce", "--as", "refuted"][..],
        &["2", "enforce", "--ref", "x"],
        &["2", "dismiss", "--as", "deferred"],
        &["2", "dismiss", "--as", "duplicate"],
        &["2", "dismiss", "--ref", "x"],
        &["2", "escalate"],
        &["9", "dismiss"],
        &["x", "dismiss"],
    ] {
        let output = sandbox.glee(&[&["disputes", "resolve"], args].concat());
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (2, ""),
            "{args:?}: {output}"
        );
    }
    let open = sandbox.glee(&["disputes", "--open", "--json"]).stdout;
    assert_eq!(open.matches("\"number\"").count(), 2);
}

#[test]
fn an_altered_record_is_named() {
    let sandbox = with_disputes(Sandbox::local());
    let good = sandbox.glee(&["disputes", "verify"]);
    assert!(
        good.stdout
            .starts_with("7 records are in order; the last record has the hash\n"),
        "{good}"
    );
    let path = database(&sandbox);
    let bytes = std::fs::read(&path).expect("the database");
    let (from, to) = (b"The value is a constant.", b"The value is no constant");
    let at = bytes
        .windows(from.len())
        .position(|window| window == from)
        .expect("it is recorded");
    let mut altered = bytes.clone();
    altered[at..at + to.len()].copy_from_slice(to);
    std::fs::write(&path, altered).expect("a written file");
    let output = sandbox.glee(&["disputes", "verify"]);
    assert_eq!(output.code, 7, "{output}");
    assert!(
        output
            .stderr
            .contains(&format!("of run {RUN}) was altered\n")),
        "{output}"
    );
}

#[test]
fn a_damaged_history_shows_its_good_part() {
    let sandbox = with_disputes(Sandbox::local());
    let path = database(&sandbox);
    let bytes = std::fs::read(&path).expect("the database");
    let torn = &bytes[..bytes.len() - 4096];
    std::fs::write(&path, torn).expect("a written file");
    let output = sandbox.glee(&["disputes", "--json"]);
    assert_eq!(output.code, 7, "{output}");
    assert_eq!(output.stdout.matches("\"number\"").count(), 3, "{output}");
    assert!(
        output
            .stderr
            .starts_with("error: the history `[STATE]/repos/"),
        "{output}"
    );
    let output = sandbox.glee(&["disputes", "resolve", "3", "enforce", "--by", "Test"]);
    assert_eq!(output.code, 7, "{output}");
    assert_eq!(std::fs::read(&path).expect("the database"), torn);
}

#[test]
fn another_history_can_be_named() {
    let sandbox = with_disputes(Sandbox::local());
    let elsewhere = Sandbox::new();
    let path = database(&sandbox).display().to_string();
    let output = elsewhere.glee(&["--history", &path, "disputes", "--json"]);
    assert_eq!(output.stdout.matches("\"number\"").count(), 3, "{output}");
    let output = elsewhere.glee(&["--history", "/dev/null", "disputes"]);
    assert_eq!(output.code, 7, "{output}");
}

#[test]
fn no_command_works_inside_git() {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    let inside = sandbox.glee(&["-C", ".git", "disputes"]);
    assert_eq!((inside.code, inside.stdout.as_str()), (2, ""), "{inside}");
}
