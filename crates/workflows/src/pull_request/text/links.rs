//! Links to lines of files at the head commit.

use crate::hosts::HostKind;
use crate::pull_request::input::RequestReview;
use glee_protocol::secrets::redact;
use glee_system::uri;

/// The address of a file at the head commit. `None` if the repository has no web address.
pub(super) fn address(
    review: &RequestReview<'_>,
    path: &str,
    lines: Option<(u32, u32)>,
) -> Option<String> {
    let request = review.request;
    let repository = request
        .repository
        .trim_end_matches('/')
        .trim_end_matches(".git");
    let is_web = repository.starts_with("https://") || repository.starts_with("http://");
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '/' | '.' | '-' | '_' | '~' | '%');
    let is_commit =
        !request.head.id.is_empty() && request.head.id.bytes().all(|byte| byte.is_ascii_hexdigit());
    // A link to a file whose path contains a secret would reveal the secret.
    let is_public = redact(path) == path;
    if !is_public || !is_web || !repository.chars().all(is_plain) || !is_commit {
        return None;
    }
    let folder = match review.host {
        HostKind::GitHub => "blob",
        HostKind::GitLab => "-/blob",
        HostKind::Gitea => "src/commit",
    };
    let mut link = format!(
        "{repository}/{folder}/{}/{}",
        request.head.id,
        uri::path(path)
    );
    if let Some((first, last)) = lines {
        let range = match (last > first, review.host) {
            (false, _) => format!("#L{first}"),
            (true, HostKind::GitLab) => format!("#L{first}-{last}"),
            (true, _) => format!("#L{first}-L{last}"),
        };
        link.push_str(&range);
    }
    Some(link)
}
