//! What Glee adds to the time its agents take: a whole review by eight reviewers that each sleep one second, beside one
//! bare `sleep 1`; runs with 100 and 1,000 disputes; and the start of the program, compared with `true`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

const GLEE: &str = env!("CARGO_BIN_EXE_glee");

fn glee(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(GLEE);
    command
        .args(args)
        .current_dir(root.join("project"))
        .env("HOME", root.join("home"))
        .env("GLEE_STATE_DIR", root.join("state"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn eight_reviewers(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let project = folder.path().join("project");
    fs::create_dir_all(project.join(".glee")).expect("a fresh folder");
    fs::create_dir(folder.path().join("state")).expect("a fresh folder");
    fs::write(project.join("a.py"), "x = 1\n").expect("a written file");
    let script = "cat > /dev/null; sleep 1; echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"";
    let agents: String = (1..=8)
        .map(|n| format!("  - {{name: r{n}, role: reviewer, command: [sh, -c, '{script}']}}\n"))
        .collect();
    fs::write(
        project.join(".glee/config.yml"),
        format!("version: 1\nagents:\n{agents}"),
    )
    .expect("a written file");
    assert!(
        glee(folder.path(), &["trust"])
            .status()
            .expect("glee runs")
            .success()
    );

    let mut group = c.benchmark_group("eight reviewers of one second");
    group.sample_size(10);
    group.bench_function("baseline: sleep 1", |b| {
        b.iter(|| Command::new("sleep").arg("1").status().expect("sleep runs"));
    });
    group.bench_function("glee review", |b| {
        b.iter(|| {
            let status = glee(folder.path(), &["review", "--full", "a.py"])
                .status()
                .expect("glee runs");
            assert_eq!(status.code(), Some(0));
        });
    });
    group.finish();
}

/// A mandatory finding in each of so many functions, and an objection to each.
fn disputed(folder: &Path, count: usize) {
    let project = folder.join("project");
    fs::create_dir_all(project.join(".glee")).expect("a fresh folder");
    fs::create_dir(folder.join("state")).expect("a fresh folder");
    let code: String = (0..count)
        .map(|n| format!("def f{n}(x):\n    return md5(x, {n})\n\n"))
        .collect();
    fs::write(project.join("app.py"), code).expect("a written file");
    let said = |name: &str, line: &dyn Fn(usize) -> String| {
        let file = folder.join(name);
        fs::write(&file, (0..count).map(line).collect::<String>()).expect("a written file");
        file.display().to_string()
    };
    let findings = said("findings", &|n| {
        format!("[MUST] app.py:{} Replace the weak hash {n}\n", 3 * n + 2)
    });
    let objections = said("objections", &|n| {
        format!("[F{}] DISAGREE: it is meant so\n", n + 1)
    });
    let agents = [
        (
            "rev",
            "reviewer",
            format!("cat {findings}; echo GLEE-REVIEW-END nonce=$GLEE_NONCE findings={count}"),
        ),
        (
            "fix",
            "coder",
            format!("cat {objections}; echo GLEE-RESPONSE-END nonce=$GLEE_NONCE answers={count}"),
        ),
        ("jud", "judge", RULING.to_owned()),
    ];
    let lines: String = agents
        .iter()
        .map(|(name, role, script)| {
            format!("  - {{name: {name}, role: {role}, command: [sh, -c, 'cat > /dev/null; {script}']}}\n")
        })
        .collect();
    fs::write(
        project.join(".glee/config.yml"),
        format!("version: 1\nagents:\n{lines}"),
    )
    .expect("a written file");
}

/// What a judge prints about each dispute. A dismissal has to cite the code of its finding.
const RULING: &str = "echo The objection holds, see app.py:$((3 * GLEE_DISPUTE - 1)).; \
    echo GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=DISMISS";

/// Disputes without a judge, and with one judge call each; the baseline starts the judge's program as often.
fn many_disputes(c: &mut Criterion) {
    let mut group = c.benchmark_group("disputes");
    group.sample_size(10);
    for (count, route) in [
        (100, "discard"),
        (1_000, "discard"),
        (100, "judge"),
        (1_000, "judge"),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        disputed(folder.path(), count);
        if route == "judge" {
            group.bench_function(format!("baseline: {count} bare judges"), |b| {
                b.iter(|| {
                    for _ in 0..count {
                        let script = format!("cat > /dev/null; {RULING}");
                        let mut judge = Command::new("sh");
                        judge
                            .args(["-c", &script])
                            .stdin(Stdio::null())
                            .stdout(Stdio::null());
                        assert!(judge.status().expect("sh runs").success());
                    }
                });
            });
        }
        group.bench_function(format!("{count}, {route}"), |b| {
            // Without the rulings of the iteration before, which would answer.
            let forget = || {
                fs::remove_dir_all(folder.path().join("state")).expect("it is there");
                fs::create_dir(folder.path().join("state")).expect("it is gone");
                assert!(
                    glee(folder.path(), &["trust"])
                        .status()
                        .expect("glee runs")
                        .success()
                );
            };
            let review = |()| {
                let args = [
                    "review",
                    "app.py",
                    "--arbitrate",
                    "--on-dispute",
                    route,
                    "--no-input",
                ];
                let status = glee(folder.path(), &args).status().expect("glee runs");
                assert_eq!(status.code(), Some(0));
            };
            b.iter_batched(forget, review, BatchSize::PerIteration);
        });
    }
    group.finish();
}

fn start(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join("project")).expect("a fresh folder");
    let mut group = c.benchmark_group("start");
    group.bench_function("baseline: true", |b| {
        b.iter(|| Command::new("true").status().expect("true runs"));
    });
    group.bench_function("glee --version", |b| {
        b.iter(|| {
            assert!(
                glee(folder.path(), &["--version"])
                    .status()
                    .expect("glee runs")
                    .success()
            )
        });
    });
    group.finish();
}

criterion_group!(benches, eight_reviewers, many_disputes, start);
criterion_main!(benches);
