//! Checks whether an agent is allowed to access a path through Glee. Only files that are inside the tree and
//! outside `.git` are accessible. Symbolic links are resolved first, so that no link leads out of the tree.

use std::path::{Component, Path, PathBuf};

pub(super) fn readable(root: &Path, path: &Path) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
    if path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let file = resolved(&root.join(path))?;
    let is_allowed = file.strip_prefix(&root).is_ok_and(|inner| {
        !inner
            .components()
            .any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
    });
    is_allowed.then_some(file)
}

pub(super) fn writable(root: &Path, path: &Path) -> Option<PathBuf> {
    let file = readable(root, path)?;
    file.symlink_metadata()
        .map_or(true, |found| found.is_file())
        .then_some(file)
}

/// Resolves the symbolic links in a path, even if the last parts of the path do not exist yet.
fn resolved(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    // A dangling link is refused, because a write would create the link's target.
    if path.symlink_metadata().is_ok() {
        return None;
    }
    Some(resolved(path.parent()?)?.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_tree_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let root = base.join("tree");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::create_dir_all(root.join(".git")).unwrap();
        std::fs::write(root.join("src/a.py"), "").unwrap();
        std::fs::write(base.join("outside"), "").unwrap();
        for (link, to) in [("out", "../outside"), ("dangling", "../none"), ("up", "..")] {
            std::os::unix::fs::symlink(to, root.join(link)).unwrap();
        }
        let cases = [
            ("src/a.py", true, true),
            ("src/new/b.py", true, true),
            ("src", true, false),
            ("../outside", false, false),
            ("src/../../outside", false, false),
            ("out", false, false),
            ("dangling", false, false),
            ("up/outside", false, false),
            (".git/config", false, false),
            (".GIT/hooks/x", false, false),
            ("/etc/passwd", false, false),
        ];
        for (path, reads, writes) in cases {
            let path = Path::new(path);
            assert_eq!(
                (
                    readable(&root, path).is_some(),
                    writable(&root, path).is_some()
                ),
                (reads, writes),
                "{path:?}"
            );
        }
        assert_eq!(
            writable(&root, &root.join("src/a.py")),
            Some(root.join("src/a.py"))
        );
    }
}
