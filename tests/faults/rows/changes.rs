//! Changes other than edited lines: deletions, modes, links, submodules and unreadable files reach the reviewer, or
//! are listed as not reviewed.

use super::coders::files;
use crate::runner::Cases;
use crate::scene::{Kind, REVIEW, Scene, outcome};
use crate::support::Output;

/// A security check in a separate file, a program, a link, a submodule and a picture.
fn scene() -> Scene {
    let scene = Scene::new(Kind::Git);
    let identity = "-c user.name=x -c user.email=x@x -c protocol.file.allow=always";
    scene.write(
        "auth/check.py",
        "def allowed(user):\n    return user.is_admin  # the-check\n",
    );
    assert!(scene.shell(&format!(
        "printf '\\000\\001' > logo.bin; echo 'echo run' > run.sh; ln -s app.py link; git init -q ../origin; \
         git -C ../origin {identity} commit -q --allow-empty -m one; \
         git {identity} submodule --quiet add ../origin vendored; git add -A; git commit -qm all"
    )));
    scene
}

/// Changes with what the reviewer is shown.
fn changes() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    vec![
        (
            "deletes the check",
            "rm auth/check.py",
            vec![
                "deletes this file",
                "# the-check",
                "deleted file mode 100644",
            ],
        ),
        ("deletes a folder", "rm -r auth", vec!["# the-check"]),
        (
            "deletes a link",
            "rm link",
            vec!["deleted file mode 120000", "-app.py"],
        ),
        (
            "deletes a picture",
            "rm logo.bin",
            vec!["deleted file mode 100644, 2 bytes, not text"],
        ),
        (
            "makes a program",
            "chmod 755 run.sh",
            vec!["old mode 100644", "new mode 100755", "echo run"],
        ),
        (
            "makes a program of a picture",
            "chmod 755 logo.bin",
            vec!["old mode 100644", "new mode 100755"],
        ),
        (
            "leads a link elsewhere",
            "ln -sfn /etc/passwd link",
            vec!["-app.py", "+/etc/passwd"],
        ),
        (
            "adds a link",
            "ln -s /etc/shadow another",
            vec!["/etc/shadow"],
        ),
        (
            "puts a link in a file's place",
            "ln -sfn /bin/true auth/check.py",
            vec![
                "old mode 100644",
                "new mode 120000",
                "# the-check",
                "+/bin/true",
            ],
        ),
        (
            "moves a submodule",
            "git -C vendored -c user.name=x -c user.email=x@x commit -q --allow-empty -m two",
            vec!["-Subproject commit", "+Subproject commit"],
        ),
    ]
}

fn targets() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let commit = "git add -A && git -c user.name=x -c user.email=x@x commit -qm change";
    vec![
        ("uncommitted", "true", vec![]),
        ("--staged", "git add -A", vec!["--staged"]),
        ("--base", "true", vec!["--base", "HEAD"]),
        ("--base of a commit", commit, vec!["--base", "HEAD^"]),
        ("--commit", commit, vec!["--commit", "HEAD"]),
        ("a range", commit, vec!["HEAD^..HEAD"]),
        (
            "--diff",
            "git add -N . && git diff HEAD > ../changes.diff",
            vec!["--diff", "../changes.diff"],
        ),
    ]
}

fn review(scene: &mut Scene, args: &[&str]) -> Output {
    let cache = scene.cache().display().to_string();
    let clean = "GLEE-REVIEW-END nonce={nonce} findings=0\n";
    scene.play(
        "rev",
        "review",
        [crate::agent::Step::Obey(cache), crate::scene::emit(clean)],
    );
    scene.ready().glee(
        &[
            ["review", "--format", "json", "--no-input"].as_slice(),
            args,
        ]
        .concat(),
    )
}

fn prompt(scene: &Scene) -> String {
    let kept = files(&scene.cache());
    kept.values()
        .map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned())
        .collect()
}

pub(crate) fn add(cases: &mut Cases) {
    const ROW: &str = "changes without lines";
    for (change, script, shown) in changes() {
        for (target, prepare, args) in targets() {
            if target == "--diff" && change.contains("picture") {
                continue;
            }
            let shown = shown.clone();
            cases.add(ROW, format!("{change}, {target}"), move || {
                let mut scene = scene();
                assert!(scene.shell(&format!("{script} && {prepare}")), "{script}");
                let output = review(&mut scene, &args);
                assert_eq!(output.code, 0, "{output}");
                let asked = prompt(&scene);
                // git's diff lists a file and the link that replaces it separately.
                let is_split = target == "--diff" && change.contains("place");
                let is_told = |word: &&&str| {
                    !(is_split && word.contains("mode ")
                        || target == "--diff" && word.starts_with("deleted file"))
                };
                for word in shown.iter().filter(is_told) {
                    assert!(asked.contains(word), "{word} is not in: {asked}");
                }
                let covered = outcome(&output)["proof"]["covered"]
                    .as_array()
                    .map_or(0, Vec::len);
                assert_eq!(covered, 1, "{output}");
            });
        }
    }
    for (change, script, file) in [
        ("a FIFO", "rm app.py; mkfifo app.py", "app.py"),
        (
            "a folder",
            "rm app.py; mkdir app.py; echo x > app.py/x",
            "app.py",
        ),
        (
            "a file that may not be read",
            "echo x >> app.py; chmod 0 app.py",
            "app.py",
        ),
    ] {
        for alone in [true, false] {
            cases.add(
                ROW,
                format!(
                    "{change} in a file's place, {}",
                    if alone { "alone" } else { "not alone" }
                ),
                move || {
                    let mut scene = scene();
                    assert!(scene.shell(script), "{script}");
                    if change.contains("may not") && std::fs::read(scene.root().join(file)).is_ok()
                    {
                        return; // root reads everything
                    }
                    if !alone {
                        scene.write("more.py", "x = 1\n");
                    }
                    let output = review(&mut scene, &[]);
                    let said = format!("{}{}", output.stdout, output.stderr);
                    assert!(said.contains(file), "{output}");
                    match alone && change != "a folder" {
                        true => assert_eq!(output.code, 4, "{output}"),
                        false => {
                            let skipped = outcome(&output)["proof"]["skipped"].to_string();
                            assert!(skipped.contains(file), "{output}")
                        }
                    }
                },
            );
        }
    }
    cases.add(ROW, "a finding on a deleted file counts", || {
        let mut scene = scene();
        assert!(scene.shell("git rm -q auth/check.py"));
        scene.play(
            "rev",
            "review",
            [crate::scene::emit(
                &REVIEW.replace("app.py:2", "auth/check.py:2"),
            )],
        );
        let output = scene
            .ready()
            .glee(&["review", "--format", "json", "--no-input"]);
        assert_eq!(output.code, 1, "{output}");
        assert!(
            outcome(&output)["findings"]
                .to_string()
                .contains("auth/check.py"),
            "{output}"
        );
    });
    cases.add(
        ROW,
        "a coder that deletes a file is seen by the next round",
        || {
            let mut scene = scene();
            let cache = scene.cache().display().to_string();
            let remove = crate::agent::Step::Remove("auth/check.py".into());
            scene.play(
                "fix",
                "respond",
                [
                    crate::scene::fix(),
                    remove,
                    crate::scene::emit(crate::scene::DONE),
                ],
            );
            scene.play(
                "rev",
                "review",
                [crate::agent::Step::Obey(cache), crate::scene::emit(REVIEW)],
            );
            scene.set("review: {rounds: 2}");
            let output = scene
                .ready()
                .glee(&["review", "app.py", "--fix", "--no-input"]);
            assert!(prompt(&scene).contains("# the-check"), "{output}");
        },
    );
}
