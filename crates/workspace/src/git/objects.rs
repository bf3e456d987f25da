//! Reads any number of git objects through one git process.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};

use crate::{Result, WorkspaceError};
use glee_model::domain::SkipReason;

/// A running `git cat-file` process that can read any number of objects.
pub struct Objects {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
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
    /// `child` is a running `git cat-file --batch-command` with the pipes `stdin` and `stdout`.
    pub fn of(child: Child, stdin: ChildStdin, stdout: ChildStdout) -> Self {
        Self {
            child,
            stdin,
            stdout: BufReader::new(stdout),
        }
    }

    /// Reads the file `<id>:<path>`. The path must not contain a line break. A folder counts as a missing file.
    pub fn read_file(&mut self, name: &str) -> Result<GitObject> {
        match self.header("info", name)? {
            Some((_, kind)) if kind == "blob" => self.read(name, u64::MAX),
            _ => Ok(GitObject::Missing),
        }
    }

    /// Reads an object of at most `cap` bytes. `id` is an object id, or `<id>:<path>` without a line break.
    pub fn read(&mut self, id: &str, cap: u64) -> Result<GitObject> {
        let Some((size, _)) = self.header("info", id)? else {
            return Ok(GitObject::Missing);
        };
        if size > cap {
            return Ok(GitObject::Larger);
        }
        if self.header("contents", id)?.is_none() {
            return Ok(GitObject::Missing);
        }
        let mut bytes =
            vec![0; usize::try_from(size).map_err(|error| broken(io::Error::other(error)))?];
        self.stdout.read_exact(&mut bytes).map_err(broken)?;
        self.stdout.read_exact(&mut [0]).map_err(broken)?;
        Ok(GitObject::Bytes(bytes))
    }

    /// Parses the reply `<id> <type> <size>`. Returns `None` for any other reply, such as `<id> missing`.
    fn header(&mut self, question: &str, id: &str) -> Result<Option<(u64, String)>> {
        writeln!(self.stdin, "{question} {id}")
            .and_then(|()| self.stdin.flush())
            .map_err(broken)?;
        let mut line = Vec::new();
        if self.stdout.read_until(b'\n', &mut line).map_err(broken)? == 0 {
            return Err(broken(io::ErrorKind::UnexpectedEof.into()));
        }
        let line = String::from_utf8_lossy(&line);
        let mut words = line.trim_end().rsplit(' ');
        let size = words.next().and_then(|word| word.parse().ok());
        let kind = words
            .next()
            .filter(|kind| matches!(*kind, "blob" | "tree" | "commit" | "tag"));
        Ok(size.zip(kind.map(str::to_owned)))
    }
}

fn broken(source: io::Error) -> WorkspaceError {
    WorkspaceError::Git {
        command: "cat-file".to_owned(),
        message: source.to_string(),
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
