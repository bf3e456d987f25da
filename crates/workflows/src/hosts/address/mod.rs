//! Finds the host, repository and number of a pull request.
//!
//! A user names a pull request by its web address or by its number. Without a web address, the repository comes
//! from a git remote or, if no remote exists, from the CI job. If the user names no pull request, the number
//! comes from the CI job.
//!
//! The kind of an unknown host comes from the first source that states a kind. The order of the sources is: the
//! variables of the CI service, the path of the web address, and the first label of the host's name.

mod hosts;
mod repository;
mod server;
#[cfg(test)]
mod tests;

use thiserror::Error;

use super::model::HostKind;
use super::origin::origin;
use glee_model::domain::Advice;
use server::{RepositoryAddress, WebServer};

pub use server::Variables;

/// A pull request of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestAddress {
    pub kind: HostKind,
    /// The host's name with its port, in lower case, such as `github.com` or `127.0.0.1:8080`.
    pub host: String,
    /// The address of the REST API without `/` at the end.
    pub api: String,
    /// The owner: a user, an organisation, or a path of groups such as `group/sub`.
    pub owner: String,
    pub repository: String,
    pub number: u64,
}

impl RequestAddress {
    /// The address of GraphQL. Only GitHub uses it.
    pub fn graphql(&self) -> String {
        match self.api.strip_suffix("/v3") {
            Some(rest) => format!("{rest}/graphql"),
            None => format!("{}/graphql", self.api),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AddressError {
    #[error("`{0}` is neither the number nor the address of a pull request")]
    Invalid(String),
    #[error("the number of the pull request is missing")]
    NoNumber,
    #[error("a merge queue tests commits, and has no pull request of its own")]
    MergeQueue {
        /// The branch into which the queue merges.
        branch: String,
    },
    #[error(
        "the host of pull request {0} is unknown, because the repository has no remote with a host"
    )]
    NoHost(u64),
    #[error("the kind of the host `{0}` is unknown")]
    UnknownKind(String),
    #[error("the address `{address}` of the API is invalid: {why}")]
    InvalidApi { address: String, why: String },
}

impl Advice for AddressError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Invalid(_) | Self::NoNumber => {
                "give the number, such as 7, or the web address, such as https://github.com/owner/repository/pull/7"
                    .to_owned()
            }
            Self::MergeQueue { branch } => format!(
                "review the commits of the queue, without `--pr` and `--publish`: `glee review --base origin/{branch}` (the \
                 input `target` of the action)"
            ),
            Self::NoHost(number) => {
                format!("give the web address, such as https://github.com/owner/repository/pull/{number}")
            }
            Self::UnknownKind(_) => {
                "give the web address of the page, such as https://git.example.org/owner/repository/pull/7 or \
                 https://git.example.org/group/project/-/merge_requests/7"
                    .to_owned()
            }
            Self::InvalidApi { .. } => {
                "check the variable `GITHUB_API_URL` or `CI_API_V4_URL` of the job".to_owned()
            }
        })
    }
}

/// Finds a pull request.
///
/// `wanted` is a number (`7`, `#7`, `!7`), a web address, or empty for the request of the current job. `remote`
/// is the address of a git remote.
pub fn find(
    wanted: &str,
    remote: Option<&str>,
    env: Variables<'_>,
) -> Result<RequestAddress, AddressError> {
    let wanted = wanted.trim();
    if wanted.contains("://") {
        let (place, number) = repository::of_link(wanted, env).ok_or_else(|| invalid(wanted))?;
        return with_host(place, number, env);
    }
    let number = if wanted.is_empty() {
        match (hosts::number_of_job(env), hosts::queue_of_job(env)) {
            (Some(number), _) => number,
            (None, Some(branch)) => return Err(AddressError::MergeQueue { branch }),
            (None, None) => return Err(AddressError::NoNumber),
        }
    } else {
        let digits = wanted.strip_prefix(['#', '!']).unwrap_or(wanted);
        digits
            .parse()
            .ok()
            .filter(|number| *number > 0)
            .ok_or_else(|| invalid(wanted))?
    };
    let place = remote
        .and_then(|remote| repository::of_remote(remote, env))
        .or_else(|| hosts::repository_of_job(env));
    with_host(place.ok_or(AddressError::NoHost(number))?, number, env)
}

fn invalid(wanted: &str) -> AddressError {
    // The address can contain a password.
    let shown = match (wanted.find("://"), wanted.find('@')) {
        (Some(scheme), Some(at)) if scheme < at => {
            format!("{}***{}", &wanted[..scheme + 3], &wanted[at..])
        }
        _ => wanted.to_owned(),
    };
    AddressError::Invalid(shown)
}

fn with_host(
    place: RepositoryAddress,
    number: u64,
    env: Variables<'_>,
) -> Result<RequestAddress, AddressError> {
    let RepositoryAddress {
        server,
        owner,
        repository,
        kind: by_form,
    } = place;
    let job = hosts::job_server(env).filter(|job| job.server.host == server.host);
    let kind = hosts::known(&server.host)
        .or(job.as_ref().map(|job| job.kind))
        .or(by_form)
        .or_else(|| hosts::by_label(&server.host))
        .ok_or_else(|| AddressError::UnknownKind(server.host.clone()))?;
    let api = job.filter(|job| job.kind == kind).and_then(|job| job.api);
    let api = api.unwrap_or_else(|| hosts::default_api(kind, &server));
    let api = api.trim_end_matches('/').to_owned();
    if let Err(why) = origin(&api) {
        return Err(AddressError::InvalidApi { address: api, why });
    }
    let WebServer { host, .. } = server;
    Ok(RequestAddress {
        kind,
        host,
        api,
        owner,
        repository,
        number,
    })
}
