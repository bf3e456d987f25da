//! Recorded runs and what is made of them: `view` shows them, `replay` decides them again, `reuse` takes answers from
//! them, `preview` says what a run would ask, `prune` deletes their data.

pub(crate) mod preview;
pub(crate) mod prune;
pub(crate) mod replay;
pub(crate) mod reuse;
pub(crate) mod view;
