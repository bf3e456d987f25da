//! The worktree of a run begins as its home is, and an apply merges the changes of both sides, or changes nothing.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;

const FILES: [&str; 3] = ["a.py", "b/b.py", "c.py"];
const LINES: usize = 12;

/// The contents of [`FILES`]; `None` for a missing file.
type Contents = BTreeMap<&'static str, Option<Vec<String>>>;

/// What one side does to a file.
#[derive(Clone, Debug)]
enum Edit {
    Nothing,
    Remove,
    /// Replaces these lines.
    Lines(Vec<usize>),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        2 => Just(Edit::Nothing),
        1 => Just(Edit::Remove),
        4 => prop::collection::vec(0..LINES, 1..3).prop_map(Edit::Lines),
    ]
}

fn edited(before: &Contents, edits: &[Edit; 3], who: &str) -> Contents {
    let mut after = before.clone();
    for (file, edit) in FILES.iter().zip(edits) {
        let text = after.get_mut(file).unwrap();
        match (edit, &mut *text) {
            (Edit::Nothing, _) => {}
            (Edit::Remove, _) => *text = None,
            (Edit::Lines(lines), Some(text)) => {
                lines
                    .iter()
                    .for_each(|line| text[*line] = format!("{who} {line}"));
            }
            // The side creates the file.
            (Edit::Lines(_), None) => *text = Some(vec![format!("made by {who}"); LINES]),
        }
    }
    after
}

fn put(root: &Path, contents: &Contents) {
    for (file, text) in contents {
        let path = root.join(file);
        match text {
            None => drop(std::fs::remove_file(path)),
            Some(lines) => {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, lines.join("\n") + "\n").unwrap();
            }
        }
    }
}

fn found(root: &Path) -> Contents {
    let read = |file| std::fs::read_to_string(root.join(file)).ok();
    let lines = |text: String| text.lines().map(str::to_owned).collect();
    FILES
        .iter()
        .map(|file| (*file, read(*file).map(lines)))
        .collect()
}

/// The lines of both sides, if no line has two versions. `None` if a file has a conflict.
fn merged(before: &Contents, coder: &Contents, user: &Contents) -> Option<Contents> {
    let mut all = Contents::new();
    for file in FILES {
        let (old, theirs, ours) = (&before[file], &coder[file], &user[file]);
        let text = match (old, theirs, ours) {
            _ if theirs == old || theirs == ours => ours.clone(),
            _ if ours == old => theirs.clone(),
            (Some(old), Some(theirs), Some(ours)) => {
                let mut lines = Vec::new();
                for line in 0..LINES {
                    lines.push(match (&old[line], &theirs[line], &ours[line]) {
                        (old, theirs, ours) if theirs == old || theirs == ours => ours.clone(),
                        (old, theirs, ours) if ours == old => theirs.clone(),
                        _ => return None,
                    });
                }
                Some(lines)
            }
            _ => return None,
        };
        all.insert(file, text);
    }
    Some(all)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_apply_has_the_changes_of_both_sides_or_changes_nothing(
        exist in any::<[bool; 3]>(),
        coder in [edit(), edit(), edit()],
        user in [edit(), edit(), edit()],
    ) {
        let tree = Tree::git();
        tree.write("other.py", "1\n");
        tree.commit("one");
        let text = |exists: bool| exists.then(|| (0..LINES).map(|line| format!("line {line}")).collect());
        let before: Contents = FILES.iter().zip(exist).map(|(file, exists)| (*file, text(exists))).collect();
        put(&tree.root(), &before);
        let home = Arc::new(tree.open());
        let state = tree.state();
        let (apart, nested) = home.add_worktree(&run_id(), &state).unwrap();
        prop_assert!(nested.is_empty());
        prop_assert_eq!(found(apart.root()), before.clone());
        apart.keep(&run_id(), &state).unwrap();
        let coder = edited(&before, &coder, "coder");
        put(apart.root(), &coder);
        apart.after_coder_call(&run_id(), &state).unwrap();
        let user = edited(&before, &user, "user");
        put(&tree.root(), &user);

        let options = UndoOptions::default();
        let applied = home.apply(&run_id(), &options, &state).unwrap();
        let now = found(&tree.root());
        if !applied.done.conflicts.is_empty() {
            prop_assert_eq!(now, user);
            return Ok(());
        }
        // A merge line by line never has a conflict that this one has not; neighbouring lines can be one.
        prop_assert_eq!(Some(now), merged(&before, &coder, &user));
        prop_assert_eq!(applied.left, 0);
        home.remove_worktree(&run_id(), &state).unwrap();
        prop_assert!(home.worktrees(&state).is_empty());
        let again = home.apply(&run_id(), &options, &state).unwrap();
        prop_assert_eq!(again.done.files, 0);
        let undone = home.undo(&run_id(), &options, &state).unwrap();
        prop_assert!(undone.conflicts.is_empty());
        prop_assert_eq!(found(&tree.root()), user);
    }
}

#[test]
fn a_worktree_begins_as_its_home_is_and_git_says_the_same_of_it() {
    let tree = Tree::git();
    for file in [
        "kept",
        "edited",
        "staged",
        "gone",
        "sub/deep/kept",
        "program",
    ] {
        tree.write(file, format!("{file}\n"));
    }
    tree.write(".gitattributes", "*.txt eol=crlf\n");
    tree.write("lines.txt", "a\r\nb\r\n");
    tree.write(".gitignore", "ignored\n");
    tree.commit("one");
    tree.write("edited", "by hand\n");
    tree.write("staged", "in the index\n");
    tree.run(&["add", "staged"]);
    tree.write("staged", "later\n");
    tree.remove("gone");
    tree.write("new \u{e4}\u{2028}", [0, 255, 10]);
    tree.write("ignored", "mine\n");
    symlink("kept", tree.root().join("link")).unwrap();
    let mode = |path: &str, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(tree.root().join(path), permissions).unwrap();
    };
    mode("program", 0o755);
    mode("kept", 0o600);
    let home = Arc::new(tree.open());
    let status = |folder: &Path| git(folder, &["status", "--porcelain=v1"]);
    let before = status(&tree.root());
    let (apart, _) = home.add_worktree(&run_id(), &tree.state()).unwrap();
    assert_eq!(
        apart.snapshot(&tree.state()).unwrap(),
        home.snapshot(&tree.state()).unwrap()
    );
    assert_eq!(status(apart.root()), before);
    assert_eq!(status(&tree.root()), before);
    assert!(!apart.root().join("ignored").exists());
    assert_eq!(apart.home().root(), tree.root());

    // What a coder leaves does not prevent the removal, and its link leads nowhere.
    std::fs::create_dir(apart.root().join("closed")).unwrap();
    std::fs::write(apart.root().join("closed/file"), "1").unwrap();
    let closed = std::fs::Permissions::from_mode(0o500);
    std::fs::set_permissions(apart.root().join("closed"), closed).unwrap();
    std::fs::write(apart.root().join(".git"), "gitdir: /nowhere\n").unwrap();
    let again = home.worktree(&run_id(), &tree.state()).unwrap().unwrap();
    let left = status(again.root());
    assert_eq!(left.replace("?? closed/\n", ""), before);
    assert_ne!(left, before);
    home.remove_worktree(&run_id(), &tree.state()).unwrap();
    assert!(!apart.root().exists());
    assert!(home.worktree(&run_id(), &tree.state()).unwrap().is_none());
    assert_eq!(git(&tree.root(), &["worktree", "list"]).lines().count(), 1);
}
