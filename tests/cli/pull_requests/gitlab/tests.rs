//! What only GitLab does.

use serde_json::{Value, json};

use super::super::double::{BOT, Discussion};
use super::super::scene::{PUBLISH, Scene};
use super::super::step;
use super::{GitLab, JOB_TOKEN};

fn set(scene: &Scene, name: &str, value: Value) {
    scene.double.state().other.insert(name.to_owned(), value);
}

fn published(scene: &Scene) {
    let output = scene.publish();
    assert_eq!(output.code, 0, "{output}");
    let after = scene.conversation();
    assert_eq!(scene.publish().code, 0);
    assert_eq!(scene.conversation(), after, "nothing is said twice");
}

#[test]
fn a_diff_that_gitlab_still_computes_is_awaited() {
    let scene = Scene::new(&GitLab);
    step(&scene, 1);
    set(&scene, "unprepared", json!(2));
    published(&scene);
    set(&scene, "unprepared", json!(100));
    let output = scene.publish();
    assert!(output.code == 2 || output.code == 4, "{output}");
    assert!(
        output
            .stderr
            .contains("the host has not computed the diff yet"),
        "{output}"
    );
    assert!(output.stderr.contains("run the command again"), "{output}");
}

#[test]
fn more_than_a_hundred_discussions_are_read_to_the_last_page() {
    let scene = Scene::new(&GitLab);
    {
        let mut state = scene.double.state();
        for number in 0..230 {
            let said = state.said("member", "MEMBER", &format!("A remark {number}"));
            state.comments.push(said);
        }
    }
    step(&scene, 1);
    published(&scene);
    let state = scene.double.state();
    assert_eq!(state.threads.len(), 2);
    assert_eq!(
        state.comments.iter().filter(|said| said.by == BOT).count(),
        1
    );
    assert!(
        state
            .requests
            .iter()
            .any(|request| request.ends_with("discussions?per_page=100&page=3"))
    );
}

#[test]
fn a_reply_to_the_summary_makes_no_second_summary() {
    let scene = Scene::new(&GitLab);
    step(&scene, 1);
    published(&scene);
    {
        let mut state = scene.double.state();
        let summary = state.comments.remove(0);
        let reply = state.said("member", "MEMBER", "Thank you");
        let comments = vec![summary, reply];
        state.threads.push(Discussion {
            path: String::new(),
            line: None,
            is_resolved: false,
            comments,
        });
    }
    step(&scene, 2);
    published(&scene);
    let state = scene.double.state();
    assert!(state.comments.is_empty(), "{:#?}", state.comments);
    let summary = state
        .threads
        .iter()
        .find(|thread| thread.path.is_empty())
        .expect("the summary");
    assert!(
        summary.comments[0].body.contains("c.py"),
        "the summary is edited in place: {}",
        summary.comments[0].body
    );
}

#[test]
fn a_diff_that_is_not_shown_gets_comments_on_its_file() {
    for is_old in [false, true] {
        let scene = Scene::new(&GitLab);
        step(&scene, 1);
        set(&scene, "collapsed", json!(1));
        if is_old {
            set(&scene, "before 16.4", json!(true));
        }
        published(&scene);
        let state = scene.double.state();
        let places: Vec<(&str, Option<u32>)> = state
            .threads
            .iter()
            .map(|thread| (thread.path.as_str(), thread.line))
            .collect();
        let expected = if is_old {
            [("", None), ("", None)]
        } else {
            [("a.py", None), ("b.py", None)]
        };
        assert_eq!(
            places, expected,
            "an old server accepts no position without a line"
        );
    }
}

#[test]
fn positions_that_gitlab_refuses_are_named_and_lose_nothing() {
    let scene = Scene::new(&GitLab);
    step(&scene, 1);
    set(&scene, "pushed", json!(true));
    let output = scene.publish();
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output
            .stderr
            .contains("the host refused a comment on `a.py`: 400 Bad request"),
        "{output}"
    );
    assert!(scene.double.state().threads.is_empty() && scene.double.state().comments.len() == 1);
    scene.double.state().other.remove("pushed");
    published(&scene);
    let state = scene.double.state();
    assert!(state.threads.len() == 2 && state.threads.iter().all(|thread| thread.line.is_some()));
}

#[test]
fn a_token_that_is_not_allowed_to_resolve_threads_publishes_the_rest() {
    let scene = Scene::new(&GitLab);
    (1..=4).for_each(|number| {
        step(&scene, number);
        assert_eq!(scene.publish().code, 0);
    });
    set(&scene, "reporter", json!(true));
    step(&scene, 5);
    published(&scene);
    let lines = scene.conversation();
    let at = lines
        .iter()
        .position(|line| line == "c.py open")
        .expect("the thread stays open");
    assert!(
        lines[at + 1..].iter().any(|line| line.contains("Fixed in")),
        "{lines:#?}"
    );
    let output = scene.publish();
    assert!(
        output.stderr.contains("nothing more is published"),
        "the status is refused: {output}"
    );
}

#[test]
fn the_status_belongs_to_a_pipeline_of_the_head_commit() {
    let scene = Scene::new(&GitLab);
    step(&scene, 1);
    let head = scene.double.state().head();
    let pipeline = |id: u64, sha: &str, name: &str| json!({ "id": id, "project_id": 3, "sha": sha, "ref": name, "source": "merge_request_event" });
    set(
        &scene,
        "pipelines",
        json!([pipeline(9, &head, "refs/merge-requests/7/head")]),
    );
    set(&scene, "busy", json!(true));
    published(&scene);
    let sent = scene.double.state().sent.join("\n");
    assert!(sent.contains("\"pipeline_id\":9"), "{sent}");
    assert_eq!(
        scene.double.state().checks,
        [[head, "success".to_owned(), "glee".to_owned()]]
    );
    // An external pipeline would permit a merge while the pipeline of merged results runs.
    let scene = Scene::new(&GitLab);
    step(&scene, 1);
    set(
        &scene,
        "pipelines",
        json!([pipeline(9, &"0".repeat(40), "refs/merge-requests/7/merge")]),
    );
    published(&scene);
    assert!(scene.double.state().checks.is_empty());
    let scene = Scene::new(&GitLab);
    step(&scene, 1);
    set(&scene, "source", json!(4));
    published(&scene);
    assert!(
        scene.double.state().checks.is_empty(),
        "the commit of a fork is on no branch of the project"
    );
}

#[test]
fn a_project_without_pipelines_has_no_status() {
    let scene = Scene::new(&GitLab);
    step(&scene, 1);
    set(&scene, "without pipelines", json!(true));
    published(&scene);
    assert!(scene.publish().stdout.contains("Published on"));
    let state = scene.double.state();
    assert_eq!((state.threads.len(), state.checks.len()), (2, 0));
}

#[test]
fn the_token_of_a_job_reads_the_merge_request_and_names_the_next_step() {
    let mut scene = Scene::new(&GitLab);
    step(&scene, 1);
    let link = format!("{}/team/shop/-/merge_requests/7", scene.double.address);
    set(&scene, "link", json!(link));
    scene
        .sandbox
        .env("GITLAB_TOKEN", "")
        .env("CI_JOB_TOKEN", JOB_TOKEN)
        .env("CI_MERGE_REQUEST_IID", "7");
    scene.sandbox.env("CI_PROJECT_PATH", "team/shop");
    let output = scene.sandbox.glee(&["review", "--pr", "", "--publish"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output
            .stderr
            .contains("set GITLAB_TOKEN to a project access token"),
        "{output}"
    );
    assert!(output.stdout.contains("a.py:2"), "{output}");
    assert!(scene.double.state().threads.is_empty());
    scene.sandbox.env(
        "GITLAB_TOKEN",
        super::super::double::HostDouble::token(&GitLab),
    );
    let output = scene.sandbox.glee(&["pr", "publish"]);
    assert_eq!(
        (output.code, scene.double.state().threads.len()),
        (0, 2),
        "{output}"
    );
}

#[test]
fn the_program_glab_states_the_token() {
    let mut scene = Scene::new(&GitLab);
    step(&scene, 1);
    let host = scene
        .double
        .address
        .trim_start_matches("http://")
        .to_owned();
    let token = super::super::double::HostDouble::token(&GitLab);
    scene.sandbox.program(
        "glab",
        &format!("#!/bin/sh\n[ \"$*\" = 'config get token --host {host}' ] && echo {token}\n"),
    );
    scene.sandbox.env("GITLAB_TOKEN", "");
    let output = scene.sandbox.glee(&PUBLISH);
    assert_eq!(
        (output.code, scene.double.state().threads.len()),
        (0, 2),
        "{output}"
    );
}
