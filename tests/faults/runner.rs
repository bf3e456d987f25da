//! Runs a sample or all cases in parallel, and prints the number of passed ones.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::rows;

/// The number of cases of each row in a sample.
const SAMPLE: usize = 3;

/// The maximum number of cases of each row with `--full`, spread over the row.
const FULL: usize = 36;

pub(crate) struct Case {
    row: &'static str,
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
pub(crate) struct Cases(Vec<Case>, Vec<(&'static str, &'static str)>);

impl Cases {
    /// Records that a row cannot run on this machine, and why.
    pub(crate) fn skip(&mut self, row: &'static str, why: &'static str) {
        self.1.push((row, why));
    }

    /// Adds a case, which passes if it does not panic.
    pub(crate) fn add(
        &mut self,
        row: &'static str,
        name: impl Into<String>,
        run: impl Fn() + Send + Sync + 'static,
    ) {
        self.0.push(Case {
            row,
            name: name.into(),
            weight: Weight::Light,
            run: Box::new(run),
        });
    }

    /// Adds a slow case, which is excluded from samples.
    pub(crate) fn heavy(
        &mut self,
        row: &'static str,
        name: impl Into<String>,
        run: impl Fn() + Send + Sync + 'static,
    ) {
        self.0.push(Case {
            row,
            name: name.into(),
            weight: Weight::Heavy,
            run: Box::new(run),
        });
    }
}

/// The arguments, compatible with the tools that run Rust tests.
#[derive(Default)]
struct Args {
    words: Vec<String>,
    exact: bool,
    full: bool,
    all: bool,
    again: bool,
    list: bool,
    ignored: bool,
    /// `(k, n)` runs only the `k`th of `n` parts of the chosen cases.
    part: Option<(usize, usize)>,
    long: Option<usize>,
    verbose: bool,
}

fn args() -> Args {
    let mut args = Args::default();
    // `cargo test` passes its arguments to all targets, so the arguments of this target are in a variable.
    let own = std::env::var("FAULTS_ARGS").unwrap_or_default();
    let own = own
        .split_whitespace()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    let mut words = own.into_iter().chain(std::env::args().skip(1)).peekable();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--full" => args.full = true,
            "--all" => args.all = true,
            "--again" => args.again = true,
            "--list" => args.list = true,
            "--exact" => args.exact = true,
            "--ignored" => args.ignored = true,
            "--verbose" => args.verbose = true,
            "--part" => {
                let word = words.next().unwrap_or_default();
                let part = word
                    .split_once('/')
                    .and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
                args.part = part.filter(|(k, n)| (1..=*n).contains(k));
                assert!(
                    args.part.is_some(),
                    "`--part` needs K/N, as in `--part 1/2`"
                );
            }
            "--long" => {
                let kills = words.next_if(|word| word.parse::<usize>().is_ok());
                args.long = Some(kills.and_then(|word| word.parse().ok()).unwrap_or(2_000));
            }
            "--format" | "--test-threads" | "--color" => drop(words.next()),
            option if option.starts_with('-') => {}
            _ => args.words.push(word),
        }
    }
    args
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
        tell(&format!(
            "error: `env --default-signal` cannot be run: {error}\n"
        ));
        return ExitCode::FAILURE;
    }
    let args = args();
    if let Some(kills) = args.long {
        return rows::kills::at_random(kills);
    }
    let mut cases = Cases::default();
    rows::add(&mut cases);
    let wanted = |case: &Case| {
        args.words.is_empty()
            || args.words.iter().any(|word| {
                if args.exact {
                    case.row == word
                } else {
                    case.row.contains(word.as_str())
                }
            })
    };
    let mut rows: Vec<&'static str> = Vec::new();
    for case in cases.0.iter().filter(|case| wanted(case)) {
        if !rows.contains(&case.row) {
            rows.push(case.row);
        }
    }
    if args.list {
        // No test is ignored.
        let names = rows
            .iter()
            .filter(|_| !args.ignored)
            .map(|row| format!("{row}: test\n"));
        tell(&names.collect::<String>());
        return ExitCode::SUCCESS;
    }
    let chosen: Vec<&Case> = rows
        .iter()
        .flat_map(|row| {
            let takes_all = args.full || args.all;
            let is_chosen =
                |case: &&Case| case.row == *row && (takes_all || case.weight == Weight::Light);
            let of_row: Vec<&Case> = cases.0.iter().filter(is_chosen).collect();
            let most = if args.full { FULL } else { SAMPLE };
            let step = if args.all {
                1
            } else {
                of_row.len().div_ceil(most)
            };
            of_row.into_iter().step_by(step.max(1)).collect::<Vec<_>>()
        })
        .collect();
    let (part, parts) = args.part.unwrap_or((1, 1));
    let chosen: Vec<&Case> = chosen.into_iter().skip(part - 1).step_by(parts).collect();
    let started = Instant::now();
    let mut failures = run(&chosen, args.verbose);
    if args.again && !failures.is_empty() {
        tell(&format!("\n{} tried again\n", failures.len()));
        failures = run(&failures, true);
    }
    let mut held: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for case in &chosen {
        let count = held.entry(case.row).or_default();
        count.0 += 1;
        count.1 += usize::from(!failures.iter().any(|failed| std::ptr::eq(*failed, *case)));
    }
    for row in rows {
        let (ran, held) = held.get(row).copied().unwrap_or_default();
        tell(&format!("{held:>4} of {ran:<4} {row}\n"));
    }
    for (row, why) in &cases.1 {
        tell(&format!(" not tried   {row}: {why}\n"));
    }
    let (ran, seconds) = (chosen.len(), started.elapsed().as_secs());
    tell(&format!(
        "{} of {ran} cases held, {seconds} s\n",
        ran - failures.len()
    ));
    if failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs cases in parallel, because most of them wait; prints failures immediately and returns them.
fn run<'a>(cases: &[&'a Case], verbose: bool) -> Vec<&'a Case> {
    // The output of a case is printed at the end.
    std::panic::set_hook(Box::new(|_| {}));
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(2, usize::from) * 2;
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let started = Instant::now();
                    let result = catch_unwind(AssertUnwindSafe(|| (case.run)()));
                    let took = started.elapsed();
                    if verbose || took > Duration::from_secs(20) {
                        tell(&format!(
                            "{:>6} ms {} / {}\n",
                            took.as_millis(),
                            case.row,
                            case.name
                        ));
                    }
                    if let Err(panic) = result {
                        let text = panic.downcast_ref::<String>().cloned();
                        let text =
                            text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                        let text = text.unwrap_or_else(|| "it panicked".to_owned());
                        tell(&format!("\nFAILED {} / {}\n{text}\n", case.row, case.name));
                        failures
                            .lock()
                            .expect("the lock is not poisoned")
                            .push(*case);
                    }
                }
            });
        }
    });
    failures.into_inner().expect("the lock is not poisoned")
}

/// Prints to stdout.
pub(crate) fn tell(text: &str) {
    let mut out = std::io::stdout().lock();
    drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}
