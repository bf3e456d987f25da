//! Webhooks: what a host tells of a pull request, and whether the host told it.

use axum::http::HeaderMap;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use jiff::civil::DateTime;
use serde::{Deserialize, Deserializer};
use sha2::Sha256;

use glee_store::history::submission::RequestNotice;

#[derive(Debug, thiserror::Error)]
pub(super) enum WebhookError {
    #[error("the request is not signed with the secret of this service")]
    Unsigned,
    #[error("the request names no event of GitHub, GitLab, Gitea or Forgejo")]
    NoEvent,
    #[error("the body cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

/// Returns what a webhook tells, or `None` if it tells nothing of a pull request. Nothing in the body is looked at before
/// the signature.
pub(super) fn read(
    headers: &HeaderMap,
    body: &[u8],
    secret: &str,
) -> Result<Option<RequestNotice>, WebhookError> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    // Gitea and Forgejo also send GitHub's headers.
    let (event, is_signed) = if let Some(event) = header("x-gitea-event") {
        (event, signs(secret, body, header("x-gitea-signature")))
    } else if let Some(event) = header("x-gitlab-event") {
        // GitLab sends the secret itself. A comparison of hashes takes the same time for all inputs.
        let token = header("x-gitlab-token").map(|token| blake3::hash(token.as_bytes()));
        (event, token == Some(blake3::hash(secret.as_bytes())))
    } else if let Some(event) = header("x-github-event") {
        let signature = header("x-hub-signature-256");
        let signature = signature.and_then(|text| text.strip_prefix("sha256="));
        (event, signs(secret, body, signature))
    } else {
        return Err(WebhookError::NoEvent);
    };
    if !is_signed {
        return Err(WebhookError::Unsigned);
    }
    Ok(match event {
        "pull_request" => Some(serde_json::from_slice::<PullRequestHook>(body)?.notice()),
        "Merge Request Hook" => Some(serde_json::from_slice::<MergeRequestHook>(body)?.notice()),
        _ => None,
    })
}

fn signs(secret: &str, body: &[u8], signature: Option<&str>) -> bool {
    let sent = signature.and_then(|text| hex::decode(text).ok());
    let mut own =
        Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key of HMAC has any length");
    own.update(body);
    sent.is_some_and(|sent| own.verify_slice(&sent).is_ok())
}

/// The event of GitHub, Gitea and Forgejo.
#[derive(Deserialize)]
struct PullRequestHook {
    number: i64,
    pull_request: PullRequest,
    repository: Repository,
}

#[derive(Deserialize)]
struct PullRequest {
    state: String,
    #[serde(default)]
    draft: bool,
    head: Head,
    base: Head,
    updated_at: Timestamp,
}

#[derive(Deserialize)]
struct Head {
    sha: String,
    /// `None` if the repository was deleted.
    repo: Option<RepositoryId>,
}

#[derive(PartialEq, Deserialize)]
struct RepositoryId {
    id: u64,
}

#[derive(Deserialize)]
struct Commit {
    id: String,
}

#[derive(Deserialize)]
struct Repository {
    #[serde(alias = "git_http_url")]
    clone_url: String,
}

impl PullRequestHook {
    fn notice(self) -> RequestNotice {
        let request = self.pull_request;
        RequestNotice {
            remote: self.repository.clone_url,
            number: self.number,
            is_fork: request.head.repo.is_none() || request.head.repo != request.base.repo,
            head: (request.state == "open" && !request.draft).then_some(request.head.sha),
            updated: request.updated_at,
        }
    }
}

/// The event of GitLab.
#[derive(Deserialize)]
struct MergeRequestHook {
    project: Repository,
    object_attributes: MergeRequest,
}

#[derive(Deserialize)]
struct MergeRequest {
    iid: i64,
    state: String,
    #[serde(default, alias = "work_in_progress")]
    draft: bool,
    last_commit: Option<Commit>,
    source_project_id: Option<u64>,
    target_project_id: u64,
    #[serde(deserialize_with = "either_time")]
    updated_at: Timestamp,
}

impl MergeRequestHook {
    fn notice(self) -> RequestNotice {
        let request = self.object_attributes;
        let head = request.last_commit.map(|commit| commit.id);
        RequestNotice {
            is_fork: request.source_project_id != Some(request.target_project_id),
            remote: self.project.clone_url,
            number: request.iid,
            head: head.filter(|_| request.state == "opened" && !request.draft),
            updated: request.updated_at,
        }
    }
}

/// GitLab writes `2026-11-28 20:15:00 UTC` or ISO 8601, depending on its version.
fn either_time<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(from)?;
    let utc = text.strip_suffix(" UTC");
    let utc = utc.and_then(|text| text.parse::<DateTime>().ok());
    match utc.and_then(|time| time.in_tz("UTC").ok()) {
        Some(time) => Ok(time.timestamp()),
        None => text.parse().map_err(serde::de::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::{Value, json};

    use super::*;

    const SECRET: &str = "of the service";

    fn headers(pairs: &[(&'static str, String)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    }

    fn signature(body: &[u8]) -> String {
        let mut own = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
        own.update(body);
        hex::encode(own.finalize().into_bytes())
    }

    fn pull_request(state: &str, is_draft: bool) -> Value {
        json!({
            "action": "synchronize",
            "number": 7,
            "pull_request": {
                "state": state, "draft": is_draft, "updated_at": "2026-11-28T20:15:00Z",
                "head": {"sha": "abc", "ref": "topic", "repo": {"id": 1}}, "base": {"sha": "def", "repo": {"id": 1}},
            },
            "repository": {"clone_url": "https://host.example/team/app.git"},
        })
    }

    fn merge_request(state: &str, is_draft: bool, updated: &str) -> Value {
        json!({
            "object_kind": "merge_request",
            "project": {"git_http_url": "https://host.example/team/app.git"},
            "object_attributes": {
                "iid": 7, "state": state, "draft": is_draft, "updated_at": updated, "last_commit": {"id": "abc"},
                "source_project_id": 1, "target_project_id": 1,
            },
        })
    }

    /// What a host with this signature of its own tells.
    fn told(host: &str, body: &Value) -> Result<Option<RequestNotice>, WebhookError> {
        let body = body.to_string().into_bytes();
        let sent = signature(&body);
        let pull_request = "pull_request".to_owned();
        let headers = match host {
            "github" => headers(&[
                ("x-github-event", pull_request),
                ("x-hub-signature-256", format!("sha256={sent}")),
            ]),
            "gitea" => headers(&[
                ("x-github-event", pull_request.clone()),
                ("x-gitea-event", pull_request),
                ("x-gitea-signature", sent),
            ]),
            _ => headers(&[
                ("x-gitlab-event", "Merge Request Hook".to_owned()),
                ("x-gitlab-token", SECRET.to_owned()),
            ]),
        };
        read(&headers, &body, SECRET)
    }

    #[test]
    fn each_host_tells_the_head_of_an_open_request_and_none_of_another() {
        let notice = |head: Option<&str>| RequestNotice {
            remote: "https://host.example/team/app.git".to_owned(),
            number: 7,
            head: head.map(ToOwned::to_owned),
            updated: "2026-11-28T20:15:00Z".parse().unwrap(),
            is_fork: false,
        };
        for host in ["github", "gitea"] {
            let head = |state, is_draft| told(host, &pull_request(state, is_draft)).unwrap();
            assert_eq!(head("open", false), Some(notice(Some("abc"))), "{host}");
            assert_eq!(head("open", true), Some(notice(None)), "{host}");
            assert_eq!(head("closed", false), Some(notice(None)), "{host}");
        }
        for updated in ["2026-11-28 20:15:00 UTC", "2026-11-28T21:15:00+01:00"] {
            let head =
                |state, is_draft| told("gitlab", &merge_request(state, is_draft, updated)).unwrap();
            assert_eq!(head("opened", false), Some(notice(Some("abc"))));
            assert_eq!(head("opened", true), Some(notice(None)));
            assert_eq!(head("merged", false), Some(notice(None)));
        }
    }

    #[test]
    fn a_head_in_another_repository_or_in_none_is_that_of_a_fork() {
        for other in [json!({"id": 2}), Value::Null] {
            let mut body = pull_request("open", false);
            body["pull_request"]["head"]["repo"] = other;
            for host in ["github", "gitea"] {
                assert!(told(host, &body).unwrap().unwrap().is_fork, "{body}");
            }
        }
        for other in [json!(2), Value::Null] {
            let mut body = merge_request("opened", false, "2026-11-28T20:15:00Z");
            body["object_attributes"]["source_project_id"] = other;
            assert!(told("gitlab", &body).unwrap().unwrap().is_fork, "{body}");
        }
    }

    #[test]
    fn what_is_not_signed_is_refused_before_it_is_read() {
        let body = b"{ not read";
        let good = signature(body);
        let other = signature(b"{ something else");
        let event = ("x-github-event", "pull_request".to_owned());
        let gitea = ("x-gitea-event", "pull_request".to_owned());
        let gitlab = ("x-gitlab-event", "Merge Request Hook".to_owned());
        let hub = |value: String| ("x-hub-signature-256", value);
        let unsigned = [
            vec![event.clone()],
            vec![event.clone(), hub(good.clone())],
            vec![event.clone(), hub(format!("sha1={good}"))],
            vec![event.clone(), hub(format!("sha256={other}"))],
            vec![event.clone(), hub(format!("sha256={}", &good[..62]))],
            vec![event.clone(), hub("sha256=".to_owned())],
            vec![event.clone(), ("x-gitlab-token", SECRET.to_owned())],
            // The signature of another host's header does not count.
            vec![gitea.clone(), hub(format!("sha256={good}"))],
            vec![gitea, ("x-gitea-signature", other)],
            vec![gitlab.clone()],
            vec![gitlab.clone(), ("x-gitlab-token", String::new())],
            vec![gitlab, ("x-gitlab-token", format!("{SECRET}."))],
        ];
        for pairs in unsigned {
            let refused = read(&headers(&pairs), body, SECRET);
            assert!(matches!(refused, Err(WebhookError::Unsigned)), "{pairs:?}");
        }
        let signed = headers(&[event, hub(format!("sha256={good}"))]);
        assert!(matches!(
            read(&signed, body, SECRET),
            Err(WebhookError::Unreadable(_))
        ));
        assert!(matches!(
            read(&HeaderMap::new(), body, SECRET),
            Err(WebhookError::NoEvent)
        ));
    }

    #[test]
    fn an_event_of_something_else_tells_nothing() {
        let body = b"{}";
        let headers = headers(&[
            ("x-github-event", "ping".to_owned()),
            ("x-hub-signature-256", format!("sha256={}", signature(body))),
        ]);
        assert_eq!(read(&headers, body, SECRET).unwrap(), None);
    }
}
