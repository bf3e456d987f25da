//! Appends to the log of a server, beside `pgbench`, which inserts the same bytes into a table with the same columns and
//! indices, and moves the head of a chain. The events are those of a review of `examples/shop`, 3.9 kB on average. Each is
//! a transaction of its own, and the server waits for the disk.
//!
//! `cargo bench --bench appends -- [SECONDS]`. Rounds of both alternate for at least `SECONDS` each, by default 10, with 1,
//! 8 and 16 clients. Printed are the medians, and the processor time of an insert and of an append (client + server). A
//! client has a repository of its own; in the last rows, all share one.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use glee_model::domain::RunId;
use glee_model::domain::event::{EventKind, ReviewEvent};
use glee_store::history::Journal;
use glee_store::history::server::Server;
use glee_store::history::shared_log::RepositoryNames;
use nix::sys::resource::{UsageWho, getrusage};
use rusqlite::{Connection, OpenFlags};

#[path = "../tests/programs/postgres.rs"]
mod postgres;

use postgres::Postgres;

/// The first events of the first golden run, up to the merge of its findings, and its end.
const EVENTS: &str =
    "SELECT body FROM event WHERE run = (SELECT id FROM run ORDER BY number LIMIT 1)
    AND (seq <= 5 OR kind = 'run_ended') ORDER BY seq LIMIT 6";

/// Runs in a round of a client.
const RUNS: u32 = 20;

/// The least that a client can do that appends to a chain: one statement, which moves the head and inserts the event.
const PLAIN: &str = "WITH head AS (UPDATE plain_head SET events = events + 1, hash = 'HASH' WHERE repository = :client_id % REPOSITORIES
        RETURNING repository, events)
    INSERT INTO plain (repository, id, run, seq, at, body, prev, hash)
        SELECT repository, events, '0190aaaa-0000-7000-8000-000000000000', events, '2026-01-01T00:00:00.000000Z', :BODY,
            'HASH', 'HASH' FROM head;\n";
const TABLES: &str = "CREATE TABLE plain (LIKE glee.event INCLUDING ALL);
    CREATE TABLE plain_head (repository int PRIMARY KEY, events bigint, hash text)";

fn missing(what: &str) {
    drop(writeln!(std::io::stderr(), "{what}"));
}

fn golden() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/1/history.db");
    let uri = format!("file:{}?immutable=1", path.display());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let db = Connection::open_with_flags(uri, flags).expect("the golden history");
    let mut select = db.prepare(EVENTS).expect("a statement");
    let bodies = select.query_map([], |row| row.get(0)).expect("rows");
    bodies.map(|body| body.expect("a body")).collect()
}

/// The events of a run whose findings have numbers that no other run has.
fn events(bodies: &[String], run: u32) -> Vec<EventKind> {
    let mut events: Vec<EventKind> = bodies
        .iter()
        .map(|body| serde_json::from_str(body).expect("an event"))
        .collect();
    for event in &mut events {
        if let EventKind::Review(ReviewEvent::FindingsMerged { findings, .. }) = event {
            for finding in findings {
                finding.id.number += run * 100;
            }
        }
    }
    events
}

/// The processor time that something has used, in seconds.
#[derive(Clone, Copy, Default)]
struct Used {
    client: f64,
    server: f64,
}

impl Used {
    /// By this process and the programs that it awaited, and by the server and its processes.
    fn now(postgres: &Postgres) -> Self {
        let of = |who| {
            let usage = getrusage(who).expect("a usage");
            [usage.user_time(), usage.system_time()]
                .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6)
                .iter()
                .sum::<f64>()
        };
        let main = postgres.id();
        let tasks = std::fs::read_to_string(format!("/proc/{main}/task/{main}/children"));
        let mut processes = tasks.expect("processes");
        processes += &main.to_string();
        let seconds = processes.split_whitespace().map(|process| {
            // A process can have ended, and then its parent has its time.
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            let values = stat.rsplit(") ").next().unwrap_or_default();
            let times = values.split(' ').skip(11).take(4);
            times
                .filter_map(|time| time.parse::<f64>().ok())
                .sum::<f64>()
                / 100.0
        });
        Self {
            client: of(UsageWho::RUSAGE_SELF) + of(UsageWho::RUSAGE_CHILDREN),
            server: seconds.sum(),
        }
    }

    fn add(&mut self, begin: Self, end: Self) {
        self.client += end.client - begin.client;
        self.server += end.server - begin.server;
    }

    /// In microseconds, of the client and of the server.
    fn of_each(self, appends: f64) -> String {
        let [client, server] = [self.client, self.server].map(|time| 1e6 * time / appends);
        format!("{client:.0} + {server:.0}")
    }
}

/// A machine with its copy of a log.
struct Client {
    journal: Journal,
    _folder: tempfile::TempDir,
    runs: u32,
}

impl Client {
    fn of(server: &Server, repository: &str) -> Self {
        let names = RepositoryNames {
            project: Some(repository.to_owned()),
            proven: Vec::new(),
            title: repository.to_owned(),
        };
        let log = server.log(&names, true).expect("a server");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("replica.db");
        let journal = Journal::following(&path, log.expect("a log")).expect("a copy");
        Self {
            journal,
            _folder: folder,
            runs: 0,
        }
    }

    /// Returns the time of the appends.
    fn round(&mut self, bodies: &[String], number: usize) -> Duration {
        let mut spent = Duration::ZERO;
        for _ in 0..RUNS {
            self.runs += 1;
            let run = RunId(format!(
                "0190aaaa-0000-7000-{number:04x}-{:012x}",
                self.runs
            ));
            let first = u32::try_from(number).expect("a small number") * 1_000_000;
            for event in events(bodies, first + self.runs) {
                let begun = Instant::now();
                self.journal.append(&run, event).expect("an append");
                spent += begun.elapsed();
            }
        }
        spent
    }
}

/// The appends a second of all clients at once.
fn glee(clients: &mut [Client], bodies: &[String]) -> f64 {
    let spent: Vec<Duration> = thread::scope(|scope| {
        let numbered = clients.iter_mut().enumerate();
        let threads: Vec<_> = numbered
            .map(|(number, client)| scope.spawn(move || client.round(bodies, number)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a client"))
            .collect()
    });
    let appends = f64::from(RUNS) * bodies.len() as f64;
    spent.iter().map(|time| appends / time.as_secs_f64()).sum()
}

/// The inserts a second of all clients at once.
fn plain(postgres: &Postgres, clients: usize, bodies: &[String], script: &Path) -> f64 {
    let mut command = Command::new(postgres.program("pgbench"));
    command.args(["-n", "-M", "prepared", "-f"]).arg(script);
    command.args(["-c", &clients.to_string(), "-j", &clients.to_string()]);
    command.args(["-t", &RUNS.to_string()]);
    for (number, body) in bodies.iter().enumerate() {
        command.args(["-D", &format!("body{number}={body}")]);
    }
    command.arg(postgres.address("postgres", "glee"));
    let output = command.output().expect("pgbench starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let tps = text
        .lines()
        .find_map(|line| line.strip_prefix("tps = ")?.split(' ').next());
    let tps: f64 = tps
        .and_then(|tps| tps.parse().ok())
        .unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    tps * bodies.len() as f64
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let seconds = std::env::args().find_map(|word| word.parse().ok());
    let seconds: u64 = seconds.unwrap_or(10);
    let Some(postgres) = Postgres::start() else {
        return;
    };
    postgres.crash();
    postgres.up_with("on");
    postgres.sql("postgres", "CREATE DATABASE glee");
    let address = postgres.address("postgres", "glee");
    let server = Server::at(&address).expect("an address");
    server.set_up(&[]).expect("tables");
    postgres.sql("glee", TABLES);
    let bodies = golden();
    let bytes = bodies.iter().map(String::len).sum::<usize>() / bodies.len();
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("plain.sql");
    let mut out = std::io::stdout();
    let mut line = |text: String| drop(writeln!(out, "{text}"));
    line(format!(
        "events of {bytes} bytes on average, appended or inserted a second"
    ));
    line(
        "clients  repositories  pgbench   Glee  ratio (median, lowest, highest)  processor time"
            .to_owned(),
    );
    for (clients, repositories) in [(1, 1), (8, 8), (16, 16), (8, 1), (16, 1)] {
        let mut journals: Vec<Client> = (0..clients)
            .map(|number| {
                let repository = number % repositories;
                Client::of(&server, &format!("{clients}-{repositories}-{repository}"))
            })
            .collect();
        let statements =
            (0..bodies.len()).map(|body| PLAIN.replace("BODY", &format!("body{body}")));
        let statements = statements
            .collect::<String>()
            .replace("HASH", &"0".repeat(64));
        let statements = statements.replace("REPOSITORIES", &repositories.to_string());
        std::fs::write(&script, statements).expect("a file");
        postgres.sql(
            "glee",
            "TRUNCATE plain, plain_head; INSERT INTO plain_head SELECT n, 0, '' FROM generate_series(0, 15) n",
        );
        glee(&mut journals, &bodies);
        let mut plains = Vec::new();
        let mut glees = Vec::new();
        let mut ratios = Vec::new();
        let mut of_plain = Used::default();
        let mut of_glee = Used::default();
        let begun = Instant::now();
        while begun.elapsed() < 2 * Duration::from_secs(seconds) {
            let before = Used::now(&postgres);
            let plain = plain(&postgres, clients, &bodies, &script);
            let between = Used::now(&postgres);
            let glee = glee(&mut journals, &bodies);
            of_plain.add(before, between);
            of_glee.add(between, Used::now(&postgres));
            plains.push(plain);
            glees.push(glee);
            ratios.push(glee / plain);
        }
        let ratio = median(&mut ratios);
        let appends = (ratios.len() * clients * bodies.len()) as f64 * f64::from(RUNS);
        line(format!(
            "{clients:7}  {repositories:12}  {:7.0} {:6.0}  {:.0}% ({:.0}%, {:.0}%)  {} and {} us",
            median(&mut plains),
            median(&mut glees),
            100.0 * ratio,
            100.0 * ratios[0],
            100.0 * ratios[ratios.len() - 1],
            of_plain.of_each(appends),
            of_glee.of_each(appends),
        ));
    }
}
