//! Fetches changes from a bare repository, into full, shallow and partial clones.

use super::*;
use crate::{ChangeSource, FetchedChange};

/// A bare repository with a branch `main`, and a pull request 7 that no branch contains.
struct Host {
    folder: tempfile::TempDir,
    base: String,
    from: String,
    head: String,
}

impl Host {
    /// The pull request starts at the first commit, `commits` commits before the tip of `main`.
    fn new(commits: usize) -> Self {
        let work = Tree::git();
        work.write("a.py", "print(1)\n");
        work.write(".glee/config.yml", "review:\n  rounds: 2\n");
        work.commit("Begin");
        let from = work.head();
        for number in 0..commits {
            work.run(&[
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                &format!("Commit {number}"),
            ]);
        }
        let base = work.head();
        work.run(&["checkout", "-q", "-b", "change", &from]);
        work.write("a.py", "print(2)\n");
        work.write(".glee/config.yml", "review:\n  rounds: 3\n");
        work.commit("Change");
        let head = work.head();
        let folder = tempfile::tempdir().unwrap();
        let bare = folder.path().join("host.git").display().to_string();
        git(
            folder.path(),
            &["init", "-q", "--bare", "-b", "main", &bare],
        );
        work.run(&["push", "-q", &bare, "main", "change:refs/pull/7/head"]);
        git(
            Path::new(&bare),
            &["config", "uploadpack.allowFilter", "true"],
        );
        Self {
            folder,
            base,
            from,
            head,
        }
    }

    fn address(&self) -> String {
        format!(
            "file://{}",
            self.folder
                .path()
                .canonicalize()
                .unwrap()
                .join("host.git")
                .display()
        )
    }

    fn clone(&self, options: &[&str]) -> Tree {
        let tree = Tree::plain();
        let address = self.address();
        git(
            tree.folder.path(),
            &[&["clone", "-q"], options, &[address.as_str(), "tree"]].concat(),
        );
        tree
    }

    fn fetch(&self, tree: &Tree) -> Result<FetchedChange> {
        let repository = self.address();
        let head_ref = "refs/pull/7/head";
        let head = self.head.as_str();
        let base = self.base.as_str();
        let branch = "main".into();
        let source = ChangeSource {
            repository: &repository,
            head_ref,
            head,
            base_branch: &branch,
            base,
        };
        tree.open().fetch_change(&source)
    }
}

fn refs(tree: &Tree) -> String {
    tree.run(&["for-each-ref", "--format=%(refname) %(objectname)"])
}

#[test]
fn a_change_is_fetched_as_objects_that_survive_a_cleanup_until_the_end_of_the_run() {
    let host = Host::new(3);
    let tree = host.clone(&[]);
    tree.write("own.txt", "mine\n");
    let hook = tree.root().join(".git/hooks/reference-transaction");
    std::fs::write(&hook, "#!/bin/sh\ntouch ../hooked\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let before = refs(&tree);
    let head = tree.head();
    let status = tree.run(&["status", "--porcelain"]);
    let fetched = host.fetch(&tree).unwrap();
    assert_eq!(
        (&fetched.base, &fetched.from, &fetched.head),
        (&host.base, &host.from, &host.head)
    );
    let range = TargetSpec::Range(format!("{}..{}", fetched.from, fetched.head));
    assert_eq!(
        names(&tree.select(range.clone())),
        [".glee/config.yml", "a.py"]
    );
    let hooked = tree.root().join("../hooked");
    assert!(!hooked.exists());
    tree.run(&["-c", "gc.reflogExpire=now", "gc", "-q", "--prune=now"]);
    drop(std::fs::remove_file(&hooked));
    assert_eq!(
        names(&tree.select(range)),
        [".glee/config.yml", "a.py"],
        "the commits are protected"
    );
    let workspace = tree.open();
    assert_eq!(
        workspace
            .edited_control_files(&host.from, &host.head)
            .unwrap(),
        [".glee/config.yml"]
    );
    assert_eq!(
        workspace.text_at_commit(&host.head, "a.py").as_deref(),
        Some("print(2)\n")
    );
    assert_eq!(workspace.text_at_commit(&host.head, "../a.py"), None);
    drop(fetched);
    assert_eq!(
        (
            refs(&tree),
            tree.head(),
            tree.run(&["status", "--porcelain"])
        ),
        (before, head, status)
    );
    assert!(!tree.root().join(".git/FETCH_HEAD").exists() && !hooked.exists());
    tree.run(&["gc", "-q", "--prune=now"]);
    assert!(
        !try_git(&tree.root(), &["cat-file", "-e", &host.head])
            .status
            .success(),
        "no object is left"
    );
}

#[test]
fn the_refs_of_a_killed_run_are_deleted_by_the_next_run() {
    let host = Host::new(1);
    let tree = host.clone(&[]);
    // No process has the maximum id.
    let left = format!("refs/glee/requests/{}-0/head", i32::MAX);
    tree.run(&["update-ref", &left, "HEAD"]);
    let fetched = host.fetch(&tree).unwrap();
    assert!(
        !refs(&tree).contains(&left)
            && refs(&tree).contains(&format!("requests/{}-", std::process::id()))
    );
    drop(fetched);
    assert!(!refs(&tree).contains("refs/glee"), "{}", refs(&tree));
}

#[test]
fn a_shallow_clone_is_deepened_until_there_is_a_merge_base() {
    for commits in [10, 400] {
        let host = Host::new(commits);
        let tree = host.clone(&["--depth=1"]);
        assert!(
            !try_git(&tree.root(), &["cat-file", "-e", &host.from])
                .status
                .success()
        );
        let fetched = host.fetch(&tree).unwrap();
        assert_eq!(fetched.from, host.from);
    }
}

#[test]
fn a_partial_clone_gets_the_contents_of_the_change() {
    let host = Host::new(2);
    let tree = host.clone(&["--filter=blob:none", "--no-checkout"]);
    let fetched = host.fetch(&tree).unwrap();
    let target = tree.select(TargetSpec::Range(format!(
        "{}..{}",
        fetched.from, fetched.head
    )));
    assert_eq!(
        (names(&target), skips(&target)),
        (vec![".glee/config.yml", "a.py"], vec![])
    );
    assert!(diff_of(&target, "a.py").contains("-print(1)\n+print(2)"));
    assert!(
        !tree
            .open()
            .control_files_at(&host.base)
            .unwrap()
            .adds_config()
    );
}

#[test]
fn a_hostile_address_or_name_runs_nothing() {
    let host = Host::new(1);
    let tree = host.clone(&[]);
    let made = tree.folder.path().join("made");
    let address = format!("ext::sh -c touch% {}", made.display());
    let head = host.head.as_str();
    let base = host.base.as_str();
    let branch = "a:b".into();
    let source = ChangeSource {
        repository: &address,
        head_ref: "--upload-pack=x",
        head,
        base_branch: &branch,
        base,
    };
    tree.open().fetch_change(&source).unwrap_err();
    assert!(!made.exists());
    let own = host.address();
    let missing = "0123456789012345678901234567890123456789";
    let source = ChangeSource {
        repository: &own,
        head: missing,
        head_ref: "refs/pull/7/head",
        ..source
    };
    let error = tree.open().fetch_change(&source).unwrap_err();
    assert!(matches!(error, WorkspaceError::ChangeMoved), "{error}");
    let source = ChangeSource {
        head: "HEAD",
        ..source
    };
    assert!(matches!(
        tree.open().fetch_change(&source).unwrap_err(),
        WorkspaceError::BadRevision { .. }
    ));
}
