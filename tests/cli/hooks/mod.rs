//! Hooks of git: real git runs the installed scripts in real repositories.

mod action;
mod installs;
pub(crate) mod job;
mod pushes;
mod reviews;

use crate::support::repository::{CONFIG, EVIL, GOOD, ok, repository, sh, with_remote};
