//! Reads, merges and checks the layers of the configuration.

pub mod layer;
pub mod load;
pub mod resolve;
