//! Pruning deletes the snapshots of old runs and keeps what other runs need.

use std::time::{Duration, SystemTime};

use super::*;

fn run(number: u32) -> RunId {
    RunId(format!("01a00000-0000-7000-8000-00000000000{number}"))
}

/// All files below the state folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let entries = entries.map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// Sets the times of everything in the state folder to an hour ago.
fn age(state: &Path) {
    for path in files(state) {
        // Objects are read-only, but the owner of a file may set its times.
        let file = std::fs::File::open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3600))
            .unwrap();
    }
}

#[test]
fn an_old_run_is_deleted_and_a_newer_one_is_restored_byte_for_byte() {
    for make in [Tree::git, Tree::plain] {
        let tree = make();
        let open = tree.open();
        let state = tree.state();
        std::fs::create_dir(&state).unwrap();
        tree.write("shared.rs", "the same in both runs\n");
        tree.write("own.rs", "one\n");
        let old = open.keep(&run(1), &state).unwrap();
        tree.write("own.rs", "what the first coder wrote\n");
        open.after_coder_call(&run(1), &state).unwrap();
        let after = open.snapshot(&state).unwrap();
        age(&state);
        let since = SystemTime::now() - Duration::from_secs(60);

        tree.write("own.rs", "two\n");
        let new = open.keep(&run(2), &state).unwrap();
        tree.write("own.rs", "what the second coder wrote\n");
        open.after_coder_call(&run(2), &state).unwrap();
        let now = open.snapshot(&state).unwrap();

        let gone = Prunable {
            run: run(1),
            trees: vec![old.tree.clone(), after.clone()],
        };
        let needed = Needed {
            trees: vec![new.tree.clone(), now.clone()],
            since,
        };
        let before = files(&state).len();
        let freed = open
            .prune(std::slice::from_ref(&gone), &needed, &state)
            .unwrap();
        assert!(freed > 0 && files(&state).len() < before, "{freed} bytes");
        assert_eq!(
            open.prune(&[gone], &needed, &state).unwrap(),
            0,
            "a second time there is nothing"
        );

        let undo = |run: &RunId| open.undo(run, &UndoOptions::default(), &state);
        assert!(undo(&run(1)).is_err());
        assert!(open.changes(&old.tree, &after, &state).is_err());
        assert_eq!(open.changes(&new.tree, &now, &state).unwrap().len(), 1);
        assert_eq!(
            undo(&run(2)).unwrap(),
            Undone {
                files: 1,
                ..Undone::default()
            }
        );
        assert_eq!(
            std::fs::read_to_string(tree.root().join("own.rs")).unwrap(),
            "two\n"
        );
    }
}
