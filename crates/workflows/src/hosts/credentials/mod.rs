//! Finds the token for a host, either in an environment variable or with the host's command-line program.
//!
//! A token is sent only to the host to which the token belongs. The token in each variable belongs to the
//! following host:
//!
//! | variables | host |
//! |---|---|
//! | `GITHUB_TOKEN`, `GH_TOKEN` | the host of `GITHUB_SERVER_URL` if it is set, else github.com and hosts below ghe.com |
//! | `GH_ENTERPRISE_TOKEN`, `GITHUB_ENTERPRISE_TOKEN` | the host that `GH_HOST` names |
//! | `GITLAB_TOKEN` | the host of `CI_SERVER_URL` if it is set, else the host of `GITLAB_HOST`, else gitlab.com |
//! | `CI_JOB_TOKEN` | the host of `CI_SERVER_URL`; can only read |
//! | `GITEA_TOKEN` | the host of `GITHUB_SERVER_URL` in a job of Gitea or Forgejo, else of `GITEA_SERVER_URL`, else gitea.com |
//! | `FORGEJO_TOKEN` | the same with `FORGEJO_SERVER_URL` and codeberg.org |
//!
//! A token is sent only to the API of its host. The API of a host is on the host itself, on the host's subdomain
//! `api`, or at a URL from the CI job. The job states this URL in the variable `GITHUB_API_URL` or
//! `CI_API_V4_URL`.
//!
//! If no variable contains a token for the host, Glee starts `gh auth token`, `glab config get token` or `tea
//! login helper get`. Each of these programs prints the token that the user has stored for the host. In CI, `git credential
//! fill` is asked last.

mod owners;
mod program;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;

use super::address::{RequestAddress, Variables};
use super::model::HostKind;
pub use owners::is_api_of_host;

/// A token with the header that contains it. `Debug` does not show the token.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    header: &'static str,
    /// The text before the token in the header, such as `Bearer `.
    prefix: &'static str,
    token: String,
    source: CredentialSource,
}

/// The origin of a token: a variable, or a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialSource {
    Variable(&'static str),
    Program(&'static str),
}

impl Credential {
    fn new(kind: HostKind, token: String, source: CredentialSource) -> Self {
        let (header, prefix) = match (kind, source) {
            (HostKind::GitLab, CredentialSource::Variable("CI_JOB_TOKEN")) => ("job-token", ""),
            (HostKind::GitHub | HostKind::GitLab, _) => ("authorization", "Bearer "),
            (HostKind::Gitea, _) => ("authorization", "token "),
        };
        Self {
            header,
            prefix,
            token,
            source,
        }
    }

    /// Whether the token is of a kind that can never publish comments.
    pub fn is_read_only(&self) -> bool {
        self.source == CredentialSource::Variable("CI_JOB_TOKEN")
    }

    pub fn header(&self) -> &'static str {
        self.header
    }

    pub fn header_value(&self) -> String {
        format!("{}{}", self.prefix, self.token)
    }

    /// Replaces the token in a text.
    pub(crate) fn remove_from(&self, text: &str) -> String {
        text.replace(&self.token, "***")
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// Finds the token for the host of a pull request. Returns `None` if no variable and no program contains a
/// token, or if the API is on another host. Never starts a program inside the folder `tree`, which contains the
/// reviewed code.
pub fn find(address: &RequestAddress, tree: &Path, env: Variables<'_>) -> Option<Credential> {
    if !is_api_of_host(address, env) {
        return None;
    }
    let variable = owners::variables(address.kind).iter().find_map(|name| {
        let token = env(name)
            .map(|token| token.trim().to_owned())
            .filter(|token| is_token(token))?;
        let is_owner = owners::owns(name, &address.host, env);
        is_owner.then(|| Credential::new(address.kind, token, CredentialSource::Variable(name)))
    });
    variable.or_else(|| {
        let (name, token) = program::token(address, tree, env)?;
        is_token(&token)
            .then(|| Credential::new(address.kind, token, CredentialSource::Program(name)))
    })
}

/// Whether the text can be the value of a header.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic())
}
