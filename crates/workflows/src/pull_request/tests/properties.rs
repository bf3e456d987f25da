//! Random sequences of pushes, replies, rulings and renames. A publication that stops after any request is
//! completed by the next one: nothing is said twice, and nothing is lost.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::hosts::Permission;
use crate::pull_request::marker;
use crate::pull_request::tests::model::{AUTHOR, MAINTAINER, MEMBER, Model, tells};
use glee_model::domain::{RulingWord, Tag};

/// The words of the heads, and then of the members that join their groups.
const WORDS: [&str; 8] = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "theta", "kappa",
];
const HEADS: usize = 4;
/// The titles, lines and tags of the members.
const MEMBERS: [(&str, u32, Tag); HEADS] = [
    ("The epsilon command runs in a shell", 3, Tag::High),
    ("Nobody resets the zeta number of requests", 5, Tag::Low),
    ("A secret theta reaches files on disk", 2, Tag::High),
    ("Use an iterator in place of kappa", 6, Tag::Low),
];

#[derive(Clone, Debug)]
enum Act {
    /// Inserts lines at the beginning of a file, and moves its findings.
    Insert(usize, u32),
    Rename(usize),
    ForcePush,
    Fix(usize),
    Raise(usize),
    /// Another reviewer raises a member of the group of a finding.
    Join(usize),
    Say(usize, usize),
    Rule(usize, RulingWord),
    Resolve(usize, bool),
}

fn act() -> impl Strategy<Value = Act> {
    let word = 0..WORDS.len();
    let ruling = prop_oneof![
        Just(RulingWord::Enforce),
        Just(RulingWord::Dismiss),
        Just(RulingWord::Escalate)
    ];
    prop_oneof![
        (0..2_usize, 1..40_u32).prop_map(|(file, lines)| Act::Insert(file, lines)),
        (0..2_usize).prop_map(Act::Rename),
        Just(Act::ForcePush),
        word.clone().prop_map(Act::Fix),
        (0..HEADS).prop_map(Act::Raise),
        (0..HEADS).prop_map(Act::Join),
        (word.clone(), 0..7_usize).prop_map(|(word, said)| Act::Say(word, said)),
        (word.clone(), ruling).prop_map(|(word, ruling)| Act::Rule(word, ruling)),
        (word, any::<bool>()).prop_map(|(word, is_resolved)| Act::Resolve(word, is_resolved)),
    ]
}

fn has_thread(model: &Model, word: &str) -> bool {
    model
        .conversation
        .threads
        .iter()
        .any(|thread| tells(thread, word))
}

fn perform(model: &mut Model, act: &Act) {
    let path = |model: &Model, file: usize| {
        model
            .texts
            .keys()
            .nth(file % model.texts.len())
            .cloned()
            .unwrap()
    };
    match act {
        Act::Insert(file, lines) => {
            let path = path(model, *file);
            let text = format!(
                "{}\n{}",
                "new line\n".repeat(*lines as usize),
                model.texts[&path]
            );
            model.push(&path, &text);
            for finding in &mut model.findings {
                if finding.raw.file.as_ref() == Some(&path) {
                    finding.raw.line = finding.raw.line.map(|line| line + lines + 1);
                }
            }
        }
        Act::Rename(file) => {
            let path = path(model, *file);
            model.rename(&path, &format!("{}x.txt", path.trim_end_matches(".txt")));
        }
        Act::ForcePush => model.force_push(),
        Act::Fix(word) => {
            // The lines of the finding change, so its block is gone.
            let is_it = |title: &str| title.contains(WORDS[*word]);
            let Some(at) = model
                .findings
                .iter()
                .position(|finding| is_it(finding.raw.title.as_written()))
            else {
                return;
            };
            let finding = model.findings.remove(at);
            let path = finding.raw.file.unwrap();
            let mut lines: Vec<String> = model.texts[&path].lines().map(str::to_owned).collect();
            lines[finding.raw.line.unwrap() as usize - 1].push_str(" fixed");
            model.push(&path, &(lines.join("\n") + "\n"));
        }
        Act::Raise(word) => {
            let has_it = |title: &str| title.contains(WORDS[*word]);
            if !model
                .findings
                .iter()
                .any(|finding| has_it(finding.raw.title.as_written()))
            {
                let known = Model::new().findings.swap_remove(*word).raw;
                let path = path(model, usize::from(known.file.as_deref() == Some("b.txt")));
                let last = u32::try_from(model.texts[&path].lines().count()).unwrap();
                model.next_run();
                model.raise(
                    known.title.as_written(),
                    &path,
                    known.line.unwrap().min(last),
                    known.severity.tag.unwrap(),
                );
            }
        }
        Act::Join(word) => {
            let (title, line, tag) = MEMBERS[*word];
            let Some(head) = model.finding(WORDS[*word]) else {
                return;
            };
            let text = &model.texts[head.raw.file.as_ref().unwrap()];
            let last = u32::try_from(text.lines().count()).unwrap();
            if model.finding(WORDS[HEADS + *word]).is_none() {
                model.next_run();
                model.join(WORDS[*word], title, line.min(last), tag);
            }
        }
        Act::Say(word, said) if has_thread(model, WORDS[*word]) => {
            let (login, permission, body) = [
                (
                    MEMBER,
                    Permission::Member,
                    "The value is checked in a.txt:3",
                ),
                (MEMBER, Permission::Member, "@glee dismiss because I say so"),
                (
                    AUTHOR,
                    Permission::Maintainer,
                    "@glee dismiss because it is mine",
                ),
                (
                    MAINTAINER,
                    Permission::Maintainer,
                    "@glee enforce it is right",
                ),
                ("other[bot]", Permission::Maintainer, "@glee dismiss"),
                (
                    MEMBER,
                    Permission::Member,
                    "[F1b] The value is checked in a.txt:3",
                ),
                (
                    MAINTAINER,
                    Permission::Maintainer,
                    "@glee dismiss [F1a] it is wrong",
                ),
            ][*said];
            model.say(WORDS[*word], login, permission, body);
        }
        Act::Rule(word, ruling) => model.rule(WORDS[*word], *ruling),
        Act::Resolve(word, is_resolved) if has_thread(model, WORDS[*word]) => match is_resolved {
            true => model.resolve(WORDS[*word]),
            false => model.reopen(WORDS[*word]),
        },
        Act::Say(..) | Act::Resolve(..) => {}
    }
}

/// What Glee said in each thread, by the word of its title.
fn said(model: &Model) -> BTreeMap<String, Vec<String>> {
    let threads = model.conversation.threads.iter().map(|thread| {
        let own = thread
            .comments
            .iter()
            .filter(|comment| marker::is_glee(comment));
        let own = own.map(|comment| comment.body.as_written().to_owned());
        (
            thread.comments[0].body.as_written().to_owned(),
            own.chain([thread.is_resolved.to_string()]).collect(),
        )
    });
    threads.collect()
}

/// What Glee said in each thread, without markers, which name comments of other ids.
fn texts(model: &Model) -> Vec<Vec<String>> {
    let threads = model.conversation.threads.iter().map(|thread| {
        let own = thread.comments.iter().filter(|comment| comment.is_own);
        let own = own.map(|comment| comment.body.as_written());
        let own = own.map(|body| body.split("<!-- glee:").next().unwrap_or(body).to_owned());
        own.chain([thread.is_resolved.to_string()]).collect()
    });
    threads.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_publication_that_stops_anywhere_is_completed_without_doubles(
        acts in proptest::collection::vec(act(), 1..14), stops in proptest::collection::vec(0..12_usize, 14),
    ) {
        let mut whole = Model::new();
        let mut stopped = Model::new();
        for (act, stop) in acts.iter().zip(stops) {
            perform(&mut whole, act);
            perform(&mut stopped, act);
            whole.publish();
            let plan = stopped.plan();
            stopped.apply(&plan, stop);
            stopped.publish();
            for model in [&whole, &stopped] {
                let plan = model.plan();
                prop_assert!(plan.is_empty(), "after {act:?}: {:#?} {:#?} {:#?}", plan.comments, plan.threads, plan.summary);
            }
            prop_assert_eq!(said(&whole), said(&stopped));
            // No finding is told twice, and every open finding is told.
            for word in WORDS {
                let open = whole.conversation.threads.iter().filter(|thread| !thread.is_resolved);
                let comments = open.flat_map(|thread| &thread.comments);
                let count = comments.filter(|comment| comment.is_own && comment.body.as_written().contains(word)).count();
                prop_assert!(count <= 1, "{word} is told {count} times");
                if whole.finding(word).is_some() && !whole.is_ruled(word) {
                    prop_assert!(has_thread(&whole, word), "{word} is not told");
                }
            }
        }
    }

    #[test]
    fn what_is_published_twice_is_there_once_after_the_next_publication(
        acts in proptest::collection::vec(act(), 1..14), most in proptest::collection::vec(0..12_usize, 14),
    ) {
        let mut once = Model::new();
        let mut doubled = Model::new();
        for (act, most) in acts.iter().zip(most) {
            perform(&mut once, act);
            perform(&mut doubled, act);
            once.publish();
            let plan = doubled.publish();
            // A worker wakes up that had the same plan.
            doubled.apply(&plan, most);
            doubled.publish();
            prop_assert!(doubled.plan().is_empty(), "after {act:?}: {:#?}", doubled.plan());
            prop_assert_eq!(texts(&once), texts(&doubled));
            prop_assert_eq!(doubled.conversation.comments.len(), 1);
        }
    }
}
