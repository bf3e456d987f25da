//! What a run costs as it grows, counted and not timed: files parsed, events written.

use super::*;
use crate::workspace::code::anchors::PARSED;

/// What was counted in one run.
#[derive(Debug, PartialEq, Eq)]
struct Work {
    parsed: usize,
    events: usize,
}

/// A run with some findings in one file of as many functions, each disputed.
fn disputed(count: usize, route: Route, ruling: &'static str) -> (Work, Left) {
    let mut bench = Bench::new();
    let text: String = (0..count).map(|n| format!("def key{n}(x):\n    return md5(x, {n})\n\n")).collect();
    bench.write(&format!("def key(data):\n    pass\n\n{text}"));
    bench.settings.review.on_dispute.default = route;
    bench.settings.review.judge.require_evidence = false;
    bench.ruling = Some(RulingWord::Dismiss);
    let raised: Vec<String> = (0..count).map(|n| format!("[MUST] app.py:{} Replace hash {n}", 3 * n + 5)).collect();
    let objections: Vec<String> = (1..=count).map(|n| format!("[F{n}] DISAGREE: a cache")).collect();
    let number = u32::try_from(count).unwrap();
    let runner = ScriptedRunner::new()
        .on("r", "review", review(&raised.join("\n"), number))
        .on("c", "respond", respond(&objections.join("\n"), number))
        .on("j", "judge", judge(ruling));
    PARSED.set(0);
    let left = bench.begin(Mode::Arbitrate, runner);
    let work = Work { parsed: PARSED.get(), events: left.heard.events.len() };
    assert_eq!(left.ended.outcome.disputes.len(), count);
    bench.decide_again(&left.ended);
    (work, left)
}

/// Twice as many disputes take at most a little more than twice the work.
fn is_linear(route: Route, ruling: &'static str) {
    let ((few, _), (many, left)) = (disputed(60, route, ruling), disputed(120, route, ruling));
    // Another test of this process may have parsed the same text already.
    assert!(few.parsed <= 1 && many.parsed <= 1, "{few:?} {many:?}");
    assert!(many.events <= 2 * few.events, "{few:?} {many:?}");
    assert!(left.ended.outcome.disputes.iter().all(|dispute| !dispute.is_open()));
}

#[test]
fn disputes_that_are_discarded() {
    is_linear(Route::Discard, "");
}

#[test]
fn disputes_that_a_judge_dismisses() {
    is_linear(Route::Judge, r#""ruling":"DISMISS","grounds":["factual_error"],"citations":[]"#);
}

#[test]
fn disputes_that_a_person_rules_on() {
    is_linear(Route::Human, "");
}

#[test]
fn no_more_judges_work_at_once_than_there_are_places_for() {
    let (_, left) = disputed(100, Route::Judge, r#""ruling":"DISMISS","grounds":["factual_error"],"citations":[]"#);
    let (mut now, mut most) = (0_usize, 0);
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
