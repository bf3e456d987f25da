//! Workers that share a queue in PostgreSQL, with scripted agents. Workers are killed and suspended, and the server crashes.

#![cfg(all(feature = "server", target_os = "linux"))]

mod budgets;
mod fleet;
#[path = "../programs/postgres.rs"]
mod postgres;
mod queue;
mod scale;
#[path = "../cli/support/mod.rs"]
mod support;
mod world;

use std::io::Write as _;
use std::time::Duration;

use fleet::{DATABASE, Faults, Fleet, VENDORS};

fn missing(what: &str) {
    assert!(
        std::env::var_os("PROGRAMS_REQUIRED").is_none(),
        "{what} (PROGRAMS_REQUIRED is set)"
    );
    drop(writeln!(std::io::stderr(), "skipped: {what}"));
}

const PERMITS: usize = 3;

/// Runs a fleet through faults, and checks what is promised.
fn endured(runs: usize, workers: usize, jobs: usize, faults: Faults) -> Option<Fleet> {
    let mut fleet = Fleet::new()?;
    for vendor in VENDORS {
        let sql = format!("SELECT glee.limit_vendor('{vendor}', {PERMITS})");
        fleet.postgres.sql(DATABASE, &sql);
    }
    let small = runs / 8;
    fleet.submit("flood", runs - 2 * small);
    fleet.submit("small", small);
    fleet.submit("tiny", small);
    fleet.add_workers(workers, jobs);
    fleet.endure(faults);
    fleet.end_workers();

    let medians = fleet::TENANTS.map(|tenant| fleet.median(tenant));
    let (again, late) = fleet.asked_again();
    let most: Vec<usize> = fleet
        .world
        .seen()
        .at_once
        .values()
        .map(|(_, most)| *most)
        .collect();
    let calls = fleet.world.seen().calls.len();
    let claims = fleet
        .postgres
        .sql(DATABASE, "SELECT sum(fence) FROM glee.submission");
    let figures = format!(
        "{runs} runs, {faults:?}: {claims} claims, {calls} calls, {again} asked again, \
         {late} of suspended programs, at most {most:?} at once, medians {medians:.1?} s"
    );
    drop(writeln!(std::io::stderr(), "{figures}"));
    assert_eq!(fleet.count("true"), runs);
    assert_eq!(
        fleet.count("exit IS DISTINCT FROM 0"),
        0,
        "{figures}\n{}",
        fleet.state()
    );
    assert_eq!(again, 0, "{figures}");
    // What nothing prevents: a program that had been started asks its vendor when the machine wakes up.
    assert!(late <= faults.stops * jobs, "{figures}");
    assert!(most.iter().all(|most| *most <= PERMITS), "{figures}");
    // Each run asked each reviewer and recorded one answer.
    let answers = "SELECT count(*) FROM glee.event WHERE body::jsonb ->> 'event' = 'call_finished'";
    assert_eq!(
        fleet.postgres.sql(DATABASE, answers),
        (4 * runs).to_string()
    );
    Some(fleet)
}

#[test]
fn a_fleet_loses_no_run_and_asks_nothing_twice() {
    let faults = Faults {
        kills: 6,
        stops: 3,
        crashes: 1,
        every: Duration::from_millis(1200),
        at_most: Duration::from_secs(240),
    };
    endured(20, 3, 2, faults);
}

/// About half an hour on two cores with a debug build.
#[test]
#[ignore = "the nightly job runs it"]
fn a_large_fleet_loses_no_run_and_asks_nothing_twice() {
    let number = |name: &str, default: usize| {
        let given = std::env::var(name).ok().and_then(|text| text.parse().ok());
        given.unwrap_or(default)
    };
    let faults = Faults {
        kills: number("FLEET_KILLS", 500),
        stops: number("FLEET_STOPS", 100),
        crashes: number("FLEET_CRASHES", 5),
        every: Duration::from_millis(400),
        at_most: Duration::from_secs(7200),
    };
    if let Some(fleet) = endured(number("FLEET_RUNS", 2000), 8, 4, faults) {
        let [flood, small, tiny] = fleet::TENANTS.map(|tenant| fleet.median(tenant));
        assert!(
            small < flood / 2.0 && tiny < flood / 2.0,
            "{flood} {small} {tiny}"
        );
    }
}

/// The negative control: without the fence, the same faults do harm that the checks see.
#[test]
fn without_the_fence_recorded_calls_are_asked_again() {
    let Some(mut fleet) = Fleet::new() else {
        return;
    };
    fleet.postgres.sql(
        DATABASE,
        "CREATE OR REPLACE FUNCTION glee.carried(run text, fence int) RETURNS glee.submission LANGUAGE sql AS
             $$ SELECT s FROM glee.submission s WHERE s.run = carried.run $$;
         CREATE OR REPLACE FUNCTION glee.renew(run text, fence int) RETURNS bigint LANGUAGE sql SECURITY DEFINER AS
             $$ SELECT 3000::bigint $$",
    );
    fleet.add_workers(2, 2);
    let mut again = 0;
    for _ in 0..10 {
        fleet.submit("flood", 8);
        fleet.endure(Faults {
            kills: 0,
            stops: 6,
            crashes: 0,
            every: Duration::from_millis(500),
            at_most: Duration::from_secs(120),
        });
        again = fleet.asked_again().0;
        if again > 0 {
            break;
        }
    }
    fleet.end_workers();
    drop(writeln!(
        std::io::stderr(),
        "without the fence: {again} asked again"
    ));
    assert!(again > 0, "the checks see nothing");
}
