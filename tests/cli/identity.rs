//! Tests which history belongs to which tree: clones, worktrees, moved folders, shallow checkouts, unrelated trees.

use std::fs;
use std::path::Path;
use std::process::Command;

use glee_model::domain::event::{DisputeEvent, EventKind, ReviewEvent, RunEvent};
use glee_model::domain::{
    AgentName, Answer, Disposition, Finding, FindingId, RawFinding, Response, RunId, Severity, Tag,
};
use glee_store::history::{self, GivenRuling, Journal};
use glee_workspace::Identity;
use glee_workspace::Workspace;

use crate::disputes::plan;
use crate::support::Sandbox;

fn finding(id: u32, title: &str) -> Finding {
    Finding {
        mandatory: true,
        raised_by: vec![AgentName::from("codex")],
        ..Finding::raised(
            FindingId::new(id),
            RawFinding {
                severity: Severity::known(Tag::Must),
                title: title.into(),
                file: Some("src/db.rs".to_owned()),
                line: Some(3),
                ..RawFinding::default()
            },
        )
    }
}

/// Records a run whose disputes a person dismissed.
fn rule(journal: &mut Journal, run: &RunId, commit: Option<String>, titles: &[&str]) {
    let mut plan = plan();
    plan.commit = commit;
    journal
        .append(
            run,
            ReviewEvent::RunStarted {
                plan: Box::new(plan),
            },
        )
        .expect("an event");
    for (id, title) in (1..).zip(titles) {
        let objection = Response {
            finding: FindingId::new(id),
            answer: Answer::Disagree,
            text: "It is a constant.".into(),
            evidence: Vec::new(),
            demonstration: None,
        };
        let opened = journal
            .open_dispute(run, finding(id, title), objection)
            .expect("a dispute");
        let EventKind::Dispute(DisputeEvent::DisputeOpened { dispute }) = opened.kind else {
            panic!("a dispute is opened")
        };
        journal
            .resolve(
                dispute.number,
                GivenRuling::new(Disposition::Refuted, "it is"),
            )
            .expect("a ruling");
    }
    let exit = glee_model::domain::ExitReason::Clean;
    journal
        .append(run, RunEvent::RunEnded { exit, millis: 1 })
        .expect("an event");
}

fn rule_in(sandbox: &Sandbox, folder: &str, title: &str) {
    let workspace = Workspace::discover(&sandbox.root().join(folder)).expect("a tree");
    let place = workspace.claim_history(&sandbox.state()).expect("a place");
    let mut journal =
        Journal::open(&history::path_for(&sandbox.state(), &place.key)).expect("a history");
    let run = RunId(uuid(title));
    rule(
        &mut journal,
        &run,
        workspace.head().map(str::to_owned),
        &[title],
    );
}

/// An id derived from a text.
fn uuid(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

/// The titles of the disputes listed in a folder: own and shared ones.
fn listed(sandbox: &Sandbox, folder: &str) -> (Vec<String>, Vec<String>) {
    let output = sandbox.glee(&[
        "-C",
        if folder.is_empty() { "." } else { folder },
        "disputes",
        "--json",
    ]);
    assert_eq!(output.code, 0, "{folder}: {output}");
    let json: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    let title = |value: &serde_json::Value| value.as_str().expect("a title").to_owned();
    let own = json["disputes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| title(&row["title"]))
        .collect();
    let rest = json["elsewhere"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter();
    (
        own,
        rest.map(|row| title(&row["dispute"]["finding"]["title"]))
            .collect(),
    )
}

fn own(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    listed(sandbox, folder).0
}

fn identity(sandbox: &Sandbox, folder: &str) -> Identity {
    let workspace = Workspace::discover(&sandbox.root().join(folder)).expect("a tree");
    workspace
        .history(&sandbox.state())
        .expect("a place")
        .identity
}

fn repository() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("a.rs", "fn a() {}\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Two"]);
    sandbox
}

fn clone(sandbox: &Sandbox, args: &[&str]) {
    let args: Vec<&str> = ["-c", "protocol.file.allow=always", "clone", "-q"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    sandbox.git(&args);
}

#[test]
fn clones_worktrees_moved_folders_and_shallow_checkouts_share_a_history() {
    for with_id in [false, true] {
        let sandbox = repository();
        if with_id {
            sandbox.write(".glee/config.yml", "project: {id: shop-1}\n");
            sandbox.git(&["add", "-A"]);
            sandbox.git(&["commit", "-q", "-m", "Name the project"]);
        }
        let url = format!("file://{}", sandbox.root().display());
        rule_in(&sandbox, "", "One");
        clone(&sandbox, &[".", "../second"]);
        clone(&sandbox, &["--depth", "1", &url, "../ci"]);
        sandbox.git(&["worktree", "add", "-q", "../linked"]);
        for folder in ["", "../second", "../linked", "../ci"] {
            assert_eq!(own(&sandbox, folder), ["One"], "{folder} {with_id}");
        }
        rule_in(&sandbox, "../ci", "Two");
        let sub = sandbox.root().join("../second");
        fs::rename(&sub, sandbox.root().join("../moved")).expect("a moved folder");
        for folder in ["", "../moved", "../linked", "../ci"] {
            assert_eq!(own(&sandbox, folder), ["Two", "One"], "{folder} {with_id}");
        }
        assert_eq!(
            fs::read_dir(sandbox.root().join(".git"))
                .expect("git")
                .flatten()
                .filter(|e| e.file_name() == "glee-id")
                .count(),
            0
        );
    }
}

#[test]
fn a_shallow_checkout_that_came_first_hands_its_history_to_the_whole_clone() {
    let sandbox = repository();
    let url = format!("file://{}", sandbox.root().display());
    clone(&sandbox, &["--depth", "1", &url, "../ci"]);
    assert!(
        matches!(identity(&sandbox, "../ci"), Identity::Remote(address) if address.starts_with("file:/"))
    );
    rule_in(&sandbox, "../ci", "One");
    clone(&sandbox, &[&url, "../whole"]);
    assert_eq!(own(&sandbox, "../whole"), ["One"]);
    let output = sandbox.glee(&[
        "-C", "../ci", "disputes", "reopen", "1", "--reason", "again",
    ]);
    assert!(
        output.code == 0 && output.stderr.contains("glee config set project.id"),
        "{output}"
    );
}

#[test]
fn an_unrelated_merge_an_orphan_and_a_new_id_keep_apart_what_is_apart() {
    let sandbox = repository();
    rule_in(&sandbox, "", "One");
    let root = identity(&sandbox, "");
    assert!(matches!(root, Identity::Root(_)));
    sandbox.git(&["init", "-q", "-b", "main", "../other"]);
    sandbox.git(&[
        "-C",
        "../other",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "Other",
    ]);
    assert_eq!(own(&sandbox, "../other"), Vec::<String>::new());
    sandbox.git(&["fetch", "-q", "../other", "main:other"]);
    sandbox.git(&[
        "merge",
        "-q",
        "--allow-unrelated-histories",
        "-m",
        "Merge",
        "other",
    ]);
    assert_eq!(identity(&sandbox, ""), root);
    assert_eq!(own(&sandbox, ""), ["One"]);
    // The project gets an id: the history remains, also for an older checkout.
    sandbox.write(".glee/config.yml", "project: {id: shop-1}\n");
    assert_eq!(
        identity(&sandbox, ""),
        Identity::Project("shop-1".to_owned())
    );
    rule_in(&sandbox, "", "Two");
    clone(&sandbox, &[".", "../before"]);
    assert_eq!(
        (own(&sandbox, ""), own(&sandbox, "../before")),
        (
            vec!["Two".into(), "One".into()],
            vec!["Two".into(), "One".into()]
        )
    );
    // A fork with another id starts a separate history.
    fs::create_dir(sandbox.root().join("../before/.glee")).expect("a folder");
    fs::write(
        sandbox.root().join("../before/.glee/config.yml"),
        "project: {id: fork-2}\n",
    )
    .expect("a file");
    assert_eq!(own(&sandbox, "../before"), Vec::<String>::new());
}

#[test]
fn a_copied_project_id_joins_no_history() {
    let sandbox = repository();
    sandbox.write(".glee/config.yml", "project: {id: shop-1}\n");
    rule_in(&sandbox, "", "One");
    sandbox.git(&["init", "-q", "-b", "main", "../hostile"]);
    let hostile = sandbox.root().join("../hostile");
    fs::create_dir(hostile.join(".glee")).expect("a folder");
    fs::write(hostile.join(".glee/config.yml"), "project: {id: shop-1}\n").expect("a file");
    // Before and after its first commit.
    assert_eq!(own(&sandbox, "../hostile"), Vec::<String>::new());
    sandbox.git(&[
        "-C",
        "../hostile",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "Hostile",
    ]);
    assert_eq!(own(&sandbox, "../hostile"), Vec::<String>::new());
    rule_in(&sandbox, "../hostile", "Forged");
    assert_eq!(
        (own(&sandbox, ""), own(&sandbox, "../hostile")),
        (vec!["One".to_owned()], vec!["Forged".to_owned()])
    );
    let doctor = sandbox.glee(&["-C", "../hostile", "doctor"]);
    assert!(
        doctor
            .stdout
            .contains("another repository on this machine has the `project.id` `shop-1`"),
        "{doctor}"
    );
    // A shallow clone is identified by its remote.
    fs::create_dir(sandbox.root().join("../outside")).expect("a folder");
    fs::write(hostile.join("x"), "x").expect("a file");
    sandbox.git(&["-C", "../hostile", "add", "-A"]);
    sandbox.git(&["-C", "../hostile", "commit", "-q", "-m", "x"]);
    clone(
        &sandbox,
        &[
            "--depth",
            "1",
            &format!("file://{}", hostile.display()),
            "../shallow",
        ],
    );
    assert!(!own(&sandbox, "../shallow").contains(&"One".to_owned()));
}

#[test]
fn another_repository_at_the_same_path_inherits_nothing() {
    let sandbox = repository();
    rule_in(&sandbox, "", "Old");
    assert_eq!(own(&sandbox, ""), ["Old"]);
    fs::rename(
        sandbox.root().join(".git"),
        sandbox.root().join("../kept.git"),
    )
    .expect("a moved folder");
    sandbox.git_init();
    sandbox.git(&[
        "commit",
        "-q",
        "--amend",
        "--allow-empty",
        "-m",
        "Another beginning",
    ]);
    assert_eq!(own(&sandbox, ""), Vec::<String>::new());
    rule_in(&sandbox, "", "New");
    assert_eq!(own(&sandbox, ""), ["New"]);
    fs::remove_dir_all(sandbox.root().join(".git")).expect("a removed folder");
    fs::rename(
        sandbox.root().join("../kept.git"),
        sandbox.root().join(".git"),
    )
    .expect("a moved folder");
    rule_in(&sandbox, "", "Newer");
    assert_eq!(own(&sandbox, ""), ["Newer", "Old"]);
}

#[test]
fn the_history_is_found_when_the_git_folder_is_gone() {
    let sandbox = repository();
    rule_in(&sandbox, "", "Old");
    fs::remove_dir_all(sandbox.root().join(".git")).expect("a removed folder");
    assert_eq!(own(&sandbox, ""), ["Old"]);
    // Another folder at the same path is younger than the history.
    fs::remove_dir_all(sandbox.root()).expect("a removed folder");
    fs::create_dir(sandbox.root()).expect("a folder");
    assert_eq!(own(&sandbox, ""), Vec::<String>::new());
}

#[test]
fn two_histories_of_one_project_are_one_and_nothing_is_renumbered() {
    let sandbox = Sandbox::new();
    let folders = ["../first", "../second"];
    for (folder, title) in folders.into_iter().zip(["First", "Second"]) {
        fs::create_dir_all(sandbox.root().join(folder).join(".glee")).expect("a folder");
        rule_in(&sandbox, folder, title);
    }
    let second = Workspace::discover(&sandbox.root().join("../second")).expect("a tree");
    let second = second.history(&sandbox.state()).expect("a place").key;
    for folder in folders {
        let config = sandbox.root().join(folder).join(".glee/config.yml");
        fs::write(config, "project: {id: shop-1}\n").expect("a file");
    }
    rule_in(&sandbox, "../first", "Third");
    // Eight threads merge them concurrently.
    std::thread::scope(|scope| {
        for folder in folders.iter().cycle().take(8) {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let workspace = Workspace::discover(&sandbox.root().join(folder)).expect("a tree");
                workspace.claim_history(&sandbox.state()).expect("a place");
            });
        }
    });
    for folder in folders {
        let (own, rest) = listed(&sandbox, folder);
        assert_eq!(
            (own, rest),
            (
                vec!["Third".to_owned(), "First".to_owned()],
                vec!["Second".to_owned()]
            ),
            "{folder}"
        );
    }
    assert!(history::path_for(&sandbox.state(), &second).is_file());
    let id = glee_model::domain::DisputeId::of(&RunId(uuid("Second")), FindingId::new(1));
    for name in [id.0.as_str(), &id.0[..6]] {
        let shown = sandbox.glee(&["-C", "../first", "disputes", "show", name]);
        assert!(
            shown.code == 0 && shown.stdout.contains(&format!("Dispute {id} · refuted")),
            "{shown}"
        );
        assert!(shown.stdout.contains("from history "), "{shown}");
    }
    let verified = sandbox.glee(&["-C", "../first", "disputes", "verify"]);
    assert_eq!(verified.code, 0, "{verified}");
}

#[test]
fn a_history_from_before_the_first_commit_goes_on_with_it_and_a_folder_has_its_path() {
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "-q", "-b", "main"]);
    rule_in(&sandbox, "", "Early");
    assert!(matches!(identity(&sandbox, ""), Identity::Unborn(Some(_))));
    fs::rename(sandbox.root(), sandbox.root().with_file_name("away")).expect("a moved folder");
    fs::create_dir(sandbox.root()).expect("a folder");
    assert_eq!(own(&sandbox, "../away"), ["Early"]);
    sandbox.git(&[
        "-C",
        "../away",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "Begin",
    ]);
    assert!(matches!(identity(&sandbox, "../away"), Identity::Root(_)));
    assert_eq!(own(&sandbox, "../away"), ["Early"]);
    rule_in(&sandbox, "../away", "Later");
    clone(&sandbox, &["../away", "../clone"]);
    assert_eq!(own(&sandbox, "../clone"), ["Later", "Early"]);
    assert_eq!(identity(&sandbox, ""), Identity::Folder);
    rule_in(&sandbox, "", "Plain");
    assert_eq!(own(&sandbox, ""), ["Plain"]);
}

#[test]
fn init_writes_an_id_and_nobody_else_sets_one() {
    let mut sandbox = Sandbox::new();
    sandbox.git_init();
    assert_eq!(sandbox.glee(&["init", "--yes"]).code, 0);
    let listed = sandbox.glee(&["config", "get", "project.id"]);
    let id = listed.stdout.trim().to_owned();
    assert!(
        id.len() == 16 && id.chars().all(|c| c.is_ascii_hexdigit()),
        "{listed}"
    );
    assert_eq!(identity(&sandbox, ""), Identity::Project(id));
    sandbox.write(".glee/config.yml", "project: {id: ../../x}\n");
    let refused = sandbox.glee(&["disputes"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("`project.id` cannot be `../../x`"),
        "{refused}"
    );
    sandbox.write(".glee/config.yml", "project: {id: shop-1}\nfuture: 1\n");
    assert_eq!(
        sandbox.glee(&["disputes"]).code,
        0,
        "what else is in the file is no matter"
    );
    sandbox.write(".glee/config.yml", "");
    sandbox.env("GLEE_PROJECT_ID", "mine-1");
    let refused = sandbox.glee(&["config", "list"]);
    assert!(
        refused.code == 2
            && refused
                .stderr
                .contains("only the project's file can set `project.id`"),
        "{refused}"
    );
}

#[test]
fn reading_costs_two_more_processes_and_version_none() {
    let mut sandbox = repository();
    let real = which("git");
    sandbox.program(
        "git",
        &format!(
            "#!/bin/sh\necho \"$*\" >> {0}/log\nexec {real} \"$@\"\n",
            sandbox.home().display()
        ),
    );
    let path = std::env::var("PATH").expect("a path");
    sandbox.env(
        "PATH",
        format!("{}:{path}", sandbox.home().with_file_name("bin").display()),
    );
    let count = |args: &[&str]| {
        let log = sandbox.home().join("log");
        drop(fs::remove_file(&log));
        assert_eq!(sandbox.glee(args).code, 0);
        fs::read_to_string(&log).unwrap_or_default().lines().count()
    };
    assert_eq!(count(&["--version"]), 0);
    let rule = |sandbox: &Sandbox| rule_in(sandbox, "", "One");
    rule(&sandbox);
    assert_eq!(
        count(&["disputes"]),
        3,
        "the tree, its root commit, its remote"
    );
}

fn which(program: &str) -> String {
    let output = Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .output()
        .expect("a shell");
    let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    assert!(Path::new(&path).is_absolute());
    path
}
