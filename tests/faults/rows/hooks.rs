//! Reviews of staged changes: in git hooks, where the commit uses another index than `.git/index`, and after a
//! coder's edits, which the index does not contain.

use super::shell::{self, FINDS_EVIL, ok, sh};
use crate::runner::Cases;
use crate::scene::{Scene, outcome};

/// Ways to commit, with the preparation and whether the commit contains `evil()`.
const COMMITS: &[(&str, &str, &str, bool)] = &[
    (
        "a file with evil in it",
        "echo x > o.py; git add o.py; echo 'evil()' >> app.py",
        "git commit -qm m app.py",
        true,
    ),
    (
        "--only a file",
        "echo 'evil()' >> app.py; echo x > o.py; git add o.py",
        "git commit -qm m --only app.py",
        true,
    ),
    (
        "--include a file",
        "echo x > o.py; git add o.py; echo 'evil()' >> app.py",
        "git commit -qm m -i app.py",
        true,
    ),
    ("-a", "echo 'evil()' >> app.py", "git commit -qam m", true),
    (
        "-p",
        "echo 'evil()' >> app.py",
        "printf 'y\\n' | git commit -qm m -p",
        true,
    ),
    (
        "plainly",
        "echo 'evil()' >> app.py; git add app.py",
        "git commit -qm m",
        true,
    ),
    (
        "--amend -a",
        "echo 'evil()' >> app.py",
        "git commit -q --amend --no-edit -a",
        true,
    ),
    (
        "a file below a folder",
        "mkdir d; echo 1 > d/a; git add d; git commit -qnm d; echo 'evil()' > d/a",
        "cd d && git commit -qm m a",
        true,
    ),
    (
        "with an index of its own",
        "cp .git/index .git/mine; echo 'evil()' >> app.py; GIT_INDEX_FILE=.git/mine git add app.py",
        "GIT_INDEX_FILE=.git/mine git commit -qm m",
        true,
    ),
    (
        "in a linked work tree",
        "git worktree add -q ../linked; cd ../linked; echo 'evil()' >> app.py",
        "cd ../linked && git commit -qam m",
        true,
    ),
    (
        "a file in a linked work tree",
        "git worktree add -q ../linked; cd ../linked; echo 'evil()' >> app.py",
        "cd ../linked && git commit -qm m app.py",
        true,
    ),
    (
        "staged and mended in the tree",
        "echo 'evil()' >> app.py; git add app.py; git show HEAD:app.py > app.py",
        "git commit -qm m",
        true,
    ),
    (
        "evil only in the tree",
        "echo x > o.py; git add o.py; echo 'evil()' >> app.py",
        "git commit -qm m",
        false,
    ),
    (
        "evil staged, another file committed",
        "echo 'evil()' > e.py; git add e.py; echo '# x' >> app.py",
        "git commit -qm m app.py",
        false,
    ),
    (
        "evil staged, mended in the tree, -a",
        "echo 'evil()' >> app.py; git add app.py; echo '# x' > app.py",
        "git commit -qam m",
        false,
    ),
];

/// Commits through a hook, which must refuse exactly commits with `evil()`, and must not write an index.
fn commit(prepare: &str, commit: &str, is_evil: bool) {
    let scene = shell::scene(FINDS_EVIL, "");
    ok(&scene, prepare);
    scene.script(
        ".git/hooks/pre-commit",
        "#!/bin/sh\nI=${GIT_INDEX_FILE:-$(git rev-parse --git-dir)/index}\nbefore=$(cksum < $I)\n\
         $GLEE review --staged --no-input -q > $HOME/report; code=$?\n[ \"$before\" = \"$(cksum < $I)\" ] || exit 99\n\
         echo \"glee: $code\" >&2; exit $code\n",
    );
    let output = sh(&scene, commit);
    let expected = if is_evil { "glee: 1" } else { "glee: 0" };
    assert!(output.stderr.contains(expected), "{output}");
    assert_eq!(output.code == 0, !is_evil, "{output}");
}

/// Ignores the index of another repository.
fn foreign() {
    let scene = shell::scene(FINDS_EVIL, "");
    ok(
        &scene,
        "git init -q ../other; cd ../other; echo 1 > a; git add a",
    );
    ok(&scene, "echo 'evil()' >> app.py; git add app.py");
    let output = sh(
        &scene,
        "GIT_INDEX_FILE=$(realpath ../other/.git/index) $GLEE review --staged --no-input",
    );
    assert_eq!(output.code, 1, "{output}");
}

/// Of git's variables, Glee only uses the index.
fn variables() {
    let scene = shell::scene(FINDS_EVIL, "");
    ok(
        &scene,
        "git init -q ../other; echo 'evil()' >> app.py; git add app.py",
    );
    for variable in [
        "GIT_DIR=../other/.git",
        "GIT_WORK_TREE=/nowhere",
        "GIT_OBJECT_DIRECTORY=/nowhere",
        "GIT_PREFIX=sub/",
        "GIT_EXTERNAL_DIFF=false",
        "GIT_LITERAL_PATHSPECS=0",
        "GIT_NAMESPACE=x",
        "GIT_ATTR_SOURCE=HEAD",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.worktree GIT_CONFIG_VALUE_0=/",
    ] {
        let output = sh(
            &scene,
            &format!("{variable} $GLEE review --staged --no-input"),
        );
        assert_eq!(output.code, 1, "{variable}: {output}");
    }
}

const MENDS: &str = "grep -v 'evil()' app.py > t; cat t > app.py; rm t";

/// The staged content, the coder's edit, the exit code without and with `--restage`, and the unstaged rest.
const FIXES: &[(&str, &str, &str, [i32; 2], &str)] = &[
    (
        "a staged file",
        "echo 'evil()' >> app.py; git add app.py",
        MENDS,
        [1, 0],
        "",
    ),
    (
        "a file that is staged in part",
        "echo 'evil()' >> app.py; git add app.py; echo '# later' >> app.py",
        MENDS,
        [1, 1],
        "app.py",
    ),
    (
        "a file beside it",
        "echo 'evil()' >> app.py; git add app.py",
        "echo 1 > new.py; grep -v 'evil()' app.py > t; cat t > app.py; rm t",
        [1, 0],
        "",
    ),
    (
        "a file that was not tracked",
        "echo u > u.py; echo 'evil()' >> app.py; git add app.py",
        "grep -v 'evil()' app.py > t; cat t > app.py; rm t; echo v > u.py",
        [1, 1],
        "u.py",
    ),
    (
        "a file that goes",
        "echo 'evil()' > e.py; git add e.py",
        "rm e.py",
        [1, 0],
        "",
    ),
    (
        "a file that the coder stages",
        "echo 'evil()' >> app.py; git add app.py",
        "grep -v 'evil()' app.py > t; cat t > app.py; rm t; git add app.py",
        [0, 0],
        "",
    ),
    (
        "line ends that git converts",
        "git config core.autocrlf true; printf 'a\\r\\nevil()\\r\\n' > c.py; git add c.py",
        "printf 'a\\r\\nb\\r\\n' > c.py",
        [1, 0],
        "",
    ),
    (
        "a file with a filter",
        "git config filter.x.clean 'sed s/x/y/'; echo '*.py filter=x' > .gitattributes; echo 'evil()' >> app.py; git add -A",
        MENDS,
        [1, 1],
        "app.py",
    ),
    (
        "a name with blanks",
        "echo 'evil()' > 'a b.py'; git add -A",
        "echo good > 'a b.py'",
        [1, 0],
        "",
    ),
    (
        "an executable file",
        "printf '#!/bin/sh\\nevil()\\n' > run; chmod +x run; git add -A",
        "printf '#!/bin/sh\\n' > run",
        [1, 0],
        "",
    ),
];

fn fixed(prepare: &str, fix: &str, restage: bool, code: i32, left: &str) {
    let scene = shell::scene(FINDS_EVIL, fix);
    ok(&scene, prepare);
    let before = ok(&scene, "git ls-files -s");
    let flag = if restage { "--restage" } else { "" };
    let output = sh(
        &scene,
        &format!("$GLEE review --staged --fix {flag} --no-input --format json"),
    );
    assert_eq!(output.code, code, "{output}");
    let notices = outcome(&output)["notices"].to_string();
    let after = ok(&scene, "git ls-files -s");
    if code == 1 {
        assert!(
            notices.contains("the index still has the old code") && notices.contains(left),
            "{notices}"
        );
    }
    if !restage && !fix.contains("git add") {
        assert_eq!(before, after, "the index is left");
    }
    if !left.is_empty() {
        let line = |listing: &str| {
            listing
                .lines()
                .find(|line| line.ends_with(left))
                .map(str::to_owned)
        };
        assert_eq!(
            line(&before),
            line(&after),
            "what is staged in part is left"
        );
    }
    if code == 0 {
        assert_eq!(
            ok(
                &scene,
                "git diff --name-only; git ls-files -o --exclude-standard"
            ),
            "",
            "all is staged"
        );
        assert!(!ok(&scene, "git diff --cached").contains("+evil()"));
    }
    assert!(!scene.exists(".git/index.lock"));
}

/// With `--restage`, the commit through a hook and the index contain the fixed code.
fn restaged_in_a_hook(commit: &str) {
    let scene = shell::scene(FINDS_EVIL, MENDS);
    ok(
        &scene,
        "echo 'evil()' >> app.py; echo '# x' >> app.py; git add app.py",
    );
    scene.script(
        ".git/hooks/pre-commit",
        "#!/bin/sh\n$GLEE review --staged --fix --restage --no-input -q > $HOME/report 2>&1\n",
    );
    let output = sh(&scene, commit);
    assert_eq!(
        output.code,
        0,
        "{output}\n{}",
        ok(&scene, "cat $HOME/report")
    );
    assert!(!ok(&scene, "git show HEAD:app.py").contains("evil()"));
    assert!(ok(&scene, "git show HEAD:app.py").contains("# x"));
    assert_eq!(ok(&scene, "git status --porcelain"), "");
}

fn refused() {
    let scene: Scene = shell::scene(FINDS_EVIL, "");
    ok(&scene, "echo 'evil()' >> app.py; git add app.py");
    for (args, code) in [
        ("--restage", 2),
        ("--staged --restage", 2),
        ("--restage --fix", 2),
    ] {
        assert_eq!(
            sh(&scene, &format!("$GLEE review {args} --no-input")).code,
            code,
            "{args}"
        );
    }
}

pub(super) fn add(cases: &mut Cases) {
    let row = "the index of a hook";
    for (name, prepare, committed, is_evil) in COMMITS {
        cases.add(row, *name, || commit(prepare, committed, *is_evil));
    }
    cases.add(row, "of another repository", foreign);
    cases.add(row, "other variables of git", variables);
    let row = "a fix of staged code";
    for (name, prepare, fix, [left, restaged], unstaged) in FIXES {
        cases.add(row, *name, || fixed(prepare, fix, false, *left, ""));
        cases.add(row, format!("{name}, with --restage"), || {
            fixed(prepare, fix, true, *restaged, unstaged)
        });
    }
    for commit in [
        "git commit -qm m",
        "git commit -qam m",
        "git commit -qm m app.py",
    ] {
        cases.add(row, format!("in a hook of `{commit}`"), move || {
            restaged_in_a_hook(commit)
        });
    }
    cases.add(row, "--restage without staged code or a coder", refused);
}
