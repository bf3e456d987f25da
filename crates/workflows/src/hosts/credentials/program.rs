//! Reads a token from the command-line program of a host: `gh`, `glab` or `tea`.

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
    let host = address.host.as_str();
    let (name, arguments, input) = match address.kind {
        HostKind::GitHub => ("gh", vec!["auth", "token", "--hostname", host], None),
        HostKind::GitLab => ("glab", vec!["config", "get", "token", "--host", host], None),
        HostKind::Gitea => {
            let scheme = address.api.split("://").next().unwrap_or("https");
            (
                "tea",
                vec!["login", "helper", "get"],
                Some(format!("protocol={scheme}\nhost={host}\n\n")),
            )
        }
    };
    let path = env("PATH").map(std::ffi::OsString::from);
    let program = locate::find(&[name.to_owned()], tree, path.as_deref()).ok()?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir("/")
        .stderr(Stdio::null())
        .stdout(Stdio::piped());
    command.stdin(if input.is_some() {
        Stdio::piped()
    } else {
        Stdio::null()
    });
    TOKENS.iter().for_each(|name| {
        command.env_remove(name);
    });
    let output = output(command.spawn().ok()?, input.as_deref())?;
    let token = match address.kind {
        HostKind::Gitea => {
            let value = |key: &str| output.lines().find_map(|line| line.strip_prefix(key));
            // If `tea` has no login for the host, `tea` prints the token of its default login.
            value("password=").filter(|_| value("host=") == Some(host))?
        }
        HostKind::GitHub | HostKind::GitLab => output.trim(),
    };
    Some((name, token.to_owned()))
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
