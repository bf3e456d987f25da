//! Bytes of files: opened without following links or waiting for a FIFO, decoded without losing lines.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// Opens a regular file for reading; a link, a FIFO or a device is an error and is never waited for.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    if !std::fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut options = OpenOptions::new();
    options.read(true);
    // What was a file a moment ago may be something else now.
    #[cfg(unix)]
    {
        use nix::fcntl::OFlag;
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

/// The bytes of a regular file, or `None` if there are more than `cap`.
pub(super) fn read_capped(path: &Path, cap: u64) -> io::Result<Option<Vec<u8>>> {
    let file = open_regular(path)?;
    let size = file.metadata()?.len();
    if size > cap {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(cap.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= cap).then_some(bytes))
}

/// The text of some bytes, invalid UTF-8 replaced.
pub(super) fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The number of lines; the last one counts without a line end too.
pub(super) fn lines(text: &str) -> u32 {
    u32::try_from(text.lines().count()).unwrap_or(u32::MAX)
}
