//! Prepares the process of Glee: resets signals, hides the process's memory, and raises the limit of open files.

use std::io;
use std::path::PathBuf;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::SigSet;
use signal_hook::consts::{SIGCHLD, SIGXFSZ};

/// The number of file descriptors that Glee itself needs, for the history, locks, transcripts, and pipes to git.
const OWN_FILES: u64 = 32;
/// The number of file descriptors per agent: pipes, two transcripts, a process handle, and a reserve.
const FILES_PER_AGENT: u64 = 10;

/// Unblocks all signals, and stops ignoring `SIGCHLD`. While `SIGCHLD` is ignored, the system discards the exit
/// statuses of child processes. `SIGHUP` remains ignored under `nohup`. A write above the limit of a file's size
/// (`ulimit -f`) is an error instead of a signal that ends the process without a message.
pub fn reset_signals() {
    // The functions `thread_set_mask` and `register` fail only for invalid arguments. These arguments are valid,
    // so Glee ignores the results. When Glee starts a program, the system resets the handlers, so they do not affect
    // the program.
    let _ = SigSet::empty().thread_set_mask();
    for signal in [SIGCHLD, SIGXFSZ] {
        drop(signal_hook::flag::register(
            signal,
            std::sync::Arc::default(),
        ));
    }
}

/// Prepares this process for starting supervisors. If a supervisor is killed, its children become children of
/// this process (see `orphans`). After this call, only root can read the memory of this process.
pub fn prepare() {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::prctl::{set_child_subreaper, set_dumpable};
        let _ = set_child_subreaper(true);
        let _ = set_dumpable(false);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many open files: the limit is {limit}, {open} are open, and {needed} more are needed")]
pub struct TooFewFiles {
    limit: u64,
    open: u64,
    needed: u64,
}

impl glee_model::domain::Advice for TooFewFiles {
    fn hint(&self) -> Option<String> {
        Some(format!(
            "raise the limit in this shell: `ulimit -n {}`",
            (self.open + self.needed).next_power_of_two().max(1024)
        ))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot create a temporary folder in `{}`", folder.display())]
pub struct NoTemporaryFolder {
    folder: PathBuf,
    source: io::Error,
}

impl glee_model::domain::Advice for NoTemporaryFolder {
    fn hint(&self) -> Option<String> {
        Some("set `TMPDIR` to a folder that exists and that you can write to".to_owned())
    }
}

/// Fails if the folder for temporary files cannot be used: each agent gets a folder there.
pub fn require_temporary_folder() -> Result<(), NoTemporaryFolder> {
    let created = tempfile::Builder::new().prefix("glee-").tempdir();
    created.map(drop).map_err(|source| NoTemporaryFolder {
        folder: std::env::temp_dir(),
        source,
    })
}

/// Raises the limit of open files if the limit is too low for the given number of concurrent agents.
pub fn provide_open_files(agents: usize) -> Result<(), TooFewFiles> {
    let Ok((limit, most)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return Ok(());
    };
    let open = std::fs::read_dir(crate::process::supervisor::DESCRIPTORS)
        .map_or(3, |entries| entries.count() as u64);
    let Err(error) = enough(limit, open, agents as u64) else {
        return Ok(());
    };
    let wanted = error.open.saturating_add(error.needed);
    if wanted <= most && setrlimit(Resource::RLIMIT_NOFILE, wanted, most).is_ok() {
        Ok(())
    } else {
        Err(error)
    }
}

fn enough(limit: u64, open: u64, agents: u64) -> Result<(), TooFewFiles> {
    let needed = OWN_FILES.saturating_add(agents.saturating_mul(FILES_PER_AGENT));
    if limit.saturating_sub(open) >= needed {
        Ok(())
    } else {
        Err(TooFewFiles {
            limit,
            open,
            needed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glee_model::domain::Advice as _;

    #[test]
    fn open_files_are_counted_against_the_limit() {
        assert_eq!(enough(1024, 10, 3), Ok(()));
        assert_eq!(enough(62, 10, 2), Ok(()), "exactly enough");
        assert_eq!(
            enough(61, 10, 2),
            Err(TooFewFiles {
                limit: 61,
                open: 10,
                needed: 52
            })
        );
        assert_eq!(
            enough(4, 10, 0),
            Err(TooFewFiles {
                limit: 4,
                open: 10,
                needed: 32
            }),
            "a limit lowered later"
        );
        assert_eq!(
            enough(u64::MAX, 10, u64::MAX),
            Err(TooFewFiles {
                limit: u64::MAX,
                open: 10,
                needed: u64::MAX
            })
        );
        let error = TooFewFiles {
            limit: 20,
            open: 4,
            needed: 62,
        };
        assert_eq!(
            error.to_string(),
            "too many open files: the limit is 20, 4 are open, and 62 more are needed"
        );
        assert_eq!(
            error.hint().as_deref(),
            Some("raise the limit in this shell: `ulimit -n 1024`")
        );
        assert_eq!(
            TooFewFiles {
                limit: 2000,
                open: 1990,
                needed: 62
            }
            .hint()
            .as_deref(),
            Some("raise the limit in this shell: `ulimit -n 4096`")
        );
    }

    #[test]
    fn children_can_be_waited_for_after_the_reset() {
        reset_signals();
        let status = std::process::Command::new("/bin/sh")
            .args(["-c", "exit 3"])
            .status();
        assert_eq!(status.ok().and_then(|status| status.code()), Some(3));
    }
}
