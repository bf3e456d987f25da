//! Handles recorded runs: the module `view` reads outcomes, `replay` repeats decisions, `reuse` takes answers from
//! earlier runs, and `prune` deletes stored data. The module `preview` lists the requests that a planned run would
//! send. The module `dispute_code` reads the code of a dispute. The module `tree_findings` computes which recorded
//! findings are still open in the current tree. The module `worktrees` removes what no run needs.

pub mod dispute_code;
pub mod preview;
pub mod prune;
pub mod replay;
pub mod reuse;
pub mod tree_findings;
pub mod view;
pub mod worktrees;
