//! Patches of all tools and settings: the right file is reviewed, or the patch is refused.

use super::shell::{self, FINDS_EVIL, ok, sh};
use crate::runner::Cases;
use crate::scene::outcome;

const FILE: &str = "src/code.py";

/// Commands that print a patch, with the file that has to be covered. `old` and `new` are copies of the tree before
/// and after the change.
const PATCHES: &[(&str, &str, &str)] = &[
    ("git diff", "git diff HEAD", FILE),
    (
        "mnemonic prefixes",
        "git -c diff.mnemonicPrefix=true diff",
        FILE,
    ),
    (
        "mnemonic prefixes against the index",
        "git add -A; git -c diff.mnemonicPrefix=true diff --cached",
        FILE,
    ),
    (
        "mnemonic prefixes against HEAD, reversed",
        "git -c diff.mnemonicPrefix=true diff -R HEAD | git apply --index --cached 2>/dev/null; git -c diff.mnemonicPrefix=true diff HEAD",
        FILE,
    ),
    ("no prefix", "git diff --no-prefix HEAD", FILE),
    ("diff.noprefix", "git -c diff.noprefix=true diff HEAD", FILE),
    (
        "prefixes of one's own",
        "git diff --src-prefix=before/ --dst-prefix=after/ HEAD",
        FILE,
    ),
    (
        "prefixes of several folders",
        "git diff --src-prefix=x/y/ --dst-prefix=x/z/ HEAD",
        FILE,
    ),
    (
        "diff.relative",
        "cd src && git -c diff.relative=true diff HEAD",
        FILE,
    ),
    (
        "color.ui=always",
        "git -c color.ui=always -c color.diff=always diff HEAD",
        FILE,
    ),
    (
        "colour of moved lines",
        "git diff --color=always --color-moved HEAD",
        FILE,
    ),
    ("no context", "git diff -U0 HEAD", FILE),
    ("much context", "git diff -W HEAD", FILE),
    (
        "diff.external is not run",
        "git -c diff.external=false diff --no-ext-diff HEAD",
        FILE,
    ),
    (
        "core.quotePath off",
        "git -c core.quotePath=false diff HEAD",
        FILE,
    ),
    (
        "a mail",
        "git add -A; git commit -qm 'A mail' -m '--- a/x'; git format-patch --stdout -1",
        FILE,
    ),
    (
        "two mails",
        "git add -A; git commit -qm one; echo '# more' >> src/code.py; git commit -qam two; git format-patch --stdout -2",
        FILE,
    ),
    ("git show", "git add -A; git commit -qm x; git show", FILE),
    (
        "git log -p",
        "git add -A; git commit -qm x; git log -p -2",
        FILE,
    ),
    (
        "git diff --no-index",
        "cd ..; git diff --no-index old new || true",
        FILE,
    ),
    (
        "diff -ruN",
        "cd ..; diff -ruN -x .git old new || true",
        FILE,
    ),
    ("diff -ru", "cd ..; diff -ru -x .git old new || true", FILE),
    (
        "diff -ruN of absolute paths",
        "diff -ruN -x .git $(realpath ../old) $(realpath ../new) || true",
        FILE,
    ),
    (
        "diff -u of one file",
        "diff -u ../old/src/code.py src/code.py || true",
        FILE,
    ),
    (
        "diff -u within the tree",
        "cp ../old/src/code.py src/code.py.orig; diff -u src/code.py.orig src/code.py; rm src/code.py.orig",
        FILE,
    ),
    (
        "labels",
        "diff -u -L src/code.py -L src/code.py ../old/src/code.py src/code.py || true",
        FILE,
    ),
    (
        "Subversion",
        "echo 'Index: src/code.py'; echo ===================; diff -u -L 'src/code.py\t(revision 12)' -L 'src/code.py\t(working copy)' ../old/src/code.py src/code.py || true",
        FILE,
    ),
    (
        "Mercurial",
        "echo 'diff -r 0123456789ab src/code.py'; diff -u -L 'a/src/code.py\tThu Jan 01 00:00:01 2026 +0000' -L 'b/src/code.py\tFri Jan 02 00:00:01 2026 +0000' ../old/src/code.py src/code.py || true",
        FILE,
    ),
    ("CR LF", "git diff HEAD | sed 's/$/\\r/'", FILE),
    ("UTF-16", "git diff HEAD | iconv -t UTF-16", FILE),
    (
        "a byte order mark",
        "printf '\\357\\273\\277'; git diff HEAD",
        FILE,
    ),
    (
        "blanks in the name",
        "mkdir 'my dir'; echo 'evil()' > 'my dir/a file.py'; git add -A; git diff --cached -- 'my dir'",
        "my dir/a file.py",
    ),
    (
        "blanks in the name, no prefix",
        "mkdir 'my dir'; echo 'evil()' > 'my dir/a file.py'; git add -A; git diff --no-prefix --cached -- 'my dir'",
        "my dir/a file.py",
    ),
    (
        "blanks in the name, diff -u",
        "mkdir 'my dir'; echo 'evil()' > 'my dir/a file.py'; diff -uN /dev/null 'my dir/a file.py' || true",
        "my dir/a file.py",
    ),
    (
        "a quoted name",
        "echo 'evil()' > grö.py; git add -A; git diff --cached -- gr*",
        "grö.py",
    ),
    (
        "a new file",
        "echo 'evil()' > fresh.py; git add -A; git -c diff.mnemonicPrefix=true diff --cached -- fresh.py",
        "fresh.py",
    ),
    (
        "a new file, no prefix",
        "mkdir b; echo 'evil()' > b/fresh.py; git add -A; git diff --no-prefix --cached -- b",
        "b/fresh.py",
    ),
    (
        "a rename",
        "git add -A; git commit -qm x; git tag -f base; git mv src/code.py src/moved.py; git diff -M HEAD",
        "src/moved.py",
    ),
    (
        "a rename with an edit",
        "git mv src/code.py src/moved.py; git add -A; git diff -M HEAD",
        "src/moved.py",
    ),
    (
        "a rename with an edit, no prefix",
        "git mv src/code.py src/moved.py; git add -A; git -c diff.noprefix=true diff -M HEAD",
        "src/moved.py",
    ),
    (
        "a copy",
        "cp src/code.py src/copy.py; git add -A; git -c diff.renames=copies diff --find-copies-harder -C HEAD",
        "src/copy.py",
    ),
    (
        "a mode",
        "git add -A; git commit -qm x; chmod +x src/code.py; git diff",
        FILE,
    ),
    (
        "a mode, no prefix",
        "git add -A; git commit -qm x; chmod +x src/code.py; git diff --no-prefix",
        FILE,
    ),
    (
        "marks that it brings",
        "printf '# @generated\\nevil()\\n' > new.min.js; echo '* linguist-generated' > .gitattributes; git add -A; git diff --cached",
        "new.min.js",
    ),
    (
        ".gleeignore that it brings",
        "echo '*' > .gleeignore; git add -A; git diff --cached",
        FILE,
    ),
];

/// Patches that are refused or unreadable.
const REFUSED: &[(&str, &str, i32)] = &[
    ("nothing", "true", 0),
    (
        "names alone",
        "git diff --stat HEAD; git diff --name-only HEAD",
        2,
    ),
    (
        "a diff without context",
        "diff ../old/src/code.py src/code.py || true",
        2,
    ),
    (
        "a context diff",
        "diff -c ../old/src/code.py src/code.py || true",
        2,
    ),
    ("a word diff", "git diff --word-diff HEAD", 2),
    (
        "a wrong count",
        "git diff HEAD | sed 's/^+evil()/&\\n+evil()/'",
        2,
    ),
    ("one that is cut off", "git diff HEAD | head -n 7", 2),
    (
        "a merge",
        "git add -A; git commit -qm x; git checkout -qb side HEAD^; sed -i 's/^a2$/side/' src/code.py; git commit -qam s; git merge -q main 2> /dev/null; git diff",
        2,
    ),
    (
        "a binary file",
        "printf '\\0\\1\\2\\3' > x.bin; git add x.bin; git diff --cached --binary -- x.bin",
        0,
    ),
    (
        "a binary file, diff -r",
        "mkdir ../p ../q; printf '\\0\\1' > ../p/x; printf '\\0\\2' > ../q/x; diff -ru ../p ../q || true",
        4,
    ),
    (
        "files that are only named",
        "mkdir ../p ../q; echo 'evil()' > ../q/evil.py; diff -ru ../p ../q || true",
        4,
    ),
    (
        "a path outside",
        "printf -- '--- a/x\\n+++ b/../../etc/passwd\\n@@ -1 +1 @@\\n-a\\n+b\\n'",
        4,
    ),
];

const PREPARE: &str = "mkdir src; for i in $(seq 40); do echo a$i; done > src/code.py; echo other > code.py; git add -A; \
    git commit -qm base; git tag base; cp -r . ../old; sed -i 's/^a20$/evil()/' src/code.py; cp -r . ../new";

/// Reads the patch in a tree with or without it, and as a file.
fn read(command: &str, file: &str, is_applied: bool) {
    let scene = shell::scene(FINDS_EVIL, "");
    ok(&scene, PREPARE);
    ok(&scene, &format!("({command}) > ../x.patch"));
    if !is_applied {
        ok(&scene, "git reset -q --hard base; git clean -fdq");
    }
    let here = if command.starts_with("cd src") {
        "cd src; "
    } else {
        ""
    };
    let patch = if here.is_empty() {
        "../x.patch"
    } else {
        "../../x.patch"
    };
    let output = sh(
        &scene,
        &format!("{here}$GLEE review --diff - --no-input --format json < {patch}"),
    );
    assert_eq!(output.code, 1, "{output}\n{}", ok(&scene, "cat ../x.patch"));
    let covered = outcome(&output)["proof"]["covered"].clone();
    assert!(
        covered
            .as_array()
            .into_iter()
            .flatten()
            .any(|known| known["file"] == file),
        "{covered}"
    );
    let output = sh(
        &scene,
        &format!("{here}$GLEE review --diff {patch} --no-input"),
    );
    assert_eq!(output.code, 1, "{output}");
}

fn refused(command: &str, code: i32) {
    let scene = shell::scene(FINDS_EVIL, "");
    ok(&scene, PREPARE);
    ok(&scene, &format!("({command}) > ../x.patch; true"));
    let output = sh(&scene, "$GLEE review --diff ../x.patch --no-input");
    assert_eq!(
        output.code,
        code,
        "{output}\n{}",
        ok(&scene, "cat ../x.patch")
    );
    assert_eq!(output.stderr.contains("error: "), code == 2, "{output}");
}

/// The user's diff settings do not affect Glee.
fn settings(setting: &str) {
    let scene = shell::scene(FINDS_EVIL, "");
    ok(&scene, PREPARE);
    ok(
        &scene,
        &format!("git mv src/code.py src/moved.py; git add -A; git config {setting}"),
    );
    ok(&scene, "echo src/moved.py > order");
    for target in ["", "--staged", "--base HEAD"] {
        let output = sh(
            &scene,
            &format!("$GLEE review {target} --no-input --format json"),
        );
        assert_eq!(output.code, 1, "{output}");
        let covered = outcome(&output)["proof"]["covered"].to_string();
        assert!(covered.contains("src/moved.py"), "{covered}");
    }
}

pub(super) fn add(cases: &mut Cases) {
    let row = "patches";
    for (name, command, file) in PATCHES {
        cases.add(row, *name, || read(command, file, true));
        // In a tree without the patch, a patch of modes has no reviewable lines.
        if !name.contains("mode") {
            cases.add(row, format!("{name}, not applied"), || {
                read(command, file, false)
            });
        }
    }
    let row = "patches that cannot be read";
    for (name, command, code) in REFUSED {
        cases.add(row, *name, || refused(command, *code));
    }
    let row = "settings for diffs";
    for setting in [
        "diff.mnemonicPrefix true",
        "diff.noprefix true",
        "diff.srcPrefix x/",
        "diff.dstPrefix y/",
        "diff.renames copies",
        "diff.renames false",
        "diff.external false",
        "diff.orderFile order",
        "diff.relative true",
        "diff.ignoreSubmodules all",
        "core.quotePath false",
        "color.ui always",
        "core.pager false",
        "diff.algorithm patience",
        "diff.wordRegex .",
        "diff.interHunkContext 100",
    ] {
        cases.add(row, setting, move || settings(setting));
    }
}
