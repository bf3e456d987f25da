//! Hostile replies, titles and branch names.

use crate::hosts::{CommentId, Permission};
use crate::pull_request::marker::{self, AnswerMark, ThreadStatement};
use crate::pull_request::tests::model::{AUTHOR, MAINTAINER, MEMBER, Model, OUTSIDER, comment};
use glee_model::domain::{RulingWord, Tag};

/// A genuine marker, as an attacker can copy it from a comment.
fn forged() -> String {
    let mark = AnswerMark::new(
        ThreadStatement::Ruled {
            disposition: "refuted".to_owned(),
        },
        Vec::new(),
        "1",
    );
    mark.written()
}

pub(super) fn texts() -> Vec<String> {
    let forged = forged();
    let texts = [
        "@glee dismiss",
        "@maintainer",
        "@org/team",
        "<!-- glee:summary:e30 -->",
        "-->",
        "<!--",
        "--> @all <!--",
        "```\n@glee dismiss\n```",
        "````\n```\n@all",
        "~~~\n@all\n~~~",
        "`@all`",
        "``@all` @all",
        "`",
        "```",
        "\\`@all",
        "# Heading",
        "[link](https://evil.example)",
        "![image](https://evil.example/x.png)",
        "https://evil.example",
        "www.evil.example",
        "mailto:a@evil.example",
        "#1",
        "GH-1",
        "o/r#1",
        "!1",
        "1a2b3c4d5e6f",
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<details>",
        "</details>",
        "&lt;!-- glee --&gt;",
        "| a | b |",
        "a\\|`@all",
        "a|@all|b",
        "/close",
        "/merge",
        "/approve",
        "- item",
        "1. item",
        "===",
        "---",
        "> quote",
        "$x$",
        "\u{202e}evil",
        "a\u{200b}b",
        "\u{1b}[2J",
        "a\r\nb",
        "a\nb\n@all",
        "line\n/close",
        "```\n/approve\n```",
        "fixes #12",
        "Closes: #1",
        "::error::x",
        "##[error]x",
        "\u{0}",
        "\u{feff}@glee dismiss",
        "@glee\u{a0}dismiss",
        "＠glee dismiss",
        "@GLEE\tDISMISS",
        "/glee enforce",
        "[x]: https://evil.example",
        "<https://evil.example>",
        "<a@evil.example>",
        "*bold*",
        "_x_",
        "~~x~~",
        "***",
        "%1",
        "~label",
        "&1",
        "^1",
        "\\",
        "\\\\",
        "\\\n@all",
        "a  \n@all",
        "&#64;all",
        "&commat;all",
        "</sub>",
        "<br>@all",
        "suggestion",
        "```suggestion\nrm -rf /\n```",
        "password = 'x'",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "AKIAIOSFODNN7EXAMPLE",
        "a\u{2028}@all",
        "a\u{85}@all",
        "\t@all",
        "    @all",
        "x\t/close",
        "(@all)",
        "\"@all\"",
        "a@all",
        "@-",
        "@@all",
        "user/@all",
        "#",
        "GH-",
        "//evil.example",
        "ftp://evil.example",
        "javascript:alert(1)",
        "data:text/html,x",
        "http:evil",
        "xmpp:a@b.c",
        "{{ x }}",
        "{% x %}",
        "${{ secrets.TOKEN }}",
        "$(id)",
        "`id`",
    ];
    let texts = texts.into_iter().map(str::to_owned);
    texts
        .chain([
            forged.clone(),
            format!("x\n{forged}"),
            format!("```\n{forged}\n```\n"),
            format!("{forged}\n{forged}"),
        ])
        .collect()
}

/// The text outside of code, and of the markers at the end.
fn visible(body: &str) -> String {
    let mut lines: Vec<&str> = body.lines().collect();
    while lines
        .last()
        .is_some_and(|line| line.starts_with("<!-- glee:"))
    {
        lines.pop();
    }
    let mut text = String::new();
    let mut fence: Option<String> = None;
    for line in lines {
        let trimmed = line.trim();
        let run: String = trimmed.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) if trimmed == *open => fence = None,
            Some(_) => {}
            None if run.len() >= 3 && !trimmed[run.len()..].contains('`') => fence = Some(run),
            None => text.push_str(&format!("{line}\n")),
        }
    }
    assert_eq!(fence, None, "a fence stays open in {body}");
    without_code(&text)
}

/// The text without the addresses of links to the repository. The addresses contain only plain characters.
fn without_links(text: &str) -> String {
    let mut parts = text.split("](https://host.example/o/r/blob/");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (address, rest) = part.split_once(')').expect("a link ends");
        assert!(
            address
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "/.-_%#".contains(c)),
            "{address}"
        );
        shown.push_str(rest);
    }
    shown
}

fn without_code(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '\\']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(escaped) = rest.strip_prefix('\\') {
            let length = escaped.chars().next().map_or(0, char::len_utf8);
            out.push('_');
            rest = &escaped[length..];
            continue;
        }
        let run = rest.len() - rest.trim_start_matches('`').len();
        let after = &rest[run..];
        let mut at = 0;
        let end = loop {
            let Some(next) = after[at..].find('`') else {
                panic!("an open span of code in {text}")
            };
            let start = at + next;
            let length = after[start..].len() - after[start..].trim_start_matches('`').len();
            if length == run {
                break start;
            }
            at = start + length;
        };
        out.push_str(" code ");
        rest = &after[end + run..];
    }
    out.push_str(rest);
    out
}

#[test]
fn hostile_texts_of_findings_stay_text() {
    let texts = texts();
    assert!(texts.len() >= 100, "{}", texts.len());
    for text in &texts {
        let mut model = Model::new();
        model.findings.clear();
        model.raise(text, "a.txt", 2, Tag::Must);
        let raw = &mut model.findings[0].raw;
        raw.body = text.as_str().into();
        raw.suggestion = Some(text.as_str().into());
        raw.evidence = vec![text.as_str().into()];
        raw.category = Some(text.clone());
        raw.severity = glee_model::domain::Severity {
            tag: None,
            raw: text.clone(),
        };
        model.findings[0].raised_by = vec![text.as_str().into()];
        model.raise(text, text, 1, Tag::Low);
        model.request.title = text.as_str().into();
        model.request.head.branch = text.as_str().into();
        let plan = model.publish();
        let bodies = plan.comments.iter().map(|comment| comment.body.clone());
        for body in bodies.chain(plan.summary.map(|summary| summary.body)) {
            let shown = without_links(&visible(&body));
            for bad in [
                "@",
                "<",
                "://",
                "www.",
                "#1",
                "GH-1",
                "![",
                "\n/",
                "evil.example)",
            ] {
                assert!(!shown.contains(bad), "{bad:?} of {text:?} in {shown}");
            }
            // GitLab searches commands in blocks of code, too.
            let mut lines = body.lines();
            assert!(
                !lines.any(|line| line.starts_with("/close") || line.starts_with("/approve")),
                "{body}"
            );
            assert!(
                !body.contains("ghp_0123456789abcdefghijABCDEFGHIJ012345"),
                "{body}"
            );
            let id = CommentId("1".to_owned());
            let marks =
                marker::marks(&comment(id, "glee[bot]", Permission::Member, &body, true)).unwrap();
            assert_eq!(
                (marks.answers.len(), marks.rulings.len(), marks.broken),
                (0, 0, 0),
                "{body}"
            );
        }
        assert!(model.plan().is_empty(), "{text:?}");
    }
}

#[test]
fn hostile_replies_rule_nothing() {
    for text in texts() {
        for (login, permission) in [
            (OUTSIDER, Permission::Outsider),
            (MEMBER, Permission::Member),
            (AUTHOR, Permission::Maintainer),
            ("other[bot]", Permission::Maintainer),
        ] {
            for body in [
                text.clone(),
                format!("@glee dismiss {text}"),
                format!("{text}\n@glee dismiss"),
            ] {
                let mut model = Model::new();
                model.publish();
                model.say("alpha", login, permission, &body);
                assert_eq!(model.replies().rulings, [], "{login}: {body:?}");
                assert_eq!(marker::rulings(&model.conversation).rulings, []);
                let before = model.thread("alpha").is_resolved;
                model.publish();
                assert_eq!(
                    model.thread("alpha").is_resolved,
                    before,
                    "{login}: {body:?}"
                );
                assert!(model.plan().is_empty(), "{login}: {body:?}");
                for reply in model
                    .thread("alpha")
                    .comments
                    .iter()
                    .filter(|comment| comment.is_own)
                    .skip(1)
                {
                    let said = visible(reply.body.as_written());
                    assert!(!said.contains('@') && !said.contains('<'), "{said}");
                }
            }
        }
        // The reason of a person who is allowed to rule is shown as text.
        let mut model = Model::new();
        model.publish();
        model.say(
            "alpha",
            MAINTAINER,
            Permission::Maintainer,
            &format!("@glee dismiss {text}"),
        );
        assert_eq!(model.replies().rulings.len(), 1, "{text:?}");
        model.rule("alpha", RulingWord::Dismiss);
        model.publish();
        assert!(
            model.thread("alpha").is_resolved && model.plan().is_empty(),
            "{text:?}"
        );
    }
}
