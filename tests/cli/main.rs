//! The binary as a user meets it: one integration target, one file a subject.

mod agents;
mod config;
mod consensus;
mod contradiction;
mod debate;
mod dialog;
mod disputes;
mod exchange;
mod golden;
mod identity;
mod log;
mod merge;
mod parse;
mod process;
mod repairs;
mod review;
mod runs;
mod shop;
mod steering;
mod support;
mod vote;
mod waiting;
mod watch;
