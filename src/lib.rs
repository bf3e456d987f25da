//! Glee brings several AI coding agents to the same code and settles what they disagree on.
//!
//! # Theory of operation
//!
//! **A run is a journal.** An [`event`](domain::event) is written and synced before anything acts on it. The state of a run is a fold
//! over its events; a pure function returns the steps that are due. Resumption, audit and the live display read the same events.
//!
//! **One loop runs every workflow.** [`workflows::run`] starts the due steps side by side, calls agents, guards the tree, keeps the
//! budget and records the results. A review, a stage or checkpoint, and a watch are implementations of one trait: plan, state,
//! schedule, requests and outcome, all pure, and a few effects on the tree and the history.
//!
//! **An adapter is two pure functions**: request to command, and output to answer. All process work is in
//! [`agents::process::runner`], behind a trait with a scripted twin for tests. Glee starts an agent through a re-execution of
//! itself, which leads the agent's session and leaves no descendant behind.
//!
//! **Nothing complete is asked twice.** A reviewer's answer is recorded by file, with a key over everything that could change it. A
//! later review records which answers it reuses before it asks about the rest (`workflows::review::recorded::reuse`,
//! [`workspace::diff::delta`]).
//!
//! **Rules are tables.** What is mandatory, what is a dispute, how votes decide: pure functions in [`rules`], each with the table of
//! its specification as its test.
//!
//! **Text from files and agents is untrusted.** It cannot choose a program, forge a verdict by quoting one, name a path outside the
//! tree, or reach a terminal unescaped: its type is [`domain::Untrusted`], which cannot be formatted. A review that failed is never
//! an approval.
//!
//! # Layers
//!
//! A module imports only modules in lower rows, never one in the same row or above. `tests/layers.rs` checks this table, and that
//! files do not import each other in a circle.
//!
//! | layer | purpose |
//! |---|---|
//! | [`cli`] | commands, one file each, grouped as in `glee --help`; what they share in `context`; live displays and dialogs in `ui`, outcomes as text and JSON in `report`, colour and width in `style` |
//! | [`workflows::watch`], [`workflows::consensus`] | event-driven peer review; agreement in stages and checkpoints |
//! | [`workflows::review`] | reviews: plan, state, schedule, requests, outcome; findings, disputes, recorded runs |
//! | [`workflows::run`] | the runner of all workflows: loop, calls, attempts, budget, write guard, redaction |
//! | [`agents`] | adapters, one file for each program; the embedded agents; processes, sandbox and supervisor; calls and their records |
//! | [`workspace`] | git, selection of targets, diffs, snapshots of the tree, undo, guards against writes, anchors in code |
//! | [`history`] | the history store: append, queries, hash chain |
//! | [`config`] | settings, their schema, files and layers with origin, trust |
//! | [`protocol`] | prompts, and parsers of answers: text and JSON to domain and back |
//! | [`rules`] | decisions as pure functions |
//! | [`domain`] | the specification's words as types; events, the contract with listeners |
//! | [`system`] | diagnosis, opening of regular files, private files and folders |

pub mod agents;
pub mod cli;
pub mod config;
pub mod domain;
pub mod history;
pub mod protocol;
pub mod rules;
pub mod system;
pub mod workflows;
pub mod workspace;
