//! Hosts of pull requests. The trait [`Host`] reads a pull request with its conversation, and publishes comments.
//!
//! `model` defines the types that all hosts share, and the trait that each host implements. `address` finds the
//! host of a link or of a remote, and `credentials` finds the token. The module `transport` sends HTTP requests,
//! waits at rate limits, and reads lists that a host sends in several parts. The module `connection` creates the
//! host from one of the modules `github`, `gitlab` and `gitea`. The module `gitea` also supports Forgejo.

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
    Account, ChangedFile, Check, CheckState, Comment, CommentId, Commit, Conversation, Host,
    HostError, HostKind, NewComment, OwnComment, Permission, PullRequest, RequestState, Thread,
    ThreadId, TrackedIssue,
};
