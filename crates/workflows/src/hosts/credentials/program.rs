//! Reads a token from the command-line program of a host, `gh`, `glab` or `tea`, or from git's credential helpers.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::hosts::address::{RequestAddress, Variables};
use crate::hosts::model::HostKind;
use glee_agents::probe::locate;

/// The maximum time for which Glee waits for a program. The maximum prevents an endless wait if a program asks
/// for the password of a key ring.
const LONGEST: Duration = Duration::from_secs(20);

/// If one of these variables is set, a program prints the variable's token, regardless of the requested host. This
/// token could then be sent to a host to which the token does not belong (see `owners`). Glee therefore removes
/// the variables from the programs' environment.
const TOKENS: &[&str] = &[
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GITLAB_TOKEN",
    "GITLAB_ACCESS_TOKEN",
    "OAUTH_TOKEN",
    "CI_JOB_TOKEN",
    "GITEA_TOKEN",
    "FORGEJO_TOKEN",
    "GITEA_SERVER_URL",
    "GITEA_SERVER_TOKEN",
];

/// Returns the name of the program, and the token that the program prints for the host. Returns `None` if the
/// program is missing, is inside `tree`, fails, or has no token for the host.
pub(super) fn token(
    address: &RequestAddress,
    tree: &Path,
    env: Variables<'_>,
) -> Option<(&'static str, String)> {
    of_host(address, tree, env).or_else(|| of_git(address, tree, env))
}

fn of_host(
    address: &RequestAddress,
    tree: &Path,
    env: Variables<'_>,
) -> Option<(&'static str, String)> {
    let host = address.host.as_str();
    let (name, arguments, input) = match address.kind {
        HostKind::GitHub => ("gh", vec!["auth", "token", "--hostname", host], None),
        HostKind::GitLab => ("glab", vec!["config", "get", "token", "--host", host], None),
        HostKind::Gitea => {
            let input = format!("{}\n", questioned(address));
            ("tea", vec!["login", "helper", "get"], Some(input))
        }
    };
    let output = answer(name, &arguments, input.as_deref(), tree, env)?;
    let token = match address.kind {
        HostKind::Gitea => password(&output, host)?,
        HostKind::GitHub | HostKind::GitLab => output.trim(),
    };
    Some((name, token.to_owned()))
}

/// The token that git's credential helpers have for the repository. They are asked only in CI: elsewhere they can open a
/// window, or have the password of an account, which an API refuses.
fn of_git(
    address: &RequestAddress,
    tree: &Path,
    env: Variables<'_>,
) -> Option<(&'static str, String)> {
    if env("CI").as_deref() != Some("true") {
        return None;
    }
    let RequestAddress {
        owner, repository, ..
    } = address;
    let input = format!("{}path={owner}/{repository}.git\n\n", questioned(address));
    let arguments = ["-c", "core.askPass=", "credential", "fill"];
    let output = answer("git", &arguments, Some(&input), tree, env)?;
    Some(("git", password(&output, &address.host)?.to_owned()))
}

/// The lines that name the host in git's protocol of credentials.
fn questioned(address: &RequestAddress) -> String {
    let scheme = address.api.split("://").next().unwrap_or("https");
    format!("protocol={scheme}\nhost={}\n", address.host)
}

fn password<'a>(output: &'a str, host: &str) -> Option<&'a str> {
    let value = |key: &str| output.lines().find_map(|line| line.strip_prefix(key));
    // If `tea` has no login for the host, `tea` prints the token of its default login.
    value("password=").filter(|_| value("host=") == Some(host))
}

/// What the program prints, or `None` if it is missing, is inside `tree` or fails.
fn answer(
    name: &str,
    arguments: &[&str],
    input: Option<&str>,
    tree: &Path,
    env: Variables<'_>,
) -> Option<String> {
    let path = env("PATH").map(std::ffi::OsString::from);
    let program = locate::find(&[name.to_owned()], tree, path.as_deref()).ok()?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir("/")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stderr(Stdio::null())
        .stdout(Stdio::piped());
    command.stdin(if input.is_some() {
        Stdio::piped()
    } else {
        Stdio::null()
    });
    for name in TOKENS.iter().chain(&["GIT_ASKPASS", "SSH_ASKPASS"]) {
        command.env_remove(name);
    }
    output(command.spawn().ok()?, input)
}

/// Returns the output of the process, or `None` if the process fails or does not end in time.
fn output(mut child: Child, input: Option<&str>) -> Option<String> {
    if let Some(mut pipe) = child.stdin.take()
        && let Some(input) = input
    {
        // Writing fails if the program ends without reading its input. The error is ignored, because the exit
        // status shows whether the program failed.
        let _ = pipe.write_all(input.as_bytes());
    }
    let until = Instant::now() + LONGEST;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => break,
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
            Ok(Some(_)) => return None,
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
    // A token is far shorter than the buffer of a pipe, so the program never waits for a reader.
    let output = child.wait_with_output().ok()?;
    String::from_utf8(output.stdout).ok()
}
