//! Snapshots of every command that a person reads, in terminals of three widths. No line is wider than the terminal.

use std::collections::BTreeMap;

use rstest::rstest;

use crate::consensus::{self, table};
use crate::pull_requests;
use crate::shop::{shop, unchanged};
use crate::support::pty::Pty;
use crate::support::{Output, Sandbox};
use crate::watch::{self, Watching};

/// What a person types, without `glee`.
type Typed = &'static [&'static str];

/// The records of a review, and what people do with them.
const RECORDS: &[Typed] = &[
    &["review", "examples/shop", "--dry-run"],
    &["review", "examples/shop", "--dry-run", "--verbose"],
    &["runs"],
    &["runs", "list"],
    &["runs", "show"],
    &["runs", "show", "--quiet"],
    &["runs", "diff"],
    &["runs", "replay"],
    &["runs", "wait", "last"],
    &["runs", "stop", "last"],
    &["runs", "apply"],
    &["runs", "drop"],
    &["runs", "prune", "--dry-run"],
    &["runs", "undo", "--dry-run"],
    &["runs", "resume"],
    &["show", "F1"],
    &["show", "F3"],
    &["keep", "F3"],
    &["findings"],
    &["findings", "--all"],
    &["disputes"],
    &["disputes", "list", "--open"],
    &["disputes", "show", "1"],
    &["disputes", "show", "2"],
    &["disputes", "verify"],
    &["disputes", "check"],
    &["disputes", "prune"],
    &["disputes", "share", "--dry-run"],
    &["stats"],
    &["stats", "--by", "role"],
    &["stats", "audit", "--dry-run"],
    &[
        "disputes",
        "resolve",
        "1",
        "enforce",
        "--reason",
        "No tunnel is for ever",
    ],
    &["disputes", "reopen", "1", "--reason", "Too early"],
    &[
        "dismiss",
        "F1",
        "--as",
        "accepted-risk",
        "--until",
        "2099-12-31",
        "--reason",
        "only in tests",
        "--by",
        "Ann",
    ],
    &["show", "F1"],
    &["answer", "F4", "implemented"],
    &["fix", "F2"],
    &["disputes", "share"],
    &["runs", "undo", "--yes"],
    &["runs", "undo", "--redo", "--yes"],
    &["findings", "--all"],
    &["hook", "list"],
    &["hook", "install", "pre-commit"],
    &["hook", "run", "pre-commit"],
    &["hook", "print", "claude"],
    &["hook", "uninstall", "pre-commit"],
    &["integrate", "claude", "--print"],
];

/// The settings and the agents of a new project.
const SETTINGS: &[Typed] = &[
    &["help"],
    &["help", "--all"],
    &["review", "--help"],
    &["init", "--yes"],
    &["init", "--yes"],
    &[
        "connect",
        "builtin:rules",
        "--role",
        "reviewer",
        "--name",
        "second",
    ],
    &["agents"],
    &["agents", "list"],
    &["agents", "--known"],
    &["disconnect", "second"],
    &["config", "set", "review.older", "hide"],
    &["config", "get", "review"],
    &["config", "list"],
    &["config", "show", "review.older"],
    &["config", "unset", "review.older"],
    &["config", "path"],
    &["config", "edit"],
    &["trust", "--show"],
    &["trust"],
    &["doctor"],
    &["watch"],
    &["runs"],
    &["stats", "deadlocks"],
    &["consensus"],
    &["rules", "test", "labelled"],
    &["vote", "votes.json"],
    &["merge", "findings.json"],
    &["parse", "answer.txt", "--format", "text"],
];

/// Agents that agree on a plan, and agents that do not.
const AGREEMENT: &[Typed] = &[
    &[
        "consensus",
        "ask",
        "Plan the queue",
        "--stage",
        "plan",
        "--id",
        "S1",
    ],
    &["consensus", "run", "plan.yml", "--id", "S2"],
    &[
        "consensus",
        "resolve",
        "S3",
        "a",
        "--reason",
        "One store is enough",
    ],
    &["consensus", "list"],
    &["consensus"],
    &["gate", "pre-planning", "--questions", "q.yml", "--id", "G1"],
    &["gate", "answer", "G1", "db", "SQLite"],
    &["stats", "deadlocks"],
];

/// A watch that runs.
const WATCH: &[Typed] = &[
    &[
        "emit",
        "milestone",
        "--agent",
        "codex",
        "--summary",
        "the parser is done",
        "--wait",
    ],
    &["watch", "status"],
    &["watch", "issues"],
    &["watch", "issues", "list"],
    &["watch", "issues", "close", "1"],
    &["watch", "pause"],
    &["watch", "resume"],
    &["watch", "stop"],
];

/// A pull request with a finding in it.
const PULL_REQUEST: &[Typed] = &[
    &["review", "--pr", "7"],
    &["pr", "publish", "--pr", "7", "--dry-run"],
    &["pr", "publish", "--pr", "7"],
    &["pr", "arbitrate", "7"],
];

/// The commands whose screens are not in a snapshot, each with the reason.
const OTHERS: &[(&str, &str)] = &[
    ("completions", "prints a script for a shell"),
    ("man", "prints the source of a manual page"),
    (
        "watch review",
        "prints the line of `watch status` while the cycle that it begins changes it",
    ),
    ("mcp", "speaks JSON with an agent"),
    ("config schema", "prints a JSON Schema"),
    ("agents schema", "prints a JSON Schema"),
    ("hook agent", "answers an agent in JSON"),
    (
        "server init",
        "needs a database: `tests/programs/server.rs` reads it",
    ),
    (
        "server budget",
        "prints nothing: `tests/fleet` sets a budget",
    ),
    ("server limit", "prints nothing: `tests/fleet` sets a limit"),
    ("worker", "needs a database: `tests/fleet` runs it"),
    (
        "serve",
        "prints an address with a token until it is stopped",
    ),
    (
        "rules list",
        "has hundreds of rows of one form: only its width is checked",
    ),
];

/// Runs a command in a pseudo-terminal of this width, and checks that no line is wider.
fn in_terminal(sandbox: &Sandbox, columns: usize, args: &[&str]) -> Output {
    let width = u16::try_from(columns).expect("a width of a terminal");
    let mut command = sandbox.command(args);
    // clap's help knows the variable, not the option.
    command.env("NO_COLOR", "1");
    let (_, shown) = Pty::sized(&command, width, 40).end_raw();
    let shown = shown.replace('\r', "");
    for line in shown.lines() {
        assert!(
            line.chars().count() <= columns || is_whole(line, args),
            "more than {columns} columns: {line}\n{shown}"
        );
        assert_eq!(slip(line), None, "{line}\n{shown}");
    }
    Output {
        code: 0,
        stdout: sandbox.placeholders(&shown),
        stderr: String::new(),
    }
}

/// Code, commands, paths and what another program reads are never wrapped nor cut.
fn is_whole(line: &str, args: &[&str]) -> bool {
    let words = args.iter().skip_while(|word| word.starts_with("--"));
    let typed = words.copied().collect::<Vec<_>>().join(" ");
    let is_code = ["runs diff", "merge", "vote", "hook print", "integrate"]
        .iter()
        .any(|code| typed.starts_with(code));
    let is_fix = [" = fix: ", "  Fix: "].iter().any(|fix| line.contains(fix));
    let words = line.trim().trim_end_matches([',', '.', ';']);
    let is_command = line.starts_with("  glee ") || words.starts_with('`') && words.ends_with('`');
    let test = include_str!("../../examples/shop/tests/test_catalog.py");
    let is_test = test
        .lines()
        .any(|code| line.ends_with(code) && !code.is_empty());
    is_code || is_fix || is_test || is_command || !words.contains(' ')
}

/// A word that stands twice, or that is written together with the number before it, as in `a person person` and `2other`; a
/// list that is empty; a phrase that readers did not understand.
fn slip(line: &str) -> Option<String> {
    let mut unclear = [": . ", ": ;", "counts as KEEP", "needed for a decision"].iter();
    let sentence = format!("{line} ");
    if let Some(phrase) = unclear.find(|phrase| sentence.contains(*phrase)) {
        return Some((*phrase).to_owned());
    }
    let is_word = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase());
    let glued = regex::Regex::new(r"(?:^| )\d+(?:other|more|file|finding|line)s?\b")
        .expect("the pattern is well-formed");
    let words: Vec<&str> = line.split(' ').collect();
    let twice = words
        .windows(2)
        .find(|pair| pair[0] == pair[1] && is_word(pair[0]));
    let glued = glued.find(line).map(|found| found.as_str());
    glued.or(twice.map(|pair| pair[0])).map(str::to_owned)
}

#[test]
fn a_slip_is_seen() {
    for (line, seen) in [
        ("a person person rules", Some("person")),
        ("and 2other files", Some(" 2other")),
        ("Evidence from two: .", Some(": . ")),
        ("3 other files, a file or two", None),
    ] {
        assert_eq!(slip(line).as_deref(), seen, "{line}");
    }
}

/// The screens of a session, command by command.
fn screens(sandbox: &Sandbox, columns: usize, session: &[Typed]) -> String {
    let screen = |typed: &Typed| {
        let mut args = typed.to_vec();
        if !typed.contains(&"help") {
            args.splice(0..0, ["--no-input"]);
        }
        // Agents that answer side by side end in any order, which the lines about them show.
        if ["consensus", "gate"].contains(&typed[0]) {
            args.splice(0..0, ["--quiet"]);
        }
        let output = in_terminal(sandbox, columns, &args);
        let shown = output.stable().replacen("exit: 0\n--- stdout\n", "", 1);
        format!("$ glee {}\n{shown}\n", typed.join(" "))
    };
    session.iter().map(screen).collect()
}

/// Checks a session in each width. The session changes its sandbox, so that each width has its own.
fn check(name: &str, columns: usize, sandbox: &Sandbox, session: &[Typed]) {
    let shown = screens(sandbox, columns, session);
    // The port of the host's double, Glee's own version, those of programs, and the time left change.
    let varying = regex::Regex::new(r"127\.0\.0\.1:\d{5}|\b14m \d\ds\b|\b\d+\.\d+\.\d+\b");
    let varying = varying.expect("the pattern is well-formed");
    let shown = varying.replace_all(&shown, "[VARIES]");
    insta::assert_snapshot!(format!("{name}_in_{columns}_columns"), shown);
}

/// A terminal without cursor movement, in which no live view is drawn.
fn in_plain_terminal(mut sandbox: Sandbox) -> Sandbox {
    sandbox.env("TERM", "dumb");
    sandbox
}

#[rstest]
fn records(#[values(50, 80, 120)] columns: usize) {
    let sandbox = in_plain_terminal(shop(unchanged));
    let reviewed = sandbox.glee(&["review", "examples/shop", "--arbitrate", "--jobs", "1"]);
    assert_eq!(reviewed.code, 3, "{reviewed}");
    in_terminal(&sandbox, columns, &["rules", "list"]);
    check("records", columns, &sandbox, RECORDS);
}

#[rstest]
fn settings(#[values(50, 80, 120)] columns: usize) {
    let mut sandbox = in_plain_terminal(Sandbox::new());
    sandbox.git_init();
    sandbox.env("EDITOR", "true");
    sandbox.write("votes.json", include_str!("screens/votes.json"));
    sandbox.write("findings.json", include_str!("screens/findings.json"));
    sandbox.write("auth.py", include_str!("screens/auth.py"));
    sandbox.write(
        "answer.txt",
        "[MUST] auth.py:1 Check the name\n\nGLEE-REVIEW-END nonce=1 findings=1\n",
    );
    sandbox.write(
        "labelled/a.py",
        "import os\n\n\ndef run(name):\n    os.system(\"ls \" + name)\n",
    );
    sandbox.write(
        "labelled/labels.jsonl",
        "{\"file\": \"a.py\", \"labels\": [{\"line\": 5, \"category\": \"command-injection\"}]}\n",
    );
    check("settings", columns, &sandbox, SETTINGS);
}

#[rstest]
fn agreement(#[values(50, 80, 120)] columns: usize) {
    let sandbox = in_plain_terminal(table());
    sandbox.write("plan.yml", "prompt: Plan the queue\nstages: [plan]\n");
    sandbox.write("q.yml", consensus::QUESTIONS);
    consensus::says(&sandbox, "g", "aggregate", consensus::CONFLICT);
    consensus::answers(&sandbox, [Some("SQLite"), Some("PostgreSQL"), None]);
    let waiting = sandbox.glee(&[
        "consensus",
        "ask",
        "Plan it",
        "--stage",
        "plan",
        "--id",
        "S3",
    ]);
    assert_eq!(waiting.code, 3, "{waiting}");
    check("agreement", columns, &sandbox, AGREEMENT);
}

#[rstest]
fn watching(#[values(50, 80, 120)] columns: usize) {
    let sandbox = in_plain_terminal(watch::scene(&[]));
    std::fs::write(watch::verdict(&sandbox), "concerns").expect("a written file");
    let _watching = Watching::begin(&sandbox, &[]);
    check("watching", columns, &sandbox, WATCH);
}

#[rstest]
fn a_pull_request(#[values(50, 80, 120)] columns: usize) {
    let mut scene = pull_requests::with_findings();
    scene.sandbox.env("TERM", "dumb");
    check("a_pull_request", columns, &scene.sandbox, PULL_REQUEST);
}

/// The commands that `glee help` names below this one, and whether it also does something without them.
fn commands(sandbox: &Sandbox, above: &[String], found: &mut BTreeMap<String, bool>) {
    let mut help: Vec<&str> = vec!["help"];
    help.extend(above.iter().map(String::as_str));
    if above.is_empty() {
        help.push("--all");
    }
    let page = sandbox.glee(&help).stdout;
    let name = match above {
        [] => r"(?m)^(?:\w[\w ]{11}| {12})([a-z]+)  ",
        _ => r"(?m)^  ([a-z]+)  ",
    };
    let name = regex::Regex::new(name).expect("the pattern is well-formed");
    let section = match above {
        [] => Some(page.as_str()),
        _ => page
            .split("\nCommands:\n")
            .nth(1)
            .and_then(|rest| rest.split("\n\n").next()),
    };
    if !above.is_empty() {
        let needs = page.contains(&format!(
            "Usage: glee {} [OPTIONS] <COMMAND>",
            above.join(" ")
        )) || page.contains(&format!("Usage: glee {} <COMMAND>", above.join(" ")));
        found.insert(above.join(" "), !needs);
    }
    for name in name.captures_iter(section.unwrap_or_default()) {
        if &name[1] != "help" {
            commands(sandbox, &[above, &[name[1].to_owned()]].concat(), found);
        }
    }
}

#[test]
fn every_command_has_a_screen_or_a_reason() {
    let mut known = BTreeMap::new();
    commands(&Sandbox::new(), &[], &mut known);
    assert!(known.len() > 60, "{known:?}");
    let sessions = [RECORDS, SETTINGS, AGREEMENT, WATCH, PULL_REQUEST].concat();
    let typed: Vec<String> = sessions.iter().map(|args| args.join(" ") + " ").collect();
    let others: Vec<&str> = OTHERS.iter().map(|(name, _)| *name).collect();
    let lacks = |name: &str| {
        let shown = |typed: &&String| {
            let longest = known
                .keys()
                .filter(|known| typed.starts_with(&format!("{known} ")));
            longest
                .max_by_key(|known| known.len())
                .is_some_and(|known| known == name)
        };
        !others.contains(&name) && !typed.iter().any(|typed| shown(&typed))
    };
    let lacking: Vec<&String> = known
        .iter()
        .filter(|(name, does)| **does && lacks(name))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(lacking, Vec::<&String>::new(), "commands without a screen");
    for name in others {
        assert!(known.contains_key(name), "`{name}` is no command");
    }
}
