//! Stores the events of all runs of a repository in an SQLite database. The database is outside the work tree, so
//! that a coder cannot rewrite the database. Events are never changed or removed. All tables except `event`,
//! `chain` and `record` are derived from the events. One transaction writes an event and updates the derived
//! tables, and [`Journal::verify`] compares the derived tables with the events. Several processes can append
//! concurrently, because each process takes the write lock before it reads the end of the hash chain.

mod append;
mod chain;
mod changed_rows;
mod columns;
mod error;
mod open;
mod process;
pub mod projections;
pub mod queries;
pub mod queue;
mod record;
pub mod recover;
pub mod redacted;
pub mod replica;
#[cfg(feature = "server")]
pub mod server;
pub mod shared_log;
pub mod store;
mod stored_id;
pub mod submission;

#[cfg(test)]
mod tests;

pub use append::GivenRuling;
pub use chain::{Corruption, Fault, Verification};
pub use error::JournalError;
pub use process::HeldRun;
pub use queries::measures::Dismissal;
pub use queries::problems::NamedProblem;
pub use queries::query::Extent;
pub use queries::rows::{DisputeFilter, RulingFilter};
pub use record::{FoundDispute, SharedDispute};
pub use store::{DATABASE, Journal, path_for};
