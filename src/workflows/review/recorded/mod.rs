//! Recorded runs. `view` reads them, `replay` repeats their decisions, `reuse` takes answers from them, `preview`
//! lists the requests that a run would send, and `prune` deletes their data.

pub(crate) mod preview;
pub(crate) mod prune;
pub(crate) mod replay;
pub(crate) mod reuse;
pub(crate) mod view;
