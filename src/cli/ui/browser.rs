//! Starts the user's browser.

use std::ffi::OsStr;
use std::io;

/// Opens a file or a URL in the browser, without waiting for the browser process.
pub(crate) fn open(target: impl AsRef<OsStr>) -> io::Result<()> {
    ::open::that_detached(target)
}
