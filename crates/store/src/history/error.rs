//! The errors of the history store.

use std::io;
use std::path::{Path, PathBuf};

use crate::history::shared_log::SharedLogError;
use crate::history::store;
use glee_model::domain::{Advice, Disposition, DisputeNumber, ExitReason, FindingId, RunId};

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("cannot open the history `{}`", path.display())]
    Open { path: PathBuf, source: io::Error },
    #[error("the history `{}` is not a regular file", path.display())]
    NotAFile { path: PathBuf },
    #[error("`{}` is a database of another program", path.display())]
    Foreign { path: PathBuf },
    #[error("the history `{}` was written by a newer version of Glee (schema {found}, supported up to {known})", path.display())]
    Newer {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    /// The file is truncated or overwritten, or a row is invalid.
    #[error("the history `{}` is damaged", path.display())]
    Damaged {
        path: PathBuf,
        source: rusqlite::Error,
    },
    /// The tables are not those that this build creates. The schema of a version that was not released has no number.
    #[error("the history `{}` was made by another build of Glee", path.display())]
    OtherBuild {
        path: PathBuf,
        source: rusqlite::Error,
    },
    #[error("cannot access the history `{}`", path.display())]
    Access {
        path: PathBuf,
        source: rusqlite::Error,
    },
    #[error("there is no run `{0}`")]
    UnknownRun(String),
    #[error("`{text}` matches several runs: {}", candidates.join(", "))]
    AmbiguousRun {
        text: String,
        candidates: Vec<String>,
    },
    #[error("another process works on run {}", .0.short())]
    Held(RunId),
    #[error("run {} was made on another machine", .0.short())]
    Elsewhere(RunId),
    #[error(transparent)]
    Log(#[from] SharedLogError),
    #[error("there is no finding `{0}`")]
    UnknownFinding(String),
    #[error("`{text}` matches several findings: {}", candidates.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    AmbiguousFinding {
        text: String,
        candidates: Vec<FindingId>,
    },
    #[error("there is no dispute {0}")]
    UnknownDispute(DisputeNumber),
    #[error("there is no dispute `{0}`")]
    UnknownDisputeId(String),
    #[error("`{text}` matches several disputes: {}", candidates.join(", "))]
    AmbiguousDispute {
        text: String,
        candidates: Vec<String>,
    },
    #[error("dispute {number} is already settled: {}", disposition.as_str())]
    AlreadySettled {
        number: DisputeNumber,
        disposition: Disposition,
    },
    #[error("dispute {0} is already open")]
    NotSettled(DisputeNumber),
}

impl JournalError {
    pub(super) fn unopened(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |source| Self::Open {
            path: path.to_owned(),
            source,
        }
    }
}

impl Advice for JournalError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Open { .. } | Self::NotAFile { .. } | Self::Foreign { .. } => {
                Some("choose another path with `--history <path>` or GLEE_STATE_DIR".to_owned())
            }
            Self::Newer { .. } => Some("update Glee, or use another history with `--history <path>`".to_owned()),
            Self::OtherBuild { path, .. } => Some(format!(
                "move `{0}` away, and `{0}-wal` and `{0}-shm` with it; Glee then begins a new history",
                path.display()
            )),
            Self::Damaged { path, .. } => {
                let copy = store::backup_of(path);
                let path = path.display();
                Some(match copy.exists() {
                    true => format!(
                        "to restore the state at the end of the last run that ruled: `rm -f '{path}'-wal '{path}'-shm; cp \
                         '{}' '{path}'`",
                        copy.display()
                    ),
                    false => "restore the file from your backup; `glee disputes verify` reports the first damaged \
                              record; `--history <path>` starts a new history"
                        .to_owned(),
                })
            }
            Self::Access { .. } => {
                Some("check for a full disk, a read-only folder, a limit (`ulimit -f`), or another process that locks the file".to_owned())
            }
            Self::UnknownRun(_) => Some("`glee runs` lists the runs; `last` is the newest run".to_owned()),
            Self::AmbiguousRun { .. } | Self::AmbiguousDispute { .. } => {
                Some("specify more digits of the id".to_owned())
            }
            Self::Held(run) => Some(format!(
                "wait for its end with `glee runs wait {0}`, or end it with `glee runs stop {0}`",
                run.short()
            )),
            Self::Elsewhere(run) => Some(format!(
                "its tree is there; `glee runs show {0}` and `glee findings {0}` show what it found",
                run.short()
            )),
            Self::Log(error) => error.hint(),
            Self::UnknownFinding(_) => Some(
                "give a number such as F3, or at least four digits of an id; `glee findings --all` lists the findings"
                    .to_owned(),
            ),
            Self::AmbiguousFinding { .. } => {
                Some("specify more digits of the id, or the number of the finding".to_owned())
            }
            Self::UnknownDispute(_) => Some("`glee disputes` lists the disputes".to_owned()),
            Self::UnknownDisputeId(_) => Some(
                "give a number, an id, or at least four digits of an id; `glee disputes` lists the \
                 disputes"
                    .to_owned(),
            ),
            Self::AlreadySettled { number, .. } => Some(format!(
                "`glee disputes show {number}` shows the ruling; to rule again, reopen the dispute with `glee \
                 disputes reopen {number}`"
            )),
            Self::NotSettled(number) => Some(format!("settle the dispute with `glee disputes resolve {number}`")),
        }
    }

    fn exit(&self) -> ExitReason {
        match self {
            Self::UnknownRun(_)
            | Self::AmbiguousRun { .. }
            | Self::UnknownFinding(_)
            | Self::AmbiguousFinding { .. }
            | Self::UnknownDispute(_)
            | Self::UnknownDisputeId(_)
            | Self::AmbiguousDispute { .. }
            | Self::AlreadySettled { .. }
            | Self::NotSettled(_)
            | Self::Elsewhere(_) => ExitReason::Usage,
            Self::Log(error) => error.exit(),
            Self::Held(_) => ExitReason::Locked,
            Self::Open { .. }
            | Self::NotAFile { .. }
            | Self::Foreign { .. }
            | Self::Newer { .. }
            | Self::OtherBuild { .. }
            | Self::Damaged { .. }
            | Self::Access { .. } => ExitReason::History,
        }
    }
}
