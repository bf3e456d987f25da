//! `glee stats` over 1,000,000 recorded disputes, beside 1,000 disputes and beside a scan of the findings.
//!
//! The rows are inserted in bulk, but the sums come from the views of the schema, which the program uses, too. The disputes
//! are spread over 1,000 days, 12 reviewers, 5 judges and 30 categories.

use std::path::Path;
use std::process::{Command, Stdio};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use glee_model::domain::TallyKind;
use glee_store::history::Journal;
use rusqlite::Connection;

const FILL: &str = "
BEGIN;
CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < DISPUTES)
    SELECT i, printf('0190aaaa-0000-7000-8000-%012x', i / 50) AS run, i % 50 + 1 AS number,
        date('2023-01-01', (i * 1000 / DISPUTES) || ' days') AS day,
        iif(i % 10 = 0, NULL, iif(i % 3 = 0, 'upheld', 'dismissed')) AS side FROM n;
INSERT INTO event (id, run, seq, at, body, prev, hash)
    SELECT i, run, number, day || 'T10:00:00.000000Z',
        '{\"event\":\"dispute_opened\",\"text\":\"' || hex(zeroblob(100)) || '\"}', '', '' FROM n;
INSERT INTO dispute (number, run, opened, finding, tag, title, raised_by)
    SELECT i, run, day, number, 'MUST', 'Bind value ' || i, '[\"reviewer-' || (i % 12) || '\"]' FROM n;
INSERT INTO problem (number, key, run, finding) SELECT i, i, run, number FROM n;
INSERT INTO measured (run, finding, problem, day, category, dispute, side, judged, person, implemented, changed)
    SELECT run, number, i, day, 'category-' || (i % 30), i, side, side, iif(i % 40 = 1, 'upheld', NULL), i % 2, i % 2 FROM n;
INSERT INTO opinion SELECT i, 'reviewer-' || (i % 12), 'model-' || (i % 4), 'raised' FROM n;
INSERT INTO opinion SELECT i, 'reviewer-' || ((i + 1) % 12), 'model-' || ((i + 1) % 4), 'silent' FROM n;
INSERT INTO judgement SELECT i, 'judge-' || (i % 5), 'model-' || (i % 3), side FROM n;
INSERT INTO audit SELECT i, 'judge-' || ((i + 1) % 5), side FROM n WHERE i % 1000 = 1;
INSERT INTO tally (kind, name, day, raised, shared, alone, disputed, upheld, dismissed, judged, checked, overturned,
        fixed, reverted, audited, confirmed, calls, millis, input, output, micros)
    SELECT kind, name, day, sum(raised), sum(shared), sum(alone), sum(disputed), sum(upheld), sum(dismissed),
        sum(judged), sum(checked), sum(overturned), sum(fixed), sum(reverted), sum(audited), sum(confirmed),
        9, 9, 9, 9, 9 FROM addend GROUP BY kind, name, day;
INSERT INTO pair (kind, one, other, day, compared, agreed)
    SELECT kind, one, other, day, sum(compared), sum(agreed) FROM comparison GROUP BY kind, one, other, day;
COMMIT;
";

fn fill(path: &Path, disputes: u64) {
    drop(Journal::open(path).expect("a history"));
    let db = Connection::open(path).expect("a database");
    db.execute_batch("PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;")
        .expect("a fast database");
    db.execute_batch(&FILL.replace("DISPUTES", &disputes.to_string()))
        .expect("rows");
    let counted: u64 = db
        .query_row(
            "SELECT sum(disputed) FROM tally WHERE kind = 'all'",
            [],
            |row| row.get(0),
        )
        .map(i64::unsigned_abs)
        .expect("a sum");
    assert_eq!(counted, disputes, "every dispute is counted");
}

fn statistics(bench: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let sizes = [1000_u64, 1_000_000].map(|size| (size, folder.path().join(format!("{size}.db"))));
    for (size, path) in &sizes {
        fill(path, *size);
    }
    let mut group = bench.benchmark_group("all statistics");
    group.sample_size(10);
    for (size, path) in &sizes {
        group.bench_with_input(BenchmarkId::new("sums", size), path, |bench, path| {
            bench.iter(|| {
                let journal = Journal::open_read(path)
                    .expect("readable")
                    .expect("a history");
                let rows =
                    TallyKind::ALL.map(|kind| journal.tallies(kind, None).expect("rows").len());
                let pairs = journal
                    .agreements(TallyKind::Reviewer, None)
                    .expect("rows")
                    .len();
                assert_eq!((rows, pairs), ([1, 12, 5, 4, 3, 0, 30, 0], 12));
            });
        });
    }
    let (size, path) = &sizes[1];
    group.bench_with_input(BenchmarkId::new("baseline: one scan of the findings", size), path, |bench, path| {
        let db = Connection::open(path).expect("a database");
        bench.iter(|| {
            let sql =
                "SELECT count(*) FROM (SELECT category, sum(side = 'upheld') FROM measured GROUP BY category)";
            assert_eq!(db.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a count"), 30);
        });
    });
    drop(group);
    let mut group = bench.benchmark_group("glee stats");
    group.sample_size(10);
    for (size, path) in &sizes {
        group.bench_with_input(BenchmarkId::from_parameter(size), path, |bench, path| {
            bench.iter(|| {
                let status = Command::new(env!("CARGO_BIN_EXE_glee"))
                    .args(["stats", "--json", "--history"])
                    .arg(path)
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .status();
                assert!(status.is_ok_and(|status| status.success()));
            });
        });
    }
}

criterion_group!(benches, statistics);
criterion_main!(benches);
