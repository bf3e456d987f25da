//! Starts the user's browser.

use std::ffi::OsStr;
use std::io;

/// Opens a file or an address, without waiting for the browser.
pub(crate) fn open(target: impl AsRef<OsStr>) -> io::Result<()> {
    ::open::that_detached(target)
}
