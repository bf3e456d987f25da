//! The adapter of GitHub against its double: pages, what GitHub leaves out, and what it refuses.

use std::time::{SystemTime, UNIX_EPOCH};

use glee_model::domain::Untrusted;
use glee_workflows::hosts::{HostError, NewComment, Permission, RequestState};
use rstest::rstest;
use serde_json::{Value, json};

use super::super::code;
use super::super::double::BOT;
use super::super::scene::Scene;
use super::{DRAFT, EXHAUSTED, GitHub, HEAD_REPOSITORY, MERGED, PENDING, USER};

fn scene() -> Scene {
    let scene = Scene::new(&GitHub);
    scene.write("a.py", &code("first"));
    scene.commit("Change");
    scene.push();
    scene
}

fn on_line(path: &str, line: u32) -> NewComment {
    NewComment {
        path: path.to_owned(),
        line: Some(line),
        start_line: None,
        body: "a comment".to_owned(),
    }
}

#[test]
fn lists_are_read_to_their_last_page() {
    let scene = scene();
    for number in 0..230 {
        scene.write(
            &format!("files/f{number:03}.py"),
            &format!("VALUE = {number}\n"),
        );
    }
    scene.commit("Many files");
    scene.push();
    {
        let mut state = scene.double.state();
        for number in 0..130 {
            state.open("a.py", Some(2), &format!("thread {number}"));
            let said = state.said(BOT, "NONE", &format!("comment {number}"));
            state.comments.push(said);
        }
        for number in 0..250 {
            state.reply("a.py", "member", "MEMBER", &format!("reply {number}"));
        }
        state.maintainers.insert("member".to_owned());
    }
    let host = scene.host();
    let request = host.request().expect("the request");
    let files = host.files(&request).expect("the files");
    assert_eq!(
        (files.len(), files[230].path.as_str()),
        (231, "files/f229.py")
    );
    let conversation = host.conversation(&request).expect("the conversation");
    let bodies = |comments: &[glee_workflows::hosts::Comment]| -> Vec<String> {
        comments
            .iter()
            .map(|comment| comment.body.as_written().to_owned())
            .collect()
    };
    let expected: Vec<String> = (0..130).map(|number| format!("comment {number}")).collect();
    assert_eq!(bodies(&conversation.comments), expected);
    assert_eq!(conversation.threads.len(), 130);
    let mut expected = vec!["thread 0".to_owned()];
    expected.extend((0..250).map(|number| format!("reply {number}")));
    assert_eq!(bodies(&conversation.threads[0].comments), expected);
    assert!(
        conversation.threads[0].comments[1..]
            .iter()
            .all(|reply| reply.permission == Permission::Maintainer)
    );
    let asked = scene
        .double
        .state()
        .requests
        .iter()
        .filter(|line| line.contains("/collaborators/"))
        .count();
    assert_eq!(asked, 1, "the permission of a user is read once");
}

#[test]
fn files_without_a_patch_have_no_lines() {
    let scene = Scene::new(&GitHub);
    let text: String = (0..30)
        .map(|number| format!("VALUE_{number} = {number}\n"))
        .collect();
    for path in ["moved.py", "changed.py", "gone.py"] {
        scene.write(path, &format!("# {path}\n{text}"));
    }
    scene.commit("Base");
    let bare = scene.sandbox.home().join("host.git").display().to_string();
    scene.author(&["push", "-q", &bare, "change:main"]);
    scene.author(&["mv", "moved.py", "new.py"]);
    scene.author(&["rm", "-q", "gone.py"]);
    scene.write(
        "changed.py",
        &format!(
            "# changed.py\n{}",
            text.replace("VALUE_9 = 9", "VALUE_9 = 8")
        ),
    );
    scene.write("large.py", &text.replace("VALUE", "OTHER"));
    scene.write("image.png", "\u{0}\u{1}PNG\u{0}");
    scene.commit("Change");
    scene.push();
    scene
        .double
        .state()
        .other
        .insert("large".to_owned(), json!("large.py"));
    let host = scene.host();
    let request = host.request().expect("the request");
    let files = host.files(&request).expect("the files");
    let seen: Vec<_> = files
        .iter()
        .map(|file| {
            (
                file.path.as_str(),
                file.previous.as_deref(),
                file.lines.first().copied(),
                file.lines.len(),
                file.added.len(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("changed.py", None, Some(8), 7, 1),
            ("gone.py", None, None, 0, 0),
            ("image.png", None, None, 0, 0),
            ("large.py", None, None, 0, 0),
            ("new.py", Some("moved.py"), None, 0, 0),
        ]
    );
    // A file without lines takes a comment on the whole file, and a line of it is refused.
    let whole = NewComment {
        line: None,
        ..on_line("image.png", 1)
    };
    host.comment(&request, &[whole])
        .expect("a comment on the file");
    let refused = host
        .comment(&request, &[on_line("new.py", 1)])
        .expect_err("no line");
    assert!(matches!(refused, HostError::Refused { .. }), "{refused}");
    assert_eq!(scene.double.state().threads.len(), 1);
}

#[test]
fn deleted_users_and_repositories_are_outsiders_and_forks() {
    let scene = scene();
    {
        let mut state = scene.double.state();
        state.other.insert(USER.to_owned(), Value::Null);
        state.other.insert(HEAD_REPOSITORY.to_owned(), Value::Null);
        state.open("a.py", Some(2), "a finding");
        state.reply("a.py", "", "NONE", "@glee dismiss nobody says this");
        state.reply("a.py", "", "MEMBER", "@glee dismiss nobody says this");
    }
    let host = scene.host();
    let request = host.request().expect("the request");
    assert_eq!((request.author.login.as_str(), request.is_fork), ("", true));
    assert_eq!(request.head_ref, "refs/pull/7/head");
    let conversation = host.conversation(&request).expect("the conversation");
    let comments = &conversation.threads[0].comments;
    assert_eq!(comments.len(), 3);
    assert!(comments[0].is_own && comments[0].permission == Permission::Outsider);
    assert!(
        comments[1..]
            .iter()
            .all(|comment| comment.author.login.is_empty() && !comment.is_own)
    );
    assert!(
        comments
            .iter()
            .all(|comment| comment.permission < Permission::Maintainer)
    );
    assert!(
        !scene
            .double
            .state()
            .requests
            .iter()
            .any(|line| line.contains("/collaborators/"))
    );

    scene.double.state().other.insert(
        USER.to_owned(),
        json!({ "login": "helper[bot]", "type": "Bot" }),
    );
    let author = host.request().expect("the request").author;
    assert_eq!((author.login.as_str(), author.is_bot), ("helper", true));
}

#[test]
fn the_state_of_a_request_is_read() {
    let scene = scene();
    let host = scene.host();
    let state = || {
        host.request()
            .map(|request| (request.state, request.is_draft))
            .expect("the request")
    };
    assert_eq!(state(), (RequestState::Open, false));
    scene
        .double
        .state()
        .other
        .insert(DRAFT.to_owned(), json!(true));
    assert_eq!(state(), (RequestState::Open, true));
    scene.double.state().state = "closed".to_owned();
    assert_eq!(state(), (RequestState::Closed, true));
    scene
        .double
        .state()
        .other
        .insert(MERGED.to_owned(), json!(true));
    assert_eq!(state(), (RequestState::Merged, true));
}

#[test]
fn a_line_outside_of_the_diff_refuses_the_whole_batch() {
    let scene = scene();
    let host = scene.host();
    let request = host.request().expect("the request");
    let error = host
        .comment(&request, &[on_line("a.py", 2), on_line("a.py", 3)])
        .expect_err("line 3 is missing");
    assert!(
        matches!(&error, HostError::Refused { why, .. } if why.contains("Line could not be resolved")),
        "{error}"
    );
    assert!(
        scene.double.state().threads.is_empty(),
        "no thread is started"
    );
    let several = NewComment {
        start_line: Some(1),
        ..on_line("a.py", 2)
    };
    host.comment(&request, &[several])
        .expect("lines of the diff");
    let moved = glee_workflows::hosts::PullRequest {
        head: glee_workflows::hosts::Commit {
            id: "0".repeat(40),
            branch: Untrusted::from("change".to_owned()),
        },
        ..request
    };
    let error = host
        .comment(&moved, &[on_line("a.py", 2)])
        .expect_err("the commit is not the head");
    assert!(matches!(error, HostError::Refused { .. }), "{error}");
}

#[test]
fn a_pending_review_of_the_same_user_is_an_error_of_its_own() {
    let scene = scene();
    scene.double.state().open("a.py", Some(2), "a finding");
    let host = scene.host();
    let request = host.request().expect("the request");
    let thread = host
        .conversation(&request)
        .expect("the conversation")
        .threads
        .remove(0);
    scene
        .double
        .state()
        .other
        .insert(PENDING.to_owned(), json!(true));
    let whole = NewComment {
        line: None,
        ..on_line("a.py", 2)
    };
    for error in [
        host.comment(&request, &[on_line("a.py", 2)])
            .expect_err("a pending review"),
        host.comment(&request, &[whole])
            .expect_err("a pending review"),
        host.reply(&request, &thread, "text")
            .expect_err("a pending review"),
    ] {
        assert!(matches!(error, HostError::PendingReview { .. }), "{error}");
    }
    let output = scene.publish();
    assert_eq!(output.code, 2, "{output}");
    assert!(output.stderr.contains("submit or discard"), "{output}");
    assert!(!output.stdout.contains("Published on"), "{output}");
    scene.double.state().other.clear();
    assert_eq!(scene.publish().code, 0);
    assert_eq!(scene.double.state().threads.len(), 2);
}

#[rstest]
#[case("NOT_FOUND", "has no such pull request")]
#[case("FORBIDDEN", "does not allow this")]
#[case("SOMETHING", "refuses the request to read the conversation")]
fn data_with_an_error_is_never_a_conversation(#[case] kind: &str, #[case] expected: &str) {
    let scene = scene();
    let host = scene.host();
    let request = host.request().expect("the request");
    let failure =
        json!({ "type": kind, "message": "Resource protected by organization SAML enforcement." });
    scene
        .double
        .state()
        .other
        .insert("graphql_error".to_owned(), failure);
    let error = host.conversation(&request).expect_err("a part is missing");
    assert!(error.to_string().contains(expected), "{error}");
    assert!(host.conversation(&request).is_ok());
}

#[test]
fn limits_are_waited_for_and_refusals_are_not() {
    let scene = scene();
    let host = scene.host();
    let request = host.request().expect("the request");
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a time")
        .as_secs();
    let next = || scene.double.state().requests.len() + 1;
    let number = next();
    scene
        .double
        .state()
        .other
        .insert(EXHAUSTED.to_owned(), json!([number, now + 1]));
    host.comment(&request, &[on_line("a.py", 2)])
        .expect("after the primary limit");
    let number = next();
    scene.double.state().limited.insert(number);
    host.summarise(None, "text")
        .expect("after the secondary limit");
    assert_eq!(scene.double.state().threads.len(), 1);
    assert_eq!(scene.double.state().comments.len(), 1);
    let number = next();
    scene
        .double
        .state()
        .other
        .insert(EXHAUSTED.to_owned(), json!([number, now + 3_600]));
    let error = host
        .conversation(&request)
        .expect_err("the limit ends in an hour");
    assert!(matches!(error, HostError::RateLimited { .. }), "{error}");
    scene.double.state().is_read_only = true;
    for error in [
        host.comment(&request, &[on_line("a.py", 2)])
            .expect_err("no permission"),
        host.summarise(None, "text").expect_err("no permission"),
    ] {
        assert!(matches!(error, HostError::Forbidden { .. }), "{error}");
    }
    scene.double.state().other.clear();
    let thread = host
        .conversation(&request)
        .expect("the conversation")
        .threads
        .remove(0);
    assert_eq!(host.set_resolved(&thread, true), Ok(false));
    scene.double.state().is_read_only = false;
    assert_eq!(host.set_resolved(&thread, true), Ok(true));
    scene.double.state().threads.clear();
    let gone = host
        .reply(&request, &thread, "text")
        .expect_err("the thread is deleted");
    assert!(matches!(gone, HostError::NotFound { .. }), "{gone}");
    let gone = host
        .set_resolved(&thread, true)
        .expect_err("the thread is deleted");
    assert!(matches!(gone, HostError::NotFound { .. }), "{gone}");
    let number = next();
    scene.double.state().expires_at = Some(number);
    let expired = host.request().expect_err("the token has expired");
    assert!(
        matches!(expired, HostError::Unauthorised { .. }),
        "{expired}"
    );
}
