//! Stores the record of a call in a file next to the raw output. The record contains the command line, the names
//! of the environment variables and the result of the call. The adapter `replay` plays back recorded calls.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Call, Invocation, Profile};
use glee_model::domain::event::Transcript;
use glee_model::domain::{AgentName, CallMetadata, FailureKind, Role, Usage};
use glee_system::files;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    pub form: u32,
    pub agent: AgentName,
    pub role: Role,
    pub task: String,
    pub nonce: String,
    pub adapter: String,
    pub program: PathBuf,
    pub version: Option<String>,
    pub args: Vec<String>,
    /// The names of the agent's environment variables. The values of the variables are not stored, because the
    /// values can be secrets.
    pub environment: Vec<String>,
    pub directory: PathBuf,
    pub session: Option<String>,
    pub started: Timestamp,
    pub end: Option<CallEnd>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallEnd {
    pub millis: u64,
    pub tries: u32,
    pub transcript: Option<Transcript>,
    pub usage: Usage,
    #[serde(rename = "told")]
    pub metadata: CallMetadata,
    pub failure: Option<FailureKind>,
    pub error: Option<String>,
}

impl CallRecord {
    pub fn new(adapter: &str, call: &Call, invocation: &Invocation) -> Self {
        let text = |word: &std::ffi::OsString| word.to_string_lossy().into_owned();
        Self {
            form: 1,
            agent: call.agent.name.clone(),
            role: call.request.task.role(),
            task: call.request.task.kind().to_owned(),
            nonce: call.request.nonce.clone(),
            adapter: adapter.to_owned(),
            program: invocation.program.clone(),
            version: call.program.version.clone(),
            args: invocation
                .args
                .iter()
                .map(|word| text(word).replace(&*call.prompt, Profile::PROMPT))
                .collect(),
            environment: invocation.env.keys().map(text).collect(),
            directory: invocation.cwd.clone(),
            session: call.session_id().map(ToOwned::to_owned),
            started: Timestamp::now(),
            end: None,
        }
    }

    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&files::read(path)?)?)
    }

    pub fn write(&self, path: &Path) -> io::Result<()> {
        private(path, &serde_json::to_vec_pretty(self)?)
    }
}

/// Reads all records of call attempts from a run's folder, and sorts the records by time. Each record is paired
/// with the common prefix of the attempt's file names.
pub fn all(folder: &Path) -> io::Result<Vec<(String, CallRecord)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if let Some(stem) = name.strip_suffix(ENDING) {
            found.push((stem.to_owned(), CallRecord::read(&path)?));
        }
    }
    found.sort_by(|(a, one), (b, other)| (one.started, a).cmp(&(other.started, b)));
    Ok(found)
}

const ENDING: &str = ".call.json";

pub fn path(stdout: &Path) -> PathBuf {
    stdout.with_extension("call.json")
}

pub fn private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    glee_system::private::options()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)?
        .write_all(bytes)
}
