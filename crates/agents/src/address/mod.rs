//! Asks a model at its address, without a program. Glee starts itself for each call. The process opens one connection,
//! gives up the network, and prints what the server answers as lines of JSON, which the adapter `address` reads.

pub mod message;
pub mod process;
mod server;
mod wire;
