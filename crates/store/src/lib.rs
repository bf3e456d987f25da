//! What Glee keeps: the history of the runs in SQLite, and the settings in YAML.
//!
//! **A run is a sequence of events.** An event is written and synced by [`history`] before any code acts on it, and
//! the same events are read when a run is resumed, audited or shown. [`config`] reads the settings of a user and a
//! project, remembers where each value comes from, and edits the files without losing a comment.

pub mod config;
pub mod history;
