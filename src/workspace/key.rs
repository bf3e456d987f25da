//! The key of a repository's history, found without a git process: a list of disputes has no time for one.

use std::io::{self, Read as _};
use std::path::Path;

use super::names;
use crate::files;

/// The most that is read of a `.git` or `commondir` file, in bytes.
const LINK_CAP: u64 = 64 * 1024;

/// The key of the history that belongs to the tree around `start`: the same as that of a discovered workspace.
///
/// `None` where only git can say what `start` belongs to: bare repositories, the inside of `.git`, a damaged `.git`.
pub fn history_key(start: &Path) -> Option<String> {
    let start = start.canonicalize().ok()?;
    let Some(marked) = start.ancestors().find(|folder| folder.join(".git").exists()) else {
        if start.ancestors().any(is_repository) {
            return None;
        }
        return Some(of_place(start.ancestors().find(|folder| folder.join(".glee").is_dir()).unwrap_or(&start)));
    };
    if start.components().any(|part| part.as_os_str() == ".git") {
        return None;
    }
    let mut folder = marked.join(".git");
    if folder.is_file() {
        folder = marked.join(link(&folder).ok()?.strip_prefix("gitdir:")?.trim_start());
    }
    let common = match link(&folder.join("commondir")) {
        Ok(common) => folder.join(common),
        Err(error) if error.kind() == io::ErrorKind::NotFound => folder,
        Err(_) => return None,
    };
    let common = common.canonicalize().ok()?;
    is_repository(&common).then(|| of_common(&common))
}

/// The key for a canonical common git folder: that of the folder that holds `.git`, so that linked worktrees share it
/// and it outlives the removal or creation of `.git`; of the common folder itself where it has another name.
pub(super) fn of_common(common: &Path) -> String {
    match common.parent() {
        Some(parent) if common.file_name().is_some_and(|name| name == ".git") => of_place(parent),
        _ => of_place(common),
    }
}

/// The key for a canonical folder: the BLAKE3 hash (hex) of its path.
pub(super) fn of_place(folder: &Path) -> String {
    blake3::hash(&names::bytes(folder)).to_hex().to_string()
}

fn is_repository(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
}

/// The one line of a file that points elsewhere.
fn link(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    files::regular(file)?.take(LINK_CAP).read_to_string(&mut text)?;
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    Ok(text)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::fs;

    use super::*;

    fn repository(folder: &Path) {
        for part in ["objects", "refs"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    #[test]
    fn worktrees_submodules_and_plain_folders_have_their_keys() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let at = |path: &str| base.join(path);
        repository(&at("main/.git"));
        repository(&at("main/.git/modules/sub"));
        repository(&at("apart"));
        repository(&at("bare"));
        for folder in [
            "main/src",
            "main/.git/worktrees/w",
            "linked/deep",
            "main/sub",
            "away",
            "plain/.glee",
            "plain/a",
            "torn/.git",
            "none",
        ] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("linked/.git"), format!("gitdir: {}\n", at("main/.git/worktrees/w").display())).unwrap();
        fs::write(at("main/.git/worktrees/w/commondir"), "../..\n").unwrap();
        fs::write(at("main/sub/.git"), "gitdir: ../.git/modules/sub\n").unwrap();
        fs::write(at("away/.git"), "gitdir: ../apart\n").unwrap();

        let place = |path: &str| Some(of_place(&at(path)));
        for (start, key) in [
            ("main", place("main")),
            ("main/src", place("main")),
            ("linked/deep", place("main")),
            ("main/sub", place("main/.git/modules/sub")),
            ("away", place("apart")),
            ("plain/a", place("plain")),
            ("none", place("none")),
            ("bare/refs", None),
            ("main/.git", None),
            ("torn", None),
            ("missing", None),
        ] {
            assert_eq!(history_key(&at(start)), key, "{start}");
        }
    }
}
