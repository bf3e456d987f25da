//! Tests that the numbers of parsed files and events grow at most linearly with the number of disputes, and that
//! the number of concurrent calls is limited.

use super::*;
use glee_workspace::code::grammar::PARSED;

/// The counts of one run.
#[derive(Debug, PartialEq, Eq)]
struct Work {
    parsed: usize,
    events: usize,
}

/// Runs a review of one file with `count` functions. Each function has one finding, and each finding is
/// disputed.
fn disputed(count: usize, route: Route, ruling: &'static str) -> (Work, Left) {
    let mut bench = Bench::new();
    let text: String = (0..count)
        .map(|n| format!("def key{n}(x):\n    return md5(x, {n})\n\n"))
        .collect();
    bench.write(&format!("def key(data):\n    pass\n\n{text}"));
    bench.settings.review.on_dispute.default = route;
    bench.settings.review.judge.require_evidence = false;
    bench.ruling = Some(RulingWord::Dismiss);
    let raised: Vec<String> = (0..count)
        .map(|n| format!("[MUST] app.py:{} Replace hash {n}", 3 * n + 5))
        .collect();
    let objections: Vec<String> = (1..=count)
        .map(|n| format!("[F{n}] DISAGREE: a cache"))
        .collect();
    let number = u32::try_from(count).unwrap();
    let runner = ScriptedRunner::new()
        .on("r", "review", review(&raised.join("\n"), number))
        .on("c", "respond", respond(&objections.join("\n"), number))
        .on("j", "judge", judge(ruling));
    PARSED.set(0);
    let left = bench.begin(Mode::Arbitrate, runner);
    let work = Work {
        parsed: PARSED.get(),
        events: left.heard.events.len(),
    };
    assert_eq!(left.ended.outcome.disputes.len(), count);
    bench.decide_again(&left.ended);
    (work, left)
}

/// Checks that twice as many disputes cause at most twice as many events.
fn is_linear(route: Route, ruling: &'static str) {
    let (few, _) = disputed(60, route, ruling);
    let (many, left) = disputed(120, route, ruling);
    // Another test of this process possibly parsed the same text before, so the count can be 0.
    assert!(few.parsed <= 1 && many.parsed <= 1, "{few:?} {many:?}");
    assert!(many.events <= 2 * few.events, "{few:?} {many:?}");
    assert!(
        left.ended
            .outcome
            .disputes
            .iter()
            .all(|dispute| !dispute.is_open())
    );
}

#[test]
fn disputes_that_are_discarded() {
    is_linear(Route::Discard, "");
}

#[test]
fn disputes_that_a_judge_dismisses() {
    is_linear(
        Route::Judge,
        r#""ruling":"DISMISS","grounds":["factual_error"],"citations":[]"#,
    );
}

#[test]
fn a_judge_is_sent_at_most_3_000_bytes_for_a_finding_and_an_objection_of_one_line() {
    let dismiss = r#""ruling":"DISMISS","grounds":["factual_error"],"citations":[]"#;
    let (_, left) = disputed(20, Route::Judge, dismiss);
    let mut asked = 0;
    for call in left.runner.seen() {
        if call.request.task.role() == Role::Judge {
            let root = call.request.root.len();
            let prompt = glee_protocol::prompts::render(&call.request, None).unwrap();
            // The tree of the measurement had a path of 27 bytes.
            let sent = prompt.len() - root + 27;
            assert!(sent <= 3_000, "{sent}\n{prompt}");
            asked += 1;
        }
    }
    assert_eq!(asked, 20);
}

#[test]
fn disputes_that_a_person_rules_on() {
    is_linear(Route::Human, "");
}

#[test]
fn no_more_judges_work_at_once_than_there_are_places_for() {
    let (_, left) = disputed(
        100,
        Route::Judge,
        r#""ruling":"DISMISS","grounds":["factual_error"],"citations":[]"#,
    );
    let mut now = 0_usize;
    let mut most = 0;
    for event in &left.heard.events {
        if event.starts_with("ask judge") {
            now += 1;
        } else if event == "ruling_given" {
            now -= 1;
        }
        most = most.max(now);
    }
    assert!((2..=16).contains(&most), "{most} at once");
}
