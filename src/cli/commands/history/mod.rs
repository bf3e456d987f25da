//! Commands that read and settle what was recorded.

pub(crate) mod disputes;
pub(crate) mod exchange;
pub(crate) mod runs;
pub(crate) mod stats;
