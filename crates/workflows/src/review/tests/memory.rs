//! Tests that the memory of the machine bounds how many sessions run at the same time.

use std::sync::Mutex;
use std::time::Instant;

use super::*;

/// Long beside what a loaded machine needs to begin two of them.
const SESSION: Duration = Duration::from_millis(400);

/// The largest number of sessions that ran side by side after the first had ended, where each session takes 100 bytes.
fn side_by_side(available: Option<u64>, jobs: u32) -> usize {
    let mut bench = Bench::new();
    let names = ["a", "b", "d", "e", "f", "g"];
    panel(&mut bench, &names);
    for agent in &mut bench.settings.agents {
        agent.command = vec!["program".to_owned()];
    }
    bench.settings.review.jobs = Some(jobs);
    let began: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let mut runner = ScriptedRunner::new().with_memory(move || available);
    for name in names {
        let began = Arc::clone(&began);
        let answer = review("", 0);
        runner = runner.on(name, "review", move |request| {
            began.lock().unwrap().push(Instant::now());
            answer(request).after(SESSION).with_peak_memory(100)
        });
    }
    let left = bench.review(Mode::Review, runner);
    assert_eq!(left.ended.outcome.exit, ExitReason::Clean);
    let began = began.lock().unwrap();
    assert_eq!(began.len(), names.len(), "all are asked in the end");
    let first = began[0] + SESSION;
    let later = began.iter().filter(|at| **at >= first);
    let beside = later.map(|at| {
        let running = began
            .iter()
            .filter(|other| *other <= at && *at < **other + SESSION);
        running.count()
    });
    beside.max().unwrap_or(0)
}

#[test]
fn a_session_waits_while_the_largest_one_of_its_program_does_not_fit() {
    assert_eq!(side_by_side(Some(99), 2), 1);
    // Two that begin at the same moment need room for both.
    assert_eq!(side_by_side(Some(200), 2), 2);
    assert_eq!(side_by_side(None, 2), 2, "nothing is known");
}
