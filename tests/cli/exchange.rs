//! Tests `glee history push` and `fetch`: clones with separate state folders, concurrent pushes, untrusted records.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use glee_model::domain::RunId;
use glee_store::history::{self, Journal};
use glee_workspace::Workspace;

use crate::identity::{rule, uuid};
use crate::support::{Output, Sandbox};

/// A repository with a bare remote and clones of it.
fn repository(clones: usize) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.env("GIT_CONFIG_COUNT", "0");
    sandbox.git_init();
    sandbox.git(&["clone", "-q", "--bare", ".", "../origin.git"]);
    for clone in 0..clones {
        sandbox.git(&["clone", "-q", "../origin.git", &format!("../c{clone}")]);
    }
    sandbox
}

fn folder(sandbox: &Sandbox, clone: usize) -> PathBuf {
    sandbox.root().with_file_name(format!("c{clone}"))
}

fn state(sandbox: &Sandbox, clone: usize) -> PathBuf {
    sandbox.root().with_file_name(format!("state{clone}"))
}

/// Records a run with disputes in the history of a clone.
fn rule_in(sandbox: &Sandbox, clone: usize, titles: &[&str]) {
    let workspace = Workspace::discover(&folder(sandbox, clone)).expect("a tree");
    let place = workspace
        .claim_history(&state(sandbox, clone))
        .expect("a place");
    let mut journal =
        Journal::open(&history::path_for(&state(sandbox, clone), &place.key)).expect("a history");
    rule(
        &mut journal,
        &RunId(uuid(titles[0])),
        workspace.head().map(str::to_owned),
        titles,
    );
}

fn glee(sandbox: &Sandbox, clone: usize, args: &[&str]) -> Output {
    let mut command = sandbox.command(args);
    command
        .current_dir(folder(sandbox, clone))
        .env("GLEE_STATE_DIR", state(sandbox, clone));
    let output = command.output().expect("the binary runs");
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: sandbox.placeholders(&String::from_utf8_lossy(&output.stdout)),
        stderr: sandbox.placeholders(&String::from_utf8_lossy(&output.stderr)),
    }
}

fn paths(sandbox: &Sandbox) -> Vec<String> {
    let listed = sandbox.git(&[
        "-C",
        "../origin.git",
        "ls-tree",
        "-r",
        "--name-only",
        "refs/glee/history",
    ]);
    listed.lines().map(str::to_owned).collect()
}

#[test]
fn a_ruling_is_listed_in_another_clone_and_changes_nothing_there() {
    let sandbox = repository(2);
    rule_in(&sandbox, 0, &["Theirs\x1b[2J"]);
    rule_in(&sandbox, 1, &["Mine"]);
    let nothing = glee(&sandbox, 1, &["history", "fetch"]);
    assert_eq!(
        (nothing.code, nothing.stdout.as_str()),
        (0, "Nothing new from origin.\n"),
        "{nothing}"
    );
    let sent = glee(&sandbox, 0, &["history", "push"]);
    assert_eq!(
        (sent.code, sent.stdout.as_str()),
        (0, "Sent 3 records to origin.\n"),
        "{sent}"
    );
    let again = glee(&sandbox, 0, &["history", "push", "origin"]);
    assert_eq!(
        again.stdout, "origin is up to date: 3 records.\n",
        "{again}"
    );
    let taken = glee(&sandbox, 1, &["history", "fetch"]);
    assert_eq!(
        (taken.code, taken.stdout.as_str()),
        (0, "Fetched 3 records from origin.\n"),
        "{taken}"
    );
    insta::assert_snapshot!(glee(&sandbox, 1, &["history", "fetch"]).stdout, @"Nothing new from origin.");
    let listed = glee(&sandbox, 1, &["disputes"]);
    let lines: Vec<&str> = listed.stdout.lines().map(str::trim).collect();
    assert_eq!(lines.len(), 3, "{listed}");
    assert!(
        lines[1].starts_with("1  ") && lines[1].ends_with("Mine"),
        "{listed}"
    );
    assert!(
        lines[2].ends_with(r"src/db.rs:3 Theirs\u{1b}[2J (by Test, from origin)"),
        "{listed}"
    );
    let id = lines[2].split(' ').next().expect("an id");
    let shown = glee(&sandbox, 1, &["disputes", "show", &id[..4]]);
    assert!(
        shown.code == 0 && shown.stdout.starts_with(&format!("Dispute {id} · refuted")),
        "{shown}"
    );
    assert!(
        shown.stdout.contains("by Test, from origin")
            && !shown.stdout.contains("by you")
            && !shown.stdout.contains("Settle it"),
        "{shown}"
    );
    let json = glee(&sandbox, 1, &["disputes", "show", id, "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (json["id"].as_str(), json["elsewhere"]["source"].as_str()),
        (Some(id), Some("origin"))
    );
    assert_eq!(
        glee(&sandbox, 1, &["disputes", "resolve", "2", "enforce"]).code,
        2,
        "it has no number here"
    );
    assert_eq!(glee(&sandbox, 1, &["disputes", "verify"]).code, 0);
    // The opposite direction; fetched records are not sent back.
    insta::assert_snapshot!(glee(&sandbox, 1, &["history", "push"]).stdout, @"Sent 3 records to origin.");
    assert_eq!(paths(&sandbox).len(), 6);
    sandbox.git(&["init", "-q", "--bare", "../mirror.git"]);
    for clone in ["../c0", "../c1"] {
        assert_eq!(sandbox.git(&["-C", clone, "for-each-ref", "refs/glee"]), "");
        assert_eq!(
            sandbox.git(&[
                "-C",
                clone,
                "log",
                "--all",
                "--format=%s",
                "--grep=history of Glee"
            ]),
            ""
        );
        sandbox.git(&["-C", clone, "push", "-q", "--mirror", "../mirror.git"]);
        assert_eq!(
            sandbox.git(&["-C", "../mirror.git", "for-each-ref", "refs/glee"]),
            ""
        );
    }
    assert_eq!(sandbox.git(&["-C", "../c1", "status", "--porcelain"]), "");
    for (args, hint) in [
        (
            &["history", "push", "nowhere"][..],
            "use one of the remotes origin",
        ),
        (&["history", "fetch", "--all"], ""),
    ] {
        let output = glee(&sandbox, 1, args);
        assert!(output.code == 2 && output.stderr.contains(hint), "{output}");
    }
}

#[test]
fn a_reopened_dispute_is_sent_again() {
    let sandbox = repository(2);
    rule_in(&sandbox, 0, &["Theirs"]);
    assert_eq!(
        glee(&sandbox, 0, &["history", "push"]).stdout,
        "Sent 3 records to origin.\n"
    );
    glee(&sandbox, 1, &["history", "fetch"]);
    let reopened = glee(
        &sandbox,
        0,
        &[
            "disputes",
            "reopen",
            "1",
            "--reason",
            "the caller passes user input now",
        ],
    );
    assert_eq!(reopened.code, 0, "{reopened}");
    let sent = glee(&sandbox, 0, &["history", "push"]);
    assert_eq!(sent.stdout, "Sent 1 record to origin.\n", "{sent}");
    let taken = glee(&sandbox, 1, &["history", "fetch"]);
    assert_eq!(taken.stdout, "Fetched 1 record from origin.\n", "{taken}");
    let listed = glee(&sandbox, 1, &["disputes"]);
    let id = listed
        .stdout
        .lines()
        .nth(1)
        .and_then(|line| line.trim().split(' ').next())
        .expect("an id");
    let shown = glee(&sandbox, 1, &["disputes", "show", id]);
    assert!(
        shown.stdout.starts_with(&format!("Dispute {id} · open")),
        "{shown}"
    );
}

#[test]
fn refs_of_earlier_versions_are_removed() {
    let sandbox = repository(1);
    for name in [
        "refs/glee/remotes/origin/history",
        "refs/glee/outgoing/x",
        "refs/heads/mine",
    ] {
        sandbox.git(&["-C", "../c0", "update-ref", name, "HEAD"]);
    }
    assert_eq!(glee(&sandbox, 0, &["history", "fetch"]).code, 0);
    let left = sandbox.git(&[
        "-C",
        "../c0",
        "for-each-ref",
        "--format=%(refname)",
        "refs/glee",
        "refs/heads/mine",
    ]);
    assert_eq!(left, "refs/heads/mine\n");
}

#[test]
fn eight_clones_push_at_once_and_nothing_is_lost_or_twice() {
    let sandbox = repository(9);
    for clone in 0..8 {
        // Two of the 25 records are a run and its outcome.
        let titles: Vec<String> = (0..23)
            .map(|number| format!("Title {clone} {number}"))
            .collect();
        rule_in(
            &sandbox,
            clone,
            &titles.iter().map(String::as_str).collect::<Vec<_>>(),
        );
    }
    std::thread::scope(|scope| {
        let sandbox = &sandbox;
        let pushes =
            (0..8).map(|clone| scope.spawn(move || glee(sandbox, clone, &["history", "push"])));
        for push in pushes.collect::<Vec<_>>() {
            let push = push.join().expect("a push");
            assert_eq!(
                (push.code, push.stdout.as_str()),
                (0, "Sent 25 records to origin.\n"),
                "{push}"
            );
        }
    });
    let sent = paths(&sandbox);
    assert_eq!(sent.len(), 200);
    let taken = glee(&sandbox, 8, &["history", "fetch"]);
    assert_eq!(
        (taken.code, taken.stdout.as_str()),
        (0, "Fetched 200 records from origin.\n"),
        "{taken}"
    );
    let listed = glee(&sandbox, 8, &["disputes", "--recent", "500", "--json"]).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let titles: std::collections::BTreeSet<&str> = listed["elsewhere"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|row| row["dispute"]["finding"]["title"].as_str())
        .collect();
    assert_eq!(
        (titles.len(), listed["elsewhere"].as_array().map(Vec::len)),
        (8 * 23, Some(8 * 23))
    );
    let again = glee(&sandbox, 3, &["history", "push"]);
    insta::assert_snapshot!(again.stdout, @"origin is up to date: 25 records.");
}

/// Adds entries (mode, path, content) to the remote by a commit of `email`.
fn add(sandbox: &Sandbox, email: &str, entries: &[(String, String, Vec<u8>)]) {
    let mut input =
        format!("commit refs/glee/history\ncommitter Eve <{email}> 1 +0000\ndata 0\nfrom refs/glee/history^0\n")
            .into_bytes();
    for (mode, path, content) in entries {
        input.extend(format!("M {mode} inline {path}\ndata {}\n", content.len()).bytes());
        input.extend(content);
        input.push(b'\n');
    }
    let mut child = Command::new("git")
        .args(["fast-import", "--quiet", "--force"])
        .current_dir(sandbox.root().with_file_name("origin.git"))
        .stdin(Stdio::piped())
        .spawn()
        .expect("git is installed");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(&input)
        .expect("written");
    assert!(child.wait().expect("it ends").success());
}

fn named(content: Vec<u8>) -> (String, String, Vec<u8>) {
    let hash = blake3::hash(&content).to_hex().to_string();
    (
        "100644".to_owned(),
        format!("{}/{}", &hash[..2], &hash[2..]),
        content,
    )
}

#[test]
fn hostile_records_are_refused_and_named_and_the_rest_is_taken() {
    let sandbox = repository(2);
    rule_in(&sandbox, 0, &["Good"]);
    assert_eq!(glee(&sandbox, 0, &["history", "push"]).code, 0);
    let good = paths(&sandbox);
    let dispute = good
        .iter()
        .map(|path| {
            sandbox.git(&[
                "-C",
                "../origin.git",
                "show",
                &format!("refs/glee/history:{path}"),
            ])
        })
        .find(|text| text.contains(r#""kind":"dispute""#))
        .expect("a dispute was sent");
    let template: serde_json::Value = serde_json::from_str(&dispute).expect("JSON");
    let eve = "eve@example.org";
    let mut hostile = Vec::new();
    for number in 0..20_u32 {
        let mut own = template.clone();
        own["author"]["email"] = eve.into();
        own["body"]["run"] = uuid(&format!("hostile {number}")).into();
        let with = |change: &dyn Fn(&mut serde_json::Value)| {
            let mut value = own.clone();
            change(&mut value);
            named(value.to_string().into_bytes())
        };
        hostile.extend([
            with(&|value| value["author"]["email"] = "test@example.org".into()),
            with(&|value| value["kind"] = "order".into()),
            with(&|value| value["glee"] = 2.into()),
            with(&|value| value["extra"] = number.into()),
            with(&|value| {
                value["body"]["dispute"]["finding"]["file"] = format!("../{number}").into()
            }),
            with(&|value| value["body"]["dispute"]["finding"]["file"] = "/etc/passwd".into()),
            with(&|value| value["body"]["dispute"]["finding"]["title"] = number.into()),
            with(&|value| value["body"]["run"] = format!("../../{number}").into()),
            with(&|value| value["at"] = format!("29{number:02}-01-01T00:00:00Z").into()),
            with(&|value| value["body"]["dispute"]["finding"]["body"] = "x".repeat(300_000).into()),
            with(&|value| value["author"]["name"] = format!("a\nb{number}").into()),
            named(format!("not JSON {number}").into_bytes()),
            named([&[0xff, 0xfe, number as u8][..], own.to_string().as_bytes()].concat()),
            named(format!("{}{number}{}", "[".repeat(10_000), "]".repeat(10_000)).into_bytes()),
            (
                "100644".to_owned(),
                format!("ab/{number:062}"),
                own.to_string().into_bytes(),
            ),
            (
                "120000".to_owned(),
                format!("cd/{number:062}"),
                b"../../etc/passwd".to_vec(),
            ),
            (
                "100644".to_owned(),
                format!("deep/er/{number}"),
                own.to_string().into_bytes(),
            ),
        ]);
    }
    assert!(hostile.len() >= 300);
    add(&sandbox, eve, &hostile);
    // The same statement twice by one author.
    let mut twice = template.clone();
    twice["author"]["email"] = eve.into();
    let other = named(serde_json::to_vec_pretty(&twice).expect("JSON"));
    let first = named(twice.to_string().into_bytes());
    add(&sandbox, eve, &[first, other]);
    let fetched = glee(&sandbox, 1, &["history", "fetch"]);
    assert_eq!(
        (fetched.code, fetched.stdout.as_str()),
        (7, "Fetched 4 records from origin.\n"),
        "{fetched}"
    );
    assert!(fetched.stderr.contains("error: "), "{fetched}");
    let listed = glee(&sandbox, 1, &["disputes", "--recent", "500", "--json"]).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(
        listed["elsewhere"].as_array().map(Vec::len),
        Some(2),
        "one of each author, and none of the 340"
    );
    // The next push neither forwards invalid records nor fails because of them.
    rule_in(&sandbox, 1, &["Mine"]);
    assert_eq!(glee(&sandbox, 1, &["history", "push"]).code, 0);
    assert!(good.iter().all(|path| paths(&sandbox).contains(path)));
    assert!(!paths(&sandbox).iter().any(|path| path.starts_with("deep/")));
}
