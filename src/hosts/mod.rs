//! Hosts of pull requests. The trait [`Host`] reads a request with its conversation, and publishes comments.
//!
//! `model` defines what all hosts have in common. `address` finds the host of a link or of a remote, and `credentials`
//! finds the token. `transport` sends requests, waits at rate limits and reads pages. Each host is one file: `github`,
//! `gitlab` and `gitea` (also Forgejo).

pub mod address;
pub mod credentials;
mod github;
pub mod model;
mod origin;
pub mod transport;

pub use model::{
    Account, ChangedFile, Check, CheckState, Comment, CommentId, Commit, Conversation, Host, HostError, HostKind,
    NewComment, Permission, PullRequest, RequestState, Thread, ThreadId,
};

use std::path::Path;
use std::time::Duration;

use address::{RequestAddress, Variables};
use transport::{HostApi, SystemClock, Transport};

/// The minimum time between two requests that create content.
const SPACING: Duration = Duration::from_millis(200);

/// Connects to the host of a pull request. `tree` is the folder with the reviewed code, in which no program starts.
pub fn connect(address: &RequestAddress, tree: &Path, env: Variables<'_>) -> Result<Box<dyn Host>, HostError> {
    let api = HostApi {
        host: address.host.clone(),
        base: address.api.clone(),
        headers: vec![("accept", "application/vnd.github+json"), ("x-github-api-version", "2022-11-28")],
        credential: credentials::find(address, tree, env),
        spacing: SPACING,
    };
    let transport = Transport::new(api, Box::new(SystemClock))?;
    match address.kind {
        HostKind::GitHub => Ok(Box::new(github::GitHub::new(transport, address.clone()))),
        HostKind::GitLab | HostKind::Gitea => Err(HostError::Refused {
            host: address.host.clone(),
            what: "connect".to_owned(),
            why: "this host is not supported yet".to_owned(),
        }),
    }
}
