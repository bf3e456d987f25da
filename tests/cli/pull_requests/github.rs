//! A loopback server with the parts of GitHub's API that Glee uses. It keeps its state, takes commits and diffs from a
//! real repository, and refuses what GitHub refuses.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

pub(crate) const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
pub(crate) const BOT: &str = "glee-bot";
pub(crate) const AUTHOR: &str = "author";

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) id: u64,
    pub(crate) by: String,
    pub(crate) association: String,
    pub(crate) body: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Discussion {
    pub(crate) path: String,
    pub(crate) line: Option<u32>,
    pub(crate) is_resolved: bool,
    pub(crate) comments: Vec<Said>,
}

/// The request at which the process of Glee is killed, and whether the server applies the request first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct KillAt {
    pub(crate) request: usize,
    pub(crate) is_applied: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) repository: PathBuf,
    /// The address of the server.
    pub(crate) address: String,
    pub(crate) title: String,
    pub(crate) branch: String,
    pub(crate) state: String,
    pub(crate) threads: Vec<Discussion>,
    pub(crate) comments: Vec<Said>,
    /// The commit, the conclusion and the external id of each check.
    pub(crate) checks: Vec<[String; 3]>,
    pub(crate) maintainers: BTreeSet<String>,
    next: u64,
    /// The methods and paths of all requests.
    pub(crate) requests: Vec<String>,
    /// All bodies that were sent.
    pub(crate) sent: Vec<String>,
    pub(crate) kill: Option<KillAt>,
    /// The token can only read.
    pub(crate) is_read_only: bool,
    /// The token expires at this request.
    pub(crate) expires_at: Option<usize>,
    /// These requests meet a secondary limit.
    pub(crate) limited: BTreeSet<usize>,
}

#[derive(Clone)]
pub(crate) struct Double {
    pub(crate) address: String,
    state: Arc<Mutex<State>>,
    /// The process that is killed.
    pub(crate) process: Arc<AtomicI32>,
}

pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git").current_dir(folder).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").output();
    let output = output.expect("git is installed");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Double {
    pub(crate) fn start(state: State) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let double = Self { address, state: Arc::new(Mutex::new(state)), process: Arc::default() };
        double.state().address.clone_from(&double.address);
        let server = double.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = server.clone();
                std::thread::spawn(move || server.serve(stream));
            }
        });
        double
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no handler panics")
    }

    fn serve(&self, stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let (mut head, mut line) = (String::new(), String::new());
        while reader.read_line(&mut line).ok()? > 2 {
            head.push_str(&line);
            line.clear();
        }
        let header = |name: &str| {
            let found = head.lines().find_map(|line| {
                line.split_once(':')
                    .filter(|(key, _)| key.eq_ignore_ascii_case(name))
                    .map(|(_, value)| value.trim())
            });
            found.map(str::to_owned)
        };
        let mut body = vec![0; header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0)];
        reader.read_exact(&mut body).ok()?;
        let mut words = head.split_whitespace();
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut state = self.state();
        state.requests.push(format!("{method} {path}"));
        state.sent.push(String::from_utf8_lossy(&body).into_owned());
        let number = state.requests.len();
        let kill_now = state.kill.filter(|kill| kill.request == number);
        let strike = |process: i32| {
            if process > 0 {
                kill(Pid::from_raw(process), Signal::SIGKILL).expect("the process runs");
            }
        };
        if kill_now.is_some_and(|kill| !kill.is_applied) {
            strike(self.process.load(Ordering::SeqCst));
            return None;
        }
        let is_known = header("authorization") == Some(format!("Bearer {TOKEN}"));
        let (status, answer) = if !is_known || state.expires_at.is_some_and(|at| number >= at) {
            (401, json!({ "message": "Bad credentials" }))
        } else if state.limited.contains(&number) {
            (429, json!({ "message": "You have exceeded a secondary rate limit." }))
        } else {
            let json = serde_json::from_slice(&body).unwrap_or_default();
            state.answer(&method, &path, &json)
        };
        if kill_now.is_some() {
            strike(self.process.load(Ordering::SeqCst));
            return None;
        }
        drop(state);
        let text = answer.to_string();
        let page = path.split("&page=").nth(1).and_then(|page| page.parse::<usize>().ok()).unwrap_or(1);
        let is_full = path.contains("per_page=100") && answer.as_array().is_some_and(|list| list.len() == 100);
        let first = path.split("&page=").next().unwrap_or(&path);
        let extra = match status {
            429 => "retry-after: 1\r\n".to_owned(),
            _ if is_full => format!("link: <{}{first}&page={}>; rel=\"next\"\r\n", self.address, page + 1),
            _ => String::new(),
        };
        let reply = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{extra}content-length: {}\r\nconnection: close\r\n\r\n{text}",
            text.len()
        );
        let mut stream = stream;
        stream.write_all(reply.as_bytes()).ok()
    }
}

impl State {
    pub(crate) fn new(repository: &Path) -> Self {
        Self {
            repository: repository.to_owned(),
            title: "A change".to_owned(),
            branch: "change".to_owned(),
            state: "open".to_owned(),
            next: 100,
            ..Self::default()
        }
    }

    fn id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn said(&mut self, by: &str, association: &str, body: &str) -> Said {
        Said { id: self.id(), by: by.to_owned(), association: association.to_owned(), body: body.to_owned() }
    }

    /// A person replies in the first thread about the file `path`.
    pub(crate) fn reply(&mut self, path: &str, by: &str, association: &str, body: &str) {
        let said = self.said(by, association, body);
        let thread = self.threads.iter_mut().find(|thread| thread.path == path);
        thread.unwrap_or_else(|| panic!("no thread is about {path}")).comments.push(said);
    }

    fn commit(&self, name: &str) -> String {
        git(&self.repository, &["rev-parse", name]).trim().to_owned()
    }

    pub(crate) fn head(&self) -> String {
        self.commit("refs/pull/7/head")
    }

    /// Returns the new path, the old path and the hunks of each changed file.
    fn files(&self) -> Vec<(String, Option<String>, String)> {
        let diff = git(&self.repository, &["diff", "-M", "refs/heads/main...refs/pull/7/head"]);
        let parts = diff.split("diff --git ").skip(1);
        let file = |part: &str| {
            let field = |name: &str| part.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
            let patch = part.find("\n@@ ").map(|at| part[at + 1..].trim_end().to_owned()).unwrap_or_default();
            let path = field("rename to ").or_else(|| field("+++ b/")).or_else(|| field("--- a/"));
            (path.unwrap_or_default(), field("rename from "), patch)
        };
        parts.map(file).collect()
    }

    fn lines(&self, path: &str) -> BTreeSet<u32> {
        let files = self.files();
        let Some((.., patch)) = files.iter().find(|(name, ..)| name == path) else { return BTreeSet::new() };
        let (mut lines, mut number) = (BTreeSet::new(), 0);
        for line in patch.lines() {
            if let Some(hunk) = line.strip_prefix("@@ ") {
                let new = hunk.split('+').nth(1).and_then(|new| new.split([',', ' ']).next()?.parse().ok());
                number = new.unwrap_or(0);
            } else if !line.starts_with(['-', '\\']) {
                lines.insert(number);
                number += 1;
            }
        }
        lines
    }

    fn answer(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let path = path.strip_prefix("/api/v3").or_else(|| path.strip_prefix("/api")).unwrap_or(path);
        let rest = path.strip_prefix("/repos/team/shop").unwrap_or(path).to_owned();
        if self.is_read_only && method != "GET" && (path != "/graphql" || is_mutation(body)) {
            return (403, json!({ "message": "Resource not accessible by integration" }));
        }
        let text = |field: &str| body[field].as_str().unwrap_or_default().to_owned();
        match (method, rest.as_str()) {
            ("GET", "/pulls/7") => (200, self.pull()),
            ("GET", "/pulls/7/files") => {
                let all = self.files();
                let page: usize = query.split("page=").last().and_then(|page| page.parse().ok()).unwrap_or(1);
                let page = if query.contains("&page=") { page } else { 1 };
                let files = all.iter().skip((page - 1) * 100).take(100).map(|(path, previous, patch)| {
                    let status = if previous.is_some() { "renamed" } else { "modified" };
                    json!({ "filename": path, "status": status, "previous_filename": previous, "patch": patch })
                });
                (200, files.collect())
            }
            ("POST", "/graphql") => self.graphql(body),
            ("POST", "/pulls/7/reviews") => {
                let comments = body["comments"].as_array().cloned().unwrap_or_default();
                let fits = |comment: &Value| {
                    let lines = self.lines(comment["path"].as_str().unwrap_or_default());
                    let number = |field: &str| comment[field].as_u64().and_then(|line| u32::try_from(line).ok());
                    let start = number("start_line");
                    number("line").is_some_and(|line| {
                        lines.contains(&line) && start.is_none_or(|start| start < line && lines.contains(&start))
                    })
                };
                if body["commit_id"] != self.head() || !comments.iter().all(fits) {
                    return (
                        422,
                        json!({ "message": "Unprocessable Entity", "errors": ["Line could not be resolved"] }),
                    );
                }
                comments.iter().for_each(|comment| self.open(comment));
                (200, json!({ "id": self.id() }))
            }
            ("POST", "/pulls/7/comments") => {
                if body["subject_type"] != "file" || !self.files().iter().any(|(path, ..)| body["path"] == **path) {
                    return (422, json!({ "message": "Validation Failed" }));
                }
                self.open(body);
                (201, json!({ "id": self.id() }))
            }
            ("POST", "/issues/7/comments") => {
                let said = self.said(BOT, "NONE", &text("body"));
                self.comments.push(said);
                (201, json!({}))
            }
            ("POST", "/check-runs") => {
                self.checks.push([text("head_sha"), text("conclusion"), text("external_id")]);
                (201, json!({ "id": self.checks.len() }))
            }
            ("PATCH", _) if rest.starts_with("/check-runs/") => {
                let id: usize = rest.rsplit('/').next().and_then(|id| id.parse().ok()).unwrap_or(0);
                match id.checked_sub(1).and_then(|at| self.checks.get_mut(at)) {
                    Some(check) => check[1] = text("conclusion"),
                    None => return (404, json!({ "message": "Not Found" })),
                }
                (200, json!({ "id": id }))
            }
            ("PATCH", _) if rest.starts_with("/issues/comments/") => {
                let comment = self.comments.iter_mut().find(|said| rest.ends_with(&format!("/{}", said.id)));
                let Some(comment) = comment else { return (404, json!({ "message": "Not Found" })) };
                comment.body = text("body");
                (200, json!({}))
            }
            ("POST", _) if rest.ends_with("/replies") => {
                let said = self.said(BOT, "NONE", &text("body"));
                let is_it = |thread: &&mut Discussion| rest.contains(&format!("/{}/", thread.comments[0].id));
                match self.threads.iter_mut().find(is_it) {
                    Some(thread) => thread.comments.push(said),
                    None => return (404, json!({ "message": "Not Found" })),
                }
                (201, json!({}))
            }
            ("GET", _) if rest.ends_with("/check-runs") => {
                let commit = rest.split('/').nth(2).unwrap_or_default();
                let runs = (1..).zip(&self.checks).filter(|(_, check)| check[0] == commit);
                let runs: Vec<Value> =
                    runs.map(|(id, check)| json!({ "id": id, "external_id": check[2] })).collect();
                (200, json!({ "total_count": runs.len(), "check_runs": runs }))
            }
            ("GET", _) if rest.starts_with("/collaborators/") => {
                let login = rest.split('/').nth(2).unwrap_or_default();
                let permission = if self.maintainers.contains(login) { "write" } else { "read" };
                (200, json!({ "permission": permission }))
            }
            _ => (404, json!({ "message": "Not Found" })),
        }
    }

    fn open(&mut self, comment: &Value) {
        let said = self.said(BOT, "NONE", comment["body"].as_str().unwrap_or_default());
        self.threads.push(Discussion {
            path: comment["path"].as_str().unwrap_or_default().to_owned(),
            line: comment["line"].as_u64().and_then(|line| u32::try_from(line).ok()),
            is_resolved: false,
            comments: vec![said],
        });
    }

    fn pull(&self) -> Value {
        let repo = json!({ "id": 1, "clone_url": format!("{}/team/shop.git", self.address) });
        json!({
            "number": 7, "html_url": "https://git.example.org/team/shop/pull/7", "title": self.title,
            "user": { "login": AUTHOR, "type": "User" }, "state": self.state, "merged": false, "draft": false,
            "base": { "sha": self.commit("refs/heads/main"), "ref": "main", "repo": repo },
            "head": { "sha": self.head(), "ref": self.branch, "repo": repo },
        })
    }

    fn graphql(&mut self, body: &Value) -> (u16, Value) {
        let query = body["query"].as_str().unwrap_or_default();
        if is_mutation(body) {
            let wanted = body["variables"]["thread"].as_str().unwrap_or_default().to_owned();
            let thread = self.threads.iter_mut().find(|thread| format!("T{}", thread.comments[0].id) == wanted);
            let Some(thread) = thread else {
                return (
                    200,
                    json!({ "errors": [{ "type": "NOT_FOUND", "message": "Could not resolve to a node" }] }),
                );
            };
            thread.is_resolved = !query.contains("unresolveReviewThread");
            return (200, json!({ "data": {} }));
        }
        let said = |said: &Said| {
            json!({
                "fullDatabaseId": said.id.to_string(), "author": { "login": said.by, "__typename": "User" },
                "authorAssociation": said.association, "body": said.body, "createdAt": "2026-01-01T00:00:00Z",
                "lastEditedAt": null, "viewerDidAuthor": said.by == BOT,
            })
        };
        let first: usize = body["variables"]["after"].as_str().and_then(|after| after.parse().ok()).unwrap_or(0);
        let comments = |thread: &Discussion, first: usize| paged(thread.comments.iter().map(said).collect(), first);
        if let Some(wanted) = body["variables"]["thread"].as_str() {
            let thread = self.threads.iter().find(|thread| format!("T{}", thread.comments[0].id) == wanted);
            return (
                200,
                json!({ "data": { "node": thread.map(|thread| json!({ "comments": comments(thread, first) })) } }),
            );
        }
        let nodes: Vec<Value> = if query.contains("reviewThreads(") {
            let threads = self.threads.iter().map(|thread| {
                let line = thread.line.filter(|line| self.lines(&thread.path).contains(line));
                json!({
                    "id": format!("T{}", thread.comments[0].id), "path": thread.path, "line": line,
                    "isResolved": thread.is_resolved, "comments": comments(thread, 0),
                })
            });
            threads.collect()
        } else {
            self.comments.iter().map(said).collect()
        };
        (200, json!({ "data": { "repository": { "pullRequest": { "page": paged(nodes, first) } } } }))
    }
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
