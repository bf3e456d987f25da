//! Builds the environment of agents. Only listed variables of Glee's environment are passed to agents.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use glee_model::domain::Agent;
use glee_protocol::request::Request;

/// The environment variables that every agent receives. Secrets and paths of sockets (such as `SSH_AUTH_SOCK`) are
/// excluded. The key `env` in an agent's configuration can add variables.
pub const ALLOWED: [&str; 19] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "TZ",
    "TMPDIR",
    "NO_COLOR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_DATA_HOME",
    "XDG_DATA_DIRS",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
];

pub(crate) const ALLOWED_PREFIX: &str = "LC_";

/// The environment variables that every agent receives because no agent reaches its service without them: the proxy,
/// and files with the certificates of a company. A command of the project does not receive them, because the address
/// of a proxy can contain a password.
pub const NETWORK: [&str; 20] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "FTP_PROXY",
    "ftp_proxy",
    "NODE_EXTRA_CA_CERTS",
    "NODE_USE_ENV_PROXY",
    "NODE_USE_SYSTEM_CA",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "GRPC_PROXY",
    "grpc_proxy",
    "no_grpc_proxy",
];

/// Builds the environment of an agent from three sources: variables from `vars` (those of [`allowed`] and of
/// [`NETWORK`]), variables about the request, and configured variables. A configured variable takes precedence over a variable of the same name
/// from another source. The variables about the request are `GLEE_AGENT`, `GLEE_ROLE`, `GLEE_TASK` (the kind of
/// the task), `GLEE_NONCE`, `GLEE_FINDINGS` and `GLEE_PAIRS` (ids separated by spaces), and `GLEE_DISPUTE` (for a
/// judge). An agent that runs at the base of a change also gets `GLEE_CHANGE`, and a coder `GLEE_TREE` (see
/// `base_run`). Variables with an empty value are omitted.
pub fn environment(
    agent: &Agent,
    request: &Request,
    extra: &[&str],
    vars: impl IntoIterator<Item = (OsString, OsString)>,
) -> BTreeMap<OsString, OsString> {
    let passed: Vec<&str> = extra.iter().chain(&NETWORK).copied().collect();
    let mut env = allowed(&passed, vars);
    let findings = spaced(&request.task.findings());
    let pairs = spaced(&request.task.pairs());
    let disputes = spaced(&request.task.disputes());
    let request = [
        ("GLEE_AGENT", agent.name.0.as_str()),
        ("GLEE_ROLE", agent.role.as_str()),
        ("GLEE_TASK", request.task.kind()),
        ("GLEE_NONCE", &request.nonce),
        ("GLEE_FINDINGS", &findings),
        ("GLEE_PAIRS", &pairs),
        ("GLEE_DISPUTE", &disputes),
    ];
    let request = request.into_iter().filter(|(_, value)| !value.is_empty());
    let configured = agent
        .env
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    env.extend(
        request
            .chain(configured)
            .map(|(name, value)| (name.into(), value.into())),
    );
    env
}

fn spaced(ids: &[impl ToString]) -> String {
    ids.iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the variables from `vars` that a program receives: variables in [`ALLOWED`] or `extra` (see [`names`]), and
/// variables whose names begin with [`ALLOWED_PREFIX`]. Relative entries are removed from PATH, because relative entries
/// would refer to the reviewed tree.
pub fn allowed(
    extra: &[&str],
    vars: impl IntoIterator<Item = (OsString, OsString)>,
) -> BTreeMap<OsString, OsString> {
    vars.into_iter()
        .filter(|(name, _)| may_see(extra, name))
        .map(|(name, value)| {
            if name == "PATH" {
                (name, absolute_entries(&value))
            } else {
                (name, value)
            }
        })
        .collect()
}

fn may_see(extra: &[&str], name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        ALLOWED.contains(&name)
            || extra.iter().any(|known| names(known, name))
            || name.starts_with(ALLOWED_PREFIX)
    })
}

/// Whether an entry of a list of variables names a variable. An entry such as `AWS_*` names all variables that begin
/// with `AWS_`.
pub(crate) fn names(entry: &str, variable: &str) -> bool {
    match entry.strip_suffix('*') {
        Some(prefix) => variable.starts_with(prefix),
        None => entry == variable,
    }
}

fn absolute_entries(path: &OsStr) -> OsString {
    let entries = std::env::split_paths(path).filter(|entry| entry.is_absolute());
    std::env::join_paths(entries).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn an_agent_sees_the_list_and_nothing_else() {
        let vars = [
            ("PATH", ".:/usr/bin::/bin:rel"),
            ("HOME", "/home/x"),
            ("LC_ALL", "C"),
            ("SSH_AUTH_SOCK", "/run/agent"),
            ("GITHUB_TOKEN", "secret"),
            ("OPENAI_API_KEY", "key"),
            ("GLEE_NONCE", "forged"),
            ("MINE", "outer"),
            ("HTTPS_PROXY", "p"),
            ("no_proxy", "n"),
            ("REQUESTS_CA_BUNDLE", "c"),
            ("AWS_REGION", "r"),
            ("AWSOME", "x"),
            ("ANTHROPIC_MODEL", "m"),
            ("ANTHROPIC_MODELS", "x"),
        ];
        let mut agent = samples::agent("rev", "text", &["./review.sh"]);
        agent.env.insert("MINE".to_owned(), "inner".to_owned());
        let request = samples::review(&agent);
        let vars = vars.map(|(name, value)| (name.into(), value.into()));
        let env = environment(
            &agent,
            &request,
            &["OPENAI_API_KEY", "AWS_*", "ANTHROPIC_MODEL"],
            vars,
        );
        let seen: Vec<(&str, &str)> = env
            .iter()
            .map(|(name, value)| (name.to_str().unwrap_or("?"), value.to_str().unwrap_or("?")))
            .collect();
        assert_eq!(
            seen,
            [
                ("ANTHROPIC_MODEL", "m"),
                ("AWS_REGION", "r"),
                ("GLEE_AGENT", "rev"),
                ("GLEE_NONCE", samples::NONCE),
                ("GLEE_ROLE", "reviewer"),
                ("GLEE_TASK", "review"),
                ("HOME", "/home/x"),
                ("HTTPS_PROXY", "p"),
                ("LC_ALL", "C"),
                ("MINE", "inner"),
                ("OPENAI_API_KEY", "key"),
                ("PATH", "/usr/bin:/bin"),
                ("REQUESTS_CA_BUNDLE", "c"),
                ("no_proxy", "n"),
            ]
        );
    }
}
