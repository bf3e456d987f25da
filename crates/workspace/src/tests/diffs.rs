//! Reviews of a diff: what is applied, and which lines are covered.

use super::*;

fn diff(tree: &Tree, text: &str) -> Result<Target, WorkspaceError> {
    tree.open().select(
        &TargetSpec::Diff {
            name: "x.diff".to_owned(),
            text: text.into(),
        },
        &OPTIONS,
    )
}

const CHANGE: &str = "diff --git a/a.rs b/a.rs\nindex 1..2 100644\n--- a/a.rs\n+++ b/a.rs\n\
                      @@ -1,3 +1,4 @@ fn x\n 1\n-2\n+two\n+more\n 3\n";

#[test]
fn it_is_read_the_same_before_and_after_it_is_applied() {
    let tree = Tree::git();
    tree.write("a.rs", "1\n2\n3\n4\n");
    let before = diff(&tree, CHANGE).unwrap();
    assert_eq!(before.files[0].text, "1\ntwo\nmore\n3\n4\n");
    assert_eq!(shape(&before), [("a.rs", vec![(2, 3)])]);
    assert_eq!(before.files[0].diff.as_deref(), Some(CHANGE));
    assert_eq!(before.description, "diff x.diff");
    tree.write("a.rs", "1\ntwo\nmore\n3\n4\n");
    assert_eq!(diff(&tree, CHANGE).unwrap().files, before.files);
    assert_eq!(diff(&tree, CHANGE).unwrap().tree, before.tree);
}

#[test]
fn a_diff_of_another_tree_shows_its_own_lines() {
    let tree = Tree::plain();
    tree.write("a.rs", "something else\n");
    let text = "--- a/a.rs\t2024-01-01\n+++ b/a.rs\t2024-01-02\n@@ -3,2 +3,1 @@\n-3\n 4\n";
    let target = diff(&tree, text).unwrap();
    assert_eq!(target.files[0].text, "\n\n4\n");
    assert_eq!(shape(&target), [("a.rs", vec![(3, 3)])]);
}

#[test]
fn new_deleted_renamed_binary_and_hostile_files() {
    let tree = Tree::plain();
    tree.write("here.rs", "1\n");
    let text = "Some words first.\n\
        diff --git a/new.rs b/new.rs\nnew file mode 100644\n--- /dev/null\n+++ b/new.rs\n@@ -0,0 +1,2 @@\n+a\n+b\n\
        diff --git a/old.rs b/old.rs\ndeleted file mode 100644\n--- a/old.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\
        diff --git a/p.png b/p.png\nindex 1..2 100644\nBinary files a/p.png and b/p.png differ\n\
        diff --git a/was.rs b/here.rs\nsimilarity index 100%\nrename from was.rs\nrename to here.rs\n\
        --- a/x\n+++ b/../../etc/passwd\n@@ -1 +1 @@\n-a\n+b\n\
        --- a/x\n+++ b/.git/config\n@@ -1 +1 @@\n-a\n+b\n\
        --- a/far.rs\n+++ b/far.rs\n@@ -4000000000 +4000000000 @@\n-a\n+b\n";
    let target = diff(&tree, text).unwrap();
    assert_eq!(
        shape(&target),
        [
            ("here.rs", vec![]),
            ("new.rs", vec![(1, 2)]),
            ("old.rs", vec![])
        ]
    );
    assert_eq!(target.files[1].text, "a\nb\n");
    assert!(target.files[2].is_deleted() && diff_of(&target, "old.rs").contains("\n-a\n"));
    assert_eq!(
        skips(&target),
        [
            ("../../etc/passwd", SkipReason::Unreadable),
            (".git/config", SkipReason::Unreadable),
            ("far.rs", SkipReason::Oversized),
            ("p.png", SkipReason::Binary),
        ]
    );
}

#[test]
fn two_changes_of_one_file_are_one_target() {
    let tree = Tree::plain();
    tree.write("a.rs", "one\n2\n3\nfour\n");
    let text = "--- a/a.rs\n+++ b/a.rs\n@@ -4 +4 @@\n-4\n+four\n\n--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-1\n+one\n";
    assert_eq!(
        shape(&diff(&tree, text).unwrap()),
        [("a.rs", vec![(1, 1), (4, 4)])]
    );
}

#[test]
fn what_is_no_diff_is_refused() {
    let tree = Tree::plain();
    for text in ["hello\n", "--- a\nno plus\n", "\u{0}\u{1}"] {
        assert_eq!(
            diff(&tree, text).unwrap_err().to_string(),
            "`x.diff` contains no unified diff"
        );
    }
}

#[test]
fn renames_and_copies_are_laid_over_the_file_by_its_old_name() {
    let tree = Tree::plain();
    tree.write("a.rs", "1\n2\n3\n");
    let hunk = "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n";
    let text = format!(
        "diff --git i/a.rs w/a.rs\n--- i/a.rs\n+++ w/a.rs\n{hunk}\
         diff --git i/a.rs w/b.rs\nsimilarity index 60%\ncopy from a.rs\ncopy to b.rs\n--- i/a.rs\n+++ w/b.rs\n{hunk}\
         diff --git i/no.rs w/c.rs\nsimilarity index 100%\nrename from no.rs\nrename to c.rs\n"
    );
    let target = diff(&tree, &text).unwrap();
    assert_eq!(
        shape(&target),
        [("a.rs", vec![(2, 2)]), ("b.rs", vec![(2, 2)])]
    );
    assert_eq!(target.files[1].text, "1\ntwo\n3\n");
    assert_eq!(skips(&target), [("c.rs", SkipReason::Unreadable)]);
}

#[test]
fn a_file_is_found_by_the_end_of_its_name_only_where_the_lines_stand() {
    let tree = Tree::plain();
    tree.write("src/a.rs", "1\n2\n3\n");
    tree.write("a.rs", "other\n");
    let text =
        "--- /tmp/x/old/src/a.rs\n+++ /tmp/x/new/src/a.rs\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n";
    let target = diff(&tree, text).unwrap();
    assert_eq!(shape(&target), [("src/a.rs", vec![(2, 2)])]);
    assert_eq!(target.files[0].text, "1\ntwo\n3\n");
    tree.write("src/a.rs", "something else\n");
    assert_eq!(
        diff(&tree, text).unwrap().files[0].text,
        "1\ntwo\n3\n",
        "its own lines"
    );
}

#[test]
fn a_diff_does_not_hide_itself() {
    let tree = Tree::git();
    tree.write("made.rs", "// @generated\n1\n");
    tree.commit("one");
    let new =
        |path: &str, text: &str| format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{text}\n");
    let text = [
        new(".gleeignore", "*"),
        new("new.min.js", "x"),
        new("new.rs", "// @generated"),
        "--- a/made.rs\n+++ b/made.rs\n@@ -1,2 +1,2 @@\n // @generated\n-1\n+2\n".to_owned(),
    ];
    let target = diff(&tree, &text.concat()).unwrap();
    assert_eq!(
        shape(&target),
        [
            (".gleeignore", vec![(1, 1)]),
            ("new.min.js", vec![(1, 1)]),
            ("new.rs", vec![(1, 1)])
        ]
    );
    assert_eq!(skips(&target), [("made.rs", SkipReason::Generated)]);
}
