//! GraphQL of GitHub: executes requests against the published schema, over the state of the double.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use apollo_compiler::resolvers::{Execution, FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use apollo_compiler::response::JsonMap;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};
use serde_json::{Value, json};

use super::super::double::{Answer, BOT, Discussion, Said, State};

static SCHEMA: LazyLock<Valid<Schema>> = LazyLock::new(|| {
    let text = include_str!("../descriptions/github.graphql");
    Schema::parse_and_validate(text, "github.graphql").expect("the schema is valid")
});

fn document(body: &Value) -> Result<Valid<ExecutableDocument>, String> {
    let query = body["query"].as_str().ok_or("the query is missing")?;
    ExecutableDocument::parse_and_validate(&SCHEMA, query, "query")
        .map_err(|error| error.to_string())
}

fn variables(body: &Value) -> Result<JsonMap, String> {
    let variables = body.get("variables").cloned().unwrap_or_else(|| json!({}));
    serde_json::from_value(variables)
        .map_err(|error| format!("the variables are no object: {error}"))
}

/// Checks a request against the schema.
pub(super) fn check(body: &Value) -> Result<(), String> {
    let (document, variables) = (document(body)?, variables(body)?);
    let operation = document
        .operations
        .get(None)
        .map_err(|error| format!("{error:?}"))?;
    apollo_compiler::request::coerce_variable_values(&SCHEMA, operation, &variables)
        .map_err(|error| format!("the variables do not fit: {error:?}"))?;
    let is_declared = |name: &str| {
        operation
            .variables
            .iter()
            .any(|variable| variable.name == name)
    };
    match variables.keys().find(|name| !is_declared(name.as_str())) {
        Some(name) => Err(format!("the query has no variable `{}`", name.as_str())),
        None => Ok(()),
    }
}

/// GraphQL answers with the status 200 also to what it refuses.
pub(super) fn error(kind: &str, message: &str) -> Answer {
    Answer::new(
        200,
        json!({ "data": null, "errors": [{ "type": kind, "message": message }] }),
    )
}

pub(super) fn is_mutation(body: &Value) -> bool {
    document(body).is_ok_and(|document| {
        document
            .operations
            .get(None)
            .is_ok_and(|operation| operation.is_mutation())
    })
}

pub(super) fn answer(state: &mut State, body: &Value) -> Answer {
    let (document, variables) =
        match document(body).and_then(|document| Ok((document, variables(body)?))) {
            Ok(request) => request,
            Err(why) => return Answer::new(200, json!({ "errors": [{ "message": why }] })),
        };
    // A part of the data is missing, such as what an organisation protects by its single sign-on.
    if let Some(failure) = state.other.remove("graphql_error") {
        let data = json!({ "repository": { "pullRequest": { "page": {
            "pageInfo": { "hasNextPage": false, "endCursor": null }, "nodes": [],
        } } } });
        return Answer::new(200, json!({ "data": data, "errors": [failure] }));
    }
    let root = Root {
        is_mutation: is_mutation(body),
        state: RefCell::new(state),
    };
    let execution = Execution::new(&SCHEMA, &document).raw_variable_values(&variables);
    let response = match execution.execute_sync(&root) {
        Ok(response) => serde_json::to_value(response).expect("a response is JSON"),
        Err(error) => json!({ "errors": [{ "message": format!("{error:?}") }] }),
    };
    Answer::new(200, with_types(response))
}

/// Moves the type before each message of [`refused`] into a field.
fn with_types(mut response: Value) -> Value {
    for error in response
        .get_mut("errors")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        let message = error["message"].as_str().unwrap_or_default().to_owned();
        let message = message.strip_prefix("resolver error: ").unwrap_or(&message);
        if let Some((kind, message)) = message.split_once(": ") {
            (error["type"], error["message"]) = (json!(kind), json!(message));
        }
    }
    response
}

fn refused(kind: &str, message: &str) -> FieldError {
    FieldError {
        message: format!("{kind}: {message}"),
    }
}

#[derive(Clone)]
enum Field {
    Leaf(Value),
    Object(Option<Object>),
    List(Vec<Object>),
    /// The name of its type, and all nodes.
    Connection(&'static str, Vec<Object>),
}

/// An object of the schema.
#[derive(Clone)]
struct Object {
    kind: &'static str,
    fields: BTreeMap<&'static str, Field>,
}

impl Object {
    fn new<const N: usize>(kind: &'static str, fields: [(&'static str, Field); N]) -> Self {
        Self {
            kind,
            fields: BTreeMap::from(fields),
        }
    }

    fn resolved<'a>(self) -> ResolvedValue<'a> {
        ResolvedValue::object(self)
    }
}

impl ObjectValue for Object {
    fn type_name(&self) -> &str {
        self.kind
    }

    fn resolve_field<'a>(
        &'a self,
        info: &'a ResolveInfo<'a>,
    ) -> Result<ResolvedValue<'a>, FieldError> {
        let field = self
            .fields
            .get(info.field_name())
            .ok_or_else(|| self.unknown_field_error(info))?;
        Ok(match field.clone() {
            Field::Leaf(value) => leaf(&value),
            Field::Object(object) => {
                object.map_or_else(ResolvedValue::null, |object| object.resolved())
            }
            Field::List(objects) => {
                ResolvedValue::list(objects.into_iter().map(|object| object.resolved()))
            }
            Field::Connection(kind, nodes) => page(kind, &nodes, info)?.resolved(),
        })
    }
}

fn leaf<'a>(value: &Value) -> ResolvedValue<'a> {
    ResolvedValue::Leaf(serde_json::from_value(value.clone()).expect("JSON is JSON"))
}

/// At most 100 nodes, after the cursor.
fn page(
    kind: &'static str,
    nodes: &[Object],
    info: &ResolveInfo<'_>,
) -> Result<Object, FieldError> {
    let arguments = info.arguments();
    let Some(count) = arguments.get("first").and_then(|first| first.as_u64()) else {
        return Err(refused(
            "MISSING_PAGINATION_BOUNDARIES",
            "You must provide a `first` or `last` value",
        ));
    };
    if count > 100 {
        return Err(refused(
            "EXCESSIVE_PAGINATION",
            "Requesting records exceeds the `first` limit of 100 records.",
        ));
    }
    let after = arguments
        .get("after")
        .and_then(|after| after.as_str())
        .unwrap_or("0");
    let first: usize = after
        .parse()
        .map_err(|_| refused("INVALID_CURSOR_ARGUMENTS", "`after` is no cursor"))?;
    let count = usize::try_from(count).unwrap_or(0);
    let shown: Vec<Object> = nodes.iter().skip(first).take(count).cloned().collect();
    let end = first + shown.len();
    let more = [
        ("hasNextPage", Field::Leaf(json!(end < nodes.len()))),
        ("endCursor", Field::Leaf(json!(end.to_string()))),
    ];
    let page_info = Field::Object(Some(Object::new("PageInfo", more)));
    Ok(Object::new(
        kind,
        [("nodes", Field::List(shown)), ("pageInfo", page_info)],
    ))
}

struct Root<'a> {
    is_mutation: bool,
    state: RefCell<&'a mut State>,
}

impl ObjectValue for Root<'_> {
    fn type_name(&self) -> &str {
        if self.is_mutation {
            "Mutation"
        } else {
            "Query"
        }
    }

    fn resolve_field<'a>(
        &'a self,
        info: &'a ResolveInfo<'a>,
    ) -> Result<ResolvedValue<'a>, FieldError> {
        let text = |name: &str| {
            info.arguments()
                .get(name)
                .and_then(|value| value.as_str())
                .unwrap_or_default()
        };
        let mut state = self.state.borrow_mut();
        let unknown = || {
            refused(
                "NOT_FOUND",
                "Could not resolve to a node with the global id",
            )
        };
        match info.field_name() {
            "repository" if text("owner") == "team" && text("name") == "shop" => {
                Ok(repository(&state).resolved())
            }
            "repository" => Err(refused(
                "NOT_FOUND",
                "Could not resolve to a Repository with the name",
            )),
            "node" => {
                let thread = state
                    .threads
                    .iter()
                    .find(|thread| node_id(thread) == text("id"));
                Ok(thread_object(&state, thread.ok_or_else(unknown)?).resolved())
            }
            name @ ("resolveReviewThread" | "unresolveReviewThread") => {
                let input = info
                    .arguments()
                    .get("input")
                    .and_then(|input| input.get("threadId"));
                let wanted = input.and_then(|id| id.as_str()).unwrap_or_default();
                let at = state
                    .threads
                    .iter()
                    .position(|thread| node_id(thread) == wanted)
                    .ok_or_else(unknown)?;
                state.threads[at].is_resolved = name == "resolveReviewThread";
                let thread = Field::Object(Some(thread_object(&state, &state.threads[at])));
                let kind = if name.starts_with("un") {
                    "UnresolveReviewThreadPayload"
                } else {
                    "ResolveReviewThreadPayload"
                };
                Ok(Object::new(kind, [("thread", thread)]).resolved())
            }
            _ => Err(self.unknown_field_error(info)),
        }
    }
}

fn repository(state: &State) -> Object {
    let threads = state
        .threads
        .iter()
        .map(|thread| thread_object(state, thread))
        .collect();
    let comments = state
        .comments
        .iter()
        .map(|said| comment("IssueComment", said))
        .collect();
    let pull = Object::new(
        "PullRequest",
        [
            (
                "reviewThreads",
                Field::Connection("PullRequestReviewThreadConnection", threads),
            ),
            (
                "comments",
                Field::Connection("IssueCommentConnection", comments),
            ),
        ],
    );
    Object::new("Repository", [("pullRequest", Field::Object(Some(pull)))])
}

fn node_id(thread: &Discussion) -> String {
    format!("T{}", thread.comments[0].id)
}

fn thread_object(state: &State, thread: &Discussion) -> Object {
    // A line that left the diff is null.
    let line = thread
        .line
        .filter(|line| state.lines(&thread.path).contains(line));
    let comments = thread
        .comments
        .iter()
        .map(|said| comment("PullRequestReviewComment", said))
        .collect();
    Object::new(
        "PullRequestReviewThread",
        [
            ("id", Field::Leaf(json!(node_id(thread)))),
            ("path", Field::Leaf(json!(thread.path))),
            ("line", Field::Leaf(json!(line))),
            ("isResolved", Field::Leaf(json!(thread.is_resolved))),
            (
                "comments",
                Field::Connection("PullRequestReviewCommentConnection", comments),
            ),
        ],
    )
}

/// A comment without an author is that of a deleted user.
fn comment(kind: &'static str, said: &Said) -> Object {
    let login = ("login", Field::Leaf(json!(said.by)));
    let author = (!said.by.is_empty()).then(|| Object::new("User", [login]));
    Object::new(
        kind,
        [
            ("fullDatabaseId", Field::Leaf(json!(said.id.to_string()))),
            ("author", Field::Object(author)),
            ("authorAssociation", Field::Leaf(json!(said.association))),
            ("body", Field::Leaf(json!(said.body))),
            ("createdAt", Field::Leaf(json!("2026-01-01T00:00:00Z"))),
            ("lastEditedAt", Field::Leaf(Value::Null)),
            ("viewerDidAuthor", Field::Leaf(json!(said.by == BOT))),
        ],
    )
}
