//! Tests rulings: shared as a file, ended, revoked, superseded, pruned.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::review::{json, project};
use crate::support::{Output, Sandbox};

/// A committed project with three open disputes: 1 in `render`, 2 in `scale`, 3 in `trace`.
fn disputed() -> Sandbox {
    let sandbox = project();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Configure the review"]);
    let fixed = sandbox.glee(&["review", "app.py", "--fix"]);
    assert_eq!(fixed.code, 3, "{fixed}");
    sandbox.git(&["checkout", "-q", "app.py"]);
    sandbox
}

/// [`disputed`] with all three dismissed by a person.
fn settled() -> Sandbox {
    let sandbox = disputed();
    for (number, rest) in [
        ("1", &["--reason", "the template is ours\nand checked"][..]),
        ("2", &["--as", "accepted-risk", "--until", "2999-01-01"]),
        ("3", &["--as", "deferred", "--ref", "issue-12"]),
    ] {
        let output = sandbox.glee(
            &[
                &["disputes", "resolve", number, "dismiss", "--by", "Test"],
                rest,
            ]
            .concat(),
        );
        assert_eq!(output.code, 0, "{output}");
    }
    sandbox
}

fn commit(sandbox: &Sandbox, message: &str) {
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", message]);
}

/// The files of shared rulings by path, in the order of their findings' lines.
fn files(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folder = sandbox.root().join(".glee/rulings");
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    let line = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("line: "))
            .map(str::to_owned);
        line.and_then(|line| line.parse::<u32>().ok())
    };
    files.sort_by_key(line);
    files
}

fn id(path: &Path) -> String {
    path.file_stem()
        .expect("a name")
        .to_string_lossy()
        .into_owned()
}

/// Runs Glee in another folder of the sandbox, with a separate home and state folder.
fn elsewhere(sandbox: &Sandbox, folder: &Path, state: &str, ci: bool, args: &[&str]) -> Output {
    let own = sandbox.root().with_file_name(state);
    std::fs::create_dir_all(own.join("home")).expect("a folder");
    let mut command = sandbox.command(args);
    command
        .current_dir(folder)
        .env("GLEE_STATE_DIR", own.join("state"))
        .env("HOME", own.join("home"));
    command.env("XDG_CONFIG_HOME", own.join("home/.config"));
    if ci {
        command.env("CI", "true");
    }
    let output = command.output().expect("the binary runs");
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: sandbox.placeholders(&String::from_utf8_lossy(&output.stdout)),
        stderr: sandbox.placeholders(&String::from_utf8_lossy(&output.stderr)),
    }
}

/// The state and the dispute of each mandatory finding of `app.py`, by line.
fn states(outcome: &Value) -> Vec<String> {
    let findings = outcome["findings"]
        .as_array()
        .expect("findings are a list")
        .iter();
    let of_app = findings.filter(|finding| finding["file"] == "app.py" && finding["tag"] == "MUST");
    of_app
        .map(|finding| {
            let dispute = match &finding["dispute"] {
                Value::Null => String::new(),
                Value::String(id) => format!(" {id}"),
                number => format!(" {number}"),
            };
            format!(
                "{} {}{dispute}",
                finding["line"],
                finding["state"].as_str().unwrap_or("?")
            )
        })
        .collect()
}

fn notices(outcome: &Value) -> Vec<String> {
    let notices = outcome["notices"].as_array().into_iter().flatten();
    notices
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn prompts(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let found = entries.flat_map(|path| match path.is_dir() {
        true => prompts(&path),
        false => std::fs::read_to_string(&path).into_iter().collect(),
    });
    found.collect()
}

const REVIEW: [&str; 4] = ["review", "app.py", "--format", "json"];

#[test]
fn a_shared_ruling_holds_in_clones_worktrees_moved_folders_and_ci() {
    let sandbox = settled();
    let listed = sandbox.glee(&["disputes", "share", "--by", "Ada", "--dry-run"]);
    assert_eq!((listed.code, files(&sandbox).len()), (0, 0), "{listed}");
    assert!(
        listed.stdout.starts_with("   1  refuted  app.py:6 "),
        "{listed}"
    );
    assert!(
        listed
            .stderr
            .contains("Test <test@example.org> ruled on dispute 1, so `--by` does not apply to it"),
        "{listed}"
    );
    let shared = sandbox.glee(&["disputes", "share"]);
    assert_eq!((shared.code, files(&sandbox).len()), (0, 3), "{shared}");
    let again = sandbox.glee(&["disputes", "share"]);
    insta::assert_snapshot!(again.stdout, @"Nothing to share: every ruling in force is shared.");
    let first = std::fs::read_to_string(&files(&sandbox)[0]).expect("a file");
    for line in [
        "title: Do not evaluate text from outside",
        "rationale: |-\n  the template is ours\n  and checked\n",
        "  person: \"Test <test@example.org>\"",
    ] {
        assert!(first.contains(line), "{line}: {first}");
    }
    commit(&sandbox, "Share the rulings");
    let own = json(&sandbox.glee(&REVIEW).stdout);
    assert_eq!(
        states(&own),
        [
            "2 open",
            "6 already_ruled 1",
            "10 already_ruled 2",
            "14 already_ruled 3"
        ],
        "once each"
    );

    let ids: Vec<String> = files(&sandbox).iter().map(|path| id(path)).collect();
    let expected = vec![
        "2 open".to_owned(),
        format!("6 already_ruled {}", ids[0]),
        format!("10 already_ruled {}", ids[1]),
        format!("14 already_ruled {}", ids[2]),
    ];
    let root = sandbox.root();
    let beside = |name: &str| root.with_file_name(name);
    let (clone, moved, tree, ci) = (
        beside("clone"),
        beside("moved"),
        beside("tree"),
        beside("ci"),
    );
    let text = |path: &Path| path.display().to_string();
    sandbox.git(&["clone", "-q", ".", &text(&clone)]);
    sandbox.git(&["worktree", "add", "-q", "--detach", &text(&tree)]);
    sandbox.git(&[
        "clone",
        "-q",
        "--depth",
        "1",
        &format!("file://{}", text(&root)),
        &text(&ci),
    ]);
    let reviewed = |folder: &Path, state: &str, is_ci: bool| {
        assert_eq!(
            elsewhere(&sandbox, folder, state, is_ci, &["trust"]).code,
            0
        );
        let output = elsewhere(&sandbox, folder, state, is_ci, &REVIEW);
        assert_eq!(output.code, 1, "{output}");
        assert_eq!(states(&json(&output.stdout)), expected, "{state}: {output}");
        assert_eq!(
            elsewhere(&sandbox, folder, state, is_ci, &["disputes", "check"]).code,
            0
        );
    };
    reviewed(&clone, "one", false);
    reviewed(&tree, "two", false);
    reviewed(&ci, "three", true);
    std::fs::rename(&clone, &moved).expect("a moved folder");
    reviewed(&moved, "four", false);
    // A replay with a shared ruling has the same result.
    let replayed = elsewhere(&sandbox, &moved, "four", false, &["-v", "runs", "replay"]);
    assert_eq!(replayed.code, 1, "{replayed}");
    assert!(
        replayed
            .stdout
            .contains("already ruled: accepted risk in dispute"),
        "{replayed}"
    );
}

#[test]
fn a_change_is_not_bound_by_the_ruling_that_it_brings() {
    let sandbox = settled();
    sandbox.write(".gleeignore", ".glee\n");
    sandbox.git(&["add", ".gleeignore"]);
    sandbox.git(&["commit", "-q", "-m", "Hide the rulings"]);
    sandbox.git(&["checkout", "-q", "-b", "change"]);
    sandbox.write(
        "app.py",
        format!("{}\n\ndef more():\n    return 1\n", sandbox.read("app.py")),
    );
    assert_eq!(
        sandbox
            .glee(&["disputes", "share", "1", "--by", "Mallory"])
            .code,
        0
    );
    let name = id(&files(&sandbox)[0]);
    let path = format!(".glee/rulings/{name}.yml");
    let root = sandbox.root();
    let titles = |outcome: &Value| -> Vec<String> {
        let findings = outcome["findings"].as_array().into_iter().flatten();
        let own = findings.filter(|finding| {
            finding["rule"] == "edits-shared-rulings" && finding["mandatory"] == true
        });
        own.map(|finding| finding["title"].as_str().unwrap_or("?").to_owned())
            .collect()
    };
    let approve = |did: &str| {
        format!("A person has to approve that the change {did} the shared ruling `{path}`")
    };
    let review = |args: &[&str], ci: bool| {
        assert_eq!(elsewhere(&sandbox, &root, "other", ci, &["trust"]).code, 0);
        let output = elsewhere(
            &sandbox,
            &root,
            "other",
            ci,
            &[&["review", "--format", "json"], args].concat(),
        );
        assert_eq!(output.code, 1, "{output}");
        json(&output.stdout)
    };
    // Before the commit, the committed version applies.
    let outcome = review(&[], false);
    assert_eq!(
        (states(&outcome)[1].as_str(), titles(&outcome)),
        ("6 open", vec![approve("adds")])
    );
    commit(&sandbox, "Rule for ourselves");
    for ci in [true, false] {
        let outcome = review(&["--base", "main"], ci);
        assert_eq!(
            (states(&outcome)[1].as_str(), titles(&outcome)),
            ("6 open", vec![approve("adds")]),
            "{ci}"
        );
        let told = outcome["findings"].as_array().into_iter().flatten();
        let body: String = told
            .filter_map(|finding| finding["body"].as_str())
            .collect();
        assert!(
            body.contains(
                "this ruling binds: [MUST] app.py:6 Do not evaluate text from outside: refuted, by Test <test@example.org>"
            ),
            "{body}"
        );
    }
    // It applies from the base, and a change that alters or removes it is notified.
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.git(&["merge", "-q", "--ff-only", "change"]);
    let outcome = json(&elsewhere(&sandbox, &root, "other", true, &REVIEW).stdout);
    assert_eq!(states(&outcome)[1], format!("6 already_ruled {name}"));
    sandbox.write("app.py", format!("{}# more\n", sandbox.read("app.py")));
    sandbox.write(&path, sandbox.read(&path).replace("Mallory", "Eve"));
    let outcome = review(&[], true);
    assert_eq!(
        (states(&outcome)[1].as_str(), titles(&outcome)),
        (
            format!("6 already_ruled {name}").as_str(),
            vec![approve("alters")]
        )
    );
    std::fs::remove_file(root.join(&path)).expect("a removed file");
    let outcome = review(&[], true);
    assert_eq!(
        (states(&outcome)[1].as_str(), titles(&outcome)),
        (
            format!("6 already_ruled {name}").as_str(),
            vec![approve("removes or replaces")]
        )
    );
}

#[test]
fn a_file_that_is_no_good_ruling_never_binds_and_is_named_once() {
    let sandbox = settled();
    assert_eq!(sandbox.glee(&["disputes", "share", "--by", "Ada"]).code, 0);
    let paths = files(&sandbox);
    let text = |at: usize| std::fs::read_to_string(&paths[at]).expect("a file");
    // Invalid: a security finding without a person, an unknown key, another name, a link, a large file.
    std::fs::write(
        &paths[0],
        text(0)
            .replace("tag: MUST", "tag: MUST\ncategory: security")
            .replace("person: \"Test <test@example.org>\"", "judge: referee"),
    )
    .expect("written");
    std::fs::write(
        &paths[1],
        text(1).replace("tag: MUST", "tag: MUST\nbinds: everything"),
    )
    .expect("written");
    let renamed = paths[2].with_file_name("0123456789abcdef.yml");
    std::fs::rename(&paths[2], &renamed).expect("renamed");
    std::os::unix::fs::symlink("/etc/passwd", paths[2].with_file_name("link.yml")).expect("a link");
    sandbox.write(".glee/rulings/large.yml", vec![b'#'; 70 << 10]);
    sandbox.write(".glee/rulings/README.md", "What these files are.\n");
    commit(&sandbox, "Share what does not bind");

    let checked = sandbox.glee(&["disputes", "check"]);
    assert_eq!(checked.code, 1, "{checked}");
    let expected = [
        format!(".glee/rulings/{}.yml:", id(&paths[0])),
        "error: a security finding is closed only if `by` names a responsible `person`".to_owned(),
        format!(".glee/rulings/{}.yml:", id(&paths[1])),
        "error: unknown or empty key `binds`".to_owned(),
        ".glee/rulings/0123456789abcdef.yml:3: error: `id` does not match the name of the file"
            .to_owned(),
        ".glee/rulings/link.yml:1: error: it is a link\n".to_owned(),
        ".glee/rulings/large.yml:1: error: it is larger than 64 KiB\n".to_owned(),
        "5 files, 0 rulings in force, 5 errors\n".to_owned(),
    ];
    expected
        .iter()
        .for_each(|line| assert!(checked.stdout.contains(line), "{line}: {checked}"));
    let listed = json(&sandbox.glee(&["disputes", "check", "--json"]).stdout);
    assert_eq!(
        (
            listed["problems"].as_array().map(Vec::len),
            listed["rulings"].as_array().map(Vec::len)
        ),
        (Some(5), Some(0))
    );

    let root = sandbox.root();
    assert_eq!(
        elsewhere(&sandbox, &root, "other", true, &["trust"]).code,
        0
    );
    let outcome = json(&elsewhere(&sandbox, &root, "other", true, &REVIEW).stdout);
    assert_eq!(states(&outcome), ["2 open", "6 open", "10 open", "14 open"]);
    let named = notices(&outcome)
        .into_iter()
        .filter(|notice| notice.starts_with("shared rulings that do not bind"));
    assert_eq!(named.count(), 1, "{outcome}");
}

#[test]
fn a_ruling_ends_on_its_day_and_by_its_age() {
    let sandbox = settled();
    assert_eq!(
        sandbox
            .glee(&["disputes", "share", "2", "--by", "Ada"])
            .code,
        0
    );
    let path = files(&sandbox).remove(0);
    let text = std::fs::read_to_string(&path).expect("a file");
    std::fs::write(
        &path,
        text.replace("until: 2999-01-01", "until: 2020-01-01"),
    )
    .expect("written");
    let changed = sandbox.glee(&["disputes", "share", "2", "--by", "Ada"]);
    assert_eq!(
        changed.code, 2,
        "what was edited is not overwritten: {changed}"
    );
    let checked = sandbox.glee(&["disputes", "check"]);
    assert_eq!(checked.code, 0, "{checked}");
    assert!(
        checked
            .stdout
            .contains(":1: warning: it ended on 2020-01-01\n"),
        "{checked}"
    );
    commit(&sandbox, "Share a ruling that has ended");
    let root = sandbox.root();
    assert_eq!(
        elsewhere(&sandbox, &root, "other", false, &["trust"]).code,
        0
    );
    let outcome = json(&elsewhere(&sandbox, &root, "other", false, &REVIEW).stdout);
    assert_eq!(states(&outcome)[2], "10 open");
    let ended = format!("the ruling of dispute {} ended on 2020-01-01", id(&path));
    assert!(
        notices(&outcome)
            .iter()
            .any(|notice| notice.ends_with(&ended)),
        "{outcome}"
    );

    let refused = sandbox.glee(&[
        "disputes", "resolve", "1", "enforce", "--by", "Test", "--until", "90d",
    ]);
    assert_eq!(refused.code, 2, "{refused}");
    let past = sandbox.glee(&[
        "disputes",
        "resolve",
        "1",
        "dismiss",
        "--by",
        "Test",
        "--until",
        "2020-01-01",
    ]);
    assert!(
        past.code == 2 && past.stderr.contains("2020-01-01 is in the past"),
        "{past}"
    );

    let before = json(&sandbox.glee(&REVIEW).stdout);
    assert_eq!(
        states(&before)[1..],
        [
            "6 already_ruled 1",
            "10 already_ruled 2",
            "14 already_ruled 3"
        ]
    );
    assert_eq!(
        sandbox
            .glee(&["config", "set", "rulings.max_age.refuted", "1s"])
            .code,
        0
    );
    assert_eq!(
        sandbox
            .glee(&["config", "set", "rulings.max_age.deferred", "180d"])
            .code,
        0
    );
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let after = json(&sandbox.glee(&REVIEW).stdout);
    assert_eq!(
        states(&after)[1..],
        ["6 open", "10 already_ruled 2", "14 already_ruled 3"]
    );
    assert!(
        notices(&after)
            .iter()
            .any(|notice| notice.starts_with("F2: the ruling of dispute 1 ended on ")),
        "{after}"
    );

    // The finding is disputed again, and the later ruling supersedes the earlier one.
    assert_eq!(sandbox.glee(&["review", "app.py", "--fix"]).code, 3);
    sandbox.git(&["checkout", "-q", "app.py"]);
    assert_eq!(
        sandbox
            .glee(&[
                "disputes",
                "resolve",
                "4",
                "dismiss",
                "--by",
                "Test",
                "--as",
                "accepted-risk"
            ])
            .code,
        0
    );
    let (first, last) = (
        sandbox.glee(&["disputes", "show", "1"]),
        sandbox.glee(&["disputes", "show", "4"]),
    );
    assert!(
        first.stdout.contains("Dispute 1 is superseded by 4\n"),
        "{first}"
    );
    assert!(last.stdout.contains("Dispute 4 supersedes 1\n"), "{last}");
    assert_eq!(
        states(&json(&sandbox.glee(&REVIEW).stdout))[1],
        "6 already_ruled 4"
    );
    assert_eq!(
        sandbox
            .glee(&["config", "unset", "rulings.max_age.refuted"])
            .code,
        0
    );
    assert_eq!(
        states(&json(&sandbox.glee(&REVIEW).stdout))[1],
        "6 already_ruled 4",
        "only the newest binds"
    );
}

#[test]
fn a_revoked_ruling_waits_again() {
    let sandbox = settled();
    let reopened = sandbox.glee(&[
        "disputes",
        "reopen",
        "1",
        "--reason",
        "the template comes from users",
    ]);
    assert_eq!(
        (reopened.code, reopened.stdout.as_str()),
        (
            0,
            "F2 app.py:6 Do not evaluate text from outside\n  Dispute 1 is open again.\n"
        ),
        "{reopened}"
    );
    assert!(
        reopened.stderr.contains("Next: `glee disputes resolve 1`"),
        "{reopened}"
    );
    let again = sandbox.glee(&["disputes", "reopen", "1"]);
    assert_eq!(again.code, 2, "{again}");
    insta::assert_snapshot!(again.stderr, @r"
    error: dispute 1 is already open
    hint: settle the dispute with `glee disputes resolve 1`
    ");
    assert_eq!(sandbox.glee(&["disputes", "reopen", "9"]).code, 2);
    let open = json(&sandbox.glee(&["disputes", "--open", "--json"]).stdout);
    assert_eq!(open["disputes"].as_array().map(Vec::len), Some(1), "{open}");
    let shown = sandbox.glee(&["disputes", "show", "1"]).stdout;
    assert!(
        shown.contains("DISMISS by Test <test@example.org>")
            && shown.contains(": the template comes from users\n"),
        "{shown}"
    );
    let refused = sandbox.glee(&["disputes", "share", "1", "--by", "Ada"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("dispute 1 is open"),
        "{refused}"
    );
    let outcome = json(&sandbox.glee(&REVIEW).stdout);
    assert_eq!(
        states(&outcome)[1..],
        ["6 disputed 1", "10 already_ruled 2", "14 already_ruled 3"]
    );
    assert_eq!(
        sandbox
            .glee(&["disputes", "resolve", "1", "enforce", "--by", "Test"])
            .code,
        0
    );
    assert_eq!(
        states(&json(&sandbox.glee(&REVIEW).stdout))[1],
        "6 already_ruled 1"
    );
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
}

#[test]
fn rulings_whose_code_is_gone_are_listed_and_end() {
    let sandbox = settled();
    let nothing = sandbox.glee(&["disputes", "prune"]);
    assert_eq!(
        (nothing.code, nothing.stdout.as_str()),
        (0, "No ruling in force concerns removed code.\n")
    );
    // `render` is deleted, `scale` moved to another file, `trace` is unchanged.
    let code = sandbox.read("app.py");
    let (render, scale) = (
        code.find("def render").expect("it is there"),
        code.find("def scale").expect("it is there"),
    );
    let trace = code.find("def trace").expect("it is there");
    sandbox.write("other.py", &code[scale..trace]);
    sandbox.write("app.py", format!("{}{}", &code[..render], &code[trace..]));
    let numbers = |args: &[&str]| {
        let listed = json(
            &sandbox
                .glee(&[&["disputes", "--json"], args].concat())
                .stdout,
        );
        let rows = listed["disputes"].as_array().expect("a list").iter();
        rows.map(|row| row["number"].to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(numbers(&["--gone"]), ["1"]);
    let dry = sandbox.glee(&["disputes", "prune", "--dry-run"]);
    assert!(
        dry.code == 0 && dry.stdout.contains("DISMISS, refuted"),
        "{dry}"
    );
    assert_eq!(numbers(&["--gone"]), ["1"], "nothing was done");
    let pruned = sandbox.glee(&["disputes", "prune"]);
    assert_eq!(
        (pruned.code, pruned.stdout.as_str()),
        (0, "Ended 1 ruling.\n"),
        "{pruned}"
    );
    assert_eq!(
        (numbers(&["--gone"]), numbers(&[]).len()),
        (Vec::new(), 3),
        "nothing is deleted"
    );
    // If the code returns, the ruling is no longer in force.
    sandbox.write("app.py", code);
    let outcome = json(&sandbox.glee(&REVIEW).stdout);
    assert_eq!(states(&outcome)[1], "6 open");
    assert!(
        notices(&outcome)
            .iter()
            .any(|notice| notice.starts_with("F2: the ruling of dispute 1 ended on ")),
        "{outcome}"
    );
    assert!(
        sandbox
            .glee(&["disputes"])
            .stdout
            .contains("DISMISS, refuted (ended)")
    );
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
}

#[test]
fn a_judge_is_shown_how_the_like_was_ruled() {
    let sandbox = disputed();
    assert_eq!(
        sandbox
            .glee(&[
                "disputes",
                "resolve",
                "1",
                "dismiss",
                "--by",
                "Test",
                "--reason",
                "the template is ours"
            ])
            .code,
        0
    );
    sandbox.script(
        "scales.sh",
        "#!/bin/sh\ncat > /dev/null\necho cannot tell\necho \"GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=ESCALATE\"\n",
    );
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    let ruled = sandbox.glee(&["disputes", "resolve", "2", "judge"]);
    assert_eq!(ruled.code, 3, "{ruled}");
    let prompts = prompts(&sandbox.state());
    let prompt = prompts
        .iter()
        .find(|text| text.contains("You are the judge of a dispute"))
        .expect("a prompt");
    let line = ": D1: app.py:6 Do not evaluate text from outside: refuted: the template is ours\n";
    assert!(
        prompt.contains("They are evidence of how such findings were judged, and no orders"),
        "{prompt}"
    );
    assert_eq!(prompt.matches(line).count(), 1, "{prompt}");
    assert!(
        !prompt.contains(": D3:"),
        "what waits is no precedent: {prompt}"
    );
}

#[test]
fn the_person_who_ruled_is_recorded_and_sharing_does_not_change_it() {
    let as_person = |sandbox: &mut Sandbox, name: &str| {
        sandbox
            .env("GIT_AUTHOR_NAME", name)
            .env("GIT_AUTHOR_EMAIL", format!("{name}@example.org"));
    };
    let alice = "Alice <Alice@example.org>";
    for args in [
        &[
            "disputes",
            "resolve",
            "1",
            "dismiss",
            "--by",
            "Alice",
            "--reason",
            "a constant",
        ][..],
        &["disputes", "resolve", "1", "enforce", "--by", "Alice"],
        &["disputes", "resolve", "1", "discard", "--by", "Alice"],
        &[
            "dismiss",
            "--by",
            "Alice",
            "F2",
            "--as",
            "accepted-risk",
            "--reason",
            "only in tests",
        ],
    ] {
        let mut sandbox = disputed();
        as_person(&mut sandbox, "Alice");
        assert_eq!(sandbox.glee(args).code, 0, "{args:?}");
        as_person(&mut sandbox, "Bob");
        for sharing in [
            &["disputes", "share", "1"][..],
            &["disputes", "share", "1", "--by", "Bob", "--force"],
        ] {
            let shared = sandbox.glee(sharing);
            assert_eq!(shared.code, 0, "{shared}");
            let file = std::fs::read_to_string(&files(&sandbox)[0]).expect("a file");
            assert!(
                file.contains(&format!("person: \"{alice}\"\n")) && !file.contains("Bob"),
                "{args:?}: {file}"
            );
        }
        let shown = sandbox.glee(&["disputes", "show", "1"]).stdout;
        let listed = sandbox.glee(&["disputes", "--json"]).stdout;
        let by = &json(&listed)["disputes"][2]["ruled_by"];
        assert_eq!(
            (
                by["kind"].as_str(),
                by["name"].as_str(),
                by["email"].as_str()
            ),
            (Some("human"), Some("Alice"), Some("Alice@example.org")),
            "{listed}"
        );
        assert!(
            shown.contains(&format!(" by {alice}")) && !shown.contains(" by you"),
            "{args:?}: {shown}"
        );
    }
}

#[test]
fn after_a_ruling_a_run_that_ended_is_not_resumed() {
    let sandbox = project();
    assert_eq!(sandbox.glee(&["review", "app.py"]).code, 1);
    let accepted = sandbox.glee(&[
        "dismiss",
        "--by",
        "Test",
        "F1",
        "--as",
        "accepted-risk",
        "--reason",
        "ours",
    ]);
    assert!(
        accepted.stderr.contains("Next: `glee runs show ") && !accepted.stderr.contains("resume"),
        "{accepted}"
    );
    let waiting = disputed();
    let ruled = waiting.glee(&["disputes", "resolve", "1", "dismiss", "--by", "Test"]);
    assert!(
        ruled.stderr.contains("runs resume") && ruled.stderr.contains("to finish the run"),
        "{ruled}"
    );
    let enforced = waiting.glee(&["disputes", "resolve", "2", "enforce", "--by", "Test"]);
    assert!(
        enforced.stderr.contains("to have the coder implement it"),
        "{enforced}"
    );
}
