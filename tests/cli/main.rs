//! Tests of the binary: one integration target, one file for each subject.

mod addresses;
mod agent_hooks;
mod agents;
mod answers;
mod at_base;
mod by_rule;
mod closings;
mod coders;
mod command_line;
mod config;
mod consensus;
mod context;
mod contradiction;
mod convergence;
mod coverage;
mod debate;
mod demo;
mod demonstration_attacks;
mod demonstrations;
mod detached;
mod dialog;
mod disputes;
mod documented;
mod exact_fixes;
mod findings;
mod fix_scope;
mod formats;
mod golden;
mod green;
mod home;
mod hooks;
mod html_report;
mod identity;
mod insisting;
mod integrations;
mod limits;
mod log;
mod merge;

mod money;
mod no_such_place;
mod nothing;
mod numbers;
mod older;
mod one_off;
mod parse;
mod parts;
mod places;
#[cfg(all(feature = "server", target_os = "linux"))]
#[allow(dead_code, reason = "another target uses the rest")]
#[path = "../programs/postgres.rs"]
mod postgres;
mod process;
mod profiles;
mod pull_requests;
mod read_set;
mod repairs;
mod reuse;
mod review;
mod rulings;
mod runs;
mod same;
mod screens;
mod secrets;
mod serve;
mod shop;
mod stats;
mod steering;
mod support;
mod targets;
mod terminal;
mod together;
mod told;
mod tree_findings;
mod undo;
mod unjudged;
mod vote;
mod waiting;
mod watch;
#[cfg(unix)]
mod widths;
mod worktrees;
mod wrong_inputs;

/// A program of a test that is missing fails it where all are required, as in CI.
#[cfg(all(feature = "server", target_os = "linux"))]
fn missing(what: &str) {
    let is_required = std::env::var_os("PROGRAMS_REQUIRED").is_some();
    assert!(!is_required, "{what} (PROGRAMS_REQUIRED is set)");
}
