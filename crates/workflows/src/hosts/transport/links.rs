//! Computes the addresses of requests, for example from the link to the next page of a list or from a redirect.
//! Every address has the scheme, host and port of the API.

use super::reply::Reply;
use crate::hosts::origin::origin;

/// Returns the target of the link with the relation `next`.
pub(super) fn next(reply: &Reply) -> Option<String> {
    for value in reply.headers.get_all("link") {
        for link in value.to_str().ok()?.split(",").map(str::trim) {
            let Some((target, parameters)) =
                link.strip_prefix('<').and_then(|link| link.split_once('>'))
            else {
                continue;
            };
            let is_next = parameters.split(';').any(|parameter| {
                let value = parameter
                    .trim()
                    .strip_prefix("rel=")
                    .map(|value| value.trim_matches('"'));
                value.is_some_and(|value| {
                    value
                        .split_ascii_whitespace()
                        .any(|relation| relation == "next")
                })
            });
            if is_next {
                return Some(target.to_owned());
            }
        }
    }
    None
}

/// Returns a complete URL. `path` is a path of the API, or a complete URL with the scheme, host and port of the
/// API.
pub(super) fn address(base: &str, path: &str) -> Result<String, String> {
    if path.starts_with('/') {
        Ok(format!("{base}{path}"))
    } else {
        follow(base, path)
    }
}

/// `target` is a link or a redirect in the answer from the URL `from`. Returns the complete URL of `target`. Fails
/// if the scheme, host or port changes, because the next request contains the token.
pub(super) fn follow(from: &str, target: &str) -> Result<String, String> {
    let expected = origin(from)?;
    let url = match target {
        _ if target.starts_with("//") => {
            return Err("the answer refers to an address without a scheme".to_owned());
        }
        _ if target.starts_with('/') => format!("{expected}{target}"),
        _ if target.starts_with('?') => {
            format!("{}{target}", from.split('?').next().unwrap_or_default())
        }
        _ => target.to_owned(),
    };
    let found = origin(&url)?;
    if found == expected {
        Ok(url)
    } else {
        Err(format!("the answer refers from {expected} to {found}"))
    }
}
