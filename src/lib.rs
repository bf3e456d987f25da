//! Glee lets several AI coding agents work on the same code, and settles disagreements between the agents.
//!
//! # Theory of operation
//!
//! **A run is a sequence of events.** An [`event`](glee_model::domain::event) is written to disk and synced before any code
//! acts on it. The state of a run is a fold over the run's events. A pure function of the state returns the steps
//! that are due. Glee reads the same events when it resumes, audits or displays a run.
//!
//! **One loop runs every workflow.** [`glee_workflows::run`] starts the due steps concurrently, calls agents, detects
//! forbidden changes of the tree, enforces the budget and records the results. Reviews, stages with checkpoints,
//! and watches are workflows. All workflows implement the same trait. Pure functions compute the plan, state,
//! schedule, requests and outcome of a workflow. Only a few methods of the trait access the tree and the history.
//!
//! **An adapter is two pure functions.** One function converts a request to a command line, and the other
//! converts output to an answer. Only [`glee_agents::process::runner`] starts agent processes, and tests replace the
//! runner by a scripted implementation of the same trait. Glee starts each agent through a supervisor, which is
//! a re-execution of Glee. The supervisor ends all processes that the agent leaves behind.
//!
//! **Complete answers are reused.** Glee records a reviewer's answer for each file under a key. The key is a hash
//! of everything that could change the answer. A later review first records which answers it reuses, and then asks
//! only about the remaining files (`workflows::review::recorded::reuse`, [`glee_workspace::diff::delta`]).
//!
//! **Rules are pure functions.** The functions in [`glee_model::rules`] decide which findings are mandatory, which findings
//! are disputed, and how votes are counted. Tests check the functions in [`glee_model::rules`] against the tables of the
//! specification.
//!
//! **Text from files and agents is untrusted.** Such text cannot choose a program, forge a verdict, refer to a path
//! outside the tree, or reach a terminal unescaped. The type of untrusted text is [`glee_model::domain::Untrusted`], which does
//! not implement `Display`. A failed review is never an approval.
//!
//! # Layers
//!
//! A module imports only modules from lower rows of this table. `tests/layers.rs` checks that imports follow the
//! table, and that the imports between files have no cycle.
//!
//! | layer | purpose |
//! |---|---|
//! | [`cli`] | commands, one file each, grouped as in `glee --help`; code that commands share in `context`; live displays and dialogs in `ui`; outcomes as text and JSON in `report`; colours and widths in `style` |
//! | [`glee_workflows::watch`], [`glee_workflows::consensus`], [`glee_workflows::audit`], [`glee_workflows::pull_request`] | event-driven peer review; agreement in stages and checkpoints; a second opinion on dismissals; the conversation of a pull request |
//! | [`glee_workflows::review`] | reviews: plan, state, schedule, requests, outcome; findings, disputes, recorded runs |
//! | [`glee_workflows::run`] | the runner of all workflows: loop, calls, attempts, budget, write guard, redaction |
//! | [`glee_workflows::hosts`] | hosts of pull requests: one trait, one file a host |
//! | [`glee_agents`] | adapters, one file for each program; the embedded agents; processes, sandbox and supervisor; calls and their records |
//! | [`glee_workspace`] | git, selection of targets, diffs, snapshots of the tree, undo, guards against writes, anchors of findings in the code |
//! | [`glee_store::history`] | the history store: append, queries, hash chain |
//! | [`glee_store::config`] | settings with their schema, files, layers and origins; trust |
//! | [`glee_protocol`] | prompts, parsers of answers, and conversion between JSON and domain types |
//! | [`glee_model::rules`] | decisions as pure functions |
//! | [`glee_model::domain`] | the terms of the specification as types; events, which are the contract between a run and its listeners |
//! | [`glee_system`] | logging, type-checked opening of files, private files and folders |

pub mod cli;
