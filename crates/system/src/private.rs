//! Creates folders and files that only the owner can read. Glee's state folder contains code, prompts and answers.
//! Only the owner can read the folder and its contents, including temporary files and files that git creates.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Creates a folder and its parents with mode 0700. An existing folder remains unchanged.
pub fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Closes a state folder that somebody else made to all but the owner. A folder with other contents, which is no state
/// folder, remains unchanged. `histories` is the name of the folder that each state folder has.
pub fn close(state_dir: &Path, histories: &str) -> io::Result<()> {
    let is_open = fs::symlink_metadata(state_dir)
        .is_ok_and(|meta| meta.is_dir() && meta.permissions().mode() & 0o077 != 0);
    if !is_open {
        return Ok(());
    }
    let is_own = state_dir.join(histories).is_dir() || fs::read_dir(state_dir)?.next().is_none();
    if is_own {
        fs::set_permissions(state_dir, Permissions::from_mode(0o700))?;
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::symlink_metadata(path)
            .unwrap()
            .permissions()
            .mode()
            & 0o777
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
    fn only_a_state_folder_is_closed() {
        for (inside, closes) in [(None, true), (Some("repos"), true), (Some("notes"), false)] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path();
            if let Some(name) = inside {
                fs::create_dir(path.join(name)).unwrap();
            }
            fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
            close(path, "repos").unwrap();
            assert_eq!(mode(path) == 0o700, closes, "{inside:?}");
        }
    }
}
