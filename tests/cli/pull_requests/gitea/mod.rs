//! The parts of the API of Gitea and Forgejo that Glee uses.

mod people;
mod reviews;
mod store;
mod tests;

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::double::{Answer, BOT, HostDouble, Refusal, Request, State, git};
use super::openapi::Description;
use store::time;

/// A version of the server. Each has its own description.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Version {
    /// Replies and resolved threads.
    Gitea27,
    /// Neither replies nor resolved threads.
    Gitea23,
    /// Comments can be added to a review.
    Forgejo10,
}

#[derive(Debug)]
pub(crate) struct Gitea(Version);

pub(crate) const GITEA: Gitea = Gitea(Version::Gitea27);
pub(crate) const OLD_GITEA: Gitea = Gitea(Version::Gitea23);
pub(crate) const FORGEJO: Gitea = Gitea(Version::Forgejo10);

static DESCRIPTIONS: LazyLock<[Description; 3]> = LazyLock::new(|| {
    [
        include_str!("../descriptions/gitea/gitea-1.27.json"),
        include_str!("../descriptions/gitea/gitea-1.23.json"),
        include_str!("../descriptions/gitea/forgejo-10.json"),
    ]
    .map(Description::parse)
});

const REST: &str = "/api/v1";

impl HostDouble for Gitea {
    fn name(&self) -> &'static str {
        match self.0 {
            Version::Gitea27 => "gitea",
            Version::Gitea23 => "old_gitea",
            Version::Forgejo10 => "forgejo",
        }
    }

    fn head_ref(&self) -> &'static str {
        "refs/pull/7/head"
    }

    fn token(&self) -> &'static str {
        "0123456789abcdef0123456789abcdef01234567"
    }

    fn variables(&self, address: &str) -> Vec<(&'static str, String)> {
        let token = if self.0 == Version::Forgejo10 {
            "FORGEJO_TOKEN"
        } else {
            "GITEA_TOKEN"
        };
        vec![
            ("GITEA_ACTIONS", "true".to_owned()),
            ("GITHUB_SERVER_URL", address.to_owned()),
            ("GITHUB_API_URL", format!("{address}{REST}")),
            (token, self.token().to_owned()),
        ]
    }

    fn can_resolve(&self) -> bool {
        self.0 == Version::Gitea27
    }

    fn is_authorised(&self, request: &Request) -> bool {
        request.header("authorization") == Some(&format!("token {}", self.token()))
    }

    fn check(&self, request: &Request) -> Result<(), String> {
        let path = request
            .path
            .strip_prefix(REST)
            .ok_or("the path is outside of the API")?;
        if self.lacks(request) {
            return Ok(());
        }
        DESCRIPTIONS[self.0 as usize].check(path, request)
    }

    fn refuse(&self, refusal: Refusal, _request: &Request) -> Answer {
        match refusal {
            Refusal::Token => Answer::message(401, "invalid username, password or token"),
            Refusal::ReadOnly => Answer::message(
                403,
                "token does not have at least one of required scope(s), required=[write:repository]",
            ),
            // A proxy in front of the server.
            Refusal::Limit => Answer::message(429, "Too many requests").with("retry-after", "1"),
        }
    }

    fn answer(&self, state: &mut State, request: &Request) -> Answer {
        if self.lacks(request) {
            return Answer::new(405, Value::Null);
        }
        self.routed(state, request)
    }
}

pub(super) fn not_found() -> Answer {
    Answer::message(404, "The target couldn't be found.")
}

/// Comments that a person did not submit, and other things that only this host has.
pub(crate) fn other<'a>(state: &'a mut State, name: &str, standard: Value) -> &'a mut Value {
    state.other.entry(name.to_owned()).or_insert(standard)
}

impl Gitea {
    /// Whether this version has no such operation.
    fn lacks(&self, request: &Request) -> bool {
        let is_post = request.method == "POST";
        let parts: Vec<&str> = request.path.split('/').skip(6).collect();
        let since: &[Version] = match parts.as_slice() {
            ["pulls", _, "comments", _, "replies"] if is_post => &[Version::Gitea27],
            ["pulls", "comments", _, "resolve" | "unresolve"] if is_post => &[Version::Gitea27],
            ["pulls", _, "reviews", _, "comments"] if is_post => &[Version::Forgejo10],
            _ => return false,
        };
        !since.contains(&self.0)
    }

    fn routed(&self, state: &mut State, request: &Request) -> Answer {
        let Some(path) = request.path.strip_prefix(REST) else {
            return not_found();
        };
        if path == "/user" {
            return Answer::new(200, people::user(BOT));
        }
        let Some(path) = path.strip_prefix("/repos/team/shop/") else {
            return not_found();
        };
        let parts: Vec<&str> = path.split('/').collect();
        match (request.method.as_str(), parts.as_slice()) {
            ("GET", ["pulls", "7"]) => Answer::new(200, pull(state)),
            ("GET", ["pulls", "7.diff"]) => {
                let range = format!("refs/heads/main...{}", state.head_ref);
                Answer::new(
                    200,
                    Value::String(git(&state.repository, &["diff", "-M", &range])),
                )
            }
            ("GET", ["pulls", "7", "files"]) => {
                let files: Vec<Value> = state.files().into_iter().map(file).collect();
                listed(request, &files, &state.address)
            }
            ("GET", ["pulls", "7", "reviews"]) => {
                let reviews = reviews::listed(state);
                listed(request, &reviews, &state.address)
            }
            ("POST", ["pulls", "7", "reviews"]) => self.create_review(state, request),
            ("DELETE", ["pulls", "7", "reviews", id]) => reviews::delete(state, id),
            ("GET", ["pulls", "7", "reviews", id, "comments"]) => reviews::comments(state, id),
            ("POST", ["pulls", "7", "reviews", id, "comments"]) => {
                self.extend_review(state, id, request)
            }
            ("POST", ["pulls", "7", "comments", id, "replies"]) => {
                reviews::reply(state, id, request)
            }
            ("POST", ["pulls", "comments", id, verb]) => {
                reviews::resolve(state, id, *verb == "resolve")
            }
            ("GET", ["issues", "7", "comments"]) => {
                let said: Vec<Value> = state
                    .comments
                    .iter()
                    .map(|said| store::said(said, false))
                    .collect();
                let total = said.len().to_string();
                Answer::new(200, Value::Array(said)).with("x-total-count", &total)
            }
            ("POST", ["issues", "7", "comments"]) => {
                if request.text("body").is_empty() {
                    return Answer::message(422, "[Body]: Required");
                }
                let said = state.said(BOT, "NONE", &request.text("body"));
                let answer = store::said(&said, false);
                state.comments.push(said);
                Answer::new(201, answer)
            }
            ("PATCH", ["issues", "comments", id]) => {
                let comment = state
                    .comments
                    .iter_mut()
                    .find(|said| said.id.to_string() == **id);
                let Some(comment) = comment else {
                    return not_found();
                };
                if comment.by != BOT {
                    return Answer::new(403, Value::Null);
                }
                comment.body = request.text("body");
                Answer::new(200, store::said(comment, true))
            }
            // The host keeps a comment on a line.
            ("DELETE", ["issues", "comments", id]) => {
                match store::find(state, id).is_some() || state.delete(id) {
                    true => Answer::new(204, Value::Null),
                    false => not_found(),
                }
            }
            ("POST", ["statuses", commit]) => status(state, commit, request),
            ("GET", ["assignees"]) => Answer::new(200, people::assignees(state)),
            ("GET", ["collaborators", login]) => people::collaborator(state, login),
            ("GET", ["collaborators", login, "permission"]) => people::permission(state, login),
            _ => not_found(),
        }
    }
}

/// A page of at most 50 items, with the number of all items.
fn listed(request: &Request, all: &[Value], address: &str) -> Answer {
    request
        .page(all, "limit", 30, 50, address)
        .with("x-total-count", &all.len().to_string())
}

fn file((path, previous, _): (String, Option<String>, String)) -> Value {
    let status = if previous.is_some() {
        "renamed"
    } else {
        "changed"
    };
    json!({ "filename": path, "status": status, "previous_filename": previous })
}

fn pull(state: &State) -> Value {
    let owner = people::user("team");
    let repo =
        json!({ "id": 1, "owner": owner, "clone_url": format!("{}/team/shop.git", state.address) });
    json!({
        "number": 7, "html_url": "https://git.example.org/team/shop/pulls/7", "title": state.title,
        "body": state.body,
        "user": people::user(super::AUTHOR), "state": state.state, "merged": false, "draft": false,
        "merge_base": state.commit("refs/heads/main"),
        "base": { "sha": state.commit("refs/heads/main"), "ref": "main", "repo": repo },
        "head": { "sha": state.head(), "ref": state.branch, "repo": repo },
    })
}

/// Stores a commit status. The pages of the host show the newest status of each context.
fn status(state: &mut State, commit: &str, request: &Request) -> Answer {
    if !store::exists(state, commit) {
        return not_found();
    }
    let status = [
        commit.to_owned(),
        request.text("state"),
        request.text("context"),
    ];
    state
        .checks
        .retain(|known| (&known[0], &known[2]) != (&status[0], &status[2]));
    state.checks.push(status);
    Answer::new(201, json!({ "id": state.id(), "created_at": time(0) }))
}
