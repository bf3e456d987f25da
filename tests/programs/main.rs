//! What other programs make of Glee's output, files and hooks: programs that `cargo test` does not need otherwise.
//!
//! A test whose program is missing says so in one line and ends. Where `PROGRAMS_REQUIRED` is set, as in CI,
//! it fails.

#![cfg(unix)]

#[cfg(target_os = "linux")]
mod demonstrations;
mod hooks;
#[cfg(target_os = "linux")]
mod labelled;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(all(feature = "server", target_os = "linux"))]
mod postgres;
mod python;
mod reports;
#[cfg(all(feature = "server", target_os = "linux"))]
mod server;
#[cfg(all(feature = "server", target_os = "linux"))]
mod server_attacks;
#[cfg(all(feature = "server", target_os = "linux"))]
mod server_lists;
#[cfg(all(feature = "server", target_os = "linux"))]
mod server_ways;
#[cfg(all(feature = "server", target_os = "linux"))]
mod service;
#[cfg(all(feature = "server", target_os = "linux"))]
mod service_pages;
#[path = "../cli/support/mod.rs"]
mod support;
mod telemetry;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Command;
use std::sync::Mutex;

/// Whether `program` is there. Otherwise the test that asks is over.
fn has(program: &str, args: &[&str], debian_package: &str) -> bool {
    let output = Command::new(program).args(args).output();
    if output.is_ok_and(|output| output.status.success()) {
        return true;
    }
    missing(&format!(
        "{program} is missing; install the Debian package {debian_package}"
    ));
    false
}

/// Says once for all tests what is missing.
fn missing(what: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    assert!(
        std::env::var_os("PROGRAMS_REQUIRED").is_none(),
        "{what} (PROGRAMS_REQUIRED is set)"
    );
    let is_new = SAID.lock().expect("a lock").insert(what.to_owned());
    if is_new {
        // Not `eprintln`, which is shown for failed tests only.
        drop(writeln!(std::io::stderr(), "skipped: {what}"));
    }
}
