//! Suggestion blocks: the host applies a block to exactly the lines that the fix replaces.

use proptest::prelude::*;

use crate::hosts::{CommentId, HostKind, NewComment, Permission};
use crate::pull_request::input::RequestReview;
use crate::pull_request::marker;
use crate::pull_request::placement::place;
use crate::pull_request::tests::hostile::texts;
use crate::pull_request::tests::model::{Model, comment};
use glee_model::domain::{Claim, Demonstrated, Demonstration, DemonstrationResult, Role, Tag};
use glee_protocol::secrets::redact;
use glee_protocol::text::{markup, printable};

const PATH: &str = "h.py";
const TEXT: &str =
    "import hashlib\n\n\ndef digest(page):\n    return hashlib.md5(page).hexdigest()\n";
const FIX: &str = "    return hashlib.sha256(page).hexdigest()";

/// The info strings and the contents of all blocks of code, as CommonMark reads them.
fn blocks(body: &str) -> Vec<(String, Vec<String>)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String, Vec<String>)> = None;
    for line in body.lines() {
        let run = line.len() - line.trim_start_matches('`').len();
        match &mut open {
            Some((length, info, content)) => {
                if run >= *length && line[run..].trim().is_empty() {
                    blocks.push((std::mem::take(info), std::mem::take(content)));
                    open = None;
                } else {
                    content.push(line.to_owned());
                }
            }
            None if run >= 3 && !line[run..].contains('`') => {
                open = Some((run, line[run..].trim().to_owned(), Vec::new()));
            }
            None => {}
        }
    }
    assert!(open.is_none(), "an open block in {body}");
    blocks
}

/// The file after a person applied the suggestion block of a comment. `None` if the comment has no such block.
fn applied(text: &str, comment: &NewComment) -> Option<String> {
    let mut found = blocks(&comment.body)
        .into_iter()
        .filter(|(info, _)| info == "suggestion");
    let (_, content) = found.next()?;
    assert_eq!(found.next(), None, "{}", comment.body);
    let last = usize::try_from(comment.line.expect("a block belongs to lines")).unwrap();
    let first = comment
        .start_line
        .map_or(last, |start| usize::try_from(start).unwrap());
    let mut lines: Vec<&str> = text.lines().collect();
    lines.splice(first - 1..last, content.iter().map(String::as_str));
    Some(lines.join("\n") + "\n")
}

fn published(model: &mut Model) -> NewComment {
    model
        .publish()
        .comments
        .into_iter()
        .find(|comment| comment.path == PATH)
        .unwrap()
}

#[test]
fn hosts_that_can_apply_a_block_get_one() {
    let fixed = format!("import hashlib\n\n\ndef etag(page):\n{FIX}\n");
    for (host, has_block) in [
        (HostKind::GitHub, true),
        (HostKind::GitLab, true),
        (HostKind::Gitea, false),
    ] {
        let mut model = Model::new();
        model.host = host;
        model.add_fix(PATH, TEXT, (4, 5), &format!("def etag(page):\n{FIX}"));
        let comment = published(&mut model);
        assert_eq!((comment.start_line, comment.line), (Some(4), Some(5)));
        let shown = if has_block {
            "```suggestion\ndef etag"
        } else {
            "Suggestion:\n\n```\ndef etag"
        };
        assert!(comment.body.contains(shown), "{}", comment.body);
        assert_eq!(applied(TEXT, &comment), has_block.then(|| fixed.clone()));
        assert!(model.plan().is_empty());
    }
}

#[test]
fn a_comment_says_which_test_reproduces_the_finding() {
    for (result, claim, expected) in [
        (
            DemonstrationResult::FailsBefore,
            Claim::Defect,
            "Reproduced by",
        ),
        (
            DemonstrationResult::PassesAfter,
            Claim::Defect,
            "Reproduced by",
        ),
        (DemonstrationResult::Passes, Claim::NoDefect, "Test"),
    ] {
        let mut model = Model::new();
        model.add_fix(PATH, TEXT, (5, 5), FIX);
        let line = format!("{expected} `tests/test_digest.py` of the reviewer: {result}");
        model.demonstrations = vec![Demonstrated {
            by: Role::Reviewer,
            claim,
            demonstration: Demonstration {
                runner: "unittest".to_owned(),
                path: "tests/test_digest.py".to_owned(),
                code: "".into(),
            },
            result,
            stronger: false,
            runs: Vec::new(),
        }];
        let body = published(&mut model).body;
        assert!(body.replace('\\', "").contains(&line), "{line}\n{body}");
    }
}

#[test]
fn without_all_its_lines_in_the_diff_a_fix_is_text() {
    let mut model = Model::new();
    model.add_fix(PATH, TEXT, (4, 5), FIX);
    model.files.last_mut().unwrap().lines.remove(&4);
    let comment = published(&mut model);
    assert_eq!((comment.line, applied(TEXT, &comment)), (None, None));
    assert!(comment.body.contains("hashlib.sha256"), "{}", comment.body);
}

#[test]
fn a_fix_of_other_code_than_that_of_the_head_commit_is_text() {
    let mut model = Model::new();
    model.add_fix(PATH, TEXT, (5, 5), FIX);
    for (head, has_block) in [
        (Some(TEXT.to_owned()), true),
        (Some(TEXT.replace("md5", "sha1")), false),
        (Some(format!("\n{TEXT}")), false),
        (None, false),
    ] {
        let place = model.with(|review| {
            let text_of = |_: &str| head.clone();
            let settled = review.outcome.findings.last().unwrap();
            place(
                &RequestReview {
                    text_of: &text_of,
                    ..*review
                },
                settled,
            )
            .unwrap()
        });
        assert_eq!(
            (place.line, place.suggestion.is_some()),
            (Some(5), has_block),
            "{head:?}"
        );
    }
}

#[test]
fn a_text_without_an_exact_fix_never_becomes_a_suggestion_block() {
    for text in texts() {
        let mut model = Model::new();
        model.push(PATH, TEXT);
        model.raise(&text, PATH, 5, Tag::Must);
        let raw = &mut model.findings.last_mut().unwrap().raw;
        raw.body = text.as_str().into();
        raw.suggestion = Some(text.as_str().into());
        raw.evidence = vec![text.as_str().into()];
        assert_eq!(applied(TEXT, &published(&mut model)), None, "{text:?}");
    }
}

/// Lines of code, of Markdown and of attacks.
fn lines() -> impl Strategy<Value = String> {
    let known = prop::sample::select(texts());
    let mark = prop::sample::select(vec![
        "",
        "```",
        "````suggestion",
        "~~~",
        "    ```",
        "<!-- glee:summary:e30 -->",
    ]);
    let line = (mark, "[ \\t]{0,4}", "\\PC{0,20}")
        .prop_map(|(mark, blanks, text)| format!("{blanks}{mark}{text}"));
    prop::collection::vec(prop_oneof![1 => known, 8 => line], 1..6)
        .prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn an_applied_block_is_the_fix(fix in lines(), first in 1..5u32, more in 0..2u32) {
        let mut model = Model::new();
        model.add_fix(PATH, TEXT, (first, first + more), &fix);
        let comment_of_fix = published(&mut model);
        let fix = fix.replace("\r\n", "\n");
        let mut expected: Vec<&str> = TEXT.lines().collect();
        let lines = usize::try_from(first).unwrap() - 1..usize::try_from(first + more).unwrap();
        expected.splice(lines, fix.split('\n'));
        let is_plain =
            printable::block(&fix) == fix && redact(&fix) == fix && !fix.lines().any(markup::is_command);
        let result = applied(TEXT, &comment_of_fix);
        prop_assert_eq!(result, is_plain.then(|| expected.join("\n") + "\n"));
        let id = CommentId("1".to_owned());
        let body = &comment_of_fix.body;
        let marks = marker::marks(&comment(id, "glee[bot]", Permission::Member, body, true)).unwrap();
        prop_assert!(marks.findings.len() == 1 && !marks.is_summary);
        prop_assert_eq!((marks.answers.len(), marks.rulings.len(), marks.broken), (0, 0, 0));
        prop_assert!(model.plan().is_empty());
    }
}
