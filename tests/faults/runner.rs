//! The cases of the table as tests of libtest's form, so that cargo and nextest filter, list, partition and repeat them.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Command, ExitCode};
use std::sync::RwLock;

use libtest_mimic::{Arguments, Trial};

use crate::rows;

/// The number of cases of each row in a sample.
const SAMPLE: usize = 3;

struct Case {
    name: String,
    weight: Weight,
    run: Box<dyn Fn() + Send + Sync>,
}

/// The load of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    Light,
    /// Excluded from samples.
    Heavy,
}

/// The cases of all rows in order, and the rows that cannot run here, with reasons.
#[derive(Default)]
pub(crate) struct Cases {
    rows: Vec<(&'static str, Vec<Case>)>,
    skipped: Vec<(&'static str, &'static str)>,
}

impl Cases {
    /// Records that a row cannot run on this machine, and why.
    pub(crate) fn skip(&mut self, row: &'static str, why: &'static str) {
        self.skipped.push((row, why));
    }

    /// Adds a case, which passes if it does not panic.
    pub(crate) fn add(
        &mut self,
        row: &'static str,
        name: impl Into<String>,
        run: impl Fn() + Send + Sync + 'static,
    ) {
        self.push(row, name.into(), Weight::Light, Box::new(run));
    }

    /// Adds a slow case, which is excluded from samples.
    pub(crate) fn heavy(
        &mut self,
        row: &'static str,
        name: impl Into<String>,
        run: impl Fn() + Send + Sync + 'static,
    ) {
        self.push(row, name.into(), Weight::Heavy, Box::new(run));
    }

    fn push(
        &mut self,
        row: &'static str,
        name: String,
        weight: Weight,
        run: Box<dyn Fn() + Send + Sync>,
    ) {
        let case = Case { name, weight, run };
        match self.rows.iter_mut().find(|(known, _)| *known == row) {
            Some((_, cases)) => cases.push(case),
            None => self.rows.push((row, vec![case])),
        }
    }

    /// A sample of each row, spread over its light cases; the others are ignored.
    fn trials(self) -> Vec<Trial> {
        let mut trials = Vec::new();
        for (row, cases) in self.rows {
            let is_light = |case: &&Case| case.weight == Weight::Light;
            let step = cases.iter().filter(is_light).count().div_ceil(SAMPLE);
            let mut light = 0;
            for Case { name, weight, run } in cases {
                let is_sampled = weight == Weight::Light && light % step == 0;
                light += usize::from(weight == Weight::Light);
                // A name is one line for whoever lists the tests.
                let name = format!("{row}: {}", name.escape_debug());
                let trial = Trial::test(name.clone(), move || {
                    match weight {
                        Weight::Light => attempt(&name, &*run),
                        // Its many kills are the attempts, and each of them counts.
                        Weight::Heavy => run(),
                    }
                    Ok(())
                });
                trials.push(trial.with_ignored_flag(!is_sampled));
            }
        }
        trials
    }
}

/// Runs a case. If it fails, says so and runs it again while no other case runs, because its bounds of time are for a
/// quiet machine.
fn attempt(name: &str, run: &(dyn Fn() + Send + Sync)) {
    static RUNNING: RwLock<()> = RwLock::new(());
    let first = {
        let _beside_others = RUNNING.read().expect("no case panics with the lock");
        catch_unwind(AssertUnwindSafe(run))
    };
    if first.is_err() {
        drop(writeln!(std::io::stderr(), "tried once more: {name}"));
        let second = {
            let _alone = RUNNING.write().expect("no case panics with the lock");
            catch_unwind(AssertUnwindSafe(run))
        };
        second.unwrap_or_else(|panic| resume_unwind(panic));
    }
}

/// Whether SIGHUP or SIGINT (the first two bits of the mask) is ignored; `false` without `/proc`.
fn ignores_signals() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 3 != 0)
}

pub(crate) fn main() -> ExitCode {
    if ignores_signals() {
        // Shells start background jobs with SIGINT ignored, and `nohup` ignores SIGHUP; every program of a case
        // would inherit this.
        let error = Command::new("env")
            .arg("--default-signal=HUP,INT,QUIT")
            .args(std::env::current_exe())
            .args(std::env::args_os().skip(1))
            .exec();
        panic!("`env --default-signal` cannot be run: {error}");
    }
    let mut args = Arguments::from_args();
    // Most cases wait most of the time.
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    args.test_threads.get_or_insert(cores * 2);
    let mut cases = Cases::default();
    rows::add(&mut cases);
    // Not on stdout, which nextest reads as the list of tests.
    for (row, why) in &cases.skipped {
        drop(writeln!(std::io::stderr(), "not tried: {row}: {why}"));
    }
    libtest_mimic::run(&args, cases.trials()).exit_code()
}
