//! Threads about several members of a group.

use super::model::{MAINTAINER, MEMBER, Model, OUTSIDER};
use crate::hosts::Permission;
use crate::pull_request::ThreadChange;
use glee_model::domain::{RulingWord, Tag};

/// `alpha` in `a.txt:2` has two members: `epsilon` in line 3 and the optional `zeta` in line 5.
fn grouped() -> Model {
    let mut model = Model::new();
    model.findings.truncate(1);
    model.join("alpha", "The epsilon command runs in a shell", 3, Tag::High);
    let epsilon = model.findings.last_mut().unwrap();
    epsilon.raw.body = "The argument is not quoted.".into();
    epsilon.raw.suggestion = Some("subprocess.run(argv)".into());
    model.join("alpha", "Rename the zeta variable", 5, Tag::Low);
    model
}

fn last(model: &Model) -> String {
    let thread = &model.conversation.threads[0];
    let last = thread.comments.last().unwrap().body.as_written();
    let visible = last.lines().filter(|line| !line.starts_with("<!--"));
    visible.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Changes the line of a finding, which the reviewers no longer raise.
fn fix(model: &mut Model, word: &str) {
    let at = model
        .findings
        .iter()
        .position(|finding| finding.raw.title.as_written().contains(word))
        .unwrap();
    let finding = model.findings.remove(at);
    let path = finding.raw.file.unwrap();
    let mut lines: Vec<String> = model.texts[&path].lines().map(str::to_owned).collect();
    lines[finding.raw.line.unwrap() as usize - 1] = format!("fixed {word}");
    model.push(&path, &(lines.join("\n") + "\n"));
}

#[test]
fn a_group_is_one_thread_that_tells_each_member() {
    let mut model = grouped();
    let plan = model.publish();
    let [comment] = plan.comments.as_slice() else {
        panic!("{:#?}", plan.comments)
    };
    assert_eq!((comment.path.as_str(), comment.line), ("a.txt", Some(2)));
    insta::assert_snapshot!(last(&model), @r"
    **MUST** `F1a` Unchecked alpha name reaches the shell command

    Raised by `rules`; mandatory.

    - also **HIGH** `F1b` `a.txt:3` The epsilon command runs in a shell (by `other`; mandatory)

      The argument is not quoted.

      Suggestion:

      ```
      subprocess.run(argv)
      ```

    - also **LOW** `F1c` `a.txt:5` Rename the zeta variable (by `other`; optional)

    Reply to object; a maintainer rules with `@glee enforce <reason>` or `@glee dismiss <reason>` in the first line of a reply. A reply that begins with `[F1a]` is about this finding only.
    ");
    let summary = plan.summary.unwrap().body;
    assert!(summary.contains("1 finding with 3 members: 1 open, 0 closed."));
    assert!(
        summary.contains("| also **HIGH** | The epsilon command"),
        "{summary}"
    );
    assert_eq!(plan.check.title, "1 mandatory finding is open");
    assert!(model.plan().is_empty());
}

#[test]
fn a_member_that_comes_later_is_told_in_the_thread_and_stays_told() {
    let mut model = grouped();
    let later = model.findings.remove(1);
    model.publish();
    for push in 0..12 {
        let text = format!("inserted\n{}", model.texts["a.txt"]);
        model.push("a.txt", &text);
        for finding in &mut model.findings {
            finding.raw.line = finding.raw.line.map(|line| line + 1);
        }
        if push == 3 {
            let mut later = later.clone();
            later.raw.line = later.raw.line.map(|line| line + 4);
            model.findings.push(later);
        }
        let plan = model.publish();
        assert_eq!(plan.comments, [], "push {push}");
        let replies = if push == 3 { 1 } else { 0 };
        assert_eq!(
            plan.threads.len(),
            replies,
            "push {push}: {:#?}",
            plan.threads
        );
        assert!(model.plan().is_empty());
        if push == 3 {
            insta::assert_snapshot!(last(&model), @r"
            - also **HIGH** `F1c` `a.txt:7` The epsilon command runs in a shell (by `other`; mandatory)

              The argument is not quoted.

              Suggestion:

              ```
              subprocess.run(argv)
              ```

            Reply to object; a maintainer rules with `@glee enforce <reason>` or `@glee dismiss <reason>` in the first line of a reply. A reply that begins with `[F1c]` is about this finding only.
            ");
        }
    }
    assert_eq!(model.conversation.threads.len(), 1);
}

#[test]
fn a_later_member_opens_a_resolved_thread() {
    let mut model = grouped();
    let later = model.findings.remove(1);
    model.publish();
    model.rule("alpha", RulingWord::Dismiss);
    model.publish();
    assert!(model.thread("alpha").is_resolved);
    model.next_run();
    model.findings.push(later);
    let plan = model.plan();
    let [
        ThreadChange::Reply { .. },
        ThreadChange::Resolve { is_resolved, .. },
    ] = plan.threads.as_slice()
    else {
        panic!("{:#?}", plan.threads)
    };
    assert!(!is_resolved);
    // The publication stops before the thread is opened.
    model.apply(&plan, 1);
    assert!(model.thread("alpha").is_resolved);
    model.publish();
    assert!(!model.thread("alpha").is_resolved);
    assert!(model.plan().is_empty());
}

#[test]
fn a_thread_is_resolved_when_each_mandatory_member_is_closed() {
    let mut model = grouped();
    model.publish();
    fix(&mut model, "epsilon");
    model.publish();
    assert!(!model.thread("alpha").is_resolved);
    assert!(
        last(&model).starts_with("`F1b`: Fixed in `"),
        "{}",
        last(&model)
    );
    model.rule("alpha", RulingWord::Dismiss);
    model.publish();
    assert!(
        last(&model).starts_with("`F1a`: **Dismissed** by `referee`"),
        "{}",
        last(&model)
    );
    assert!(model.thread("alpha").is_resolved, "`zeta` is optional");
    assert!(model.plan().is_empty());
    fix(&mut model, "zeta");
    model.publish();
    assert!(
        last(&model).starts_with("`F1c`: Fixed in `"),
        "{}",
        last(&model)
    );
    assert!(model.plan().is_empty());
}

#[test]
fn what_is_said_of_all_members_is_said_once() {
    let mut model = grouped();
    model.findings.truncate(2);
    model.publish();
    model.rule("", RulingWord::Enforce);
    let plan = model.publish();
    assert_eq!(plan.threads.len(), 1, "{:#?}", plan.threads);
    assert!(
        last(&model).starts_with("**Enforced** by `referee`"),
        "{}",
        last(&model)
    );
    assert!(model.plan().is_empty());
    model.resolve("alpha");
    let plan = model.publish();
    assert_eq!(plan.threads.len(), 2, "{:#?}", plan.threads);
    assert!(last(&model).starts_with("Opened again"), "{}", last(&model));
    assert!(model.plan().is_empty());
}

#[test]
fn a_reply_is_about_all_members_or_about_the_named() {
    let rows: [(&[&str], &str); 7] = [
        (&["The caller checks it in a.txt:3"], "F1a F1b"),
        (&["[F1b] The caller checks it in a.txt:3"], "F1b"),
        (&["[F1] The caller checks it in a.txt:3"], "F1a F1b"),
        (
            &[
                "[F1b] It is checked in a.txt:3",
                "[F1a] It is quoted in a.txt:5",
            ],
            "F1a; F1b",
        ),
        (
            &["[F1b] It is checked in a.txt:3", "It is quoted in a.txt:5"],
            "F1a; F1b",
        ),
        (&["[F1c] It is checked in a.txt:3"], ""),
        (&["[F7] It is checked in a.txt:3"], "refused"),
    ];
    for (said, expected) in rows {
        let mut model = grouped();
        model.publish();
        for body in said {
            model.say("alpha", MEMBER, Permission::Member, body);
        }
        let replies = model.replies();
        let mut found: Vec<String> = Vec::new();
        for objection in &replies.objections {
            let ids: Vec<String> = objection.findings.iter().map(ToString::to_string).collect();
            found.push(ids.join(" "));
        }
        found.extend(replies.refusals.iter().map(|_| "refused".to_owned()));
        assert_eq!(found.join("; "), expected, "{said:?}");
    }
}

#[test]
fn each_member_has_the_last_ruling_that_addresses_it() {
    let mut model = grouped();
    model.publish();
    for body in [
        "@glee enforce [F1b] it is right",
        "@glee dismiss it is wrong",
        "@glee enforce F1b: it is right after all",
    ] {
        model.say("alpha", MAINTAINER, Permission::Maintainer, body);
    }
    model.say("alpha", OUTSIDER, Permission::Outsider, "@glee dismiss F1");
    let replies = model.replies();
    let mut ruled = Vec::new();
    for ruling in &replies.rulings {
        let ids: Vec<String> = ruling.findings.iter().map(ToString::to_string).collect();
        ruled.push((
            ids.join(" "),
            ruling.word,
            ruling.reason.as_written().to_owned(),
        ));
    }
    let expected = [
        ("F1a F1c", RulingWord::Dismiss, "it is wrong"),
        ("F1b", RulingWord::Enforce, "it is right after all"),
    ];
    assert_eq!(
        ruled,
        expected.map(|(ids, word, why)| (ids.to_owned(), word, why.to_owned()))
    );
    assert_eq!((replies.refusals.len(), replies.ignored), (0, 1));
}

#[test]
fn a_thread_tells_at_most_ten_findings_and_the_summary_the_others() {
    let mut model = grouped();
    for number in 0..15 {
        let title = format!("Word{number} is another member with a body");
        model.join("alpha", &title, 3, Tag::High);
        model.findings.last_mut().unwrap().raw.body = "very long ".repeat(600).into();
    }
    model.publish();
    assert!(model.plan().is_empty(), "{:#?}", model.plan().threads);
    let summary = model.conversation.comments[0].body.as_written();
    assert!(summary.contains("Findings without a comment"));
    let comment = model.conversation.threads[0].comments[0].body.as_written();
    for number in 0..15 {
        let word = format!("Word{number} is");
        assert!(comment.contains(&word) || summary.contains(&word), "{word}");
    }
}
