//! Lists the environment variables for tokens, and decides to which hosts the tokens belong.

use crate::hosts::address::{RequestAddress, Variables};
use crate::hosts::model::HostKind;

/// Lists the variables for a host of the given kind. The first variable with a value is used.
pub(super) fn variables(kind: HostKind) -> &'static [&'static str] {
    match kind {
        HostKind::GitHub => &[
            "GH_TOKEN",
            "GITHUB_TOKEN",
            "GH_ENTERPRISE_TOKEN",
            "GITHUB_ENTERPRISE_TOKEN",
        ],
        HostKind::GitLab => &["GITLAB_TOKEN", "CI_JOB_TOKEN"],
        // Gitea and Forgejo also put the token of a job into `GITHUB_TOKEN`.
        HostKind::Gitea => &["GITEA_TOKEN", "FORGEJO_TOKEN", "GITHUB_TOKEN"],
    }
}

/// Whether the token in the variable belongs to the host.
pub(crate) fn owns(variable: &str, host: &str, env: Variables<'_>) -> bool {
    let named = |name: &str| Some(host_of(&env(name).filter(|value| !value.is_empty())?));
    let is_gitea_job = ["GITEA_ACTIONS", "FORGEJO_ACTIONS"]
        .iter()
        .any(|name| named(name).is_some());
    let job = named("GITHUB_SERVER_URL");
    match variable {
        "GH_TOKEN" | "GITHUB_TOKEN" => match job {
            Some(job) => job == host,
            None => host == "github.com" || host.ends_with(".ghe.com"),
        },
        "GH_ENTERPRISE_TOKEN" | "GITHUB_ENTERPRISE_TOKEN" => {
            named("GH_HOST").is_some_and(|named| named == host)
        }
        "GITLAB_TOKEN" => {
            let home = named("CI_SERVER_URL").or_else(|| named("GITLAB_HOST"));
            home.as_deref().unwrap_or("gitlab.com") == host
        }
        "CI_JOB_TOKEN" => named("CI_SERVER_URL").is_some_and(|named| named == host),
        "GITEA_TOKEN" | "FORGEJO_TOKEN" => {
            let (server, public) = match variable {
                "GITEA_TOKEN" => ("GITEA_SERVER_URL", "gitea.com"),
                _ => ("FORGEJO_SERVER_URL", "codeberg.org"),
            };
            let home = job.filter(|_| is_gitea_job).or_else(|| named(server));
            home.as_deref().unwrap_or(public) == host
        }
        _ => false,
    }
}

/// Whether the API belongs to the host. An API that belongs to the host is on the host itself, on the host's
/// subdomain `api`, or at the URL in a variable of the CI job.
pub fn is_api_of_host(address: &RequestAddress, env: Variables<'_>) -> bool {
    let api = host_of(&address.api);
    let host = address.host.as_str();
    let of_job = [
        ("GITHUB_SERVER_URL", "GITHUB_API_URL"),
        ("CI_SERVER_URL", "CI_API_V4_URL"),
    ];
    api == host
        || api.strip_prefix("api.") == Some(host)
        || of_job.iter().any(|(server, named)| {
            env(server).is_some_and(|server| host_of(&server) == host)
                && env(named).is_some_and(|named| named.trim_end_matches('/') == address.api)
        })
}

/// Returns the name and port of a host, in lower case. The scheme's default port is omitted. `address` is a web
/// address or the name of a host.
fn host_of(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("https", address));
    let authority = rest
        .split('/')
        .next()
        .unwrap_or_default()
        .rsplit('@')
        .next()
        .unwrap_or_default();
    let host = authority.to_ascii_lowercase();
    let default = if scheme.eq_ignore_ascii_case("http") {
        ":80"
    } else {
        ":443"
    };
    host.strip_suffix(default).unwrap_or(&host).to_owned()
}
