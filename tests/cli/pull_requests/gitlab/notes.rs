//! Users, notes and discussions.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::double::{AUTHOR, Answer, BOT, Discussion, Request, Said, State};
use super::{bad_request, not_found};

/// The second in which the first object was created.
const EPOCH: i64 = 1_767_225_600;

pub(super) fn user(login: &str) -> Value {
    json!({ "id": user_id(login), "username": login, "name": login, "state": "active" })
}

fn user_id(login: &str) -> u64 {
    login
        .bytes()
        .fold(7, |id, byte| (id * 31 + u64::from(byte)) % 1_000_000_007)
}

/// The member of the project with this id. GitLab states the level of a user, and not of a comment.
pub(super) fn member(state: &State, id: &str) -> Answer {
    let of_threads = state.threads.iter().flat_map(|thread| &thread.comments);
    let said: Vec<&Said> = of_threads.chain(&state.comments).collect();
    let mut logins: BTreeSet<&str> = said.iter().map(|said| said.by.as_str()).collect();
    logins.insert(AUTHOR);
    let Some(login) = logins
        .into_iter()
        .find(|login| user_id(login).to_string() == id)
    else {
        return not_found("Member");
    };
    let association = said
        .iter()
        .rev()
        .find(|said| said.by == login)
        .map_or("NONE", |said| &said.association);
    let level = match association {
        "OWNER" => 50,
        _ if state.maintainers.contains(login) => 40,
        "MEMBER" | "COLLABORATOR" => 30,
        "CONTRIBUTOR" => 20,
        _ => return not_found("Member"),
    };
    let mut member = user(login);
    member["access_level"] = json!(level);
    Answer::new(200, member)
}

/// The lines that GitLab executes as commands. GitLab searches the text without parsing Markdown, so this does not skip
/// blocks of code.
pub(super) fn commands(body: &str) -> Vec<String> {
    let is_command = |line: &&str| {
        let word = line
            .strip_prefix('/')
            .and_then(|rest| rest.split_whitespace().next());
        word.is_some_and(|word| {
            word.bytes()
                .all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        })
    };
    body.lines().filter(is_command).map(str::to_owned).collect()
}

fn time(second: u64) -> String {
    let second = i64::try_from(second).expect("a small number");
    Timestamp::from_second(EPOCH + second)
        .expect("a time")
        .to_string()
}

fn edited(id: u64) -> String {
    format!("edited {id}")
}

/// All notes without resolution and position.
fn note(state: &State, said: &Said) -> Value {
    let updated = if state.other.contains_key(&edited(said.id)) {
        said.id + 100_000
    } else {
        said.id
    };
    json!({
        "id": said.id, "type": null, "body": said.body, "author": user(&said.by), "created_at": time(said.id),
        "updated_at": time(updated), "system": false, "noteable_id": 70, "noteable_type": "MergeRequest",
        "noteable_iid": 7, "project_id": 3, "resolvable": false, "internal": false,
    })
}

pub(super) fn id_of(thread: &Discussion) -> String {
    format!("{:040x}", thread.comments[0].id)
}

pub(super) fn discussion(state: &State, thread: &Discussion) -> Value {
    let notes = thread.comments.iter().map(|said| {
        let mut note = note(state, said);
        note["type"] = json!("DiffNote");
        note["resolvable"] = json!(true);
        note["resolved"] = json!(thread.is_resolved);
        note["resolved_at"] = if thread.is_resolved {
            json!(time(said.id + 50))
        } else {
            Value::Null
        };
        note["position"] = super::position::shown(state, thread);
        note
    });
    json!({ "id": id_of(thread), "individual_note": false, "notes": notes.collect::<Vec<_>>() })
}

/// The discussions by the time of their first notes.
pub(super) fn discussions(state: &State) -> Vec<Value> {
    let single = |said: &Said| json!({ "id": format!("{:040x}", said.id), "individual_note": true, "notes": [note(state, said)] });
    let mut pushed = single(&Said {
        id: 1,
        by: AUTHOR.to_owned(),
        association: "NONE".to_owned(),
        body: "added 1 commit".to_owned(),
    });
    pushed["notes"][0]["system"] = json!(true);
    let mut all = vec![pushed];
    all.extend(state.threads.iter().map(|thread| discussion(state, thread)));
    all.extend(state.comments.iter().map(single));
    all.sort_by_key(|discussion| discussion["notes"][0]["id"].as_u64());
    all
}

pub(super) fn reply(state: &mut State, id: &str, request: &Request) -> Answer {
    if request.text("body").trim().is_empty() {
        return bad_request("Note {:note=>[\"can't be blank\"]}");
    }
    let said = state.said(BOT, "NONE", &request.text("body"));
    let answer = note(state, &said);
    let Some(thread) = state.threads.iter_mut().find(|thread| id_of(thread) == id) else {
        return not_found("Discussion");
    };
    thread.comments.push(said);
    Answer::new(201, answer)
}

pub(super) fn resolve(state: &mut State, id: &str, request: &Request) -> Answer {
    let Some(is_resolved) = request.body["resolved"].as_bool() else {
        return Answer::new(400, json!({ "error": "resolved is missing" }));
    };
    let is_reporter = state.other.contains_key("reporter");
    let Some(at) = state.threads.iter().position(|thread| id_of(thread) == id) else {
        return not_found("Discussion");
    };
    if is_reporter {
        return Answer::message(403, "403 Forbidden");
    }
    state.threads[at].is_resolved = is_resolved;
    Answer::new(200, discussion(state, &state.threads[at]))
}

pub(super) fn create(state: &mut State, request: &Request) -> Answer {
    if request.text("body").trim().is_empty() {
        return bad_request("Note {:note=>[\"can't be blank\"]}");
    }
    let said = state.said(BOT, "NONE", &request.text("body"));
    let answer = note(state, &said);
    state.comments.push(said);
    Answer::new(201, answer)
}

/// Edits a note of the token's user.
pub(super) fn edit(state: &mut State, id: &str, request: &Request) -> Answer {
    let of_threads = state
        .threads
        .iter_mut()
        .flat_map(|thread| &mut thread.comments);
    let Some(said) = of_threads
        .chain(&mut state.comments)
        .find(|said| said.id.to_string() == id)
    else {
        return not_found("Note");
    };
    if said.by != BOT {
        return Answer::message(403, "403 Forbidden");
    }
    said.body = request.text("body");
    let said = said.clone();
    state.other.insert(edited(said.id), json!(true));
    Answer::new(200, note(state, &said))
}
