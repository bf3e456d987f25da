//! Creates folders and files that only the owner can read. Glee's state folder contains code, prompts and answers.
//! Only the owner can read the folder and its contents, including temporary files and files that git creates.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::Path;

use ignore::WalkBuilder;

/// An empty file with this name shows that the permissions of the state folder are already restricted. Glee
/// creates the file after restricting the permissions of the state folder and its contents.
const MARK: &str = "private";
/// The name of the folder for histories, which is a subfolder of the state folder.
const HISTORIES: &str = "repos";
const OWN: [&str; 8] = [
    HISTORIES, "kept", "objects", "copies", "agents", "trust", "watch", "sessions",
];

/// Creates a folder and its parents with mode 0700. An existing folder remains unchanged.
pub fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Writes a file atomically. Creates the file's folder if the folder does not exist.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let above = path.parent().ok_or(io::ErrorKind::NotFound)?;
    folder(above)?;
    let mut file = tempfile::NamedTempFile::new_in(above)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Restricts the permissions of an existing state folder and of its contents to the owner. Earlier versions of
/// Glee created the folder with wider permissions. A file with several hard links keeps its permissions, because
/// another hard link to the file is in the user's git repository.
pub fn tighten(state_dir: &Path) -> io::Result<()> {
    let narrow = |path: &Path, meta: &fs::Metadata| {
        let mode = meta.permissions().mode() & 0o7777;
        let wanted = mode & 0o700;
        if mode == wanted {
            Ok(())
        } else {
            fs::set_permissions(path, fs::Permissions::from_mode(wanted))
        }
    };
    let Some(meta) = fs::symlink_metadata(state_dir)
        .ok()
        .filter(fs::Metadata::is_dir)
    else {
        return Ok(());
    };
    let names = fs::read_dir(state_dir)?.map(|entry| entry.map(|entry| entry.file_name()));
    let names = names.collect::<io::Result<Vec<_>>>()?;
    let is_own = |name: &OsStr| {
        let name = name.to_string_lossy();
        OWN.contains(&name.as_ref()) || name.starts_with("tree-") || name.starts_with("image-")
    };
    // If a folder has contents but no subfolder for histories, the folder is not a state folder.
    if !names.is_empty() && !names.iter().any(|name| name == HISTORIES) {
        return Ok(());
    }
    narrow(state_dir, &meta)?;
    if names.is_empty() || names.iter().any(|name| name == MARK) {
        return Ok(());
    }
    let mut walk = WalkBuilder::new(state_dir);
    walk.standard_filters(false)
        .filter_entry(move |entry| entry.depth() != 1 || is_own(entry.file_name()));
    for entry in walk.build() {
        let entry =
            entry.map_err(|error| error.into_io_error().unwrap_or(io::ErrorKind::Other.into()))?;
        let Ok(meta) = fs::symlink_metadata(entry.path()) else {
            continue;
        };
        if meta.is_dir() || meta.is_file() && meta.nlink() == 1 {
            match narrow(entry.path(), &meta) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(state_dir.join(MARK))
        .map(drop)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn created_files_are_private() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("a/b/c");
        write(&path, b"x").unwrap();
        assert_eq!(
            [
                mode(&base.path().join("a")),
                mode(&base.path().join("a/b")),
                mode(&path)
            ],
            [0o700, 0o700, 0o600]
        );
    }

    #[test]
    fn permissions_of_earlier_versions_are_tightened_once_except_on_files_with_other_links() {
        let base = tempfile::tempdir().unwrap();
        let state = base.path().join("state");
        let set = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap()
        };
        fs::create_dir_all(state.join("objects/ab")).unwrap();
        fs::create_dir_all(state.join("repos")).unwrap();
        for (name, bits) in [
            ("objects/ab/cd", 0o444),
            ("tree-1.lock", 0o644),
            ("objects/own", 0o664),
            ("users", 0o644),
        ] {
            fs::write(state.join(name), name).unwrap();
            set(&state.join(name), bits);
        }
        fs::hard_link(state.join("objects/own"), base.path().join("users")).unwrap();
        std::os::unix::fs::symlink(base.path().join("users"), state.join("link")).unwrap();
        for name in ["", "objects", "objects/ab"] {
            set(&state.join(name), 0o755);
        }
        tighten(&state).unwrap();
        let modes = [
            "",
            "objects",
            "objects/ab",
            "objects/ab/cd",
            "tree-1.lock",
            "objects/own",
            "users",
        ];
        let modes = modes.map(|name| mode(&state.join(name)));
        assert_eq!(modes, [0o700, 0o700, 0o700, 0o400, 0o600, 0o664, 0o644]);
        set(&state, 0o755);
        set(&state.join("tree-1.lock"), 0o644);
        tighten(&state).unwrap();
        assert_eq!(
            [mode(&state), mode(&state.join("tree-1.lock"))],
            [0o700, 0o644],
            "it is walked once"
        );
        tighten(&base.path().join("none")).unwrap();
    }
}
