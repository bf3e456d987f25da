//! The binary as a user meets it: one integration target, one file a subject.

mod config;
mod process;
mod support;
