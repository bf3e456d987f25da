//! The key of a watch: a random number that clients send with each command.
//!
//! The key is in a private file next to the socket. Sandboxed read-only agents cannot read the file, and therefore
//! cannot send commands. Each watch creates a new key, and removes the key when the watch ends.

use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::TempPath;

use glee_system::private;

fn place(socket: &Path) -> PathBuf {
    socket.with_extension("key")
}

#[derive(Debug)]
pub(crate) struct WatchKey {
    hash: blake3::Hash,
    _path: TempPath,
}

impl WatchKey {
    /// Creates a new key. Replaces the key of an earlier watch that was killed.
    pub(crate) fn create(socket: &Path) -> io::Result<Self> {
        let path = place(socket);
        let text = format!(
            "{}{}",
            uuid::Uuid::new_v4().simple(),
            uuid::Uuid::new_v4().simple()
        );
        private::write(&path, text.as_bytes())?;
        Ok(Self {
            hash: blake3::hash(text.as_bytes()),
            _path: TempPath::try_from_path(path)?,
        })
    }

    /// Compares hashes instead of texts, so that the duration of the comparison does not depend on the key.
    pub(crate) fn fits(&self, text: &str) -> bool {
        blake3::hash(text.as_bytes()) == self.hash
    }
}

/// Reads the key of a watch. Returns `None` if this process cannot read the key.
pub fn read(socket: &Path) -> Option<String> {
    fs::read_to_string(place(socket))
        .ok()
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_key_is_new_private_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("x.sock");
        assert_eq!(read(&socket), None);
        let key = WatchKey::create(&socket).unwrap();
        let text = read(&socket).unwrap();
        let mode = fs::metadata(folder.path().join("x.key"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!((mode & 0o777, text.len()), (0o600, 64));
        assert!(
            key.fits(&text)
                && !key.fits("")
                && !key.fits(&text[1..])
                && !key.fits(&format!("{text}\n"))
        );
        let next = WatchKey::create(&socket).unwrap();
        assert!(!next.fits(&text), "the key of a killed watch fits no other");
        drop((key, next));
        assert_eq!(read(&socket), None);
    }

    #[test]
    fn a_link_in_its_place_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("x.sock");
        let other = folder.path().join("other");
        fs::write(&other, "untouched").unwrap();
        std::os::unix::fs::symlink(&other, folder.path().join("x.key")).unwrap();
        let key = WatchKey::create(&socket).unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "untouched");
        assert!(key.fits(&read(&socket).unwrap()));
    }
}
