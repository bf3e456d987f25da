//! Creates folders and files that only the owner can read. Glee's state folder contains code, prompts and answers.
//! Only the owner can read the folder and its contents, including temporary files and files that git creates.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::os::unix::fs::PermissionsExt as _;

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
}
