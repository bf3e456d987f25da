//! The layers of the configuration: read, merged, resolved.

pub(crate) mod layer;
pub(crate) mod load;
pub(crate) mod resolve;
