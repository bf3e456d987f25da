//! Glee brings several AI coding agents to the same code and settles what they disagree on.
//!
//! # Theory of operation
//!
//! **A run is a journal.** An [`event`](domain::event) is written and synced before anything acts on it. The state of a run is a fold
//! over its events; a pure function says which steps are due; the engine in [`workflows`] runs those side by side and
//! appends what came of them. Resume, audit and the live display are readers of the same events.
//!
//! **An adapter is two pure functions**: request to command, and output to answer. All process work is in one file,
//! [`agents::process::runner`], behind one trait with a scripted twin. An agent is never spawned bare: Glee runs a
//! re-execution of itself that leads the agent's session and leaves no descendant behind.
//!
//! **Agreement is a run as well.** A stage or a checkpoint ([`workflows::consensus`]) is recorded, folded and carried on like
//! a review: agents answer, an aggregator names conflicts, an arbiter or a person decides them.
//!
//! **A watch is a run without an end.** Agents tell what they do, triggers begin review cycles, and what the verdicts come
//! to is recorded before it is done ([`workflows::watch`]); started again, a watch stands where it stood.
//!
//! **Nothing complete is asked twice.** What a reviewer says is recorded by file with a key over everything that could make
//! it say something else; a later review records what it takes from there before it asks about the rest
//! (`workflows::review::recorded::reuse`, [`workspace::diff::delta`]).
//!
//! **Rules are tables.** What is mandatory, what is a dispute, what is due: pure functions in [`rules`] and
//! [`workflows`], each with the table of its specification as its test.
//!
//! **Nothing that came from a file or an agent is believed by its looks.** It cannot choose a program, forge a
//! verdict by quoting one, name a path outside the tree, or reach a terminal unescaped: its words are
//! [`domain::Untrusted`], which cannot be formatted. "Could not review" is never "approved".
//!
//! # The house
//!
//! Layers; the top may use anything below it, never the other way; modules on one line do not import each other.
//! `tests/layers.rs` holds this table, and that no files import each other in a circle.
//!
//! | layer | purpose |
//! |---|---|
//! | [`cli`] | commands, one file each, grouped as `glee --help` groups them; what they share in `context`; live displays and dialogs in `ui`, outcomes as text and JSON in `report`, colour and width in `style` |
//! | [`workflows::watch`], [`workflows::consensus`] | event-driven peer review; agreement in stages and checkpoints |
//! | [`workflows::review`] | a review: plan, state, schedule, requests, outcome; engine, findings, disputes, recorded runs |
//! | [`workflows::run`] | what the three share: runner, calls, answers, write guard, redaction |
//! | [`agents`] | adapters, one file a program; the embedded agents; processes, sandbox and supervisor; calls and their records |
//! | [`workspace`] | git, selection of targets, diffs, images of the tree, undo, guards against writes, anchors in code |
//! | [`history`] | the history store: append, queries, hash chain |
//! | [`config`] | settings, their schema, files and layers with origin, trust |
//! | [`protocol`] | prompts, and parsers of answers: text and JSON to domain and back |
//! | [`rules`] | decisions as pure functions |
//! | [`domain`] | the specification's words as types; events, the contract with every listener |
//! | [`system`] | diagnosis, opening files by what they are, private files and folders |

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
