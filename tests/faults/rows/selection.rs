//! The code under review does not control its selection: markers in a change, files hidden by a coder.

use super::shell::{self, FINDS_EVIL, ok, sh};
use crate::runner::Cases;
use crate::scene::{Scene, outcome};
use serde_json::json;

/// Ways in which a change may hide `evil()` from review. `e.py` exists at the base.
const HIDDEN: &[(&str, &str)] = &[
    ("@generated", "printf '# @generated\\nevil()\\n' > new.py"),
    (
        "DO NOT EDIT",
        "printf '# DO NOT EDIT without asking\\nevil()\\n' > new.py",
    ),
    (
        "@generated in a file of the base",
        "printf '# @generated\\nevil()\\n' > e.py",
    ),
    (
        "an attribute",
        "echo '*.py linguist-generated' > .gitattributes; echo 'evil()' > new.py",
    ),
    (
        "an attribute on a file of the base",
        "echo '*.py linguist-generated=true' > .gitattributes; echo 'evil()' > e.py",
    ),
    (
        "an attribute in a folder",
        "mkdir d; echo '* linguist-generated' > d/.gitattributes; echo 'evil()' > d/new.py",
    ),
    (
        "a macro",
        "printf '[attr]mine linguist-generated\\n*.py mine\\n' > .gitattributes; echo 'evil()' > new.py",
    ),
    (
        "-diff",
        "echo '*.py -diff' > .gitattributes; echo 'evil()' > new.py",
    ),
    (
        "binary",
        "echo '*.py binary' > .gitattributes; echo 'evil()' > e.py",
    ),
    ("a minified name", "echo 'evil()' > new.min.js"),
    (
        "a file renamed to a minified name",
        "git mv e.py e.min.mjs; echo 'evil()' >> e.min.mjs",
    ),
    ("a NUL", "printf '# \\0\\nevil()\\n' > new.py"),
    (
        "many NULs",
        "printf '\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\nevil()\\n' > new.sh",
    ),
    (
        "a NUL in a file without an ending",
        "printf 'a text that is long enough to be one\\0\\nevil()\\n' > new",
    ),
    (
        "a NUL in a script",
        "printf '#!/bin/sh\\n\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\nevil()\\n' > run",
    ),
    (
        "UTF-16 with a mark",
        "printf 'x = 1\\nevil()\\n' | iconv -t UTF-16 > new.py",
    ),
    (
        "UTF-16 of the other order",
        "(printf '\\376\\377'; printf 'x = 1\\nevil()\\n' | iconv -t UTF-16BE) > new.py",
    ),
    (
        "UTF-16 without a mark",
        "printf 'x = 1\\nevil()\\n' | iconv -t UTF-16LE > new.py",
    ),
    (
        "UTF-32",
        "printf 'x = 1\\nevil()\\n' | iconv -t UTF-32 > new.py",
    ),
    (
        "UTF-16 in a file of the base",
        "printf 'x = 1\\nevil()\\n' | iconv -t UTF-16 > e.py",
    ),
    (
        "an older encoding",
        "printf '# \\317\\360\\350\\342\\345\\362 \\314\\350\\360\\nevil()\\n' > new.py",
    ),
    (
        "a name that is not UTF-8",
        "printf 'evil()\\n' > \"$(printf 'caf\\351.py')\"",
    ),
    (
        "over 1 MiB",
        "(echo 'evil()'; yes '# a line of a long file' | head -n 50000) > new.py",
    ),
    (
        "over 1 MiB in a file of the base",
        "(cat big.py; echo 'evil()') > t; mv t big.py",
    ),
];

const TARGETS: [&str; 5] = ["", "--staged", "--base main", "--commit HEAD", "main..HEAD"];

fn repository(settings: &str) -> Scene {
    let scene = shell::scene(FINDS_EVIL, "");
    ok(
        &scene,
        "echo 'x = 1' > e.py; for i in $(seq 200000); do echo \"a = $i\"; done > big.py; git add -A; git commit -qm base",
    );
    ok(&scene, "git checkout -qb change; echo 'x = 1' > ok.py");
    if !settings.is_empty() {
        shell::set(&scene, settings);
    }
    scene
}

/// The reviewer is shown the change, whichever way selects it.
fn shown(change: &str, target: &str, environment: &str) {
    let scene = repository("");
    ok(&scene, change);
    ok(&scene, "git add -A");
    if !matches!(target, "" | "--staged") {
        ok(&scene, "git commit -qm change");
    }
    let output = sh(
        &scene,
        &format!("{environment} $GLEE review {target} --no-input --format json"),
    );
    assert_eq!(output.code, 1, "{output}");
}

/// A line that is too long to be sent is no review of its file, whatever the rest of the file shows.
fn cut(environment: &str) {
    let scene = repository("");
    ok(
        &scene,
        "(echo 'evil()'; head -c 1100000 /dev/zero | tr '\\0' '#') > new.py; git add -A; git commit -qm change",
    );
    let command = format!("{environment} $GLEE review --base main --no-input --format json");
    let output = sh(&scene, &command);
    assert_eq!(output.code, 4, "{output}");
    assert_ne!(outcome(&output)["findings"], json!([]), "{output}");
    assert!(
        outcome(&output)["proof"]["skipped"]
            .to_string()
            .contains("new.py"),
        "{output}"
    );
}

/// Files skipped by a rule, as they are listed.
const SKIPPED: [(&str, &str, &str); 4] = [
    (
        "a lock file",
        "echo 'evil()' > Cargo.lock",
        "Cargo.lock (generated)",
    ),
    (
        "a picture",
        "printf '\\211PNG\\r\\n\\032\\n\\0\\0\\0\\rIHDR\\0\\0\\0\\1' > p.png",
        "p.png (binary)",
    ),
    (
        "a file over all bounds",
        "truncate -s 40M large.py",
        "large.py (oversized)",
    ),
    (
        "a file that the base marks",
        "printf '# @generated\\ny = 2\\n' > made.py",
        "made.py (generated)",
    ),
];

/// The skipped file is listed in every format. A file that is too large makes the review incomplete; for the others, the
/// exit code depends on the setting, and is never 0 if nothing was read.
fn skipped(change: &str, named: &str) {
    let scene = repository("");
    ok(
        &scene,
        "git stash -qu; git checkout -q main; printf '# @generated\\nx = 1\\n' > made.py; git add -A; git commit -qm made",
    );
    ok(
        &scene,
        "git checkout -q change; git rebase -q main; git stash pop -q",
    );
    ok(&scene, change);
    let json = sh(&scene, "$GLEE review --no-input --format json");
    let expected = if named.contains("oversized") { 4 } else { 0 };
    assert_eq!(json.code, expected, "{json}");
    let report = outcome(&json);
    let (file, reason) = named
        .strip_suffix(')')
        .and_then(|named| named.split_once(" ("))
        .expect("a file and a reason");
    let skip = json!({ "file": file, "reason": reason });
    let skipped = report["proof"]["skipped"].as_array();
    assert!(skipped.is_some_and(|all| all.contains(&skip)), "{json}");
    let text = sh(&scene, "$GLEE review --no-input");
    assert!(
        text.stdout.contains("Not reviewed") && text.stdout.contains(named),
        "{text}"
    );
    ok(&scene, "$GLEE config set --user review.skipped note");
    let noted = sh(&scene, "$GLEE review --no-input");
    assert_eq!(noted.code, 0, "{noted}");
    let first = noted.stdout.lines().next().unwrap_or_default();
    assert_eq!(first.contains(named), expected == 4, "{noted}");
    ok(&scene, "$GLEE config set --user review.skipped fail");
    let strict = sh(&scene, "$GLEE review --no-input");
    assert_eq!(strict.code, 4, "{strict}");
    ok(&scene, "rm ok.py");
    for environment in ["", "CI=true"] {
        let nothing = sh(&scene, &format!("{environment} $GLEE review --no-input"));
        assert!(
            nothing.code == 4 && nothing.stdout.contains(named),
            "{nothing}"
        );
    }
}

/// A change that hides itself with `.gleeignore` is reviewed.
fn ignored() {
    let scene = repository("");
    ok(
        &scene,
        "echo 'evil()' > new.py; echo new.py > .gleeignore; git add -A; git commit -qm change",
    );
    for environment in ["", "CI=true"] {
        let command = format!("{environment} $GLEE review --base main --no-input");
        let output = sh(&scene, &command);
        assert_eq!(output.code, 1, "{output}");
        assert!(output.stdout.contains("edits `.gleeignore`"), "{output}");
    }
}

/// The project's setting for skipped files may only be stricter than the user's.
fn looser() {
    let scene = repository("review: {skipped: fail}");
    scene.write(".glee/config.yml", "version: 1\nreview: {skipped: note}\n");
    ok(&scene, "echo x > Cargo.lock");
    let output = sh(&scene, "$GLEE review --no-input");
    assert_ne!(output.code, 0, "{output}");
}

/// Ways in which a coder may hide the new file `evil.py` from the next round.
const HIDES: &[(&str, &str)] = &[
    ("nothing", "true"),
    (".gleeignore", "echo evil.py > .gleeignore"),
    (
        ".gleeignore in a folder",
        "mkdir d; mv evil.py d; echo '*' > d/.gleeignore",
    ),
    (".gitignore", "echo evil.py > .gitignore"),
    (
        ".gitignore that ignores everything",
        "echo '*' > .gitignore",
    ),
    (
        ".gitignore in a folder",
        "mkdir -p d/e; mv evil.py d/e; echo '*' > d/.gitignore",
    ),
    (
        "a rule that was there, undone in a folder",
        "mkdir -p out/keep; mv evil.py out/keep; echo 'out/' >> .gitignore",
    ),
    (
        ".git/info/exclude",
        "mkdir -p .git/info; echo evil.py >> .git/info/exclude",
    ),
    (
        "core.excludesFile",
        "echo evil.py > .git/mine; git config core.excludesFile $PWD/.git/mine",
    ),
    (
        ".gitattributes",
        "echo 'evil.py linguist-generated' > .gitattributes",
    ),
    (
        ".gitattributes of the index alone",
        "echo 'evil.py linguist-generated' > .gitattributes; git add .gitattributes; rm .gitattributes",
    ),
    (
        ".git/info/attributes",
        "mkdir -p .git/info; echo 'evil.py linguist-generated' > .git/info/attributes",
    ),
    (
        "core.attributesFile",
        "echo 'evil.py linguist-generated' > .git/mine; git config core.attributesFile $PWD/.git/mine",
    ),
    (
        "a mark in the text",
        "printf '# @generated\\nevil()\\n' > evil.py",
    ),
    ("a minified name", "mv evil.py evil.min.js"),
    ("a NUL", "printf '# \\0\\nevil()\\n' > evil.py"),
    (
        "UTF-16",
        "printf 'x = 1\\nevil()\\n' | iconv -t UTF-16 > evil.py",
    ),
    (
        "a commit",
        "git add -A; git -c user.name=x -c user.email=x@x commit -qm done",
    ),
    ("staging", "git add -A"),
    (
        "a branch",
        "git checkout -qb other; git add -A; git -c user.name=x -c user.email=x@x commit -qm done",
    ),
    (
        "a repository of its own",
        "mkdir d; mv evil.py d; git init -q d; echo '*' > d/.gitignore",
    ),
    (
        "a file taken out of the index",
        "rm evil.py; echo 'evil()' >> app.py; git rm -q --cached app.py; echo app.py > .gitignore",
    ),
    (
        "a settings file",
        "mkdir -p .glee; printf 'version: 1\\nreview: {max_file_size: 1}\\n' > .glee/config.yml",
    ),
];

fn hidden(hides: &str, target: &str) {
    let review = "if grep -q 'evil()' $P; then echo '[MUST] Remove the call'; n=1; elif grep -qE '^[0-9 ]*[|:][ +].*md5' $P; then \
        echo '[MUST] app.py:2 Replace the weak hash'; n=1; else n=0; fi; \
        echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n\"";
    let fix = format!(
        "if grep -q md5 app.py; then sed -i s/md5/sha256/ app.py; echo 'evil()' > evil.py; {hides}; fi"
    );
    let scene = shell::scene(review, &fix);
    ok(&scene, "echo '# md5' >> app.py");
    let output = sh(
        &scene,
        &format!("$GLEE review {target} --fix --rounds 2 --no-input --format json"),
    );
    assert_eq!(output.code, 1, "{output}");
    let report = outcome(&output);
    let titles: Vec<&str> = report["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|f| f["title"].as_str())
        .collect();
    assert!(
        titles.contains(&"Remove the call"),
        "the second round was not shown it: {output}"
    );
}

/// Files ignored at the start of the run remain ignored.
fn left_out() {
    let review = "if grep -q 'evil()' $P; then echo '[MUST] Remove the call'; n=1; elif grep -q '| .*md5' $P; then \
        echo '[MUST] app.py:2 Replace the weak hash'; n=1; else n=0; fi; \
        echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n\"";
    let fix = "sed -i s/md5/sha256/ app.py; mkdir -p out/deep; echo 'evil()' > out/deep/x; echo 'evil()' > y.log; \
        echo 'evil()' > z.md; echo 'evil()' > in.excluded";
    let scene = shell::scene(review, fix);
    scene
        .write(".gitignore", "out/\n*.log\n")
        .write(".gleeignore", "*.md\n")
        .write("out/old", "1\n");
    ok(
        &scene,
        "mkdir -p .git/info; echo '*.excluded' >> .git/info/exclude",
    );
    let output = sh(
        &scene,
        "$GLEE review app.py --fix --rounds 2 --no-input --format json",
    );
    assert_eq!(output.code, 0, "{output}");
}

pub(super) fn add(cases: &mut Cases) {
    let row = "marks that a change brings";
    for (index, (name, change)) in HIDDEN.iter().enumerate() {
        for (at, target) in TARGETS.iter().enumerate() {
            // All ways with one target, the first way with all targets.
            if index < 4 || at == index % TARGETS.len() {
                let label = if target.is_empty() {
                    "uncommitted"
                } else {
                    target
                };
                cases.add(row, format!("{name}, {label}"), || {
                    shown(change, target, "")
                });
            }
        }
        cases.add(row, format!("{name}, in CI"), || {
            shown(change, "--base main", "CI=true")
        });
    }
    for environment in ["", "CI=true"] {
        cases.add(
            row,
            format!("one line over 1 MiB {environment}"),
            move || cut(environment),
        );
    }
    let row = "files that are skipped";
    for (name, change, named) in SKIPPED {
        cases.add(row, name, move || skipped(change, named));
    }
    cases.add(row, "a change that ignores itself", ignored);
    cases.add(row, "a project that is looser than its user", looser);
    let row = "a coder that hides files";
    for (index, (name, hides)) in HIDES.iter().enumerate() {
        let target = if index % 2 == 0 { "." } else { "" };
        cases.add(row, *name, move || hidden(hides, target));
    }
    cases.add(row, "what was left out before", left_out);
}
