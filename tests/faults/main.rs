//! Faults: what agents, users, disks and signals may do to a run, and what must hold then.
//!
//! Each row of the table is a file's worth of cases over the whole program with a scripted agent. Without arguments a
//! sample of every row runs; `--full` runs the cases of all rows, of long rows every so many, and tells how many of each
//! held; `--all` leaves none out; `--again` tries what did not hold once more, when the machine has less to do; `--long`
//! kills Glee at random until told otherwise. A word runs the rows whose names contain it. The variable
//! `FAULTS_ARGS` holds further arguments.

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
