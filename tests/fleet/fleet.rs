//! A database, repositories of several tenants, and workers that are killed and suspended.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::postgres::Postgres;
use crate::support::Sandbox;
use crate::support::repository::with_remote;
use crate::world::World;

pub(crate) const DATABASE: &str = "glee";
pub(crate) const LEASE: Duration = Duration::from_secs(3);
/// How long a process is suspended: longer than its lease.
const SUSPENDED: Duration = Duration::from_millis(4500);
pub(crate) const TENANTS: [&str; 3] = ["flood", "small", "tiny"];
pub(crate) const VENDORS: [&str; 2] = ["vendor-a", "vendor-b"];

pub(crate) struct Fleet {
    pub(crate) postgres: Postgres,
    pub(crate) world: World,
    tenants: BTreeMap<&'static str, Sandbox>,
    pub(crate) workers: Vec<Worker>,
    /// The program of each reviewer, by its name.
    pub(crate) reviewers: Vec<(&'static str, String)>,
}

pub(crate) struct Worker {
    pub(crate) machine: Sandbox,
    child: Option<Child>,
    jobs: usize,
}

/// What happens to the workers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faults {
    pub(crate) kills: usize,
    pub(crate) stops: usize,
    pub(crate) crashes: usize,
    /// The mean time between two faults.
    pub(crate) every: Duration,
    pub(crate) at_most: Duration,
}

impl Fleet {
    /// `None` where PostgreSQL is missing.
    pub(crate) fn new() -> Option<Self> {
        let postgres = Postgres::start()?;
        postgres.sql("postgres", "CREATE DATABASE glee");
        let setup = Sandbox::new();
        let owner = postgres.address("postgres", DATABASE);
        let made = setup.glee(&["server", "init", &owner, "--tenants", &TENANTS.join(",")]);
        assert_eq!(made.code, 0, "{made}");
        let mut roles = "CREATE ROLE worker LOGIN; GRANT glee_worker TO worker;".to_owned();
        for tenant in TENANTS {
            roles += &format!(
                "CREATE ROLE of_{tenant} LOGIN; GRANT glee_submitter, {tenant} TO of_{tenant};
                 INSERT INTO glee.places VALUES ('{tenant}', 4);"
            );
        }
        postgres.sql(DATABASE, &roles);
        // A run of this test is killed more often than one that harms its workers may be.
        let lease = LEASE.as_secs();
        postgres.sql(
            DATABASE,
            &format!("UPDATE glee.fleet SET lease = '{lease} s', claims = 50"),
        );
        let tenants = TENANTS.map(|tenant| {
            let mut sandbox = with_remote();
            let role = format!("of_{tenant}");
            sandbox.env("GLEE_SERVER", postgres.address(&role, DATABASE));
            (tenant, sandbox)
        });
        let world = World::start();
        let reviewers = VENDORS.iter().cycle().take(4);
        Some(Self {
            postgres,
            reviewers: reviewers
                .map(|vendor| (*vendor, world.reviewer()))
                .collect(),
            world,
            tenants: tenants.into(),
            workers: Vec::new(),
        })
    }

    /// Submits the same review `runs` times. Only the first one by the command, because the others differ in the id alone.
    pub(crate) fn submit(&self, tenant: &str, runs: usize) {
        let sandbox = &self.tenants[tenant];
        let submitted = sandbox.glee(&[
            "review", "--submit", "--full", "--jobs", "1", "--commit", "HEAD",
        ]);
        assert_eq!(submitted.code, 0, "{submitted}");
        let again = format!(
            "SELECT glee.submit(s.repository, gen_random_uuid()::text, false, s.remote, s.commit, s.folder, s.args)
             FROM (SELECT * FROM glee.submission WHERE tenant = '{tenant}' LIMIT 1) s, generate_series(2, {runs})"
        );
        let role = format!("of_{tenant}");
        self.postgres
            .sql_as(&role, DATABASE, &again)
            .unwrap_or_else(|error| panic!("{error}"));
    }

    pub(crate) fn add_workers(&mut self, workers: usize, jobs: usize) {
        for _ in 0..workers {
            let mut machine = Sandbox::new();
            machine.env("GLEE_SERVER", self.postgres.address("worker", DATABASE));
            let mut agents = String::new();
            for (number, (command, program)) in self.reviewers.iter().enumerate() {
                agents += &format!("  - {{name: r{number}, command: {command}, role: reviewer}}\n");
                machine.program(command, program);
            }
            let config = machine.user_config();
            fs::create_dir_all(config.parent().expect("a folder")).expect("a folder");
            fs::write(config, format!("version: 1\nagents:\n{agents}")).expect("a file");
            let mut worker = Worker {
                machine,
                child: None,
                jobs,
            };
            worker.start();
            self.workers.push(worker);
        }
    }

    /// The number of submitted runs for which the condition holds.
    pub(crate) fn count(&self, condition: &str) -> usize {
        let sql = format!("SELECT count(*) FROM glee.submission WHERE {condition}");
        self.postgres.sql(DATABASE, &sql).parse().expect("a number")
    }

    /// Waits for the end of all runs, while workers are killed and suspended and the server crashes.
    pub(crate) fn endure(&mut self, faults: Faults) {
        let begun = Instant::now();
        let mut suspended: Vec<(Instant, Vec<i32>)> = Vec::new();
        let all = faults.kills + faults.stops + faults.crashes;
        let mut random = Random(7);
        let mut next = begun + faults.every;
        let (mut kills, mut stops, mut crashes) = (0, 0, 0);
        while kills + stops + crashes < all
            || self.count("ended IS NULL") > 0
            || !suspended.is_empty()
        {
            assert!(begun.elapsed() < faults.at_most, "{}", self.state());
            thread::sleep(Duration::from_millis(50));
            let now = Instant::now();
            suspended.retain(|(until, processes)| {
                if *until <= now {
                    processes.iter().for_each(|id| signal(*id, Signal::SIGCONT));
                }
                *until > now
            });
            for worker in &mut self.workers {
                worker.restart_if_ended();
            }
            let done = kills + stops + crashes;
            if now < next || done == all {
                continue;
            }
            next = now + faults.every * (50 + random.below(100)) / 100;
            if crashes * all < done * faults.crashes {
                self.postgres.crash();
                thread::sleep(Duration::from_millis(200));
                self.postgres.up();
                crashes += 1;
                continue;
            }
            let chosen = random.below(self.workers.len() as u32) as usize;
            let worker = &mut self.workers[chosen];
            let runs = worker.runs();
            if stops * all < done * faults.stops {
                // Whoever is suspended already is left out.
                let run = runs
                    .get(random.below(runs.len().max(1) as u32) as usize)
                    .filter(|run| suspended.iter().all(|(_, ids)| !ids.contains(run)));
                let Some(run) = run else { continue };
                let processes = match random.below(2) {
                    0 => vec![*run],
                    // The whole machine sleeps.
                    _ => worker.processes(),
                };
                processes.iter().for_each(|id| signal(*id, Signal::SIGSTOP));
                suspended.push((now + SUSPENDED, processes));
                stops += 1;
                continue;
            }
            match (random.below(3), runs.first()) {
                (0, Some(run)) => signal(*run, Signal::SIGKILL),
                (1, _) => worker.kill(),
                _ => {
                    for id in worker.processes() {
                        signal(id, Signal::SIGKILL);
                    }
                    worker.kill();
                }
            }
            kills += 1;
        }
    }

    /// The runs that have not ended as they should.
    pub(crate) fn state(&self) -> String {
        let sql =
            "SELECT run, fence, worker, until > now(), waits_for, exit, failed FROM glee.submission
            WHERE exit IS DISTINCT FROM 0 LIMIT 20";
        self.postgres.sql(DATABASE, sql)
    }

    pub(crate) fn end_workers(&mut self) {
        self.workers.clear();
    }

    /// The median time from the first submission to the end of a tenant's runs, in seconds.
    pub(crate) fn median(&self, tenant: &str) -> f64 {
        let sql = format!(
            "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM
                 ended - (SELECT min(submitted) FROM glee.submission)))
             FROM glee.submission WHERE tenant = '{tenant}'"
        );
        self.postgres.sql(DATABASE, &sql).parse().expect("a number")
    }

    /// How many calls were begun after their answer was recorded, and how many others reached a vendor after it. Fails if a
    /// call reached a vendor whose start is not recorded.
    pub(crate) fn asked_again(&self) -> (usize, usize) {
        let calls = "WITH e AS (SELECT repository, run, id, at, body::jsonb AS body FROM glee.event),
              finished AS (SELECT repository, run, body -> 'call' AS call, min(id) AS id, min(at) AS at
                  FROM e WHERE body ->> 'event' = 'call_finished' GROUP BY 1, 2, 3),
              started AS (SELECT repository, run, body -> 'call' AS call, id, body ->> 'nonce' AS nonce
                  FROM e WHERE body ->> 'event' = 'call_started')
            SELECT s.nonce, s.id > f.id, (extract(epoch FROM f.at::timestamptz) * 1000000)::bigint
              FROM started s LEFT JOIN finished f USING (repository, run, call)";
        let rows = self.postgres.sql(DATABASE, calls);
        let mut finished = BTreeMap::new();
        let mut again = 0;
        for row in rows.lines() {
            let mut cells = row.split('|');
            let nonce = cells.next().expect("a nonce");
            let is_again = cells.next() == Some("t");
            again += usize::from(is_again);
            let at = cells.next().and_then(|at| at.parse::<i64>().ok());
            finished.insert(nonce, at.filter(|_| !is_again));
        }
        let seen = self.world.seen();
        let late = seen.calls.iter().filter(|(nonce, begun)| {
            let at = finished.get(nonce.as_str());
            let at = at.unwrap_or_else(|| panic!("the start of the call {nonce} is not recorded"));
            at.is_some_and(|at| *begun > at)
        });
        (again, late.count())
    }
}

impl Worker {
    fn start(&mut self) {
        let mut command = self.machine.command(&["worker", "-j"]);
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.machine.home().join("log"));
        let child = command
            .arg(self.jobs.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.expect("a file"))
            .spawn();
        self.child = Some(child.expect("the binary starts"));
    }

    fn restart_if_ended(&mut self) {
        let has_ended = |child: &mut Child| child.try_wait().expect("a child").is_some();
        if self.child.as_mut().is_none_or(has_ended) {
            self.start();
        }
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }

    /// The processor time of the worker and of the runs that have ended, in seconds.
    pub(crate) fn used(&self) -> f64 {
        self.id().map(used).unwrap_or_default()
    }

    fn id(&self) -> Option<i32> {
        self.child
            .as_ref()
            .and_then(|child| i32::try_from(child.id()).ok())
    }

    /// The processes that carry a run.
    pub(crate) fn runs(&self) -> Vec<i32> {
        self.id().map(children).unwrap_or_default()
    }

    /// The worker and all below it.
    fn processes(&self) -> Vec<i32> {
        let mut found: Vec<i32> = self.id().into_iter().collect();
        let mut next = 0;
        while let Some(id) = found.get(next) {
            found.extend(children(*id));
            next += 1;
        }
        found
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        for id in self.processes() {
            signal(id, Signal::SIGKILL);
        }
        self.kill();
    }
}

fn signal(id: i32, signal: Signal) {
    // The process can have ended.
    let _ = kill(Pid::from_raw(id), signal);
}

/// The processor time of a process and of its children that have ended, in seconds.
pub(crate) fn used(id: i32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let values = stat.rsplit(") ").next().unwrap_or_default();
    let times = values.split(' ').skip(11).take(4);
    times
        .filter_map(|time| time.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

fn children(of: i32) -> Vec<i32> {
    let tasks = fs::read_dir(format!("/proc/{of}/task"))
        .into_iter()
        .flatten();
    let lists = tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let mut found = Vec::new();
    for list in lists {
        found.extend(
            list.split_whitespace()
                .filter_map(|id| id.parse::<i32>().ok()),
        );
    }
    found
}

/// Numbers that are the same in each run of a test.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 % u64::from(end)).expect("it is below a u32")
    }
}
