//! The workflows of Glee. All workflows share the code in the module [`run`].

pub mod audit;
pub mod consensus;
pub mod hosts;
pub mod pull_request;
pub mod review;
pub mod run;
pub mod watch;
