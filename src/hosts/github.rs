//! GitHub: REST for writing and for the changed files, GraphQL for the conversation and the state of threads.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::address::RequestAddress;
use super::model::{
    Account, ChangedFile, Check, CheckState, Comment, CommentId, Commit, Conversation, Host, HostError, HostKind,
    NewComment, Permission, PullRequest, RequestState, Thread, ThreadId,
};
use super::transport::Transport;

/// The maximum number of comments in one review, as in reviewdog.
const BATCH: usize = 30;
const MOST_FILES: usize = 3_000;
const CHECK: &str = "Glee";

pub(super) struct GitHub {
    transport: Transport,
    address: RequestAddress,
    /// The permissions of users, by login name.
    permissions: RefCell<BTreeMap<String, Permission>>,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    login: String,
    #[serde(default, rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Repository {
    id: u64,
    clone_url: String,
}

#[derive(Deserialize)]
struct Side {
    sha: String,
    #[serde(rename = "ref")]
    branch: String,
    repo: Option<Repository>,
}

#[derive(Deserialize)]
struct Pull {
    number: u64,
    html_url: String,
    title: String,
    user: Option<User>,
    state: String,
    merged_at: Option<String>,
    #[serde(default)]
    draft: bool,
    base: Side,
    head: Side,
}

#[derive(Deserialize)]
struct FileEntry {
    filename: String,
    status: String,
    previous_filename: Option<String>,
    patch: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    has_next_page: bool,
    end_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Nodes<T> {
    page_info: Page,
    nodes: Vec<T>,
}

#[derive(Deserialize)]
struct Actor {
    login: String,
    #[serde(rename = "__typename")]
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommentNode {
    database_id: u64,
    author: Option<Actor>,
    author_association: String,
    body: String,
    created_at: Timestamp,
    last_edited_at: Option<Timestamp>,
    viewer_did_author: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadNode {
    id: String,
    path: String,
    line: Option<u32>,
    is_resolved: bool,
    comments: Nodes<CommentNode>,
}

const COMMENT: &str = "pageInfo{hasNextPage endCursor} nodes{databaseId author{login __typename} authorAssociation \
                       body createdAt lastEditedAt viewerDidAuthor}";

impl GitHub {
    pub(super) fn new(transport: Transport, address: RequestAddress) -> Self {
        Self { transport, address, permissions: RefCell::default() }
    }

    fn path(&self, rest: &str) -> String {
        format!("/repos/{}/{}{rest}", self.address.owner, self.address.repository)
    }

    fn pull(&self, rest: &str) -> String {
        self.path(&format!("/pulls/{}{rest}", self.address.number))
    }

    fn graphql(&self, query: &str, variables: &Value, what: &str) -> Result<Value, HostError> {
        let body = json!({ "query": query, "variables": variables });
        let answer: Value = self.transport.query(&self.address.graphql(), &body, what)?;
        match answer["errors"].as_array().and_then(|errors| errors.first()) {
            None => Ok(answer["data"].clone()),
            Some(error) if error["type"] == "FORBIDDEN" => Err(HostError::Forbidden {
                host: self.transport.host().to_owned(),
                why: self.transport.clean(error["message"].as_str().unwrap_or_default()),
            }),
            Some(error) => Err(self.transport.refused(what, error["message"].as_str().unwrap_or_default())),
        }
    }

    /// Reads all pages of a list below the pull request.
    fn list<T: serde::de::DeserializeOwned>(&self, field: &str, inner: &str) -> Result<Vec<T>, HostError> {
        let what = "read the conversation";
        let query = format!(
            "query($owner:String!,$name:String!,$number:Int!,$after:String){{repository(owner:$owner,name:$name)\
             {{pullRequest(number:$number){{{field}(first:100,after:$after){{{inner}}}}}}}}}"
        );
        let (mut found, mut after) = (Vec::new(), None::<String>);
        loop {
            let RequestAddress { owner, repository, number, .. } = &self.address;
            let variables = json!({ "owner": owner, "name": repository, "number": number, "after": after });
            let data = self.graphql(&query, &variables, what)?;
            let list = data["repository"]["pullRequest"][field].clone();
            let list: Nodes<T> = serde_json::from_value(list)
                .map_err(|error| self.transport.unexpected(what, &error.to_string()))?;
            found.extend(list.nodes);
            after = list.page_info.end_cursor.filter(|_| list.page_info.has_next_page);
            if after.is_none() {
                return Ok(found);
            }
        }
    }

    fn comment_of(&self, node: CommentNode) -> Result<Comment, HostError> {
        let (login, is_bot) =
            node.author.map_or_else(Default::default, |author| (author.login, author.kind == "Bot"));
        Ok(Comment {
            id: CommentId(node.database_id.to_string()),
            permission: self.permission(&login, &node.author_association)?,
            author: Account { login, is_bot },
            body: node.body.into(),
            created: node.created_at,
            is_edited: node.last_edited_at.is_some(),
            is_own: node.viewer_did_author,
        })
    }

    /// An association states no permission to write, so it is read for each member.
    fn permission(&self, login: &str, association: &str) -> Result<Permission, HostError> {
        match association {
            "OWNER" => return Ok(Permission::Maintainer),
            "MEMBER" | "COLLABORATOR" => {}
            _ => return Ok(Permission::Outsider),
        }
        if let Some(known) = self.permissions.borrow().get(login) {
            return Ok(*known);
        }
        let is_name = !login.is_empty() && login.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        let read = || -> Result<Value, HostError> {
            self.transport.get(&self.path(&format!("/collaborators/{login}/permission")), "read a permission")
        };
        let permission = match is_name.then(read) {
            Some(Ok(answer)) if matches!(answer["permission"].as_str(), Some("admin" | "write")) => {
                Permission::Maintainer
            }
            Some(Err(error)) if !matches!(error, HostError::Forbidden { .. } | HostError::NotFound { .. }) => {
                return Err(error);
            }
            _ => Permission::Member,
        };
        self.permissions.borrow_mut().insert(login.to_owned(), permission);
        Ok(permission)
    }

    fn review(&self, request: &PullRequest, comments: &[&NewComment]) -> Result<(), HostError> {
        if comments.is_empty() {
            return Ok(());
        }
        let comments: Vec<Value> = comments
            .iter()
            .map(|comment| {
                let mut json =
                    json!({ "path": comment.path, "line": comment.line, "side": "RIGHT", "body": comment.body });
                if let Some(start) = comment.start_line.filter(|start| Some(*start) < comment.line) {
                    json["start_line"] = start.into();
                    json["start_side"] = "RIGHT".into();
                }
                json
            })
            .collect();
        let body = json!({ "commit_id": request.head.id, "event": "COMMENT", "comments": comments });
        self.transport.create::<Value>(&self.pull("/reviews"), &body, "comment on lines").map(drop)
    }
}

impl Host for GitHub {
    fn kind(&self) -> HostKind {
        HostKind::GitHub
    }

    fn request(&self) -> Result<PullRequest, HostError> {
        let pull: Pull = self.transport.get(&self.pull(""), "read the pull request")?;
        let user = pull.user.unwrap_or(User { login: String::new(), kind: String::new() });
        let is_fork = pull.head.repo.as_ref().map(|repo| repo.id) != pull.base.repo.as_ref().map(|repo| repo.id);
        let commit = |side: &Side| Commit { id: side.sha.clone(), branch: side.branch.as_str().into() };
        Ok(PullRequest {
            number: pull.number,
            link: pull.html_url,
            title: pull.title.into(),
            author: Account { is_bot: user.kind == "Bot", login: user.login },
            state: match (pull.state.as_str(), &pull.merged_at) {
                (_, Some(_)) => RequestState::Merged,
                ("open", _) => RequestState::Open,
                _ => RequestState::Closed,
            },
            is_draft: pull.draft,
            is_fork,
            base: commit(&pull.base),
            head: commit(&pull.head),
            start: None,
            repository: pull.base.repo.map(|repo| repo.clone_url).unwrap_or_default(),
            head_ref: format!("refs/pull/{}/head", pull.number),
        })
    }

    fn files(&self, _request: &PullRequest) -> Result<Vec<ChangedFile>, HostError> {
        let path = self.pull("/files?per_page=100");
        let files: Vec<FileEntry> = self.transport.get_all(&path, MOST_FILES, "read the changed files")?;
        Ok(files.into_iter().map(changed).collect())
    }

    fn conversation(&self, _request: &PullRequest) -> Result<Conversation, HostError> {
        let inner = format!(
            "pageInfo{{hasNextPage endCursor}} nodes{{id path line isResolved comments(first:100){{{COMMENT}}}}}"
        );
        let mut conversation = Conversation::default();
        for node in self.list::<ThreadNode>("reviewThreads", &inner)? {
            let comments = node.comments.nodes.into_iter().map(|node| self.comment_of(node));
            let comments = comments.collect::<Result<Vec<_>, _>>()?;
            if comments.is_empty() {
                continue;
            }
            conversation.threads.push(Thread {
                id: ThreadId(node.id),
                path: Some(node.path),
                line: node.line,
                is_resolved: node.is_resolved,
                comments,
            });
        }
        for node in self.list::<CommentNode>("comments", COMMENT)? {
            conversation.comments.push(self.comment_of(node)?);
        }
        Ok(conversation)
    }

    fn comment(&self, request: &PullRequest, comments: &[NewComment]) -> Result<(), HostError> {
        let (lines, files): (Vec<&NewComment>, Vec<&NewComment>) =
            comments.iter().partition(|comment| comment.line.is_some());
        self.review(request, &lines)?;
        for comment in files {
            let body = json!({
                "commit_id": request.head.id, "path": comment.path, "subject_type": "file", "body": comment.body,
            });
            self.transport.create::<Value>(&self.pull("/comments"), &body, "comment on a file")?;
        }
        Ok(())
    }

    fn batch(&self) -> usize {
        BATCH
    }

    fn reply(&self, _request: &PullRequest, thread: &Thread, body: &str) -> Result<(), HostError> {
        let Some(first) = thread.comments.first() else { return Ok(()) };
        let path = self.pull(&format!("/comments/{}/replies", first.id.0));
        self.transport.create::<Value>(&path, &json!({ "body": body }), "reply").map(drop)
    }

    fn set_resolved(&self, _request: &PullRequest, thread: &Thread, is_resolved: bool) -> Result<bool, HostError> {
        let name = if is_resolved { "resolveReviewThread" } else { "unresolveReviewThread" };
        let query = format!("mutation($id:ID!){{{name}(input:{{threadId:$id}}){{thread{{id}}}}}}");
        self.graphql(&query, &json!({ "id": thread.id.0 }), "change the state of a thread").map(|_| true)
    }

    fn summarise(&self, request: &PullRequest, existing: Option<&CommentId>, body: &str) -> Result<(), HostError> {
        let json = json!({ "body": body });
        let what = "publish the summary";
        match existing {
            Some(id) => self
                .transport
                .patch::<Value>(&self.path(&format!("/issues/comments/{}", id.0)), &json, what)
                .map(drop),
            None => {
                let path = self.path(&format!("/issues/{}/comments", request.number));
                self.transport.create::<Value>(&path, &json, what).map(drop)
            }
        }
    }

    fn check(&self, request: &PullRequest, check: &Check) -> Result<(), HostError> {
        let what = "publish the check";
        let head = &request.head.id;
        let listed: Result<Value, HostError> =
            self.transport.get(&self.path(&format!("/commits/{head}/check-runs?check_name={CHECK}")), what);
        let conclusion = match check.state {
            CheckState::Success => "success",
            CheckState::Failure => "failure",
            CheckState::Neutral => "neutral",
        };
        let body = json!({
            "name": CHECK, "head_sha": head, "status": "completed", "conclusion": conclusion,
            "output": { "title": check.title, "summary": check.summary },
        });
        let existing = listed.ok().and_then(|listed| listed["check_runs"][0]["id"].as_u64());
        let sent: Result<Value, HostError> = match existing {
            Some(id) => self.transport.patch(&self.path(&format!("/check-runs/{id}")), &body, what),
            None => self.transport.create(&self.path("/check-runs"), &body, what),
        };
        // Only apps can create checks. Other tokens create a commit status.
        let Err(HostError::Forbidden { .. }) = sent else { return sent.map(drop) };
        let state = if check.state == CheckState::Failure { "failure" } else { "success" };
        let title: String = check.title.chars().take(140).collect();
        let body = json!({ "state": state, "context": CHECK, "description": title });
        self.transport.create::<Value>(&self.path(&format!("/statuses/{head}")), &body, what).map(drop)
    }
}

fn changed(entry: FileEntry) -> ChangedFile {
    let (mut lines, mut added) = (BTreeSet::new(), BTreeSet::new());
    let mut number = 0;
    for line in entry.patch.as_deref().unwrap_or_default().lines() {
        if let Some(hunk) = line.strip_prefix("@@ ") {
            let new = hunk.split_once('+').map(|(_, rest)| rest);
            let first = new.and_then(|new| new.split([',', ' ']).next()?.parse().ok());
            number = first.unwrap_or(0);
        } else if line.starts_with('+') {
            added.insert(number);
            lines.insert(number);
            number += 1;
        } else if line.starts_with(' ') {
            lines.insert(number);
            number += 1;
        }
    }
    let previous = entry.previous_filename.filter(|_| entry.status == "renamed");
    ChangedFile { path: entry.filename, previous, lines, added }
}
