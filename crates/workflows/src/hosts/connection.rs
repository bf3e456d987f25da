//! Creates the [`Host`] of a pull request.

use std::path::Path;
use std::time::Duration;

use super::address::{RequestAddress, Variables};
use super::credentials;
use super::gitea::Gitea;
use super::github::{self, GitHub};
use super::gitlab::GitLab;
use super::model::{Host, HostError, HostKind};
use super::transport::{HostApi, SystemClock, Transport};
use glee_system::uri::is_loopback;

/// The minimum time between two HTTP requests that create content. In one minute, GitHub accepts about 80 HTTP
/// requests that create content.
const SPACING: Duration = Duration::from_millis(750);

/// Connects to the host of a pull request. Sends no request. `tree` is the folder with the reviewed code. During
/// the search for the token, Glee starts no program from this folder.
pub fn connect(
    address: RequestAddress,
    tree: &Path,
    env: Variables<'_>,
) -> Result<Box<dyn Host>, HostError> {
    let credential = credentials::find(&address, tree, env);
    let name = address
        .host
        .rsplit_once(':')
        .map_or(address.host.as_str(), |(name, _)| name);
    // A server on this machine does not limit the rate of requests that create content.
    let spacing = if is_loopback(name) {
        Duration::ZERO
    } else {
        SPACING
    };
    let headers = match address.kind {
        HostKind::GitHub => github::HEADERS,
        HostKind::GitLab | HostKind::Gitea => &[],
    };
    let api = HostApi {
        host: address.host.clone(),
        base: address.api.clone(),
        headers: headers.to_vec(),
        credential,
        spacing,
    };
    let transport = Transport::new(api, Box::new(SystemClock))?;
    match address.kind {
        HostKind::GitHub => Ok(Box::new(GitHub::new(transport, address))),
        HostKind::GitLab => Ok(Box::new(GitLab::new(transport, address))),
        HostKind::Gitea => Ok(Box::new(Gitea::new(transport, address))),
    }
}
