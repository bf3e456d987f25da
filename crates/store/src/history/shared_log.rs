//! The log of a server, which holds the events of a repository for many machines (see
//! [`replica`](crate::history::replica)).

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

use crate::history::queries::rows::DisputeRow;
use crate::history::submission::SubmissionState;
use glee_model::domain::{Advice, ExitReason, RunId};

/// A record, as the table `event` has it. `at` is the text whose bytes the hash covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRecord {
    pub id: i64,
    pub run: String,
    pub seq: i64,
    pub at: String,
    pub body: String,
    pub prev: String,
    pub hash: String,
}

/// The number and the hash of the newest record; 0 and nothing in an empty log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub events: i64,
    pub hash: String,
}

/// The names by which machines recognise a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepositoryNames {
    /// The name that the project's file claims.
    pub project: Option<String>,
    /// The names that come from the repository itself, the most reliable one first.
    pub proven: Vec<String>,
    /// The name for people.
    pub title: String,
}

/// A run in the list of all repositories.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoggedRun {
    pub repository: String,
    pub run: RunId,
    pub started: Timestamp,
    pub ended: Option<Timestamp>,
    pub exit: Option<ExitReason>,
    /// Whether a process on some machine works on the run.
    pub works: bool,
    pub target: String,
    /// The role of the database that submitted the run, or recorded its start.
    pub by: String,
    /// How far a run is that was submitted to the workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submission: Option<SubmissionState>,
}

/// A repository in the list of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoggedRepository {
    /// Its number on the server.
    pub number: i32,
    pub title: String,
    pub runs: u64,
    pub open_disputes: u64,
    /// When the newest run began.
    pub last_run: Option<Timestamp>,
}

/// A repository that was found by its number.
#[derive(Debug)]
pub struct FoundRepository {
    pub title: String,
    /// Whether the role may add events.
    pub is_writer: bool,
    pub log: Box<dyn Log>,
}

/// A dispute in the list of all repositories.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoggedDispute {
    pub repository: String,
    #[serde(flatten)]
    pub row: DisputeRow,
}

/// Rows of a repository's views, from which a server lists and adds up all repositories. A row replaces the row with the same
/// key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SharedViews {
    /// Whether the server forgets the rows that are not among these.
    pub all: bool,
    pub runs: Vec<SharedRun>,
    pub disputes: Vec<SharedDisputeRow>,
    pub tallies: Vec<SharedTally>,
    /// The sums of months, whose `day` is the first one. Calls have none.
    pub months: Vec<SharedTally>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedRun {
    pub id: String,
    pub started: String,
    pub ended: Option<String>,
    /// JSON.
    pub exit: Option<String>,
    pub target: String,
}

/// A dispute with the values by which lists are filtered. `body` is a [`DisputeRow`] in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedDisputeRow {
    pub number: i64,
    pub opened: String,
    pub open: bool,
    pub ruling: Option<String>,
    pub disposition: Option<String>,
    pub raisers: Vec<String>,
    pub body: String,
}

/// The sums of one day (UTC). `name` has one item in the sums of findings, two in the agreements of reviewers or judges, and
/// the agent and the role in the sums of calls (`kind` is `call`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedTally {
    pub kind: String,
    pub name: Vec<String>,
    pub day: String,
    /// `None` stands for a number that is unknown.
    pub counts: Vec<Option<i64>>,
}

/// The log of one repository.
pub trait Log: fmt::Debug + Send {
    /// Holds the log, until [`Self::commit`] or [`Self::release`]. Waits while another process holds it. Returns whether the
    /// next append has to bring all rows of the views.
    fn begin(&self) -> Result<bool, SharedLogError>;
    /// Appends records after `newest`, with the rows of the views that they change. Returns false, and appends nothing, if
    /// `newest` is not the newest record, if another process holds the log, or if the log wants all rows of the views. All or
    /// none is recorded; after an error of the connection, either may be the case. The log need not be held.
    fn append(
        &self,
        newest: &Head,
        records: &[LogRecord],
        views: &SharedViews,
    ) -> Result<bool, SharedLogError>;
    /// Records what was appended since [`Self::begin`], and releases the log.
    fn commit(&self) -> Result<(), SharedLogError>;
    fn release(&self);
    /// Returns at most `most` records in their order, beginning with the record `first`.
    fn records(&self, first: i64, most: u32) -> Result<Vec<LogRecord>, SharedLogError>;
    /// Whether this process works on the run as a worker.
    fn carries(&self, run: &RunId) -> bool;
    /// Makes this connection the one that works on the run. Returns false if another one does.
    fn hold(&self, run: &RunId) -> Result<bool, SharedLogError>;
    /// Whether a process on any machine works on the run.
    fn is_held(&self, run: &RunId) -> Result<bool, SharedLogError>;
}

#[derive(Debug, thiserror::Error)]
pub enum SharedLogError {
    #[error("cannot reach the server `{server}`")]
    Away {
        server: String,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the server `{server}` refused the request")]
    Refused {
        server: String,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the certificate of the server `{server}` is not trusted")]
    Untrusted {
        server: String,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the server `{0}` does not encrypt connections")]
    Unencrypted(String),
    #[error("the database `{0}` has not been set up for Glee")]
    NotSetUp(String),
    #[error(
        "the database `{server}` was set up by a newer version of Glee (schema {found}, supported up to {known})"
    )]
    Newer {
        server: String,
        found: i32,
        known: i32,
    },
    #[error("`{0}` is not the address of a PostgreSQL database")]
    Address(String),
    /// The connection that held the run was lost, and another process holds the run now.
    #[error("another process took over run {}", .0.short())]
    Taken(RunId),
    /// The lease of a worker ended, and another worker carries the run.
    #[error("another worker took over the run")]
    TakenOver,
    #[error("other machines cannot recognise this repository, because it has no commit")]
    Nameless,
    #[error("record {0} of the server's log was altered")]
    Altered(i64),
    #[error("record {0} of the server's log was written by a newer version of Glee")]
    Unknown(i64),
}

impl SharedLogError {
    /// Whether the same request can succeed later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Away { .. })
    }
}

impl Advice for SharedLogError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Away { .. } => {
                "what was recorded is kept there; `glee runs resume` goes on with a run that stopped. Without the server, \
                 `--history <path>` uses a file of this machine"
            }
            Self::Refused { .. } => "ask the operator of the database for a role that may read or write the histories",
            Self::Untrusted { .. } => {
                "name the file with the certificate of the authority that signed it in SSL_CERT_FILE, and the server by the name \
                 in its certificate"
            }
            Self::Unencrypted(_) => {
                "let the server encrypt (`ssl = on` in postgresql.conf). In a network in which nobody else listens, \
                 `?sslmode=disable` at the end of the address does without"
            }
            Self::NotSetUp(_) => "the operator of the database runs `glee server init` once",
            Self::Newer { .. } | Self::Unknown(_) => "update Glee",
            Self::Address(_) => "write it as postgres://user@host/database",
            Self::Taken(_) => "`glee runs` says how far it is",
            Self::TakenOver => "`glee runs --all` names the worker",
            Self::Nameless => "make the first commit, or give the repository a name: `glee config set project.id <id>`; GLEE_SERVER=none keeps its \
                 history on this machine",
            Self::Altered(_) => "restore the database from a backup; a role that Glee uses cannot alter a record",
        }
        .to_owned())
    }

    fn exit(&self) -> ExitReason {
        match self {
            Self::Address(_) | Self::Nameless => ExitReason::Usage,
            Self::Taken(_) | Self::TakenOver => ExitReason::Locked,
            Self::Away { .. }
            | Self::Refused { .. }
            | Self::Untrusted { .. }
            | Self::Unencrypted(_)
            | Self::NotSetUp(_)
            | Self::Newer { .. }
            | Self::Altered(_)
            | Self::Unknown(_) => ExitReason::History,
        }
    }
}
