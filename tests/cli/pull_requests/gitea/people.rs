//! Users and their permissions.

use serde_json::{Value, json};

use super::{not_found, other};
use crate::pull_requests::double::{Answer, BOT, State};

/// The user of the token can read the permissions of others only as an administrator of the repository.
pub(crate) const IS_ADMIN: &str = "is_admin";

/// A user. The name of a deleted user is empty.
pub(super) fn user(login: &str) -> Value {
    let (id, login) = match login {
        "" => (-1, "Ghost"),
        "gitea-actions" => (-2, login),
        BOT => (9, BOT),
        login => (100 + login.bytes().map(i64::from).sum::<i64>(), login),
    };
    json!({ "id": id, "login": login, "username": login })
}

/// What the comments of a user state about his relation to the repository.
fn association(state: &State, login: &str) -> Option<String> {
    let on_lines = state.threads.iter().flat_map(|thread| &thread.comments);
    let mut all = on_lines
        .chain(&state.comments)
        .filter(|said| said.by.to_lowercase() == login.to_lowercase());
    all.next().map(|said| said.association.clone())
}

pub(super) fn permission(state: &mut State, login: &str) -> Answer {
    if *other(state, IS_ADMIN, json!(true)) != json!(true) {
        return Answer::message(
            403,
            "Only admins can query all permissions, repo admins can query all repo permissions, collaborators can \
             query only their own",
        );
    }
    // Everybody can read the public repository.
    let permission = if state.maintainers.contains(login) {
        "write"
    } else {
        "read"
    };
    Answer::new(
        200,
        json!({ "permission": permission, "role_name": permission, "user": user(login) }),
    )
}

/// The users who can write, and the members of the organisation's teams.
pub(super) fn assignees(state: &State) -> Value {
    let threads = state.threads.iter().flat_map(|thread| &thread.comments);
    let members = threads
        .filter(|said| said.association == "MEMBER")
        .map(|said| said.by.clone());
    let mut logins: Vec<String> = members.chain(state.maintainers.iter().cloned()).collect();
    logins.sort();
    logins.dedup();
    Value::Array(logins.iter().map(|login| user(login)).collect())
}

pub(super) fn collaborator(state: &State, login: &str) -> Answer {
    match association(state, login).as_deref() {
        None => Answer::message(422, "user does not exist"),
        Some("COLLABORATOR") => Answer::new(204, Value::Null),
        Some(_) => not_found(),
    }
}
