//! Reads, merges and checks the layers of the configuration.

pub(crate) mod layer;
pub(crate) mod load;
pub(crate) mod resolve;
