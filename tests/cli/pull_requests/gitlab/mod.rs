//! The parts of GitLab's API that Glee uses.

mod notes;
mod position;
mod template;
mod tests;

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::double::{AUTHOR, Answer, BOT, HostDouble, Refusal, Request, State};
use super::openapi::Description;

#[derive(Debug)]
pub(crate) struct GitLab;

/// The token of a CI job.
const JOB_TOKEN: &str = "glcbt-64_0123456789abcdefghij";

const REST: &str = "/api/v4";

/// GitLab's API as JSON; its field `info` states the source.
static DESCRIPTION: LazyLock<Description> =
    LazyLock::new(|| Description::parse(include_str!("../descriptions/gitlab.json")));

impl HostDouble for GitLab {
    fn name(&self) -> &'static str {
        "gitlab"
    }

    fn head_ref(&self) -> &'static str {
        "refs/merge-requests/7/head"
    }

    fn token(&self) -> &'static str {
        "glpat-0123456789abcdefghij"
    }

    fn variables(&self, address: &str) -> Vec<(&'static str, String)> {
        vec![
            ("CI_SERVER_URL", address.to_owned()),
            ("CI_API_V4_URL", format!("{address}{REST}")),
            ("GITLAB_TOKEN", self.token().to_owned()),
        ]
    }

    /// The token of a job can read the merge request, and nothing else of what Glee reads.
    fn is_authorised(&self, request: &Request) -> bool {
        let is_of_job = request.header("job-token") == Some(JOB_TOKEN)
            && request.method == "GET"
            && request
                .path
                .ends_with("/projects/team%2Fshop/merge_requests/7");
        is_of_job || request.header("authorization") == Some(&format!("Bearer {}", self.token()))
    }

    fn check(&self, request: &Request) -> Result<(), String> {
        let path = request
            .path
            .strip_prefix(REST)
            .ok_or("the path is outside of the API")?;
        DESCRIPTION.check(path, request)?;
        let commands = notes::commands(&request.text("body"));
        if commands.is_empty() {
            Ok(())
        } else {
            Err(format!("GitLab executes the quick actions {commands:?}"))
        }
    }

    fn refuse(&self, refusal: Refusal, request: &Request) -> Answer {
        match refusal {
            Refusal::Token if request.header("authorization").is_some() => {
                let why = "Token is expired. You can either do re-authorization or token refresh.";
                Answer::new(
                    401,
                    json!({ "error": "invalid_token", "error_description": why }),
                )
            }
            Refusal::Token => Answer::message(401, "401 Unauthorized"),
            Refusal::Limit => Answer::message(429, "Retry later").with("retry-after", "1"),
            Refusal::ReadOnly => {
                let why =
                    "The request requires higher privileges than provided by the access token.";
                let body = json!({ "error": "insufficient_scope", "error_description": why, "scope": "api" });
                Answer::new(403, body)
            }
        }
    }

    fn answer(&self, state: &mut State, request: &Request) -> Answer {
        answer(state, request)
    }
}

fn not_found(what: &str) -> Answer {
    Answer::message(404, &format!("404 {what} Not Found"))
}

fn bad_request(why: &str) -> Answer {
    Answer::message(400, &format!("400 Bad request - {why}"))
}

fn answer(state: &mut State, request: &Request) -> Answer {
    let Some(path) = request.path.strip_prefix(REST) else {
        return not_found("Page");
    };
    if path == "/user" {
        return Answer::new(200, notes::user(BOT));
    }
    let inside = ["/projects/team%2Fshop", "/projects/3"]
        .iter()
        .find_map(|project| path.strip_prefix(project));
    let Some(inside) = inside else {
        return not_found("Project");
    };
    let parts: Vec<&str> = inside.split('/').skip(1).collect();
    match (request.method.as_str(), parts.as_slice()) {
        ("GET", []) => Answer::new(
            200,
            json!({ "id": 3, "http_url_to_repo": format!("{}/team/shop.git", state.address) }),
        ),
        ("GET", ["merge_requests", "7"]) => Answer::new(200, merge_request(state)),
        ("GET", ["merge_requests", "7", "diffs"]) => {
            let files: Vec<Value> = state
                .files()
                .into_iter()
                .map(|file| diff(state, file))
                .collect();
            request.page(&files, "per_page", 20, 100, &state.address)
        }
        ("GET", ["merge_requests", "7", "pipelines"])
            if state.other.contains_key("without pipelines") =>
        {
            Answer::message(403, "403 Forbidden")
        }
        ("GET", ["merge_requests", "7", "pipelines"]) => {
            request.page(&pipelines(state), "per_page", 20, 100, &state.address)
        }
        ("GET", ["merge_requests", "7", "discussions"]) => request.page(
            &notes::discussions(state),
            "per_page",
            20,
            100,
            &state.address,
        ),
        ("POST", ["merge_requests", "7", "discussions"]) => position::start(state, request),
        ("POST", ["merge_requests", "7", "discussions", id, "notes"]) => {
            notes::reply(state, id, request)
        }
        ("PUT", ["merge_requests", "7", "discussions", id]) => notes::resolve(state, id, request),
        ("POST", ["merge_requests", "7", "notes"]) => notes::create(state, request),
        ("PUT", ["merge_requests", "7", "notes", id]) => notes::edit(state, id, request),
        ("DELETE", ["merge_requests", "7", "notes", id]) => match state.delete(id) {
            true => Answer::new(204, Value::Null),
            false => not_found("Note"),
        },
        ("GET", ["members", "all", id]) => notes::member(state, id),
        ("POST", ["statuses", sha]) => status(state, sha, request),
        _ => not_found("Page"),
    }
}

fn merge_request(state: &mut State) -> Value {
    // GitLab computes the diff in the background.
    let pending = state
        .other
        .get("unprepared")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    state
        .other
        .insert("unprepared".to_owned(), json!(pending.saturating_sub(1)));
    let (start, head) = (state.commit("refs/heads/main"), state.head());
    let base = super::double::git(&state.repository, &["merge-base", &start, &head]);
    let refs = json!({ "base_sha": base.trim(), "start_sha": start, "head_sha": head });
    let source = state.other.get("source").cloned().unwrap_or(json!(3));
    let link = state.other.get("link").cloned();
    let status = if state.state == "open" {
        "opened"
    } else {
        &state.state
    };
    json!({
        "id": 70, "iid": 7, "web_url": link.unwrap_or(json!("https://git.example.org/team/shop/-/merge_requests/7")),
        "title": state.title, "description": state.body, "state": status, "draft": false, "author": notes::user(AUTHOR),
        "source_branch": state.branch, "target_branch": "main", "source_project_id": source, "target_project_id": 3,
        "diff_refs": if pending > 0 { Value::Null } else { refs }, "sha": head,
    })
}

/// GitLab shows the hunks of at most `collapsed` lines; the state can name another number.
fn diff(state: &State, (path, previous, patch): (String, Option<String>, String)) -> Value {
    let most = state
        .other
        .get("collapsed")
        .and_then(Value::as_u64)
        .unwrap_or(u64::MAX);
    let is_collapsed = patch.lines().count() as u64 > most;
    let is_deleted = patch
        .lines()
        .next()
        .is_some_and(|hunk| hunk.contains(" +0,0 @@"));
    let old_path = previous.clone().unwrap_or_else(|| path.clone());
    json!({
        "old_path": old_path, "new_path": path, "a_mode": "100644", "b_mode": "100644",
        "new_file": patch.starts_with("@@ -0,0 "), "renamed_file": previous.is_some(), "deleted_file": is_deleted,
        "generated_file": false, "collapsed": is_collapsed, "too_large": false,
        "diff": if is_collapsed { String::new() } else { patch },
    })
}

fn pipelines(state: &State) -> Vec<Value> {
    state
        .other
        .get("pipelines")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default()
}

fn status(state: &mut State, sha: &str, request: &Request) -> Answer {
    if state.other.contains_key("reporter") || state.other.contains_key("without pipelines") {
        return Answer::message(403, "403 Forbidden");
    }
    if state.other.remove("busy").is_some() {
        return Answer::message(
            409,
            "409 Conflict - Another update to this commit status is in progress",
        );
    }
    if ![
        "pending", "running", "success", "failed", "canceled", "skipped",
    ]
    .contains(&request.text("state").as_str())
    {
        return Answer::new(400, json!({ "error": "state does not have a valid value" }));
    }
    if sha != state.head() {
        return not_found("Commit");
    }
    if request.text("description").chars().count() > 255
        || request.text("target_url").chars().count() > 255
    {
        return Answer::message(400, "is too long (maximum is 255 characters)");
    }
    let mut known = pipelines(state);
    let fits = |pipeline: &&Value| {
        let is_named =
            request.body["pipeline_id"].is_null() || pipeline["id"] == request.body["pipeline_id"];
        pipeline["sha"] == *sha && pipeline["ref"] == request.body["ref"] && is_named
    };
    if !known.iter().any(|pipeline| fits(&pipeline)) {
        if !request.body["pipeline_id"].is_null() {
            return not_found("Pipeline for pipeline_id, sha and ref");
        }
        let id = state.id();
        let new = json!({
            "id": id, "project_id": 3, "sha": sha, "ref": request.body["ref"], "source": "external", "status": "success",
        });
        known.insert(0, new);
        state.other.insert("pipelines".to_owned(), json!(known));
    }
    // The state in the words of GitHub.
    let conclusion = if request.text("state") == "failed" {
        "failure".to_owned()
    } else {
        request.text("state")
    };
    let written = [sha.to_owned(), conclusion, request.text("name")];
    // A later status of the same name hides the earlier one.
    match state
        .checks
        .iter_mut()
        .find(|check| check[0] == written[0] && check[2] == written[2])
    {
        Some(check) => *check = written,
        None => state.checks.push(written),
    }
    Answer::new(
        201,
        json!({ "id": state.id(), "status": request.text("state") }),
    )
}
