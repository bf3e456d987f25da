//! Disputes, rulings, audits of rulings, and rulings that are shared as files.

pub mod audit;
pub mod cited_code;
pub mod dispute;
pub mod ruling;
pub(crate) mod shared_ruling;
