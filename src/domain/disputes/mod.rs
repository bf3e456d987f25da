//! Disputes, rulings, audits of rulings, and rulings that are shared as files.

pub(crate) mod audit;
pub(crate) mod cited_code;
pub(crate) mod dispute;
pub(crate) mod ruling;
pub(crate) mod shared_ruling;
