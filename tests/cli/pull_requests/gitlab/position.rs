//! Positions of notes in the diff: what GitLab accepts, and how it shows them.

use serde_json::{Value, json};

use super::super::double::{Answer, Discussion, Request, State, git};
use super::{bad_request, notes};

/// Starts a thread at a position, or without a position.
pub(super) fn start(state: &mut State, request: &Request) -> Answer {
    let (body, position) = (request.text("body"), &request.body["position"]);
    if body.trim().is_empty() {
        return bad_request("Note {:note=>[\"can't be blank\"]}");
    }
    let place = if position.is_null() {
        Ok((String::new(), None))
    } else {
        place(state, position)
    };
    let (path, line) = match place {
        Ok(place) => place,
        Err(refused) => return refused,
    };
    state.open(&path, line, &body);
    let thread = state.threads.last().expect("the new thread");
    Answer::new(201, notes::discussion(state, thread))
}

fn place(state: &State, position: &Value) -> Result<(String, Option<u32>), Answer> {
    let text = |field: &str| position[field].as_str().unwrap_or_default();
    let known = if state.other.contains_key("before 16.4") {
        &["text", "image"][..]
    } else {
        &["text", "image", "file"]
    };
    if !known.contains(&text("position_type")) {
        return Err(Answer::new(
            400,
            json!({ "error": "position[position_type] does not have a valid value" }),
        ));
    }
    let invalid =
        || bad_request("Note {:line_code=>[\"can't be blank\", \"must be a valid line code\"]}");
    // After a push in the middle of a publication, the position has commits of an earlier version.
    let head = if state.other.contains_key("pushed") {
        "0".repeat(40)
    } else {
        state.head()
    };
    let start = state.commit("refs/heads/main");
    let base = git(&state.repository, &["merge-base", &start, &state.head_ref]);
    let shas = [
        ("base_sha", base.trim()),
        ("start_sha", &start),
        ("head_sha", &head),
    ];
    if shas
        .iter()
        .any(|(field, expected)| text(field) != *expected)
    {
        return Err(invalid());
    }
    let is_it = |(path, previous, _): &(String, Option<String>, String)| {
        text("new_path") == path && text("old_path") == previous.as_ref().unwrap_or(path)
    };
    let file = state.files().into_iter().find(is_it).ok_or_else(invalid)?;
    if text("position_type") == "file" {
        return Ok((file.0, None));
    }
    let number = |field: &str| {
        position[field]
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
    };
    let wanted = (number("old_line"), number("new_line"));
    let is_shown = lines(&file.2).contains(&wanted);
    let line = wanted.1.filter(|_| is_shown).ok_or_else(invalid)?;
    Ok((file.0, Some(line)))
}

/// The old and the new number of each line of a diff. Added lines have no old number, and removed lines have no new number.
fn lines(patch: &str) -> Vec<(Option<u32>, Option<u32>)> {
    let (mut found, mut old, mut new) = (Vec::new(), 0, 0);
    for line in patch.lines() {
        if let Some(hunk) = line.strip_prefix("@@ ") {
            let first = |sign: char| {
                hunk.split(sign)
                    .nth(1)?
                    .split([',', ' '])
                    .next()?
                    .parse()
                    .ok()
            };
            (old, new) = (first('-').unwrap_or(0), first('+').unwrap_or(0));
            continue;
        }
        match line.chars().next() {
            Some('\\') => {}
            Some('+') => {
                found.push((None, Some(new)));
                new += 1;
            }
            Some('-') => {
                found.push((Some(old), None));
                old += 1;
            }
            _ => {
                found.push((Some(old), Some(new)));
                (old, new) = (old + 1, new + 1);
            }
        }
    }
    found
}

/// The position of a thread's notes. GitLab moves positions to the current diff as long as the line is in it.
pub(super) fn shown(state: &State, thread: &Discussion) -> Value {
    if thread.path.is_empty() {
        return Value::Null;
    }
    let is_current = thread
        .line
        .is_some_and(|line| state.lines(&thread.path).contains(&line));
    let head = if is_current {
        state.head()
    } else {
        "0".repeat(40)
    };
    json!({
        "head_sha": head, "old_path": thread.path, "new_path": thread.path, "new_line": thread.line, "old_line": null,
        "position_type": if thread.line.is_some() { "text" } else { "file" },
    })
}
