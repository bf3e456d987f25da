//! Defines the command that an adapter builds, and the output that it reads.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::{AnswerText, CallOutcome};
use glee_model::domain::event::Transcript;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The absolute path of the program.
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub env: BTreeMap<OsString, OsString>,
    pub cwd: PathBuf,
    pub stdin: Vec<u8>,
    /// Whether the program prints output before the answer is complete. The limits `first_output_timeout` and
    /// `idle_timeout` apply only if the field `streams` is true.
    pub streams: bool,
    pub files: Vec<(PathBuf, String)>,
}

impl Invocation {
    /// Builds a command with empty stdin. The limits `first_output_timeout` and `idle_timeout` do not apply to
    /// the command.
    pub fn plain(
        program: impl Into<PathBuf>,
        args: impl IntoIterator<Item: Into<OsString>>,
        env: BTreeMap<OsString, OsString>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        let program = program.into();
        let args = args.into_iter().map(Into::into).collect();
        Self {
            program,
            args,
            env,
            cwd: cwd.into(),
            stdin: Vec::new(),
            streams: false,
            files: Vec::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The path of the file that contains the first `limits.max_output_size` bytes of stdout.
    pub stdout: PathBuf,
    /// The last 4 KiB of stderr as text.
    pub stderr_tail: String,
    pub ended: Timestamp,
    /// The last requests of the program to its service that failed, as far as the program tells.
    pub failed_requests: u32,
    pub transcript: Transcript,
}

/// At most this number of bytes of stdout, its last, are words about a failure.
const SAID: u64 = 4 << 10;

impl Output {
    /// The whole of stdout as the answer.
    pub fn as_answer(&self) -> CallOutcome {
        CallOutcome::from(Ok(AnswerText::File(self.stdout.clone())))
    }

    /// What the program said in words: the last lines of stdout that are no JSON events, and those of stderr.
    pub(crate) fn said(&self) -> String {
        let mut said = tail(&self.stdout).unwrap_or_default();
        said.retain(|line| !line.trim_start().starts_with('{'));
        said.push(self.stderr_tail.clone());
        said.join("\n")
    }
}

fn tail(path: &Path) -> io::Result<Vec<String>> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(SAID)))?;
    let mut bytes = Vec::new();
    file.take(SAID).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().map(ToOwned::to_owned).collect())
}
