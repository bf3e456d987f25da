//! Known hosts, and the variables that continuous integration services set.

use super::server::{RepositoryAddress, Variables, WebServer, split};
use crate::hosts::model::HostKind;

/// The server of the current job.
pub(crate) struct JobServer {
    pub server: WebServer,
    pub kind: HostKind,
    pub api: Option<String>,
}

/// Reads the server of a CI job from the environment variables of GitLab CI or of Actions (GitHub, Gitea, Forgejo).
pub(crate) fn job_server(env: Variables<'_>) -> Option<JobServer> {
    let (server, kind, api) = match set(env, "CI_SERVER_URL") {
        Some(server) => (server, HostKind::GitLab, set(env, "CI_API_V4_URL")),
        None => {
            // Gitea and Forgejo set the variables of GitHub, too.
            let is_gitea = ["GITEA_ACTIONS", "FORGEJO_ACTIONS"]
                .iter()
                .any(|name| set(env, name).is_some());
            let kind = if is_gitea {
                HostKind::Gitea
            } else {
                HostKind::GitHub
            };
            (
                set(env, "GITHUB_SERVER_URL")?,
                kind,
                set(env, "GITHUB_API_URL"),
            )
        }
    };
    let (mut server, path) = WebServer::of_url(&server)?;
    let prefix = path.trim_matches('/');
    if !prefix.is_empty() {
        server.prefix = format!("/{prefix}");
    }
    Some(JobServer { server, kind, api })
}

/// Returns the repository in which the job runs.
pub(crate) fn repository_of_job(env: Variables<'_>) -> Option<RepositoryAddress> {
    let job = job_server(env)?;
    let path = match job.kind {
        HostKind::GitLab => {
            set(env, "CI_MERGE_REQUEST_PROJECT_PATH").or_else(|| set(env, "CI_PROJECT_PATH"))?
        }
        HostKind::GitHub | HostKind::Gitea => set(env, "GITHUB_REPOSITORY")?,
    };
    let (owner, repository) = split(&path.split('/').collect::<Vec<_>>())?;
    Some(RepositoryAddress {
        server: job.server,
        owner,
        repository,
        kind: Some(job.kind),
    })
}

/// Returns the number of the pull request for which the CI job runs.
pub(crate) fn number_of_job(env: Variables<'_>) -> Option<u64> {
    if let Some(number) = set(env, "CI_MERGE_REQUEST_IID") {
        return number.parse().ok();
    }
    let reference = set(env, "GITHUB_REF")?;
    reference
        .strip_prefix("refs/pull/")?
        .split('/')
        .next()?
        .parse()
        .ok()
}

/// Returns the branch into which the merge queue of the CI job merges. GitHub names the queue's own branch
/// `gh-readonly-queue/<branch>/pr-<number>-<commit>`.
pub(crate) fn queue_of_job(env: Variables<'_>) -> Option<String> {
    let reference = set(env, "GITHUB_REF")?;
    let queued = reference.strip_prefix("refs/heads/gh-readonly-queue/")?;
    let (branch, _) = queued.rsplit_once("/pr-")?;
    Some(branch.to_owned())
}

/// Returns the kind of a public host, such as `github.com`.
pub(super) fn known(host: &str) -> Option<HostKind> {
    match host {
        "github.com" => Some(HostKind::GitHub),
        "gitlab.com" => Some(HostKind::GitLab),
        "codeberg.org" | "gitea.com" => Some(HostKind::Gitea),
        _ if host.ends_with(".ghe.com") => Some(HostKind::GitHub),
        _ => None,
    }
}

/// Returns the kind that the first label of a host's name suggests, such as GitLab for `gitlab.example.org`.
pub(crate) fn by_label(host: &str) -> Option<HostKind> {
    match host.split_once('.')?.0 {
        "github" => Some(HostKind::GitHub),
        "gitlab" => Some(HostKind::GitLab),
        "gitea" | "forgejo" => Some(HostKind::Gitea),
        _ => None,
    }
}

pub(crate) fn default_api(kind: HostKind, server: &WebServer) -> String {
    let WebServer {
        scheme,
        host,
        prefix,
    } = server;
    match kind {
        HostKind::GitHub if host == "github.com" || host.ends_with(".ghe.com") => {
            format!("https://api.{host}")
        }
        HostKind::GitHub => format!("{scheme}://{host}{prefix}/api/v3"),
        HostKind::GitLab => format!("{scheme}://{host}{prefix}/api/v4"),
        HostKind::Gitea => format!("{scheme}://{host}{prefix}/api/v1"),
    }
}

fn set(env: Variables<'_>, name: &str) -> Option<String> {
    env(name).filter(|value| !value.is_empty())
}
