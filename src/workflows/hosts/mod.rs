//! Hosts of pull requests. The trait [`Host`] reads a pull request with its conversation, and publishes comments.
//!
//! `model` defines the types that all hosts share, and the trait that each host implements. `address` finds the
//! host of a link or of a remote, and `credentials` finds the token. `transport` sends requests, waits at rate
//! limits, and reads lists that the host splits into pages. `connection` creates the host, which is one of
//! `github`, `gitlab` and `gitea` (also Forgejo).

pub mod address;
mod connection;
pub mod credentials;
mod diff_lines;
mod gitea;
mod github;
mod gitlab;
pub mod model;
mod origin;
pub mod transport;

pub use connection::connect;
pub use model::{
    Account, ChangedFile, Check, CheckState, Comment, CommentId, Commit, Conversation, Host, HostError, HostKind,
    NewComment, Permission, PullRequest, RequestState, Thread, ThreadId,
};
