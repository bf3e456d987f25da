//! Commands that read the history or settle its disputes.

pub(crate) mod disputes;
pub(crate) mod runs;
pub(crate) mod serve;
pub(crate) mod stats;
