//! The binary as a user meets it: one integration target, one file a subject.

mod agents;
mod config;
mod consensus;
mod contradiction;
mod contributing;
mod debate;
mod dialog;
mod disputes;
mod golden;
mod insisting;
mod log;
mod merge;
mod parse;
mod process;
mod repairs;
mod reuse;
mod review;
mod rulings;
mod runs;
mod shop;
mod steering;
mod support;
mod vote;
mod waiting;
mod watch;
