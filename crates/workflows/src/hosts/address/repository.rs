//! Parses web addresses of pull requests, and addresses of git remotes.

use super::hosts::job_server;
use super::server::{RepositoryAddress, Variables, WebServer, is_host, split};
use crate::hosts::model::HostKind;

/// Parses the web address of a pull request, such as `https://github.com/o/r/pull/7/files`.
pub(crate) fn of_link(link: &str, env: Variables<'_>) -> Option<(RepositoryAddress, u64)> {
    let (mut server, path) = WebServer::of_url(link)?;
    let path = path.split(['?', '#']).next()?;
    let path = below_prefix(&mut server, path, env);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let (at, kind) = parts
        .iter()
        .enumerate()
        .skip(2)
        .find_map(|(at, part)| match *part {
            "pull" if at == 2 => Some((at, HostKind::GitHub)),
            "pulls" if at == 2 => Some((at, HostKind::Gitea)),
            "merge_requests" => Some((at, HostKind::GitLab)),
            _ => None,
        })?;
    let number = parts
        .get(at + 1)?
        .parse()
        .ok()
        .filter(|number| *number > 0)?;
    let named = if parts[at - 1] == "-" {
        &parts[..at - 1]
    } else {
        &parts[..at]
    };
    let (owner, repository) = split(named)?;
    Some((
        RepositoryAddress {
            server,
            owner,
            repository,
            kind: Some(kind),
        },
        number,
    ))
}

/// Parses the address of a git remote: `https://host/o/r.git`, `ssh://git@host:22/o/r.git` or `git@host:o/r.git`.
/// Returns `None` for local paths.
pub(crate) fn of_remote(remote: &str, env: Variables<'_>) -> Option<RepositoryAddress> {
    let remote = remote.trim();
    let (mut server, path) = match remote.split_once("://") {
        Some((scheme, rest)) => match scheme.to_ascii_lowercase().trim_start_matches("git+") {
            "http" | "https" => WebServer::of_url(remote)?,
            "ssh" => {
                let (authority, path) = rest.split_once('/')?;
                (
                    of_ssh(authority.rsplit('@').next()?.split(':').next()?)?,
                    path,
                )
            }
            _ => return None,
        },
        // In `user@host:path`, no slash precedes the first colon. Any other remote without a scheme is a local
        // path.
        None => {
            let (host, path) = remote
                .split_once(':')
                .filter(|(host, _)| !host.contains('/'))?;
            (of_ssh(host.rsplit('@').next()?)?, path)
        }
    };
    let path = below_prefix(&mut server, path, env);
    let path = path.trim_matches('/');
    let parts: Vec<&str> = path
        .strip_suffix(".git")
        .unwrap_or(path)
        .split('/')
        .collect();
    let (owner, repository) = split(&parts)?;
    Some(RepositoryAddress {
        server,
        owner,
        repository,
        kind: None,
    })
}

/// Returns the name of the web server that belongs to an SSH server. GitHub and GitLab offer SSH on port 443
/// under other names.
fn of_ssh(host: &str) -> Option<WebServer> {
    let host = match host.to_ascii_lowercase().as_str() {
        "ssh.github.com" => "github.com".to_owned(),
        "altssh.gitlab.com" => "gitlab.com".to_owned(),
        host => host.to_owned(),
    };
    is_host(&host).then(|| WebServer {
        scheme: "https",
        host,
        prefix: String::new(),
    })
}

/// The path in `CI_SERVER_URL` or `GITHUB_SERVER_URL` is the prefix of the job's server. If `server` is the job's
/// server, removes this prefix from the start of `path`, and stores the prefix in `server`. A `path` without this
/// prefix remains unchanged.
fn below_prefix<'a>(server: &mut WebServer, path: &'a str, env: Variables<'_>) -> &'a str {
    let Some(job) = job_server(env).filter(|job| job.server.host == server.host) else {
        return path;
    };
    let prefix = job.server.prefix;
    let inside = path
        .strip_prefix(prefix.trim_start_matches('/'))
        .and_then(|rest| rest.strip_prefix('/'));
    match inside.filter(|_| !prefix.is_empty()) {
        Some(rest) => {
            server.prefix = prefix;
            rest
        }
        None => path,
    }
}
