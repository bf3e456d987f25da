//! Addresses of web servers and of repositories.

use crate::hosts::model::HostKind;
use glee_system::uri::is_loopback;

/// Returns the value of an environment variable.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A web server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebServer {
    /// `https`, or `http` on a loopback address.
    pub scheme: &'static str,
    /// The name of the web server in lower case, followed by the port if the port is not the default.
    pub host: String,
    /// The path of the server's start page, such as `/gitlab`, or an empty string.
    pub prefix: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepositoryAddress {
    pub server: WebServer,
    pub owner: String,
    pub repository: String,
    /// The kind of the host, derived from the path of the web address (such as `/pull/7`) or from the CI job.
    pub kind: Option<HostKind>,
}

impl WebServer {
    /// Parses `scheme://[user@]host[:port][/path]` with the scheme `https` or `http`. Returns the web server and
    /// the path.
    pub(crate) fn of_url(url: &str) -> Option<(Self, &str)> {
        let (scheme, rest) = url.split_once("://")?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = authority.rsplit('@').next()?.to_ascii_lowercase();
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next()?,
            None => host.split(':').next()?,
        };
        if !is_host(name) {
            return None;
        }
        let is_local = is_loopback(name);
        // Requests are never sent without TLS, except to this machine.
        let (scheme, default) = match scheme.to_ascii_lowercase().as_str() {
            "http" if is_local => ("http", ":80"),
            "https" => ("https", ":443"),
            "http" => ("https", ":80"),
            _ => return None,
        };
        let host = host.strip_suffix(default).unwrap_or(&host).to_owned();
        Some((
            Self {
                scheme,
                host,
                prefix: String::new(),
            },
            path,
        ))
    }
}

pub(crate) fn is_host(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-._:".contains(c))
}

/// Splits a path into the owner and the repository. The URLs of the API contain the names of the owner and the
/// repository. Therefore, the result is `None` if a name contains a character that hosts do not permit.
pub(super) fn split(parts: &[&str]) -> Option<(String, String)> {
    if parts.len() < 2
        || !parts.iter().all(|part| {
            !part.is_empty()
                && !part.chars().all(|c| c == '.')
                && part
                    .chars()
                    .all(|c| c.is_alphanumeric() || "-_.~".contains(c))
        })
    {
        return None;
    }
    let (repository, owner) = parts.split_last()?;
    Some((owner.join("/"), (*repository).to_owned()))
}
