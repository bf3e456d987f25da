//! Normalises the addresses of remotes, so that all spellings of an address become the same text.

use std::path::Path;

use crate::git::path_bytes;

/// Removes scheme, user, password, default port, query, `.git` and trailing slashes from an address, and converts
/// the host to lower case. The result is `host[:port]/path`, or `file:/path` for a local folder. A relative path is
/// resolved against `top`. Returns `None` if the address has no host or no path.
pub fn normalised(address: &str, top: &Path) -> Option<String> {
    let address = address.trim();
    if let Some((scheme, rest)) = address.split_once("://") {
        let scheme = scheme.to_ascii_lowercase();
        if scheme == "file" {
            return local(rest.strip_prefix("localhost").unwrap_or(rest), top);
        }
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (authority, path) = rest.split_once('/')?;
        let port = match scheme.trim_start_matches("git+") {
            "https" => ":443",
            "http" => ":80",
            "ssh" => ":22",
            "git" => ":9418",
            _ => "",
        };
        let host = authority
            .rsplit('@')
            .next()
            .unwrap_or_default()
            .to_lowercase();
        let host = if port.is_empty() {
            host.as_str()
        } else {
            host.strip_suffix(port).unwrap_or(&host)
        };
        return joined(host, path);
    }
    // An address without a scheme is a local path, or has the form `user@host:path`. In the form
    // `user@host:path`, no slash precedes the first colon.
    let scp = address
        .split_once(':')
        .filter(|(host, _)| !host.is_empty() && !host.contains('/'));
    match scp {
        Some((host, path)) => joined(
            &host.rsplit('@').next().unwrap_or_default().to_lowercase(),
            path,
        ),
        None => local(address, top),
    }
}

fn joined(host: &str, path: &str) -> Option<String> {
    let path: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let path = path.join("/");
    let path = path
        .strip_suffix(".git")
        .unwrap_or(&path)
        .trim_end_matches('/');
    (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}"))
}

fn local(path: &str, top: &Path) -> Option<String> {
    (!path.is_empty()).then(|| folder(&top.join(path)))
}

pub fn folder(path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let text = path_bytes::shown(&path_bytes::bytes(&real));
    let text = text.trim_end_matches('/');
    format!(
        "file:{}",
        text.strip_suffix(".git")
            .unwrap_or(text)
            .trim_end_matches('/')
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_naming_a_repository_is_one_address() {
        let same = |address: &str| normalised(address, Path::new("/nowhere"));
        for address in [
            "https://host.example/team/project",
            "https://host.example/team/project.git",
            "https://HOST.example:443/team/project.git/",
            "https://user:secret@host.example/team//project/",
            "http://host.example:80/team/project?token=secret#x",
            "ssh://git@host.example/team/project.git",
            "ssh://git@host.example:22/team/project",
            "git@Host.Example:team/project.git",
            "host.example:/team/project",
            "git://host.example:9418/team/project.git",
            "git+ssh://git@host.example/team/project",
        ] {
            assert_eq!(
                same(address).as_deref(),
                Some("host.example/team/project"),
                "{address}"
            );
        }
        for other in [
            "https://host.example:8443/team/project",
            "ssh://git@host.example:2222/team/project",
            "https://host.example/team/Project",
            "https://other.example/team/project",
            "https://host.example/team/project/sub",
        ] {
            assert_ne!(
                same(other).as_deref(),
                Some("host.example/team/project"),
                "{other}"
            );
        }
        for (address, expected) in [
            ("/srv/project.git", "file:/srv/project"),
            ("file:///srv/project/.git/", "file:/srv/project"),
            ("sub/project", "file:/nowhere/sub/project"),
            ("./a:b", "file:/nowhere/./a:b"),
        ] {
            assert_eq!(same(address).as_deref(), Some(expected), "{address}");
        }
        for nothing in ["", "https://", "https://host", "https:///path", "host:"] {
            assert_eq!(same(nothing), None, "{nothing}");
        }
    }
}
