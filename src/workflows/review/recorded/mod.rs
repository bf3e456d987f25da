//! Handles recorded runs: `view` reads outcomes, `replay` repeats decisions, `reuse` takes answers from earlier
//! runs, and `prune` deletes stored data. `preview` lists the requests that a planned run would send, and
//! `dispute_code` reads the code of a dispute.

pub(crate) mod dispute_code;
pub(crate) mod preview;
pub(crate) mod prune;
pub(crate) mod replay;
pub(crate) mod reuse;
pub(crate) mod view;
