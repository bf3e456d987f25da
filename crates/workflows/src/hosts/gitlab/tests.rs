//! Tests of the conversions between GitLab's API and the types of all hosts.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use rstest::rstest;
use serde_json::{Value, json};

use super::answers::{
    DiffAnswer, GitLabUser, MergeRequestAnswer, NoteAnswer, PipelineAnswer, account,
};
use super::status::StatusPlace;
use super::{position, status};
use crate::hosts::model::{Check, CheckState, NewComment, PullRequest, RequestState};

const HEAD: &str = "cccccccccccccccccccccccccccccccccccccccc";

fn answer(state: &str, source: Option<u64>) -> MergeRequestAnswer {
    serde_json::from_value(json!({
        "iid": 7, "web_url": "https://lab.example/g/s/p/-/merge_requests/7", "title": "A change", "state": state,
        "author": { "id": 1, "username": "author", "name": "A" }, "draft": true,
        "source_branch": "change", "target_branch": "main", "source_project_id": source, "target_project_id": 3,
        "diff_refs": { "base_sha": "a", "start_sha": "b", "head_sha": HEAD },
    }))
    .unwrap()
}

fn request(source: Option<u64>) -> PullRequest {
    answer("opened", source)
        .into_request("https://lab.example/g/s/p.git".to_owned())
        .unwrap()
}

#[rstest]
#[case("opened", Some(3), RequestState::Open, false)]
#[case("closed", Some(3), RequestState::Closed, false)]
#[case("merged", Some(4), RequestState::Merged, true)]
#[case("locked", Some(3), RequestState::Merged, false)]
#[case("opened", None, RequestState::Open, true)]
fn a_merge_request_is_a_pull_request(
    #[case] state: &str,
    #[case] source: Option<u64>,
    #[case] expected: RequestState,
    #[case] is_fork: bool,
) {
    let request = answer(state, source).into_request(String::new()).unwrap();
    assert_eq!(
        (request.state, request.is_fork, request.is_draft),
        (expected, is_fork, true)
    );
    assert_eq!(
        (request.base.id.as_str(), request.merge_base.as_deref()),
        ("b", Some("a"))
    );
    assert_eq!(
        (request.head.id.as_str(), request.head_ref.as_str()),
        (HEAD, "refs/merge-requests/7/head")
    );
}

#[test]
fn a_merge_request_without_a_computed_diff_is_an_error() {
    for refs in [
        Value::Null,
        json!({ "base_sha": null, "start_sha": "b", "head_sha": "c" }),
    ] {
        let mut whole = json!({
            "iid": 7, "web_url": "", "title": "", "state": "opened", "source_branch": "", "target_branch": "",
            "target_project_id": 3,
        });
        whole["diff_refs"] = refs;
        let answer: MergeRequestAnswer = serde_json::from_value(whole).unwrap();
        assert!(!answer.is_prepared());
        assert_eq!(
            answer.into_request(String::new()),
            Err("the host has not computed the diff yet")
        );
    }
}

fn comment(line: Option<u32>, start_line: Option<u32>, body: &str) -> NewComment {
    NewComment {
        path: "new.py".to_owned(),
        line,
        start_line,
        body: body.to_owned(),
    }
}

fn diff(form: Value) -> super::answers::DiffFile {
    serde_json::from_value::<DiffAnswer>(form)
        .unwrap()
        .into_file()
}

#[test]
fn a_position_names_both_lines_of_an_unchanged_line() {
    let file = diff(json!({
        "old_path": "old.py", "new_path": "new.py", "renamed_file": true, "deleted_file": false,
        "diff": "@@ -4,3 +4,4 @@ def f\n one\n+two\n three\n four\n",
    }));
    let request = request(Some(3));
    let shas = json!({
        "base_sha": "a", "start_sha": "b", "head_sha": HEAD, "old_path": "old.py", "new_path": "new.py",
    });
    let expected = |more: Value| {
        let mut whole = shas.clone();
        whole
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        Some(whole)
    };
    let of = |line| position::of(&request, &file, &comment(line, None, ""));
    assert_eq!(
        of(Some(5)),
        expected(json!({ "position_type": "text", "new_line": 5 }))
    );
    assert_eq!(
        of(Some(6)),
        expected(json!({ "position_type": "text", "new_line": 6, "old_line": 5 }))
    );
    assert_eq!(of(None), expected(json!({ "position_type": "file" })));
    assert_eq!(of(Some(9)), None);
    assert_eq!(file.changed().previous.as_deref(), Some("old.py"));
}

#[rstest]
#[case(json!({ "old_path": "a", "new_path": "a", "diff": "", "too_large": true }))]
#[case(json!({ "old_path": "a", "new_path": "a", "diff": null, "collapsed": true }))]
#[case(json!({ "old_path": "a", "new_path": "a", "diff": "@@ -1 +0,0 @@\n-x\n", "deleted_file": true }))]
fn a_diff_that_is_not_shown_has_no_lines(#[case] form: Value) {
    assert!(diff(form).changed().lines.is_empty());
}

#[rstest]
#[case(
    Some(5),
    Some(3),
    "x\n````suggestion\na\n````\n",
    "x\n````suggestion:-2+0\na\n````\n"
)]
#[case(Some(5), None, "```suggestion\na\n```", "```suggestion\na\n```")]
#[case(
    Some(5),
    Some(3),
    "```suggestion\n```suggestion\n```",
    "```suggestion:-2+0\n```suggestion\n```"
)]
#[case(Some(5), Some(3), "no suggestion", "no suggestion")]
#[case(None, Some(3), "```suggestion\na\n```", "```suggestion\na\n```")]
fn a_suggestion_names_the_lines_above_its_line(
    #[case] line: Option<u32>,
    #[case] start: Option<u32>,
    #[case] body: &str,
    #[case] expected: &str,
) {
    assert_eq!(position::body(&comment(line, start, body)), expected);
}

#[rstest]
#[case(json!("2026-01-01T00:00:00.100Z"), false)]
#[case(json!("2026-01-01T00:00:00.900Z"), false)]
#[case(json!("2026-01-01T00:00:01.100Z"), true)]
#[case(Value::Null, false)]
fn a_note_is_edited_if_it_was_updated_later(#[case] updated: Value, #[case] expected: bool) {
    let note: NoteAnswer = serde_json::from_value(json!({
        "id": 1, "body": "", "author": null, "created_at": "2026-01-01T00:00:00.100Z", "updated_at": updated,
        // Resolving a comment together with an edit does not hide the edit.
        "resolvable": true, "resolved": true, "resolved_at": updated,
    }))
    .unwrap();
    assert_eq!(note.is_edited(), expected);
}

#[rstest]
#[case("project_12_bot_3f9a", true)]
#[case("group_7_bot", true)]
#[case("project_12_bot1", true)]
#[case("service_account_group_345_6018816a", true)]
#[case("project_x_bot", false)]
#[case("projectbot", false)]
#[case("ghost", false)]
fn access_tokens_of_projects_and_groups_are_bots(#[case] username: &str, #[case] expected: bool) {
    let user = GitLabUser {
        id: 1,
        username: username.to_owned(),
    };
    assert_eq!(account(Some(&user)).is_bot, expected);
}

fn pipelines(list: &[(u64, &str, &str)]) -> Vec<PipelineAnswer> {
    let pipeline = |(id, sha, name): &(u64, &str, &str)| json!({ "id": id, "project_id": 3, "sha": sha, "ref": name });
    serde_json::from_value(list.iter().map(pipeline).collect()).unwrap()
}

#[test]
fn a_status_belongs_to_the_newest_pipeline_of_the_head_commit() {
    let place = |source, list: &[_]| status::place(&request(source), &pipelines(list));
    let found = |pipeline: Option<u64>, name: &str| {
        let project = pipeline.map(|_| 3);
        Some(StatusPlace {
            project,
            pipeline,
            reference: name.into(),
        })
    };
    let same = Some(3);
    let fork = Some(4);
    let head = "refs/merge-requests/7/head";
    assert_eq!(place(same, &[]), found(None, "change"));
    assert_eq!(
        place(same, &[(9, HEAD, head), (8, HEAD, "change")]),
        found(Some(9), head)
    );
    assert_eq!(place(same, &[(8, "old", "change")]), found(None, "change"));
    // The success of an external pipeline would permit a merge before the pipeline of merged results has ended.
    assert_eq!(
        place(same, &[(8, "merged", "refs/merge-requests/7/merge")]),
        None
    );
    assert_eq!(
        place(same, &[(8, "merged", "refs/merge-requests/7/train")]),
        None
    );
    assert_eq!(place(fork, &[]), None);
    assert_eq!(place(fork, &[(8, HEAD, head)]), found(Some(8), head));
}

#[test]
fn a_status_fits_the_limits_of_gitlab() {
    let mut request = request(Some(3));
    let check = |state| Check {
        state,
        title: "é".repeat(300),
        summary: String::new(),
    };
    let place = StatusPlace {
        project: None,
        pipeline: Some(9),
        reference: "change".into(),
    };
    let form = |request: &_, state| status::form(request, &check(state), &place);
    let written = form(&request, CheckState::Failure);
    assert_eq!(
        (&written["state"], &written["pipeline_id"]),
        (&json!("failed"), &json!(9))
    );
    assert_eq!(
        written["description"].as_str().unwrap().chars().count(),
        255
    );
    assert_eq!(form(&request, CheckState::Neutral)["state"], "success");
    request.link = format!("https://lab.example/{}", "x".repeat(255));
    assert_eq!(
        form(&request, CheckState::Success)["target_url"],
        Value::Null
    );
}
