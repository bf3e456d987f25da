//! Tells which process works on a run. The process holds a lock on a file in the run's folder, which the kernel releases
//! when the process ends, however it ends. The kernel also names the holder, so no recorded process id can be stale.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc::{self, flock};

use crate::history::JournalError;
use crate::history::store::Journal;
use glee_model::domain::{ExitReason, RunId};
use glee_system::private;

/// The name of the locked file. It contains the exit code of the last process, or nothing if the process was killed.
const FILE: &str = "process";

/// Holds a run until this value is dropped or the process ends.
// A process loses its lock when it closes any descriptor of the file, so nothing else in a process that holds a run may
// open this file.
#[derive(Debug)]
pub struct HeldRun {
    file: File,
}

impl HeldRun {
    /// Records how the process leaves the run.
    pub fn leave(mut self, exit: ExitReason) -> io::Result<()> {
        self.file.write_all(exit.code().to_string().as_bytes())
    }
}

impl Journal {
    /// Makes this process the one that works on the run. Fails with [`JournalError::Held`] if there is another.
    pub fn hold(&self, run: &RunId) -> Result<HeldRun, JournalError> {
        self.require_here(run)?;
        let path = self.transcripts(run)?.join(FILE);
        let failed = JournalError::unopened(&path);
        let file = options().create(true).open(&path).map_err(failed)?;
        let locked = fcntl(&file, FcntlArg::F_SETLK(&whole_file()));
        match locked {
            Ok(_) => file.set_len(0).map_err(failed)?,
            Err(Errno::EAGAIN | Errno::EACCES) => {
                return Err(JournalError::Held(run.clone()));
            }
            Err(error) => return Err(failed(error.into())),
        }
        if let Some(log) = &self.log
            && !log.hold(run)?
        {
            return Err(JournalError::Held(run.clone()));
        }
        Ok(HeldRun { file })
    }

    /// Whether a process works on the run, on any machine.
    pub fn is_held(&self, run: &RunId) -> Result<bool, JournalError> {
        if self.process_of(run)?.is_some() {
            return Ok(true);
        }
        Ok(match &self.log {
            Some(log) => log.is_held(run)?,
            None => false,
        })
    }

    /// The process that works on the run, or 0 if it is in another container.
    pub fn process_of(&self, run: &RunId) -> Result<Option<i32>, JournalError> {
        let path = self.path_of_process(run);
        let opened = match options().open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.and_then(|file| holder(&file)),
        };
        opened.map_err(JournalError::unopened(&path))
    }

    /// How the last process left the run; `None` if it was killed or still works.
    pub fn left(&self, run: &RunId) -> Option<ExitReason> {
        let code = fs::read_to_string(self.path_of_process(run)).ok()?;
        code.parse().ok().map(ExitReason::with_code)
    }

    fn path_of_process(&self, run: &RunId) -> PathBuf {
        self.folder_of(run).join(FILE)
    }
}

fn options() -> fs::OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = private::options();
    options
        .read(true)
        .write(true)
        .custom_flags(OFlag::O_NOFOLLOW.bits());
    options
}

fn whole_file() -> flock {
    flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

fn holder(file: &File) -> io::Result<Option<i32>> {
    let mut lock = whole_file();
    fcntl(file, FcntlArg::F_GETLK(&mut lock))?;
    Ok((lock.l_type != libc::F_UNLCK as libc::c_short).then_some(lock.l_pid))
}
