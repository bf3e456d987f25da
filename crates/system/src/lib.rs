//! Opens files after a type check, creates private files and folders, writes logs, finds certificates, keeps the lease of a worker
//! process, and encodes addresses.

#[cfg(windows)]
compile_error!(
    "Glee does not run on Windows: install it in WSL (https://learn.microsoft.com/windows/wsl/install)"
);

#[cfg(not(windows))]
pub mod certificates;
#[cfg(not(windows))]
pub mod files;
#[cfg(not(windows))]
pub mod lease;
#[cfg(not(windows))]
pub mod log;
#[cfg(not(windows))]
pub mod private;
#[cfg(not(windows))]
pub mod uri;
