//! The parts of GitHub's API that Glee uses.

mod action;
mod adapter;
mod described;
mod graph;

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::double::{AUTHOR, Answer, BOT, HostDouble, Refusal, Request, State};
use super::openapi::Description;

static REST_API: LazyLock<Description> =
    LazyLock::new(|| Description::parse(include_str!("../descriptions/github.json")));

#[derive(Debug)]
pub(crate) struct GitHub;

impl HostDouble for GitHub {
    fn name(&self) -> &'static str {
        "github"
    }

    fn head_ref(&self) -> &'static str {
        "refs/pull/7/head"
    }

    fn token(&self) -> &'static str {
        "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    }

    fn variables(&self, address: &str) -> Vec<(&'static str, String)> {
        vec![
            ("GITHUB_SERVER_URL", address.to_owned()),
            ("GITHUB_API_URL", format!("{address}/api/v3")),
            ("GITHUB_TOKEN", self.token().to_owned()),
        ]
    }

    fn is_authorised(&self, request: &Request) -> bool {
        request.header("authorization") == Some(&format!("Bearer {}", self.token()))
    }

    fn is_write(&self, request: &Request) -> bool {
        request.method != "GET" && (request.path != GRAPHQL || graph::is_mutation(&request.body))
    }

    fn check(&self, request: &Request) -> Result<(), String> {
        if request.path == GRAPHQL {
            return graph::check(&request.body);
        }
        let path = request
            .path
            .strip_prefix(REST)
            .ok_or("the path is not that of the API")?;
        REST_API.check(path, request)
    }

    fn refuse(&self, refusal: Refusal, request: &Request) -> Answer {
        match refusal {
            Refusal::Token => Answer::message(401, "Bad credentials"),
            Refusal::Limit => Answer::message(429, "You have exceeded a secondary rate limit.")
                .with("retry-after", "1"),
            Refusal::ReadOnly if request.path == GRAPHQL => {
                graph::error("FORBIDDEN", "Resource not accessible by integration")
            }
            Refusal::ReadOnly => Answer::message(403, "Resource not accessible by integration"),
        }
    }

    fn answer(&self, state: &mut State, request: &Request) -> Answer {
        answer(state, request)
    }
}

const REST: &str = "/api/v3";

const GRAPHQL: &str = "/api/graphql";

fn not_found() -> Answer {
    Answer::message(404, "Not Found")
}

/// The number of a request that meets the primary limit, and the time at which the limit ends, in `State::other`.
pub(super) const EXHAUSTED: &str = "exhausted";

/// The user of the token began a review on the page of the request, and did not submit it.
pub(super) const PENDING: &str = "pending";

/// The repository of the head commit. Null if it was deleted.
pub(super) const HEAD_REPOSITORY: &str = "head_repository";

pub(super) const MERGED: &str = "merged";

pub(super) const DRAFT: &str = "draft";

/// The maximum number of characters of a comment.
const LONGEST: usize = 65_536;

fn is_too_long(body: &Value) -> bool {
    match body {
        Value::String(text) => text.chars().count() > LONGEST,
        Value::Array(items) => items.iter().any(is_too_long),
        Value::Object(fields) => fields.values().any(is_too_long),
        _ => false,
    }
}

/// The author of the request. Null if the user was deleted.
pub(super) const USER: &str = "user";

fn answer(state: &mut State, request: &Request) -> Answer {
    if state
        .other
        .get(EXHAUSTED)
        .is_some_and(|limit| limit[0] == state.requests.len())
    {
        let end = state.other[EXHAUSTED][1].to_string();
        let answer = Answer::message(403, "API rate limit exceeded for user ID 1.");
        return answer
            .with("x-ratelimit-remaining", "0")
            .with("x-ratelimit-reset", &end);
    }
    if request.path == GRAPHQL {
        return graph::answer(state, &request.body);
    }
    let Some(path) = request
        .path
        .strip_prefix(REST)
        .and_then(|path| path.strip_prefix("/repos/team/shop/"))
    else {
        return not_found();
    };
    let parts: Vec<&str> = path.split('/').collect();
    if is_too_long(&request.body) {
        return Answer::message(422, "body is too long (maximum is 65536 characters)");
    }
    if request.method == "POST"
        && parts.starts_with(&["pulls"])
        && state.other.contains_key(PENDING)
    {
        let why = "User can only have one pending review per pull request";
        return Answer::new(
            422,
            json!({ "message": "Unprocessable Entity", "errors": [why] }),
        );
    }
    match (request.method.as_str(), parts.as_slice()) {
        ("GET", ["issues", "12"]) => match &state.issue {
            Some([title, body]) => Answer::new(200, json!({ "title": title, "body": body })),
            None => not_found(),
        },
        ("GET", ["pulls", "7"]) => Answer::new(200, pull(state)),
        ("GET", ["pulls", "7", "files"]) => {
            request.page(&files(state), "per_page", 30, 100, &state.address)
        }
        ("POST", ["pulls", "7", "reviews"]) => review(state, &request.body),
        ("POST", ["pulls", "7", "comments"]) => comment_on_file(state, request),
        ("POST", ["pulls", "7", "comments", first, "replies"]) => {
            let said = state.said(BOT, "NONE", &request.text("body"));
            let id = said.id;
            let thread = state
                .threads
                .iter_mut()
                .find(|thread| thread.comments[0].id.to_string() == **first);
            let Some(thread) = thread else {
                return not_found();
            };
            thread.comments.push(said);
            Answer::new(201, json!({ "id": id }))
        }
        ("POST", ["issues", "7", "comments"]) => {
            let said = state.said(BOT, "NONE", &request.text("body"));
            let id = said.id;
            state.comments.push(said);
            Answer::new(201, json!({ "id": id }))
        }
        ("PATCH", ["issues", "comments", id]) => {
            let comment = state
                .comments
                .iter_mut()
                .find(|said| said.id.to_string() == **id);
            let Some(comment) = comment else {
                return not_found();
            };
            comment.body = request.text("body");
            Answer::new(200, json!({ "id": comment.id }))
        }
        ("DELETE", ["issues" | "pulls", "comments", id]) => match state.delete(id) {
            true => Answer::new(204, Value::Null),
            false => not_found(),
        },
        ("GET", ["commits", commit, "check-runs"]) => {
            let runs = (1..)
                .zip(&state.checks)
                .filter(|(_, check)| check[0] == **commit);
            let runs: Vec<Value> = runs
                .map(|(id, check)| json!({ "id": id, "external_id": check[2] }))
                .collect();
            Answer::new(
                200,
                json!({ "total_count": runs.len(), "check_runs": runs }),
            )
        }
        ("POST", ["check-runs"]) => {
            state
                .checks
                .push(["head_sha", "conclusion", "external_id"].map(|field| request.text(field)));
            Answer::new(201, json!({ "id": state.checks.len() }))
        }
        ("PATCH", ["check-runs", id]) => {
            let at = id.parse::<usize>().ok().and_then(|id| id.checked_sub(1));
            let Some(check) = at.and_then(|at| state.checks.get_mut(at)) else {
                return not_found();
            };
            check[1] = request.text("conclusion");
            Answer::new(200, json!({ "id": at }))
        }
        ("GET", ["collaborators", login, "permission"]) => {
            let permission = if state.maintainers.contains(*login) {
                "write"
            } else {
                "read"
            };
            Answer::new(200, json!({ "permission": permission }))
        }
        _ => not_found(),
    }
}

fn files(state: &State) -> Vec<Value> {
    let statuses = state.statuses();
    let large = state.other.get("large");
    let file = |(path, previous, patch): (String, Option<String>, String)| {
        let status = match statuses.get(&path) {
            Some('A') => "added",
            Some('D') => "removed",
            Some('R') => "renamed",
            _ => "modified",
        };
        let mut file = json!({ "filename": path, "status": status });
        if let Some(previous) = previous {
            file["previous_filename"] = json!(previous);
        }
        // A binary file, a large one and a renamed one without changes have no patch.
        if !patch.is_empty() && large.is_none_or(|large| *large != path) {
            file["patch"] = json!(patch);
        }
        file
    };
    state.files().into_iter().map(file).collect()
}

fn pull(state: &State) -> Value {
    let repo = json!({ "id": 1, "clone_url": format!("{}/team/shop.git", state.address) });
    let head_repo = state.other.get(HEAD_REPOSITORY).unwrap_or(&repo);
    let user = state
        .other
        .get(USER)
        .cloned()
        .unwrap_or_else(|| json!({ "login": AUTHOR, "type": "User" }));
    json!({
        "number": 7, "html_url": "https://git.example.org/team/shop/pull/7", "title": state.title,
        "body": state.body,
        "user": user, "state": state.state, "merged": state.other.contains_key(MERGED), "draft": state.other.contains_key(DRAFT),
        "base": { "sha": state.commit("refs/heads/main"), "ref": "main", "repo": repo },
        "head": { "sha": state.head(), "ref": state.branch, "repo": head_repo },
    })
}

fn number(body: &Value, field: &str) -> Option<u32> {
    body[field]
        .as_u64()
        .and_then(|line| u32::try_from(line).ok())
}

fn review(state: &mut State, body: &Value) -> Answer {
    let comments = body["comments"].as_array().cloned().unwrap_or_default();
    let path = |comment: &Value| comment["path"].as_str().unwrap_or_default().to_owned();
    let fits = |comment: &Value| {
        let (lines, start) = (state.lines(&path(comment)), number(comment, "start_line"));
        number(comment, "line").is_some_and(|line| {
            lines.contains(&line)
                && start.is_none_or(|start| start < line && lines.contains(&start))
        })
    };
    if body["commit_id"] != state.head() || !comments.iter().all(fits) {
        let errors = json!(["Line could not be resolved"]);
        return Answer::new(
            422,
            json!({ "message": "Unprocessable Entity", "errors": errors }),
        );
    }
    for comment in &comments {
        let text = comment["body"].as_str().unwrap_or_default();
        state.open(&path(comment), number(comment, "line"), text);
    }
    Answer::new(200, json!({ "id": state.id() }))
}

fn comment_on_file(state: &mut State, request: &Request) -> Answer {
    let path = request.text("path");
    if request.body["subject_type"] != "file"
        || !state.files().iter().any(|(known, ..)| *known == path)
    {
        return Answer::message(422, "Validation Failed");
    }
    let id = state.open(&path, None, &request.text("body"));
    Answer::new(201, json!({ "id": id }))
}
