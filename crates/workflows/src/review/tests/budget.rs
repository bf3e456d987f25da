//! Tests that a run at the limit of its budget keeps its answers, prints a notice, and can continue with a
//! larger budget.

use super::*;

/// Agents of a run in which the judge dismisses the finding with a valid citation.
fn dismissing(bench: &Bench) -> ScriptedRunner {
    objecting(bench).on(
        "j",
        "judge",
        judge("\"ruling\":\"DISMISS\",\"citations\":[\"app.py:1\"]"),
    )
}

#[test]
fn calls_are_counted_and_none_is_paid_for_twice() {
    let mut bench = Bench::new();
    bench.settings.budget.calls = Some(2);
    let left = bench.begin(Mode::Arbitrate, dismissing(&bench));
    assert_eq!(left.asked(), ["r review", "c respond"]);
    assert_eq!(
        (left.ended.rest, left.ended.outcome.exit),
        (Rest::OverBudget, ExitReason::Budget)
    );
    assert_eq!(left.ended.outcome.proof.calls, 2);
    let run = left.ended.outcome.run.clone();
    let notice = left.ended.outcome.notices.last().unwrap();
    assert_eq!(
        notice,
        &format!(
            "`budget.calls` is used up (2 of 2 calls); raise the cap with `glee config set --user budget.calls <more>`, then \
             resume the run with `glee runs resume {}`",
            run.short()
        )
    );

    // With the same budget, a resumed run makes no call.
    let again = bench.resume(&run, dismissing(&bench));
    assert_eq!(
        (again.asked().len(), again.ended.rest),
        (0, Rest::OverBudget)
    );
    bench.settings.budget.calls = Some(10);
    let more = bench.resume(&run, dismissing(&bench));
    assert_eq!(more.asked(), ["j judge"]);
    assert_eq!(
        (more.ended.rest, more.ended.outcome.exit),
        (Rest::Ended, ExitReason::Clean)
    );
    assert_eq!(more.ended.outcome.proof.calls, 3);
}

#[test]
fn a_budget_that_is_used_up_with_the_last_call_ends_the_run() {
    let mut bench = Bench::new();
    bench.settings.budget.calls = Some(3);
    let left = bench.review(Mode::Arbitrate, dismissing(&bench));
    assert_eq!(
        (left.ended.rest, left.ended.outcome.exit),
        (Rest::Ended, ExitReason::Clean)
    );
}

#[test]
fn repeated_tries_and_agents_at_work_count() {
    let mut bench = Bench::new();
    panel(&mut bench, &["a", "b", "d"]);
    bench.settings.limits.retries = 5;
    bench.settings.budget.calls = Some(4);
    let empty = |_: &Request| Script::prints(String::new());
    let runner = ScriptedRunner::new()
        .on("a", "review", review("", 0))
        .on("b", "review", empty)
        .on("d", "review", empty);
    let left = bench.begin(Mode::Arbitrate, runner);
    assert!(left.asked().len() <= 5, "{:?}", left.asked());
    assert_eq!(left.ended.outcome.exit, ExitReason::Budget);
}

#[test]
fn whoever_does_not_say_what_it_uses_is_named() {
    let mut bench = Bench::new();
    bench.settings.budget.tokens = Some(1000);
    bench.settings.budget.usd = Some(1.0);
    let left = bench.begin(
        Mode::Arbitrate,
        ScriptedRunner::new().on("r", "review", review("", 0)),
    );
    assert_eq!(left.ended.outcome.exit, ExitReason::Clean);
    assert_eq!(
        left.ended.outcome.notices,
        [
            "`budget.tokens` does not limit r: its usage is unknown",
            "`budget.usd` does not limit r: its usage is unknown"
        ]
    );
}
