//! Fault tests: failures and attacks by agents, users, disks and signals, and the invariants of each run.
//!
//! Each row of the table is a set of cases of the whole program with a scripted agent. Without arguments, a sample
//! of every row runs. `--full` runs all rows, sampling long ones, and prints the number of passed cases per row;
//! `--all` runs every case; `--part 1/2` runs every second of the chosen cases, and `--part 2/2` the others;
//! `--again` retries failed cases at the end, with less load; `--long` kills Glee at random until it is stopped. A
//! word selects the rows whose names contain it. The variable `FAULTS_ARGS` contains further arguments.

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
