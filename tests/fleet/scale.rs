//! How many runs workers make whose agents take a second each. It is measured and printed, because it depends on the machine.

use std::io::Write as _;
use std::thread;
use std::time::Duration;

use crate::fleet::{DATABASE, Fleet, used};

const SLEEPER: &str = "#!/bin/sh
cat > /dev/null
sleep 1
echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"
";

/// What a fleet made.
struct Made {
    /// Runs a second.
    rate: f64,
    /// Processor time of a run, with its part of the database, in seconds.
    used: f64,
}

/// Lets workers run `rounds` runs in each of their slots.
fn made(workers: usize, jobs: usize, rounds: usize) -> Option<Made> {
    let mut fleet = Fleet::new()?;
    fleet.reviewers = vec![("sleeper", SLEEPER.to_owned())];
    fleet.postgres.sql(
        DATABASE,
        "UPDATE glee.places SET places = 1000; UPDATE glee.fleet SET lease = '60 s'",
    );
    let runs = workers * jobs * rounds;
    fleet.submit("flood", runs);
    let server = fleet.postgres.id();
    let before = used(server);
    fleet.add_workers(workers, jobs);
    while fleet.count("ended IS NULL") > 0 {
        thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(fleet.count("exit = 0"), runs, "{}", fleet.state());
    let seconds = "SELECT extract(epoch FROM max(ended) - (SELECT min(at::timestamptz) FROM glee.event)) FROM glee.submission";
    let seconds: f64 = fleet
        .postgres
        .sql(DATABASE, seconds)
        .parse()
        .expect("a number");
    let of_workers: f64 = fleet.workers.iter().map(|worker| worker.used()).sum();
    fleet.end_workers();
    let of_server = used(server) - before;
    Some(Made {
        rate: runs as f64 / seconds,
        used: (of_workers + of_server) / runs as f64,
    })
}

#[test]
#[ignore = "it measures; the nightly job runs it"]
fn runs_a_second_of_workers() {
    let cores = thread::available_parallelism().map_or(2, usize::from) as f64;
    for workers in [2, 4, 8, 16] {
        for jobs in [1, 2, 4] {
            let Some(Made { rate, used }) = made(workers, jobs, 5) else {
                return;
            };
            let slots = (workers * jobs) as f64;
            // What the processors can start bounds what agents of a second let through.
            let most = cores / used;
            let share = rate / slots.min(most);
            drop(writeln!(
                std::io::stderr(),
                "{workers} workers of {jobs}: {rate:.1} runs/s, {:.0}% of one a second in each slot; {used:.3} s of a \
                 processor a run, with which {cores} make {most:.1}/s: {:.0}% of the ideal",
                100.0 * rate / slots,
                100.0 * share
            ));
        }
    }
}
