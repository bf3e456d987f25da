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

/// Builds the environment of an agent from three sources: variables from `vars` (see [`allowed`]), variables about
/// the request, and configured variables. A configured variable takes precedence over a variable of the same name
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
    let mut env = allowed(extra, vars);
    let findings = spaced(&request.task.findings());
    let pairs = spaced(&request.task.pairs());
    let dispute = request.task.dispute().map(|number| number.to_string());
    let dispute = dispute.unwrap_or_default();
    let request = [
        ("GLEE_AGENT", agent.name.0.as_str()),
        ("GLEE_ROLE", agent.role.as_str()),
        ("GLEE_TASK", request.task.kind()),
        ("GLEE_NONCE", &request.nonce),
        ("GLEE_FINDINGS", &findings),
        ("GLEE_PAIRS", &pairs),
        ("GLEE_DISPUTE", &dispute),
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

/// Returns the variables from `vars` that an agent receives: variables in [`ALLOWED`] or `extra`, and variables
/// whose names begin with [`ALLOWED_PREFIX`]. Relative entries are removed from PATH, because relative entries
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
        ALLOWED.contains(&name) || extra.contains(&name) || name.starts_with(ALLOWED_PREFIX)
    })
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
        ];
        let mut agent = samples::agent("rev", "text", &["./review.sh"]);
        agent.env.insert("MINE".to_owned(), "inner".to_owned());
        let request = samples::review(&agent);
        let vars = vars.map(|(name, value)| (name.into(), value.into()));
        let env = environment(&agent, &request, &["OPENAI_API_KEY"], vars);
        let seen: Vec<(&str, &str)> = env
            .iter()
            .map(|(name, value)| (name.to_str().unwrap_or("?"), value.to_str().unwrap_or("?")))
            .collect();
        assert_eq!(
            seen,
            [
                ("GLEE_AGENT", "rev"),
                ("GLEE_NONCE", samples::NONCE),
                ("GLEE_ROLE", "reviewer"),
                ("GLEE_TASK", "review"),
                ("HOME", "/home/x"),
                ("LC_ALL", "C"),
                ("MINE", "inner"),
                ("OPENAI_API_KEY", "key"),
                ("PATH", "/usr/bin:/bin"),
            ]
        );
    }
}
