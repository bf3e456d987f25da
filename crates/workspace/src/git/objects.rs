//! Reads any number of git objects through one git process.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::{Arc, Mutex, PoisonError};

use crate::git::output::object_id;
use crate::{Result, WorkspaceError};
use glee_model::domain::SkipReason;

/// A running `git cat-file --batch-command`.
#[derive(Debug)]
pub(super) struct CatFile {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

/// The processes of a repository that nobody reads from at the moment. The next reader takes one of them over.
#[derive(Clone, Debug, Default)]
pub(super) struct IdleCatFiles(Arc<Mutex<Vec<CatFile>>>);

impl IdleCatFiles {
    pub(super) fn take(&self) -> Option<CatFile> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain_mut(|process| matches!(process.child.try_wait(), Ok(None)));
        idle.pop()
    }

    /// Ends the processes, because a process keeps what it knows about the depth of a shallow clone.
    pub(super) fn end(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

/// Reads any number of objects through one process.
#[derive(Debug)]
pub struct Objects {
    /// `None` after an error, because unread bytes can follow.
    process: Option<CatFile>,
    /// Takes the process when the reader is done with it.
    idle: Option<IdleCatFiles>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum GitObject {
    Bytes(Vec<u8>),
    /// The size of the object exceeds the caller's limit.
    Larger,
    Missing,
}

impl GitObject {
    pub fn bytes(self) -> Result<Vec<u8>, SkipReason> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Larger => Err(SkipReason::Oversized),
            Self::Missing => Err(SkipReason::Unreadable),
        }
    }
}

impl Objects {
    pub(super) fn of(process: CatFile, idle: Option<IdleCatFiles>) -> Self {
        Self {
            process: Some(process),
            idle,
        }
    }

    /// Reads the file `<id>:<path>`. The path must not contain a line break. A folder counts as a missing file.
    pub fn read_file(&mut self, name: &str) -> Result<GitObject> {
        self.ask(|process| match process.header("info", name)? {
            Some(header) if header.kind == "blob" => process.read(name, u64::MAX),
            _ => Ok(GitObject::Missing),
        })
    }

    /// The id of the object that a revision names.
    pub(super) fn find(&mut self, revision: &str) -> Result<Option<String>> {
        if revision.contains('\n') {
            return Ok(None);
        }
        let found = self.ask(|process| process.header("info", revision))?;
        Ok(found.map(|header| header.id))
    }

    /// Reads an object of at most `cap` bytes. `id` is an object id, or `<id>:<path>` without a line break.
    pub fn read(&mut self, id: &str, cap: u64) -> Result<GitObject> {
        self.ask(|process| process.read(id, cap))
    }

    fn ask<T>(&mut self, question: impl FnOnce(&mut CatFile) -> io::Result<T>) -> Result<T> {
        let ended = || io::ErrorKind::UnexpectedEof.into();
        let mut process = self.process.take().ok_or_else(ended).map_err(broken)?;
        let answer = question(&mut process).map_err(broken)?;
        self.process = Some(process);
        Ok(answer)
    }
}

impl CatFile {
    /// `child` is a running `git cat-file --batch-command` with the pipes `stdin` and `stdout`.
    pub(super) fn of(child: Child, stdin: ChildStdin, stdout: ChildStdout) -> Self {
        Self {
            child,
            stdin,
            stdout: BufReader::new(stdout),
        }
    }

    fn read(&mut self, id: &str, cap: u64) -> io::Result<GitObject> {
        let Some(Header { size, .. }) = self.header("info", id)? else {
            return Ok(GitObject::Missing);
        };
        if size > cap {
            return Ok(GitObject::Larger);
        }
        if self.header("contents", id)?.is_none() {
            return Ok(GitObject::Missing);
        }
        let mut bytes = vec![0; usize::try_from(size).map_err(io::Error::other)?];
        self.stdout.read_exact(&mut bytes)?;
        self.stdout.read_exact(&mut [0])?;
        Ok(GitObject::Bytes(bytes))
    }

    /// Returns `None` for a reply other than `<id> <type> <size>`, such as `<id> missing`.
    fn header(&mut self, question: &str, name: &str) -> io::Result<Option<Header>> {
        writeln!(self.stdin, "{question} {name}").and_then(|()| self.stdin.flush())?;
        let mut line = Vec::new();
        if self.stdout.read_until(b'\n', &mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = String::from_utf8_lossy(&line);
        let [id, kind, size] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return Ok(None);
        };
        let size = size.parse().ok();
        Ok(object_id(id.as_bytes()).zip(size).map(|(id, size)| Header {
            id,
            kind: kind.to_owned(),
            size,
        }))
    }
}

struct Header {
    id: String,
    kind: String,
    size: u64,
}

fn broken(source: io::Error) -> WorkspaceError {
    WorkspaceError::Git {
        command: "cat-file".to_owned(),
        message: source.to_string(),
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        if let (Some(process), Some(idle)) = (self.process.take(), &self.idle) {
            let mut idle = idle.0.lock().unwrap_or_else(PoisonError::into_inner);
            idle.push(process);
        }
    }
}

impl Drop for CatFile {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
