//! Tests of the threads that comments form, and of the parts of answers that need care.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use rstest::rstest;
use serde_json::{Value, json};

use super::answers::{GiteaComment, GiteaPull};
use super::threads::{self, LineComment, ThreadPlace};
use super::{reviews, threads::file_body};
use crate::hosts::model::{Conversation, NewComment, RequestState, ThreadId};

/// The user of the token, and a marker of Glee.
const ME: i64 = 9;
const MARKER: &str = "<!-- glee:finding:e30 -->";

fn comment(id: u64, user: i64, body: &str) -> Value {
    let login = if user == -1 {
        "Ghost".to_owned()
    } else {
        format!("user{user}")
    };
    json!({
        "id": id, "body": body, "user": { "id": user, "login": login }, "resolver": null, "path": "a.py",
        "position": 3, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
    })
}

fn on_line(review: u64, commit: &str, comment: Value) -> LineComment {
    LineComment {
        comment: serde_json::from_value(comment).unwrap(),
        review,
        commit: commit.to_owned(),
    }
}

fn read(
    on_lines: Vec<LineComment>,
    on_request: Vec<Value>,
) -> (Conversation, BTreeMap<ThreadId, ThreadPlace>) {
    let on_request: Vec<GiteaComment> = on_request
        .into_iter()
        .map(|comment| serde_json::from_value(comment).unwrap())
        .collect();
    threads::of(on_lines, on_request, Some(ME), "head")
}

/// The ids of the comments of each thread, and of the comments that belong to no thread.
fn ids(conversation: &Conversation) -> (Vec<Vec<&str>>, Vec<&str>) {
    let threads = conversation.threads.iter();
    let threads = threads.map(|thread| {
        thread
            .comments
            .iter()
            .map(|comment| comment.id.0.as_str())
            .collect()
    });
    (
        threads.collect(),
        conversation
            .comments
            .iter()
            .map(|comment| comment.id.0.as_str())
            .collect(),
    )
}

#[test]
fn a_reply_continues_the_thread_of_its_review_and_line() {
    let glee = |text: &str| format!("{text}\n\n{MARKER}");
    // Two findings on one line are in two reviews. The host sends the comments of a review in any order.
    let (conversation, _) = read(
        vec![
            on_line(1, "head", comment(4, 5, "a reply to the first")),
            on_line(1, "head", comment(1, ME, &glee("first"))),
            on_line(2, "head", comment(2, ME, &glee("second"))),
            on_line(2, "head", comment(5, 5, "a reply to the second")),
            on_line(
                1,
                "head",
                comment(6, ME, &threads::reply_body(1, &glee("an answer"))),
            ),
            on_line(3, "head", comment(7, 6, "a comment of its own on the line")),
            on_line(
                4,
                "later",
                comment(8, 6, "a comment on the line of another commit"),
            ),
            on_line(
                5,
                "head",
                comment(
                    9,
                    ME,
                    &threads::reply_body(2, &glee("an answer in a review of its own")),
                ),
            ),
            on_line(5, "head", comment(10, 6, "a reply to this answer")),
            on_line(
                1,
                "head",
                comment(11, ME, "a person with the account of Glee replies"),
            ),
        ],
        vec![comment(3, 7, "about the request")],
    );
    let threads = vec![
        vec!["1", "4", "6", "11"],
        vec!["2", "5", "7", "9", "10"],
        vec!["8"],
    ];
    assert_eq!(ids(&conversation), (threads, vec!["3"]));
    let lines: Vec<_> = conversation
        .threads
        .iter()
        .map(|thread| thread.line)
        .collect();
    assert_eq!(
        lines,
        [Some(3), Some(3), None],
        "a line of another commit is not current"
    );
}

#[test]
fn only_the_user_of_the_token_can_name_a_thread_or_comment_on_a_file() {
    let forged = threads::reply_body(1, MARKER);
    let (conversation, places) = read(
        vec![
            on_line(1, "head", comment(1, ME, MARKER)),
            on_line(2, "later", comment(2, 5, &forged)),
            // The comment that this answer names was deleted.
            on_line(3, "head", comment(3, ME, &threads::reply_body(99, MARKER))),
        ],
        vec![
            comment(4, 5, &file_body(MARKER)),
            comment(5, ME, &file_body("without a marker")),
            comment(6, ME, &file_body(MARKER)),
            comment(7, ME, &threads::reply_body(6, MARKER)),
        ],
    );
    let threads = vec![vec!["1"], vec!["2"], vec!["3"], vec!["6", "7"]];
    assert_eq!(ids(&conversation), (threads, vec!["4", "5"]));
    let of_file = &conversation.threads[3];
    assert_eq!((&of_file.path, of_file.line), (&None, None));
    assert_eq!(places[&of_file.id].line, None);
}

#[test]
fn comments_state_who_wrote_and_resolved_them() {
    let mut resolved = comment(1, ME, MARKER);
    resolved["resolver"] = json!({ "id": 5, "login": "user5" });
    let mut edited = comment(2, -2, "by the Actions");
    edited["updated_at"] = json!("2026-01-01T00:00:01Z");
    let (conversation, _) = read(
        vec![
            on_line(1, "head", resolved),
            on_line(1, "head", edited),
            on_line(1, "head", comment(3, -1, "by a deleted user")),
        ],
        Vec::new(),
    );
    let thread = &conversation.threads[0];
    assert!(thread.is_resolved);
    let said: Vec<_> = thread
        .comments
        .iter()
        .map(|said| (said.author.login.as_str(), said.author.is_bot))
        .collect();
    assert_eq!(said, [("user9", false), ("user-2", true), ("", false)]);
    let edited: Vec<bool> = thread.comments.iter().map(|said| said.is_edited).collect();
    assert_eq!(edited, [false, true, false]);
    assert_eq!(thread.comments.iter().filter(|said| said.is_own).count(), 1);
}

#[test]
fn a_review_has_one_comment_on_each_line() {
    let comment = |path: &str, line: Option<u32>, body: &str| NewComment {
        path: path.to_owned(),
        line,
        start_line: None,
        body: body.to_owned(),
    };
    let comments = [
        comment("a", Some(1), "1"),
        comment("a", Some(1), "2"),
        comment("b", Some(1), "3"),
        comment("a", Some(1), "4"),
        comment("a", Some(2), "5"),
        comment("a", None, "of the file"),
    ];
    let bodies = |review: &Vec<&NewComment>| {
        review
            .iter()
            .map(|comment| comment.body.as_str())
            .collect::<String>()
    };
    let split = reviews::split(&comments);
    assert_eq!(
        split.iter().map(bodies).collect::<Vec<_>>(),
        ["135", "2", "4"]
    );
}

fn pull() -> Value {
    let repository = json!({ "id": 1, "clone_url": "https://forge.example/o/r.git" });
    json!({
        "number": 7, "html_url": "https://forge.example/o/r/pulls/7", "title": "Change",
        "user": { "id": 3, "login": "author" }, "state": "open", "merged": false, "draft": false,
        "merge_base": "base0", "base": { "sha": "base1", "ref": "main", "repo": repository },
        "head": { "sha": "head1", "ref": "change", "repo": { "id": 2, "clone_url": "https://forge.example/f/r.git" } },
    })
}

#[rstest]
#[case("", json!(null), "open fork author base1")]
#[case("/head/repo", json!(null), "open fork author base1")]
#[case("/head/repo/id", json!(1), "open own author base1")]
#[case("/merged", json!(true), "merged fork author base1")]
#[case("/state", json!("closed"), "closed fork author base1")]
#[case("/draft", json!(true), "open draft fork author base1")]
#[case("/user", json!({ "id": -1, "login": "Ghost" }), "open fork  base1")]
#[case("/base/sha", json!(""), "open fork author base0")]
#[case("/head/sha", json!(""), "the commit of the base or of the head is missing")]
#[case("/base/repo", json!(null), "the repository of the base commit is missing")]
fn a_pull_request_is_read(#[case] at: &str, #[case] value: Value, #[case] expected: &str) {
    let mut answer = pull();
    if !at.is_empty() {
        *answer.pointer_mut(at).unwrap() = value;
    }
    let found = serde_json::from_value::<GiteaPull>(answer)
        .unwrap()
        .into_request();
    let text = found.map_or_else(str::to_owned, |request| {
        let state = match request.state {
            RequestState::Open => "open",
            RequestState::Closed => "closed",
            RequestState::Merged => "merged",
        };
        let draft = if request.is_draft { "draft " } else { "" };
        let place = if request.is_fork { "fork" } else { "own" };
        assert_eq!(request.head_ref, "refs/pull/7/head");
        format!(
            "{state} {draft}{place} {} {}",
            request.author.login, request.base.id
        )
    });
    assert_eq!(text, expected);
}

#[rstest]
#[case("WIP: change", true)]
#[case("[wip] change", true)]
#[case("A WIP: change", false)]
fn an_old_server_states_drafts_in_the_title(#[case] title: &str, #[case] expected: bool) {
    let mut answer = pull();
    answer["title"] = json!(title);
    answer.as_object_mut().unwrap().remove("draft");
    let found = serde_json::from_value::<GiteaPull>(answer)
        .unwrap()
        .into_request()
        .unwrap();
    assert_eq!(found.is_draft, expected);
}
