//! Live displays of runs and watches.

pub(crate) mod event_lines;
pub mod jsonl;
pub mod progress;
pub(crate) mod skip;
pub(crate) mod spinner;
pub mod watch_view;
pub(crate) mod work;
