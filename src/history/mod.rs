//! The history store: append, queries, hash chain.
//!
//! One SQLite database a repository, outside the work tree, so that no coder can rewrite its own record. What
//! [`Journal::append`] returned is on the disk. The table of events is the truth and only grows; everything else in
//! the database is a view of it, kept in the transaction that appends, and [`Journal::verify`] says whether it still
//! is one.
//!
//! Several processes may append to one database at the same time: each takes the write lock before it looks at the
//! end of the chain.

mod append;
mod chain;
mod error;
mod open;
pub(crate) mod projections;
pub(crate) mod queries;
mod record;
pub(crate) mod recover;
pub(crate) mod store;

#[cfg(test)]
mod tests;

#[cfg(test)]
use crate::domain::Anchor;
#[cfg(test)]
use crate::domain::Disposition;
#[cfg(test)]
use crate::domain::DisputeNumber;
#[cfg(test)]
use crate::domain::ExitReason;
#[cfg(test)]
use crate::domain::FindingId;
#[cfg(test)]
use crate::domain::Location;
#[cfg(test)]
use crate::domain::Ruler;
#[cfg(test)]
use crate::domain::RulingWord;
#[cfg(test)]
use crate::domain::RunId;
#[cfg(test)]
use crate::domain::event::Mode;
#[cfg(test)]
use crate::domain::event::Settlement;
pub use crate::history::queries::query::Extent;
pub use chain::{Corruption, Fault, Verification};
pub use error::JournalError;
#[cfg(test)]
use jiff::Timestamp;
pub use queries::rows::{DisputeFilter, RulingFilter};
pub use record::{
    Author, FoundDispute, HistoryRecord, MAX_RECORD, Outgoing, RecordContent, Refusal, RunFindings, SharedDispute,
};
#[cfg(test)]
use std::path::Path;
#[cfg(test)]
use std::path::PathBuf;
pub use store::{DATABASE, Journal, path_for};
