//! Commands that connect, check and disconnect agents.

pub(crate) mod agents;
pub(crate) mod check;
pub(crate) mod connect;
pub(crate) mod disconnect;
pub(crate) mod init;
mod runners;
