//! Holds a program and its descendants to an [`Allowance`]: by limits of the system, which hold for one process or
//! one file, and by measuring what all of them take together. Files count with what they take on the disk or in
//! memory, deleted files that a process has open as well.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::Pid;

use super::descendants::children;
use crate::process::sandbox::confinement::{Allowance, Scarce, is_device};

/// The time between two measurements.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// What a file takes at least, so that empty files are not free of charge.
const SMALLEST_FILE: u64 = 4096;

/// Limits what a single process takes. The limits hold for this process, and for what it starts afterwards.
pub(super) fn limit(allowance: &Allowance) -> io::Result<()> {
    // `RLIMIT_AS` would also count the addresses that Node.js and Go reserve and never use.
    for (resource, most) in [
        (Resource::RLIMIT_DATA, allowance.memory),
        (Resource::RLIMIT_FSIZE, allowance.disk),
        (Resource::RLIMIT_CORE, 0),
    ] {
        setrlimit(resource, most, most)?;
    }
    // Linux counts what runs in the user namespace of the program, and each thread as a process; macOS counts all that
    // the user has. Root has no such limit, so the supervisor of root hurries.
    #[cfg(target_os = "linux")]
    if !nix::unistd::geteuid().is_root() {
        /// The threads that a process has on average, at most.
        const THREADS: u64 = 4;
        let most = allowance.processes as u64 * THREADS;
        setrlimit(Resource::RLIMIT_NPROC, most, most)?;
    }
    Ok(())
}

/// Measures what the descendants of this process take.
pub(super) struct Meter {
    allowance: Allowance,
    folders: Vec<PathBuf>,
    /// What the folders took before the program was started.
    before: u64,
    next_disk: Instant,
}

impl Meter {
    /// `writable` are the files and folders to which the program can write.
    pub(super) fn new<'a>(allowance: Allowance, writable: impl Iterator<Item = &'a Path>) -> Self {
        let folders = writable
            .filter(|path| path.is_dir() && !is_device(path))
            .map(Path::to_owned);
        let mut meter = Self {
            allowance,
            folders: folders.collect(),
            before: 0,
            next_disk: Instant::now(),
        };
        meter.before = meter.folders_take(u64::MAX);
        meter
    }

    /// What the program took too much of; `None` if nothing.
    pub(super) fn exceeded(&mut self) -> Option<Scarce> {
        let Some(processes) = self.processes() else {
            return Some(Scarce::Processes);
        };
        if processes.iter().map(|pid| memory(*pid)).sum::<u64>() > self.allowance.memory {
            return Some(Scarce::Memory);
        }
        let now = Instant::now();
        if now < self.next_disk {
            return None;
        }
        let most = self.before.saturating_add(self.allowance.disk);
        let deleted: u64 = processes.iter().map(|pid| deleted_files(*pid)).sum();
        let taken = self.folders_take(most).saturating_add(deleted);
        // A walk through a large tree costs at most a tenth of the time.
        self.next_disk = now + (now.elapsed() * 10).max(TICK * 4);
        (taken > most).then_some(Scarce::Disk)
    }

    /// The descendants of this process; `None` if there are too many, which are not counted to the end: a count would
    /// never catch up with processes that multiply.
    fn processes(&self) -> Option<Vec<Pid>> {
        let mut found = children("self");
        let mut next = 0;
        while let Some(pid) = found.get(next) {
            let deeper = children(&pid.to_string());
            found.extend(deeper);
            next += 1;
            if found.len() > self.allowance.processes {
                return None;
            }
        }
        Some(found)
    }

    /// What the folders take, in bytes. The walk ends at `most`.
    fn folders_take(&self, most: u64) -> u64 {
        let mut taken = 0;
        let mut waiting = self.folders.clone();
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let Ok(found) = entry.metadata() else {
                    continue;
                };
                taken += size(&found);
                if taken > most {
                    return taken;
                }
                if found.is_dir() {
                    waiting.push(entry.path());
                }
            }
        }
        taken
    }
}

fn size(found: &Metadata) -> u64 {
    (found.blocks() * 512).max(SMALLEST_FILE)
}

/// The memory of a process that no file on a disk holds, in bytes.
fn memory(process: Pid) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kilobytes = status.lines().filter_map(|line| {
        let shared = || line.strip_prefix("RssShmem:");
        let value = line.strip_prefix("RssAnon:").or_else(shared)?;
        value.split_whitespace().next()?.parse::<u64>().ok()
    });
    kilobytes.sum::<u64>() * 1024
}

/// What the deleted files take that a process has open, files in memory without a name (`memfd`) as well.
fn deleted_files(process: Pid) -> u64 {
    let open = fs::read_dir(format!("/proc/{process}/fd"));
    let open = open.into_iter().flatten().flatten();
    let found = open.filter_map(|entry| fs::metadata(entry.path()).ok());
    let deleted = found.filter(|found| found.is_file() && found.nlink() == 0);
    deleted.map(|found| size(&found)).sum()
}
