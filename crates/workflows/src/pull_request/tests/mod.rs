//! Plans for a host in memory: a publication is applied and read back, and the next plan is empty.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod groups;
mod hostile;
mod model;
mod properties;
mod suggestions;

use model::{AUTHOR, MAINTAINER, MEMBER, Model, OUTSIDER, comment};

use crate::hosts::{CheckState, CommentId, Permission, Thread, ThreadId};
use crate::pull_request::marker;
use glee_model::domain::{ExitReason, RulingWord};
use glee_store::config::choices::{CommentOn, PrMode};

#[test]
fn findings_become_comments_once() {
    let mut model = Model::new();
    let plan = model.publish();
    assert_eq!(plan.comments.len(), model.findings.len());
    assert!(plan.comments.iter().all(|comment| comment.line.is_some()));
    assert_eq!(plan.check.state, CheckState::Neutral);
    assert!(model.plan().is_empty(), "{:#?}", model.plan());
    model.settings.mode = PrMode::Enforce;
    assert_eq!(model.plan().check.state, CheckState::Failure);
    assert_eq!(model.plan().check.title, "3 mandatory findings are open");
    model.next_run();
    assert!(
        model.plan().comments.is_empty(),
        "a later run recognises all threads"
    );
}

#[test]
fn a_finding_outside_of_the_diff_is_never_moved_to_a_near_line() {
    let mut model = Model::new();
    model.files[0].lines.remove(&2);
    let plan = model.publish();
    let first = plan
        .comments
        .iter()
        .find(|comment| comment.path == "a.txt" && comment.body.contains("alpha"))
        .unwrap();
    assert_eq!((first.line, first.start_line), (None, None));
    let mut model = Model::new();
    model.files.retain(|file| file.path != "a.txt");
    let plan = model.publish();
    assert!(plan.comments.iter().all(|comment| comment.path != "a.txt"));
    assert!(
        plan.summary
            .unwrap()
            .body
            .contains("Findings without a comment")
    );
    assert!(model.plan().is_empty());
}

#[test]
fn the_most_important_findings_have_the_first_comments() {
    let mut model = Model::new();
    model.settings.max_comments = 2;
    let plan = model.publish();
    assert_eq!(plan.comments.len(), 2);
    assert!(
        plan.comments
            .iter()
            .all(|comment| comment.body.contains("mandatory"))
    );
    assert!(
        plan.summary
            .unwrap()
            .body
            .contains("Findings without a comment")
    );
    assert!(
        model.plan().is_empty(),
        "the limit counts the comments of the run"
    );
    let mut model = Model::new();
    model.settings.comment_on = CommentOn::Mandatory;
    assert!(
        model
            .publish()
            .comments
            .iter()
            .all(|comment| comment.body.contains("; mandatory."))
    );
}

#[test]
fn a_summary_that_became_a_thread_by_a_reply_is_edited_in_place() {
    let mut model = Model::new();
    model.publish();
    let summary = model.conversation.comments.remove(0);
    let id = summary.id.clone();
    model.conversation.threads.push(Thread {
        id: ThreadId("reply".to_owned()),
        path: None,
        line: None,
        is_resolved: false,
        comments: vec![summary],
    });
    assert!(model.plan().is_empty(), "{:#?}", model.plan());
    model.findings.clear();
    assert_eq!(model.plan().summary.unwrap().existing, Some(id));
}

#[test]
fn what_is_fixed_is_resolved_once_and_opened_if_it_is_raised_again() {
    let mut model = Model::new();
    model.publish();
    model.push("a.txt", "nothing\n");
    let removed: Vec<_> = model
        .findings
        .extract_if(.., |finding| finding.raw.file.as_deref() == Some("a.txt"))
        .collect();
    model.outcome_exit = Some(ExitReason::AgentFailed);
    assert!(
        model.plan().threads.is_empty(),
        "an incomplete review resolves nothing"
    );
    assert_eq!(model.plan().check.state, CheckState::Neutral);
    assert!(model.plan().check.title.starts_with("Inconclusive"));
    model.outcome_exit = None;
    model.publish();
    let state = model.thread("alpha");
    assert!(state.is_resolved);
    assert!(
        state
            .comments
            .last()
            .unwrap()
            .body
            .as_written()
            .starts_with("Fixed in `")
    );
    model.reopen("alpha");
    assert!(model.plan().is_empty(), "a person opened the thread");
    model.resolve("alpha");
    model.push("a.txt", &Model::text("a"));
    model.findings.extend(removed);
    model.publish();
    assert!(!model.thread("alpha").is_resolved);
    assert!(
        model
            .thread("alpha")
            .comments
            .last()
            .unwrap()
            .body
            .as_written()
            .starts_with("Raised again")
    );
    assert!(model.plan().is_empty());
}

#[test]
fn a_mandatory_thread_is_opened_again_once() {
    let mut model = Model::new();
    model.publish();
    model.resolve("alpha");
    model.publish();
    assert!(!model.thread("alpha").is_resolved);
    model.push("b.txt", "other\n");
    model.resolve("alpha");
    assert!(
        model
            .plan()
            .threads
            .iter()
            .all(|change| !format!("{change:?}").contains("Opened again"))
    );
}

#[test]
fn an_objection_is_answered_by_the_ruling_and_never_again() {
    let mut model = Model::new();
    model.publish();
    model.say(
        "alpha",
        MEMBER,
        Permission::Member,
        "The caller checks it in a.txt:3",
    );
    let replies = model.replies();
    let [objection] = replies.objections.as_slice() else {
        panic!("{replies:?}")
    };
    assert_eq!(
        (objection.by.as_slice(), objection.is_reopening),
        ([MEMBER.to_owned()].as_slice(), false)
    );
    assert_eq!(
        objection.evidence,
        [glee_model::domain::Untrusted::from("a.txt:3")]
    );
    assert!(
        model.plan().is_empty(),
        "without a ruling, the objection stays without an answer"
    );
    model.rule("alpha", RulingWord::Dismiss);
    model.publish();
    let thread = model.thread("alpha").clone();
    assert!(
        thread.is_resolved
            && thread
                .comments
                .last()
                .unwrap()
                .body
                .as_written()
                .starts_with("**Dismissed**")
    );
    assert!(model.plan().is_empty());
    assert_eq!(model.replies().objections.len(), 0);
    let found = marker::rulings(&model.conversation);
    assert_eq!((found.rulings.len(), found.notices.len()), (1, 0));
    model.edit_last("alpha");
    let found = marker::rulings(&model.conversation);
    assert_eq!((found.rulings.len(), found.notices.len()), (0, 1));
}

/// Another job with the same token can publish what a stranger wrote.
#[test]
fn a_ruling_outside_of_a_thread_of_glee_is_no_ruling() {
    let mut model = Model::new();
    model.publish();
    model.say(
        "alpha",
        MEMBER,
        Permission::Member,
        "The caller checks it in a.txt:3",
    );
    model.rule("alpha", RulingWord::Dismiss);
    model.publish();
    let genuine = model.thread("alpha").comments.last().unwrap().clone();
    assert_eq!(marker::rulings(&model.conversation).rulings.len(), 1);
    let markers: Vec<&str> = genuine
        .body
        .as_written()
        .lines()
        .filter(|line| line.starts_with("<!--"))
        .collect();
    let [_, ruling] = markers.as_slice() else {
        panic!("{markers:?}")
    };
    let all = markers.join("\n");
    let alone = (*ruling).to_owned();
    let said = |body: &str| {
        comment(
            CommentId("9000".to_owned()),
            "glee[bot]",
            Permission::Member,
            &format!("A report\n\n{body}"),
            true,
        )
    };
    for body in [&all, &alone] {
        let mut forged = model.conversation.clone();
        forged.threads.clear();
        forged.comments.push(said(body));
        assert_eq!(
            marker::rulings(&forged).rulings,
            [],
            "in a comment that belongs to no line"
        );
        let mut forged = model.conversation.clone();
        let place = forged.threads[0].clone();
        forged.threads = vec![Thread {
            comments: vec![said("A warning"), said(body)],
            ..place.clone()
        }];
        assert_eq!(
            marker::rulings(&forged).rulings,
            [],
            "in a thread of another program"
        );
        forged.threads = vec![Thread {
            comments: vec![said(body)],
            ..place
        }];
        assert_eq!(
            marker::rulings(&forged).rulings,
            [],
            "in a comment that starts a thread"
        );
    }
    let mut forged = model.conversation.clone();
    for thread in &mut forged.threads {
        thread.comments.retain(|comment| comment.id != genuine.id);
        thread.comments.push(said(&alone));
    }
    assert_eq!(
        marker::rulings(&forged).rulings,
        [],
        "without the marker of an answer"
    );
}

#[test]
fn who_may_rule() {
    let rows = [
        (MAINTAINER, Permission::Maintainer, false, (1, 0, 0)),
        (MEMBER, Permission::Member, false, (0, 1, 0)),
        (AUTHOR, Permission::Maintainer, false, (0, 1, 0)),
        ("Author", Permission::Maintainer, false, (0, 1, 0)),
        (AUTHOR, Permission::Maintainer, true, (1, 0, 0)),
        (AUTHOR, Permission::Member, true, (0, 1, 0)),
        (AUTHOR, Permission::Outsider, true, (0, 1, 0)),
        (OUTSIDER, Permission::Outsider, true, (0, 0, 1)),
        ("helper[bot]", Permission::Maintainer, true, (0, 0, 1)),
    ];
    for (login, permission, author_may_rule, expected) in rows {
        let mut model = Model::new();
        model.settings.author_may_rule = author_may_rule;
        model.publish();
        model.say("alpha", login, permission, "@glee dismiss it is fine");
        let replies = model.replies();
        let counts = (
            replies.rulings.len(),
            replies.refusals.len(),
            replies.ignored,
        );
        assert_eq!(counts, expected, "{login} {permission:?}");
        let before = model.thread("alpha").comments.len();
        model.publish();
        let after = model.thread("alpha").comments.len();
        assert_eq!(after - before, expected.1, "a refusal is said once");
        assert!(model.plan().is_empty());
    }
}
