//! Glee lets several AI coding agents work on the same code, and settles disagreements between the agents.
//!
//! # Theory of operation
//!
//! **A run is a sequence of events.** An [`event`](glee_model::domain::event) is written to disk and synced before any
//! code acts on it. The state of a run is a fold over the run's events. A pure function of the state returns the steps
//! that are due. Glee reads the same events when it resumes, audits or displays a run.
//!
//! **One loop runs every workflow.** [`glee_workflows::run`] starts the due steps, calls agents, detects forbidden
//! changes of the tree, enforces the budget and records the results.
//!
//! **An adapter is two pure functions.** One converts a request to a command line, the other output to an answer. Only
//! [`glee_agents::process::runner`] starts agents, through a supervisor that ends all processes that they leave behind.
//!
//! **Rules are pure functions.** [`glee_model::rules`] decides which findings are mandatory, which are disputed, and
//! how votes are counted.
//!
//! **Text from files and agents is untrusted.** Its type [`glee_model::domain::Untrusted`] does not implement `Display`.
//! A failed review is never an approval.
//!
//! # What happens to a finding
//!
//! 1. `glee review` reads the settings ([`glee_store::config`]) and selects the files ([`glee_workspace`]); the plan is
//!    the run's first event.
//! 2. Answers of earlier reviews are reused by file; a reviewer is asked about the rest
//!    ([`glee_workflows::review::recorded::reuse`]).
//! 3. [`glee_protocol::prompts`] words the request, [`glee_agents`] calls the program, [`glee_protocol::replies`] reads
//!    findings from its answer. The start of a call is an event, and its end with the answer is one: a run that was
//!    killed asks only what has no end when it is resumed.
//! 4. The findings of a round are recognised, merged and numbered ([`glee_workflows::review::findings`]), and recorded.
//! 5. The coder, which edits the tree or a worktree of the run, implements or objects. An objection to a mandatory
//!    finding opens a dispute, which a judge, a person or a policy settles ([`glee_workflows::review::disputes`]). The
//!    coder implements what is enforced.
//! 6. The commands of `review.verify` run on its edits, and reviewers check them. Another round reviews what the coder
//!    changed, until it changes nothing, the rounds are used up, or they do not converge.
//! 7. [`glee_workflows::review::outcome`] computes the exit reason, and [`cli`] prints the report.
//!
//! [`next_steps`](glee_workflows::review::schedule::next_steps) has all steps of a round in their order, and
//! [`ExitReason::code`](glee_model::domain::ExitReason::code) what each end is to a caller.
//!
//! # Crates
//!
//! A crate uses only crates below it in this table. `tests/layers.rs` holds the order inside of a crate.
//!
//! | crate | purpose |
//! |---|---|
//! | [`cli`] | the program: commands, one file each, grouped as in `glee --help`; reports, terminal, pages |
//! | [`glee_workflows`] | reviews, stages and checkpoints, watches, pull requests and their hosts; the loop that runs them |
//! | [`glee_agents`] | adapters, one file for each program; processes, sandbox and supervisor; calls and their records |
//! | [`glee_builtin`] | the embedded reviewer, fixer and referee |
//! | [`glee_workspace`] | git, selection of targets, diffs, snapshots of the tree, undo, guards, anchors in the code |
//! | [`glee_store`] | the history in SQLite, the settings in YAML |
//! | [`glee_protocol`] | prompts, parsers of answers, text and secrets |
//! | [`glee_model`] | the terms of the specification as types; decisions as pure functions |
//! | [`glee_system`] | logging, opening of files, private files and folders |

pub mod cli;
