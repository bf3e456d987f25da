//! The parts of GitHub's API that Glee uses.

use serde_json::{Value, json};

use super::double::{AUTHOR, Answer, BOT, Discussion, HostDouble, Refusal, Request, Said, State};

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
        request.method != "GET" && (request.path != GRAPHQL || is_mutation(&request.body))
    }

    fn check(&self, _request: &Request) -> Result<(), String> {
        Ok(())
    }

    fn refuse(&self, refusal: Refusal, request: &Request) -> Answer {
        match refusal {
            Refusal::Token => Answer::message(401, "Bad credentials"),
            Refusal::Limit => {
                Answer::message(429, "You have exceeded a secondary rate limit.").with("retry-after", "1")
            }
            Refusal::ReadOnly if request.path == GRAPHQL => {
                graph_error("FORBIDDEN", "Resource not accessible by integration")
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

fn graph_error(kind: &str, message: &str) -> Answer {
    Answer::new(200, json!({ "data": null, "errors": [{ "type": kind, "message": message }] }))
}

fn not_found() -> Answer {
    Answer::message(404, "Not Found")
}

fn answer(state: &mut State, request: &Request) -> Answer {
    if request.path == GRAPHQL {
        return graphql(state, &request.body);
    }
    let Some(path) = request.path.strip_prefix(REST).and_then(|path| path.strip_prefix("/repos/team/shop/")) else {
        return not_found();
    };
    let parts: Vec<&str> = path.split('/').collect();
    match (request.method.as_str(), parts.as_slice()) {
        ("GET", ["pulls", "7"]) => Answer::new(200, pull(state)),
        ("GET", ["pulls", "7", "files"]) => {
            let files: Vec<Value> = state.files().into_iter().map(file).collect();
            request.page(&files, "per_page", 30, 100, &state.address)
        }
        ("POST", ["pulls", "7", "reviews"]) => review(state, &request.body),
        ("POST", ["pulls", "7", "comments"]) => comment_on_file(state, request),
        ("POST", ["pulls", "7", "comments", first, "replies"]) => {
            let said = state.said(BOT, "NONE", &request.text("body"));
            let id = said.id;
            let thread = state.threads.iter_mut().find(|thread| thread.comments[0].id.to_string() == **first);
            let Some(thread) = thread else { return not_found() };
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
            let comment = state.comments.iter_mut().find(|said| said.id.to_string() == **id);
            let Some(comment) = comment else { return not_found() };
            comment.body = request.text("body");
            Answer::new(200, json!({ "id": comment.id }))
        }
        ("GET", ["commits", commit, "check-runs"]) => {
            let runs = (1..).zip(&state.checks).filter(|(_, check)| check[0] == **commit);
            let runs: Vec<Value> = runs.map(|(id, check)| json!({ "id": id, "external_id": check[2] })).collect();
            Answer::new(200, json!({ "total_count": runs.len(), "check_runs": runs }))
        }
        ("POST", ["check-runs"]) => {
            state.checks.push(["head_sha", "conclusion", "external_id"].map(|field| request.text(field)));
            Answer::new(201, json!({ "id": state.checks.len() }))
        }
        ("PATCH", ["check-runs", id]) => {
            let at = id.parse::<usize>().ok().and_then(|id| id.checked_sub(1));
            let Some(check) = at.and_then(|at| state.checks.get_mut(at)) else { return not_found() };
            check[1] = request.text("conclusion");
            Answer::new(200, json!({ "id": at }))
        }
        ("GET", ["collaborators", login, "permission"]) => {
            let permission = if state.maintainers.contains(*login) { "write" } else { "read" };
            Answer::new(200, json!({ "permission": permission }))
        }
        _ => not_found(),
    }
}

fn file((path, previous, patch): (String, Option<String>, String)) -> Value {
    let status = if previous.is_some() { "renamed" } else { "modified" };
    let mut file = json!({ "filename": path, "status": status, "previous_filename": previous });
    // A renamed file without changes has no patch.
    if !patch.is_empty() {
        file["patch"] = json!(patch);
    }
    file
}

fn pull(state: &State) -> Value {
    let repo = json!({ "id": 1, "clone_url": format!("{}/team/shop.git", state.address) });
    json!({
        "number": 7, "html_url": "https://git.example.org/team/shop/pull/7", "title": state.title,
        "user": { "login": AUTHOR, "type": "User" }, "state": state.state, "merged": false, "draft": false,
        "base": { "sha": state.commit("refs/heads/main"), "ref": "main", "repo": repo },
        "head": { "sha": state.head(), "ref": state.branch, "repo": repo },
    })
}

fn number(body: &Value, field: &str) -> Option<u32> {
    body[field].as_u64().and_then(|line| u32::try_from(line).ok())
}

fn review(state: &mut State, body: &Value) -> Answer {
    let comments = body["comments"].as_array().cloned().unwrap_or_default();
    let path = |comment: &Value| comment["path"].as_str().unwrap_or_default().to_owned();
    let fits = |comment: &Value| {
        let (lines, start) = (state.lines(&path(comment)), number(comment, "start_line"));
        number(comment, "line").is_some_and(|line| {
            lines.contains(&line) && start.is_none_or(|start| start < line && lines.contains(&start))
        })
    };
    if body["commit_id"] != state.head() || !comments.iter().all(fits) {
        let errors = json!(["Line could not be resolved"]);
        return Answer::new(422, json!({ "message": "Unprocessable Entity", "errors": errors }));
    }
    for comment in &comments {
        let text = comment["body"].as_str().unwrap_or_default();
        state.open(&path(comment), number(comment, "line"), text);
    }
    Answer::new(200, json!({ "id": state.id() }))
}

fn comment_on_file(state: &mut State, request: &Request) -> Answer {
    let path = request.text("path");
    if request.body["subject_type"] != "file" || !state.files().iter().any(|(known, ..)| *known == path) {
        return Answer::message(422, "Validation Failed");
    }
    let id = state.open(&path, None, &request.text("body"));
    Answer::new(201, json!({ "id": id }))
}

fn graphql(state: &mut State, body: &Value) -> Answer {
    let query = body["query"].as_str().unwrap_or_default();
    let variables = &body["variables"];
    if is_mutation(body) {
        let wanted = variables["thread"].as_str().unwrap_or_default();
        let Some(thread) = state.threads.iter_mut().find(|thread| node_id(thread) == wanted) else {
            return graph_error("NOT_FOUND", "Could not resolve to a node");
        };
        thread.is_resolved = !query.contains("unresolveReviewThread");
        return Answer::new(200, json!({ "data": {} }));
    }
    let first: usize = variables["after"].as_str().and_then(|after| after.parse().ok()).unwrap_or(0);
    let comments = |thread: &Discussion, first: usize| paged(thread.comments.iter().map(said).collect(), first);
    if let Some(wanted) = variables["thread"].as_str() {
        let thread = state.threads.iter().find(|thread| node_id(thread) == wanted);
        let node = thread.map(|thread| json!({ "comments": comments(thread, first) }));
        return Answer::new(200, json!({ "data": { "node": node } }));
    }
    let nodes: Vec<Value> = if query.contains("reviewThreads(") {
        let threads = state.threads.iter().map(|thread| {
            let line = thread.line.filter(|line| state.lines(&thread.path).contains(line));
            json!({
                "id": node_id(thread), "path": thread.path, "line": line,
                "isResolved": thread.is_resolved, "comments": comments(thread, 0),
            })
        });
        threads.collect()
    } else {
        state.comments.iter().map(said).collect()
    };
    Answer::new(200, json!({ "data": { "repository": { "pullRequest": { "page": paged(nodes, first) } } } }))
}

fn node_id(thread: &Discussion) -> String {
    format!("T{}", thread.comments[0].id)
}

fn said(said: &Said) -> Value {
    json!({
        "fullDatabaseId": said.id.to_string(), "author": { "login": said.by, "__typename": "User" },
        "authorAssociation": said.association, "body": said.body, "createdAt": "2026-01-01T00:00:00Z",
        "lastEditedAt": null, "viewerDidAuthor": said.by == BOT,
    })
}

/// At most 100 nodes, from the node `first` on.
fn paged(nodes: Vec<Value>, first: usize) -> Value {
    let page: Vec<Value> = nodes.iter().skip(first).take(100).cloned().collect();
    let end = first + page.len();
    json!({ "pageInfo": { "hasNextPage": end < nodes.len(), "endCursor": end.to_string() }, "nodes": page })
}

fn is_mutation(body: &Value) -> bool {
    body["query"].as_str().is_some_and(|query| query.starts_with("mutation"))
}
