//! Finds the folder of the home folder that the sandbox kept from a program that failed.

use std::path::{Component, Path, PathBuf};

use super::paths::real;
use crate::Confinement;

/// What programs print when the system refuses a path. Behind mounts a closed folder seems to be missing.
const DENIED: [&str; 8] = [
    "eacces",
    "eperm",
    "erofs",
    "permission denied",
    "permissionerror",
    "operation not permitted",
    "read-only file system",
    "enoent",
];

/// The folders of a home folder in which each program has a folder of its own.
const SHARED: [&str; 5] = [
    ".config",
    ".cache",
    ".local/share",
    ".local/state",
    ".local",
];

/// Folders that no hint opens.
const SECRET: [&str; 2] = [".ssh", ".gnupg"];

/// Returns the folder of the program below `home` that its words name and to which it cannot write. Without such
/// words, returns a folder of the program's name that exists and that it cannot open.
pub fn denied(held: &Confinement, program: &str, home: &Path, said: &str) -> Option<PathBuf> {
    let home = real(home);
    let lines = said.lines().filter(|line| {
        let line = line.to_lowercase();
        DENIED.iter().any(|word| line.contains(word))
    });
    for line in lines {
        let words = line.split(|c: char| c.is_whitespace() || "'\"`‘’:,;()[]=".contains(c));
        for word in words {
            let path = match word.strip_prefix("~/") {
                Some(below) => home.join(below),
                None => PathBuf::from(word),
            };
            let Some(place) = place_of(&home, &path) else {
                continue;
            };
            let full = real(&place);
            let mut writable = held.writable.iter();
            if !writable.any(|path| full.starts_with(Path::new(path))) {
                return Some(place);
            }
        }
    }
    let name = Path::new(program).file_name()?.to_str()?;
    let mut own = vec![home.join(format!(".{name}"))];
    own.extend(SHARED.map(|folder| home.join(folder).join(name)));
    own.into_iter()
        .find(|place| place.is_dir() && !held.opens(&real(place)))
}

/// The folder below the home folder, or below a shared folder in it, that contains the path.
fn place_of(home: &Path, path: &Path) -> Option<PathBuf> {
    let below = path.strip_prefix(home).ok()?;
    let is_plain = |part: &Component<'_>| matches!(part, Component::Normal(_));
    if !below.components().all(|part| is_plain(&part)) {
        return None;
    }
    let shared = SHARED.iter().find(|folder| below.starts_with(folder));
    let depth = shared.map_or(0, |folder| Path::new(folder).components().count());
    let parts: PathBuf = below.components().take(depth + 1).collect();
    let is_hidden = parts.as_os_str().as_encoded_bytes().starts_with(b".")
        && !SECRET.iter().any(|secret| parts.starts_with(secret));
    (is_hidden && parts.components().count() == depth + 1).then(|| home.join(parts))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_words_of_a_program_name_the_folder_that_it_lacks() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for name in [".agent/x", ".config/other", ".open"] {
            std::fs::create_dir_all(home.join(name)).unwrap();
        }
        let held = Confinement {
            closed: vec![home.clone().into()],
            writable: vec![home.join(".open").into()],
            ..Confinement::default()
        };
        let h = home.display();
        for (program, said, expected) in [
            (
                "mine",
                format!(
                    "Error: EACCES: permission denied, mkdir '{h}/.mine/sessions/7'\n\nNode.js v22"
                ),
                Some(".mine"),
            ),
            (
                "mine",
                format!("mkdir: cannot create directory ‘{h}/.pi’: Read-only file system"),
                Some(".pi"),
            ),
            (
                "mine",
                format!(
                    "PermissionError: [Errno 13] Permission denied: '{h}/.local/share/goose/log'"
                ),
                Some(".local/share/goose"),
            ),
            (
                "mine",
                format!("open {h}/.config/crush/crush.json: permission denied"),
                Some(".config/crush"),
            ),
            (
                "mine",
                "touch: ~/.cache/x/y: Operation not permitted".to_owned(),
                Some(".cache/x"),
            ),
            (
                "mine",
                format!("ENOENT: no such file or directory, open '{h}/.mine/auth.json'"),
                Some(".mine"),
            ),
            ("agent", "not logged in".to_owned(), Some(".agent")),
            (
                "/opt/bin/other",
                "segmentation fault".to_owned(),
                Some(".config/other"),
            ),
            // The program could write there, the path lies elsewhere, or nothing was refused.
            ("mine", format!("permission denied: {h}/.open/x"), None),
            ("mine", "permission denied: /etc/shadow".to_owned(), None),
            ("mine", format!("read {h}/.mine/config"), None),
            ("mine", format!("permission denied: {h}/.ssh/id_rsa"), None),
            ("mine", format!("permission denied: {h}/project/a.py"), None),
        ] {
            let found = denied(&held, program, &home, &said);
            assert_eq!(found, expected.map(|name| home.join(name)), "{said}");
        }
    }
}
