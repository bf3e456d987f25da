//! Commands that call agents or communicate with a running watch.

pub(crate) mod consensus;
mod dry_run;
pub(crate) mod emit;
pub(crate) mod findings;
pub(crate) mod gate;
mod one_off;
pub(crate) mod pr;
pub(crate) mod review;
pub(crate) mod steering;
pub(crate) mod watch;
pub(crate) mod worker;
