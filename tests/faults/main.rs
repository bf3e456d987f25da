//! Fault tests: failures and attacks by agents, users, disks and signals, and the invariants of each run.
//!
//! Each row of the table is a set of cases of the whole program with a scripted agent. A test is a case, named `row:
//! case`. Without arguments a sample of every row runs; `--include-ignored` runs all cases, and a word those whose names
//! contain it. A light case that fails is tried once more, alone. `KILLS` is how often Glee is killed at random.

#[cfg(unix)]
mod agent;
#[cfg(unix)]
mod attacks;
#[cfg(unix)]
mod rows;
#[cfg(unix)]
mod runner;
#[cfg(unix)]
mod scene;
#[cfg(unix)]
#[path = "../cli/support/mod.rs"]
mod support;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    agent::play().unwrap_or_else(runner::main)
}

#[cfg(not(unix))]
fn main() {}
