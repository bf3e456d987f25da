//! Reviews with comments on lines.
//!
//! As on the real host, a comment belongs to a review, a path and a line; the comments of a new review are stored one by
//! one in a review that is not submitted; and a comment counts as updated after a push changed its line.
//!
//! A thread of the state is what a page of the host shows as one conversation: the comments of one review on one line.
//! The page with the diff shows all comments on one line as one conversation, and an old server has no other threads
//! for replies by its API.

use serde_json::{Value, json};

use super::people::user;
use super::store::{
    BLAME, DRAFTS, FAILS_AFTER, Place, RESOLVED, REVIEW_OF, REVIEWS, array, blame, exists, find,
    number, of_review, review_of, said, text,
};
use super::{Gitea, Version, not_found, other};
use crate::pull_requests::double::{Answer, BOT, Discussion, Request, Said, State};

pub(super) fn listed(state: &mut State) -> Vec<Value> {
    let drafts = array(state, DRAFTS).clone();
    let reviews = array(state, REVIEWS).clone();
    let form = |review: &Value| {
        let id = number(&review["id"]);
        let is_pending = review["state"] == "PENDING";
        let of_draft = drafts
            .iter()
            .filter(|draft| draft["review"] == review["id"])
            .count();
        let comments = if is_pending {
            of_draft
        } else {
            of_review(state, id).len()
        };
        json!({
            "id": id, "user": user(text(&review["by"])), "state": review["state"], "body": "",
            "commit_id": review["commit"], "comments_count": comments, "stale": false, "official": false,
        })
    };
    // Other users cannot see a review that is not submitted.
    reviews
        .iter()
        .filter(|review| review["state"] != "PENDING" || review["by"] == BOT)
        .map(form)
        .collect()
}

pub(super) fn comments(state: &mut State, review: &str) -> Answer {
    let reviews = array(state, REVIEWS).clone();
    let wanted: u64 = review.parse().unwrap_or(0);
    let Some(known) = reviews.iter().find(|known| known["id"] == wanted) else {
        return not_found();
    };
    let id = number(&known["id"]);
    let mut found: Vec<Value> = Vec::new();
    for draft in array(state, DRAFTS)
        .iter()
        .filter(|draft| draft["review"] == known["id"])
    {
        let mut form = said(
            &Said {
                id: number(&draft["id"]),
                by: text(&known["by"]).to_owned(),
                association: String::new(),
                body: text(&draft["body"]).to_owned(),
            },
            false,
        );
        form["path"] = draft["path"].clone();
        form["position"] = draft["line"].clone();
        found.push(form);
    }
    let head = state.head();
    for (at, index) in of_review(state, id) {
        let thread = state.threads[at].clone();
        let comment = &thread.comments[index];
        let line = thread.line.expect("a comment is on a line");
        let now = blame(state, &head, &thread.path, line);
        let key = comment.id.to_string();
        let before = other(state, BLAME, json!({}))
            .as_object_mut()
            .expect("an object")
            .entry(key)
            .or_insert(json!(now))
            .clone();
        let is_resolved = match index {
            0 => thread.is_resolved,
            _ => array(state, RESOLVED).contains(&json!(comment.id)),
        };
        let mut form = said(comment, json!(now) != before);
        form["path"] = json!(thread.path);
        form["position"] = json!(line);
        form["original_position"] = json!(0);
        form["pull_request_review_id"] = json!(id);
        form["commit_id"] = before;
        form["resolver"] = if is_resolved {
            user("someone")
        } else {
            Value::Null
        };
        found.push(form);
    }
    // The host sends the comments of a review in any order.
    found.reverse();
    Answer::new(200, Value::Array(found))
}

/// Adds a comment of the token's user to a thread, or starts a thread.
fn add(state: &mut State, place: &Place, body: &str, thread: Option<usize>) -> u64 {
    let said = state.said(BOT, "NONE", body);
    let id = said.id;
    match thread {
        Some(at) => state.threads[at].comments.push(said),
        None => state.threads.push(Discussion {
            path: place.path.clone(),
            line: Some(place.line),
            is_resolved: false,
            comments: vec![said],
        }),
    }
    other(state, REVIEW_OF, json!({}))[id.to_string()] = json!(place.review);
    let head = state.head();
    let changed = json!(blame(state, &head, &place.path, place.line));
    other(state, BLAME, json!({}))[id.to_string()] = changed;
    if !state.lines(&place.path).contains(&place.line) && thread.is_none() {
        state.misfits.push(format!(
            "no page shows a comment on {}:{}",
            place.path, place.line
        ));
    }
    id
}

impl Gitea {
    pub(super) fn create_review(&self, state: &mut State, request: &Request) -> Answer {
        let comments = request.body["comments"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        if request.body["event"] != "COMMENT"
            || comments.is_empty() && request.text("body").trim().is_empty()
        {
            return Answer::message(422, "review event COMMENT requires a body or a comment");
        }
        let commit = request.text("commit_id");
        if !exists(state, &commit) {
            return Answer::message(500, "");
        }
        let is_current = |review: &&Value| review["state"] == "PENDING" && review["by"] == BOT;
        let known = array(state, REVIEWS)
            .iter()
            .find(is_current)
            .map(|review| number(&review["id"]));
        let review = known.unwrap_or_else(|| state.id());
        if known.is_none() {
            let form = json!({ "id": review, "by": BOT, "state": "PENDING", "commit": commit });
            array(state, REVIEWS).push(form);
        }
        let most = state.other.remove(FAILS_AFTER).map_or(usize::MAX, |most| {
            usize::try_from(number(&most)).expect("small")
        });
        for (index, comment) in comments.iter().enumerate() {
            if index == most {
                return Answer::message(500, "");
            }
            let draft = json!({
                "id": state.id(), "review": review, "path": comment["path"], "line": comment["new_position"],
                "body": comment["body"],
            });
            array(state, DRAFTS).push(draft);
        }
        self.submit(state, review, &commit);
        Answer::new(200, json!({ "id": review }))
    }

    fn submit(&self, state: &mut State, review: u64, commit: &str) {
        for known in array(state, REVIEWS)
            .iter_mut()
            .filter(|known| known["id"] == review)
        {
            known["state"] = json!("COMMENT");
            known["commit"] = json!(commit);
        }
        let (drafts, rest) = array(state, DRAFTS)
            .drain(..)
            .partition(|draft| draft["review"] == review);
        *array(state, DRAFTS) = rest;
        let drafts: Vec<Value> = drafts;
        for draft in drafts {
            let line = u32::try_from(number(&draft["line"])).expect("a line");
            let place = Place {
                review,
                path: text(&draft["path"]).to_owned(),
                line,
            };
            let known = state.threads.iter().position(|thread| {
                let is_here = thread.path == place.path && thread.line == Some(line);
                let first = review_of(state, thread, &thread.comments[0]);
                is_here && (self.0 == Version::Gitea23 || first == review)
            });
            add(state, &place, text(&draft["body"]), known);
        }
    }

    /// Adds a comment to a review that was submitted.
    pub(super) fn extend_review(
        &self,
        state: &mut State,
        review: &str,
        request: &Request,
    ) -> Answer {
        let line = u32::try_from(number(&request.body["new_position"])).unwrap_or(0);
        let (path, review) = (request.text("path"), review.parse().unwrap_or(0));
        if !array(state, REVIEWS)
            .iter()
            .any(|known| known["id"] == review)
        {
            return not_found();
        }
        let is_here = |thread: &Discussion| {
            thread.path == path
                && thread.line == Some(line)
                && review_of(state, thread, &thread.comments[0]) == review
        };
        let thread = state.threads.iter().position(is_here);
        let id = add(
            state,
            &Place { review, path, line },
            &request.text("body"),
            thread,
        );
        Answer::new(200, json!({ "id": id }))
    }
}

pub(super) fn delete(state: &mut State, review: &str) -> Answer {
    let id: u64 = review.parse().unwrap_or(0);
    let known = array(state, REVIEWS)
        .iter()
        .find(|known| known["id"] == id)
        .cloned();
    match known {
        None => not_found(),
        Some(known) if known["by"] != BOT => Answer::new(403, Value::Null),
        Some(_) => {
            // Of what others can see, only what is there twice is ever deleted.
            let of_review = of_review(state, id);
            let comments: Vec<Said> = of_review
                .iter()
                .map(|(at, index)| state.threads[*at].comments[*index].clone())
                .collect();
            for said in &comments {
                let all = state.threads.iter().flat_map(|thread| &thread.comments);
                let same = all.filter(|other| other.body == said.body && other.by == BOT);
                if said.by != BOT || same.count() < 2 {
                    state
                        .misfits
                        .push(format!("comment {} is deleted", said.id));
                }
                state.delete(&said.id.to_string());
            }
            array(state, REVIEWS).retain(|known| known["id"] != id);
            array(state, DRAFTS).retain(|draft| draft["review"] != id);
            Answer::new(204, Value::Null)
        }
    }
}

pub(super) fn reply(state: &mut State, id: &str, request: &Request) -> Answer {
    if state.comments.iter().any(|said| said.id.to_string() == id) {
        return Answer::message(400, "comment is not a review comment");
    }
    let Some((at, index)) = find(state, id) else {
        return not_found();
    };
    let thread = state.threads[at].clone();
    let review = review_of(state, &thread, &thread.comments[index]);
    let place = Place {
        review,
        path: thread.path,
        line: thread.line.expect("a comment is on a line"),
    };
    let id = add(state, &place, &request.text("body"), Some(at));
    Answer::new(201, json!({ "id": id }))
}

pub(super) fn resolve(state: &mut State, id: &str, is_resolved: bool) -> Answer {
    if state.comments.iter().any(|said| said.id.to_string() == id) {
        return Answer::message(400, "comment is not a review comment");
    }
    let Some((at, index)) = find(state, id) else {
        return not_found();
    };
    let comment = json!(state.threads[at].comments[index].id);
    if index == 0 {
        state.threads[at].is_resolved = is_resolved;
    } else {
        array(state, RESOLVED).retain(|known| *known != comment);
        if is_resolved {
            array(state, RESOLVED).push(comment);
        }
    }
    Answer::new(204, Value::Null)
}
