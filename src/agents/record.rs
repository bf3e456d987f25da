//! What is kept of each call beside its raw output: the command line, the names of the variables, the prompt, and what
//! was read. `adapter: replay` plays it back.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::adapter::{Invocation, Query};
use super::kind::AdapterKind;
use crate::domain::{AgentName, FailureKind, Role, Told, Usage};
use crate::event::Transcript;
use crate::files;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) form: u32,
    pub(super) agent: AgentName,
    pub(super) role: Role,
    pub(super) task: String,
    pub(super) nonce: String,
    pub(super) adapter: String,
    pub(super) program: PathBuf,
    pub(super) version: Option<String>,
    pub(super) args: Vec<String>,
    /// The names of its variables; their values may be secrets.
    pub(super) environment: Vec<String>,
    pub(super) directory: PathBuf,
    pub(super) session: Option<String>,
    pub(super) started: Timestamp,
    /// How the last try ended; absent while it runs.
    pub(super) end: Option<End>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) millis: u64,
    pub(super) tries: u32,
    pub(super) transcript: Option<Transcript>,
    pub(super) usage: Usage,
    pub(super) told: Told,
    pub(super) failure: Option<FailureKind>,
    pub(super) error: Option<String>,
}

impl Record {
    pub(super) fn new(kind: AdapterKind, query: &Query<'_>, invocation: &Invocation) -> Self {
        let text = |word: &std::ffi::OsString| word.to_string_lossy().into_owned();
        Self {
            form: 1,
            agent: query.agent.name.clone(),
            role: query.request.task.role(),
            task: query.request.task.kind().to_owned(),
            nonce: query.request.nonce.clone(),
            adapter: kind.to_string(),
            program: invocation.program.clone(),
            version: query.program.version.clone(),
            args: invocation.args.iter().map(text).collect(),
            environment: invocation.env.keys().map(text).collect(),
            directory: invocation.cwd.clone(),
            session: query.session.map(ToOwned::to_owned),
            started: Timestamp::now(),
            end: None,
        }
    }

    pub(super) fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&files::read(path)?)?)
    }

    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        private(path, &serde_json::to_vec_pretty(self)?)
    }
}

pub(super) fn path(stdout: &Path) -> PathBuf {
    stdout.with_extension("call.json")
}

/// Writes a file that only its owner may read: it holds code.
pub(super) fn private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    crate::private::options().write(true).create(true).truncate(true).open(path)?.write_all(bytes)
}
