//! Reads threads and comments by GraphQL, because the REST API does not state whether a thread is resolved.

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::hosts::model::{Account, Comment, CommentId, HostError, Permission, Thread, ThreadId};
use crate::hosts::transport::Transport;
use glee_model::domain::Untrusted;

const WHAT: &str = "read the conversation";

const COMMENT: &str = "fullDatabaseId body createdAt lastEditedAt viewerDidAuthor authorAssociation \
                       author { login __typename }";

/// The GraphQL queries for one pull request.
pub(crate) struct Graph<'a> {
    pub transport: &'a Transport,
    /// The address of GraphQL.
    pub url: String,
    pub owner: &'a str,
    pub repository: &'a str,
    pub number: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<T> {
    page_info: PageInfo,
    nodes: Vec<T>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageInfo {
    has_next_page: bool,
    end_cursor: Option<String>,
}

impl<T> Page<T> {
    fn next(&self) -> Option<String> {
        self.page_info
            .end_cursor
            .clone()
            .filter(|_| self.page_info.has_next_page)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadNode {
    id: String,
    is_resolved: bool,
    path: String,
    line: Option<u32>,
    comments: Page<CommentNode>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommentNode {
    /// The id of the comment in the REST API. GraphQL returns this id as a string, because the id can exceed 32
    /// bits.
    full_database_id: String,
    body: Untrusted,
    created_at: Timestamp,
    last_edited_at: Option<Timestamp>,
    viewer_did_author: bool,
    author_association: String,
    /// `None` if the user was deleted.
    author: Option<AuthorNode>,
}

#[derive(Debug, Deserialize)]
struct AuthorNode {
    login: String,
    #[serde(rename = "__typename")]
    kind: String,
}

impl CommentNode {
    fn into_comment(self) -> Comment {
        let is_member = matches!(
            self.author_association.as_str(),
            "OWNER" | "MEMBER" | "COLLABORATOR"
        );
        let author = self.author.map(|author| Account {
            is_bot: author.kind == "Bot",
            login: author.login,
        });
        Comment {
            id: CommentId(self.full_database_id),
            permission: if is_member {
                Permission::Member
            } else {
                Permission::Outsider
            },
            author: author.unwrap_or_default(),
            body: self.body,
            created: self.created_at,
            is_edited: self.last_edited_at.is_some(),
            is_own: self.viewer_did_author,
        }
    }
}

impl Graph<'_> {
    /// Reads all threads. All members get the permission [`Permission::Member`], even if they are maintainers.
    pub(super) fn threads(&self) -> Result<Vec<Thread>, HostError> {
        let query = format!(
            "query($owner: String!, $repository: String!, $number: Int!, $after: String) {{ \
             repository(owner: $owner, name: $repository) {{ pullRequest(number: $number) {{ \
             page: reviewThreads(first: 100, after: $after) {{ pageInfo {{ hasNextPage endCursor }} \
             nodes {{ id isResolved path line comments(first: 100) {{ pageInfo {{ hasNextPage endCursor }} \
             nodes {{ {COMMENT} }} }} }} }} }} }} }}"
        );
        let nodes: Vec<ThreadNode> = self.of_request(&query)?;
        let threads = nodes.into_iter().map(|node| {
            let next = node.comments.next();
            let mut comments = node.comments.nodes;
            if let Some(after) = next {
                comments.extend(self.further_comments(&node.id, &after)?);
            }
            Ok(Thread {
                id: ThreadId(node.id),
                path: Some(node.path),
                line: node.line,
                is_resolved: node.is_resolved,
                comments: comments
                    .into_iter()
                    .map(CommentNode::into_comment)
                    .collect(),
            })
        });
        let threads: Vec<Thread> = threads.collect::<Result<_, HostError>>()?;
        Ok(threads
            .into_iter()
            .filter(|thread| !thread.comments.is_empty())
            .collect())
    }

    /// Reads all comments that belong to no line.
    pub(super) fn comments(&self) -> Result<Vec<Comment>, HostError> {
        let query = format!(
            "query($owner: String!, $repository: String!, $number: Int!, $after: String) {{ \
             repository(owner: $owner, name: $repository) {{ pullRequest(number: $number) {{ \
             page: comments(first: 100, after: $after) {{ pageInfo {{ hasNextPage endCursor }} \
             nodes {{ {COMMENT} }} }} }} }} }}"
        );
        let nodes: Vec<CommentNode> = self.of_request(&query)?;
        Ok(nodes.into_iter().map(CommentNode::into_comment).collect())
    }

    pub(super) fn set_resolved(
        &self,
        thread: &ThreadId,
        is_resolved: bool,
    ) -> Result<(), HostError> {
        let mutation = if is_resolved {
            "resolveReviewThread"
        } else {
            "unresolveReviewThread"
        };
        let query = format!(
            "mutation($thread: ID!) {{ {mutation}(input: {{threadId: $thread}}) {{ thread {{ id }} }} }}"
        );
        self.ask(&query, &json!({ "thread": thread.0 }), "change a thread")
            .map(drop)
    }

    /// Reads a list of the pull request.
    fn of_request<T: DeserializeOwned>(&self, query: &str) -> Result<Vec<T>, HostError> {
        let variables = json!({
            "owner": self.owner, "repository": self.repository, "number": self.number, "after": null,
        });
        let place = "/repository/pullRequest/page";
        self.pages(query, variables, place, "the pull request is missing")
    }

    /// Reads a list to its end. `place` is where an answer has a page, and `missing` says what is missing without one.
    fn pages<T: DeserializeOwned>(
        &self,
        query: &str,
        mut variables: Value,
        place: &str,
        missing: &str,
    ) -> Result<Vec<T>, HostError> {
        let mut found = Vec::new();
        loop {
            let mut data = self.ask(query, &variables, WHAT)?;
            let page = data.pointer_mut(place).map(Value::take);
            let page = page.ok_or_else(|| self.transport.unexpected(WHAT, missing))?;
            let page: Page<T> = serde_json::from_value(page)
                .map_err(|error| self.transport.unexpected(WHAT, &error.to_string()))?;
            let next = page.next();
            found.extend(page.nodes);
            match next {
                Some(next) => variables["after"] = json!(next),
                None => return Ok(found),
            }
        }
    }

    fn further_comments(&self, thread: &str, after: &str) -> Result<Vec<CommentNode>, HostError> {
        let query = format!(
            "query($thread: ID!, $after: String) {{ node(id: $thread) {{ ... on PullRequestReviewThread {{ \
             comments(first: 100, after: $after) {{ pageInfo {{ hasNextPage endCursor }} \
             nodes {{ {COMMENT} }} }} }} }} }}"
        );
        let variables = json!({ "thread": thread, "after": after });
        self.pages(&query, variables, "/node/comments", "a thread is missing")
    }

    /// Sends a query or a mutation. GraphQL returns the HTTP status 200 even if it refuses a query.
    fn ask(&self, query: &str, variables: &Value, what: &str) -> Result<Value, HostError> {
        #[derive(Deserialize)]
        struct GraphAnswer {
            #[serde(default)]
            data: Value,
            #[serde(default)]
            errors: Vec<GraphError>,
        }
        #[derive(Deserialize)]
        struct GraphError {
            #[serde(rename = "type", default)]
            kind: String,
            message: String,
        }
        let body = json!({ "query": query, "variables": variables });
        let answer: GraphAnswer = self.transport.query(&self.url, &body, what)?;
        if let Some(error) = answer.errors.first() {
            let host = self.transport.host().to_owned();
            let why = self.transport.clean(&error.message);
            return Err(match error.kind.as_str() {
                "NOT_FOUND" => HostError::NotFound {
                    host,
                    what: "such pull request".to_owned(),
                },
                "FORBIDDEN" | "INSUFFICIENT_SCOPES" => HostError::Forbidden { host, why },
                _ => self.transport.refused(what, &error.message),
            });
        }
        Ok(answer.data)
    }
}
