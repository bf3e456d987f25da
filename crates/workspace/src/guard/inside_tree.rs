//! Checks whether a path is inside a tree. Glee's state folder has to be outside the tree, because a coder can
//! write to files in the tree.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::Workspace;

/// The maximum number of symbolic links that are followed in one path. The Linux kernel has the same limit.
const LINKS: usize = 40;

impl Workspace {
    /// Whether a path leads into the tree or its repository. A path also counts as inside the tree if the path
    /// passes through a symbolic link in the tree or the repository. The path need not exist. A relative path
    /// starts at the working folder.
    pub fn holds(&self, path: &Path) -> bool {
        let folders = self.folders();
        // A path that cannot be resolved counts as inside the tree.
        let Ok(absolute) = std::path::absolute(path) else {
            return true;
        };
        passed(&absolute).is_none_or(|places| {
            places
                .iter()
                .any(|place| folders.iter().any(|folder| place.starts_with(folder)))
        })
    }
}

/// Resolves a path. Returns all links on the way to the target, and then the target itself. Returns `None` if there
/// are more than `LINKS` links, for example because links form a loop.
pub fn passed(path: &Path) -> Option<Vec<PathBuf>> {
    let mut places = Vec::new();
    let mut here = PathBuf::new();
    let mut rest: Vec<OsString> = reversed(path);
    let mut left = LINKS;
    while let Some(part) = rest.pop() {
        match Path::new(&part).components().next() {
            Some(Component::Normal(name)) => {
                here.push(name);
                let Ok(target) = std::fs::read_link(&here) else {
                    continue;
                };
                left = left.checked_sub(1)?;
                places.push(here.clone());
                here.pop();
                rest.extend(reversed(&target));
            }
            Some(Component::ParentDir) => drop(here.pop()),
            Some(Component::CurDir) | None => {}
            Some(root @ (Component::RootDir | Component::Prefix(_))) => here.push(root),
        }
    }
    places.push(here);
    Some(places)
}

fn reversed(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

#[cfg(all(test, unix))]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_way_into_a_tree_is_seen() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let root = base.join("tree");
        for folder in ["tree/sub", "tree/.glee", "out/deep", "tree-of-another"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        symlink("../tree/sub", base.join("out/in")).unwrap();
        symlink("../tree/none", base.join("out/dangling")).unwrap();
        symlink("../../out", root.join("sub/away")).unwrap();
        symlink("loop", base.join("out/loop")).unwrap();
        symlink(&base, base.join("out/up")).unwrap();
        let tree = Workspace::discover(&root).unwrap();
        for inside in [
            "tree",
            "tree/h.db",
            "tree/none/deep/h.db",
            "tree/sub/../h.db",
            "tree/none/../h.db",
            "none/../tree/h.db",
            "out/../tree/h.db",
            "out/in/h.db",
            "out/in/../h.db",
            "out/dangling",
            "out/dangling/h.db",
            "out/up/tree/h.db",
            "tree/sub/away/h.db",
            "out/loop/h.db",
            "tree/../out/in/h.db",
        ] {
            assert!(tree.holds(&base.join(inside)), "{inside}");
        }
        for outside in [
            "h.db",
            "tree/../h.db",
            "out/h.db",
            "out/up/h.db",
            "tree-of-another/h.db",
            "tree.db",
            "none/tree/h.db",
        ] {
            assert!(!tree.holds(&base.join(outside)), "{outside}");
        }
    }
}
