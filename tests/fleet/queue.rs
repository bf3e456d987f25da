//! What is submitted, what is refused, and what each role may.

use crate::fleet::DATABASE;
use crate::postgres::Postgres;
use crate::support::repository::{EVIL, with_remote};
use crate::support::{Output, Sandbox};

/// A database with the roles `sue`, who submits, `wim`, a worker, and `wren`, who writes.
fn database() -> Option<Postgres> {
    let postgres = Postgres::start()?;
    postgres.sql("postgres", "CREATE DATABASE glee");
    let owner = postgres.address("postgres", DATABASE);
    let made = Sandbox::new().glee(&["server", "init", &owner]);
    assert_eq!(made.code, 0, "{made}");
    postgres.sql(
        DATABASE,
        "CREATE ROLE sue LOGIN; GRANT glee_submitter TO sue; CREATE ROLE wim LOGIN; GRANT glee_worker TO wim;
         CREATE ROLE wren LOGIN; GRANT glee_writer TO wren",
    );
    Some(postgres)
}

pub(crate) fn machine(postgres: &Postgres, role: &str) -> Sandbox {
    let mut machine = Sandbox::new();
    machine.env("GLEE_SERVER", postgres.address(role, DATABASE));
    machine
}

/// A clone with a pushed commit that has a defect.
pub(crate) fn submitter(address: String) -> Sandbox {
    let mut sandbox = with_remote();
    sandbox.env("GLEE_SERVER", address);
    sandbox.write("app.py", EVIL);
    sandbox.git(&["commit", "-qam", "Change"]);
    sandbox.git(&["push", "-q"]);
    sandbox
}

pub(crate) fn id(submitted: &Output) -> String {
    assert_eq!(submitted.code, 0, "{submitted}");
    submitted.stdout.trim().to_owned()
}

pub(crate) const SUBMIT: [&str; 6] = ["-q", "review", "--submit", "--full", "--commit", "HEAD"];

#[test]
fn what_a_worker_cannot_see_is_refused() {
    let sandbox = submitter("postgres://nobody@127.0.0.1:1/glee".to_owned());
    let refused = |args: &[&str], why: &str| {
        let refused = sandbox.glee(&[&["review", "--submit"], args].concat());
        assert_eq!(refused.code, 2, "{refused}");
        assert!(refused.stderr.contains(why), "{why}: {refused}");
    };
    refused(&[], "changes without a commit");
    refused(&["--staged"], "changes without a commit");
    refused(&["--commit", "HEAD", "--fix"], "a worker calls no coder");
    refused(
        &[
            "--commit",
            "HEAD",
            "--instructions",
            "use ghp_0123456789abcdefghijABCDEFGHIJ456789",
        ],
        "the server would keep a secret",
    );
    refused(
        &["--commit", "HEAD", "--format", "sarif"],
        "returns before there is a report",
    );
    sandbox.write("new.py", "");
    refused(
        &["--base", "main~1"],
        "cannot see the uncommitted changes of `new.py`",
    );
    refused(
        &["app.py"],
        "cannot see the uncommitted changes of `new.py`",
    );
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "Not pushed"]);
    refused(&["--base", "main~1"], "no remote has the commit");
    sandbox.git(&["remote", "remove", "origin"]);
    refused(&["--commit", "HEAD"], "it has no remote");
    // Only now the server is asked.
    sandbox.git(&["remote", "add", "origin", "../origin.git"]);
    sandbox.git(&["push", "-q", "origin", "main"]);
    let away = sandbox.glee(&SUBMIT);
    assert_eq!(away.code, 7, "{away}");
}

#[test]
fn a_submitted_review_ends_as_one_of_this_machine() {
    let Some(postgres) = database() else {
        return;
    };
    let sue = submitter(postgres.address("sue", DATABASE));
    let worker = machine(&postgres, "wim");
    let first = id(&sue.glee(&SUBMIT));
    let stopped = id(&sue.glee(&SUBMIT));
    let listed = sue.glee(&["runs", "--all"]);
    assert_eq!(
        listed.stdout.matches("waits for a worker").count(),
        2,
        "{listed}"
    );
    let soon = sue.glee(&["runs", "wait", &first, "--timeout", "10ms"]);
    assert_eq!(soon.code, 124, "{soon}");
    let stop = sue.glee(&["runs", "stop", &stopped]);
    assert_eq!(stop.code, 0, "{stop}");

    for _ in 0..2 {
        let worked = worker.glee(&["worker", "--once"]);
        assert_eq!(worked.code, 0, "{worked}");
    }
    let listed = sue.glee(&["runs", "--all"]).stdout;
    let line = |id: &str| {
        listed
            .lines()
            .find(|line| line.contains(id))
            .expect("a line")
            .to_owned()
    };
    assert!(line(&first).contains("findings open"), "{listed}");
    assert!(line(&stopped).contains("stopped"), "{listed}");
    let shown = sue.glee(&["runs", "show", &first]);
    assert!(shown.stdout.contains("Text is run as code"), "{shown}");
    let waited = sue.glee(&["runs", "wait", &first]);
    assert_eq!(
        (waited.code, &waited.stdout),
        (1, &shown.stdout),
        "{waited}"
    );
    let other = machine(&postgres, "sue");
    other.git(&["init", "-q"]);
    other.git(&["commit", "-q", "--allow-empty", "-m", "Another repository"]);
    let elsewhere = other.glee(&["runs", "wait", &first]);
    assert_eq!(elsewhere.code, 1, "{elsewhere}");
    assert!(
        elsewhere.stderr.contains("is of the repository `"),
        "{elsewhere}"
    );
    let again = sue.glee(&["runs", "stop", &first]);
    assert_eq!(again.code, 2, "{again}");

    // A person waits for the report.
    let waiting = sue.command(&["review", "--submit", "--wait", "--full", "--base", "main~1"]);
    let waiting = std::thread::spawn(move || {
        let mut waiting = waiting;
        waiting
            .stdin(std::process::Stdio::null())
            .output()
            .expect("the binary runs")
    });
    while postgres.sql(
        DATABASE,
        "SELECT count(*) FROM glee.submission WHERE ended IS NULL",
    ) == "0"
    {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let worked = worker.glee(&["worker", "--once"]);
    assert_eq!(worked.code, 0, "{worked}");
    let waited = waiting.join().expect("a thread");
    let text = String::from_utf8_lossy(&waited.stdout).into_owned();
    assert_eq!(waited.status.code(), Some(1), "{text}");
    assert!(text.contains("Text is run as code"), "{text}");
    // The worker keeps the prompts and answers of the runs of a month.
    let histories = std::fs::read_dir(worker.state().join("repos")).expect("a folder");
    let mut runs = Vec::new();
    for history in histories.flatten() {
        let found = std::fs::read_dir(history.path().join("server/runs"));
        runs.extend(found.into_iter().flatten().flatten().map(|run| run.path()));
    }
    assert_eq!(runs.len(), 2, "{runs:?}");
    let month = std::time::Duration::from_secs(31 * 24 * 60 * 60);
    let old = std::fs::File::open(&runs[0]).expect("a folder");
    old.set_modified(std::time::SystemTime::now() - month)
        .expect("a time");
    // The worker keeps no tree, and no key of anybody.
    let trees = worker.state().join("mirrors");
    let left = std::fs::read_dir(&trees)
        .expect("a mirror")
        .flatten()
        .flat_map(|mirror| {
            std::fs::read_dir(mirror.path().join("glee-trees"))
                .into_iter()
                .flatten()
                .flatten()
        });
    let left: Vec<_> = left
        .map(|entry| entry.file_name())
        .filter(|name| name != "1.lock")
        .collect();
    assert!(left.is_empty(), "{left:?}");

    // What a worker cannot do ends with its reason.
    let wrong = id(&sue.glee(&[&SUBMIT[..], &["--reviewer", "nobody"]].concat()));
    assert_eq!(worker.glee(&["worker", "--once"]).code, 0);
    let failed = postgres.sql(
        DATABASE,
        &format!("SELECT exit, failed FROM glee.submission WHERE run LIKE '%{wrong}'"),
    );
    assert!(
        failed.starts_with("2|") && failed.contains("nobody"),
        "{failed}"
    );

    id(&sue.glee(&SUBMIT));
    assert_eq!(worker.glee(&["worker", "--once"]).code, 0);
    assert!(!runs[0].exists() && runs[1].exists(), "{runs:?}");
}

#[test]
fn a_role_does_to_the_queue_what_is_its_own() {
    let Some(postgres) = database() else {
        return;
    };
    let sue = submitter(postgres.address("sue", DATABASE));
    let first = id(&sue.glee(&SUBMIT));
    let urgent = id(&sue.glee(&[&SUBMIT[..], &["--urgent"]].concat()));
    let as_role = |role: &str, sql: &str| postgres.sql_as(role, DATABASE, sql);
    for (role, sql) in [
        ("wim", "SELECT * FROM glee.event"),
        ("wim", "SELECT * FROM glee.submission"),
        ("wim", "SELECT * FROM glee.repository"),
        ("wim", "SELECT * FROM pgmq.q_work"),
        ("wim", "SELECT pgmq.send('work', '{}')"),
        (
            "wim",
            "SELECT glee.submit(1, 'x', false, 'r', 'c', '', '{}')",
        ),
        (
            "wim",
            "SELECT glee.append(1, 0, '', '{x}', '{1}', '{now}', '{\"{}\"}', '{h}', '{}')",
        ),
        (
            "wim",
            "SELECT glee.add(1, 0, '', '{x}', '{1}', '{now}', '{\"{}\"}', '{h}', '{}')",
        ),
        (
            "wim",
            "SELECT glee.follow(1, 7, 'h', now(), 'x', 'r', '{}')",
        ),
        ("wim", "SELECT glee.stop('x')"),
        ("wim", "SELECT glee.require('x', 1, 'sandbox')"),
        ("wim", "SELECT * FROM glee.read('work', '1 s', '{}')"),
        ("wim", "SELECT glee.close('x', 0, '')"),
        ("wim", "SELECT glee.limit_vendor('x', 1)"),
        ("sue", "SELECT glee.limit_tenant('glee_reader', 1)"),
        ("wim", "SELECT glee.claim_records((SELECT 'x'), 1, 1, 10)"),
        ("wim", "SELECT glee.finish('x', 1, 0, NULL)"),
        ("sue", "SELECT glee.claim('w')"),
        ("sue", "SELECT glee.limit_vendor('x', 1)"),
        ("sue", "UPDATE glee.submission SET exit = 0"),
        ("sue", "UPDATE glee.fleet SET lease = '1 d'"),
        (
            "sue",
            "SELECT glee.append(1, 0, '', '{x}', '{1}', '{now}', '{\"{}\"}', '{h}', '{}')",
        ),
        (
            "wren",
            "SELECT glee.submit(1, 'x', false, 'r', 'c', '', '{}')",
        ),
        ("wren", "SELECT glee.claim('w')"),
        ("wren", "SELECT * FROM pgmq.a_work"),
    ] {
        let refused = as_role(role, sql);
        assert!(refused.is_err(), "{role}: {sql}: {refused:?}");
    }

    // The urgent run comes first. The fence of a worker that lost its run opens nothing.
    let claimed = as_role("wim", "SELECT run, fence FROM glee.claim('w')").expect("a claim");
    assert!(
        claimed.ends_with("|1") && claimed.contains(&urgent),
        "{claimed}"
    );
    let run = claimed.trim_end_matches("|1");
    let with = |sql: &str| as_role("wim", &sql.replace("RUN", &format!("'{run}'")));
    with("SELECT glee.claim_records(RUN, 1, 1, 10)").expect("the log of its run");
    assert_eq!(with("SELECT glee.renew(RUN, 1)"), Ok("60000".to_owned()));
    postgres.sql(DATABASE, "UPDATE pgmq.q_urgent SET vt = now()");
    let again = as_role("wim", "SELECT run, fence FROM glee.claim('v')").expect("a claim");
    assert_eq!(again, format!("{run}|2"));
    assert_eq!(with("SELECT glee.renew(RUN, 1)"), Ok(String::new()));
    for sql in [
        "SELECT glee.claim_append(RUN, 1, 0, '', '{x}', '{1}', '{2026-01-01T00:00:00Z}', '{\"{}\"}', '{h}', '{}')",
        "SELECT glee.claim_records(RUN, 1, 1, 10)",
        "SELECT glee.claimed(RUN, 1)",
        "SELECT glee.permit(RUN, 1, 'claude', 'c')",
        "SELECT glee.require(RUN, 1, 'gpu')",
        "SELECT glee.cool(RUN, 1, 'claude', 1000)",
        "SELECT glee.finish(RUN, 1, 0, NULL)",
    ] {
        let refused = with(sql).expect_err("the fence is an old one");
        assert!(
            refused.contains("another worker carries"),
            "{sql}: {refused}"
        );
    }

    // Permits, and a vendor that has to cool down, for the run of the newer claim.
    let owner = machine(&postgres, "postgres");
    let limited = owner.glee(&["server", "limit", "claude", "1"]);
    assert_eq!(limited.code, 0, "{limited}");
    let refused = machine(&postgres, "wim").glee(&["server", "limit", "claude", "off"]);
    assert_eq!(refused.code, 7, "{refused}");
    assert_eq!(
        with("SELECT glee.permit(RUN, 2, 'claude', 'one')"),
        Ok("0".to_owned())
    );
    assert_eq!(
        with("SELECT glee.permit(RUN, 2, 'claude', 'two')"),
        Ok("100".to_owned())
    );
    assert_eq!(
        with("SELECT glee.permit(RUN, 2, 'codex', 'two')"),
        Ok("0".to_owned())
    );
    let listed = sue.glee(&["runs", "--all"]);
    with("SELECT glee.permit(RUN, 2, 'claude', 'two')").expect("an answer");
    assert!(listed.stdout.contains("works on v"), "{listed}");
    let listed = sue.glee(&["runs", "--all"]);
    assert!(
        listed.stdout.contains("works on v, waits for claude"),
        "{listed}"
    );
    with("SELECT glee.give_back(RUN, 2, 'claude', 'one')").expect("given back");
    assert_eq!(
        with("SELECT glee.permit(RUN, 2, 'claude', 'two')"),
        Ok("0".to_owned())
    );
    with("SELECT glee.cool(RUN, 2, 'codex', 60000)").expect("cooled");
    assert_eq!(
        with("SELECT glee.permit(RUN, 2, 'codex', 'two')"),
        Ok("30000".to_owned())
    );

    // A run that is stopped ends at its worker, and one that no worker ends fails.
    let stop = sue.command(&["runs", "stop", run]).spawn();
    let mut stop = stop.expect("the binary runs");
    while with("SELECT glee.renew(RUN, 2)") != Ok(String::new()) {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    with("SELECT glee.finish(RUN, 2, NULL, NULL)").expect("the end");
    assert!(stop.wait().expect("it ends").success());
    for _ in 0..5 {
        let claimed = as_role("wim", "SELECT run FROM glee.claim('w')").expect("a claim");
        assert!(claimed.contains(&first), "{claimed}");
        postgres.sql(DATABASE, "UPDATE pgmq.q_work SET vt = now()");
    }
    assert_eq!(
        as_role("wim", "SELECT run FROM glee.claim('w')"),
        Ok(String::new())
    );
    let ends = "SELECT exit, failed FROM glee.submission ORDER BY n";
    assert_eq!(
        postgres.sql(DATABASE, ends),
        "4|5 workers took it, and none of them ended it\n143|it was stopped"
    );
    let waited = sue.glee(&["runs", "wait", &first]);
    assert_eq!(waited.code, 4, "{waited}");
    let why = "did not come to its end: 5 workers took it, and none of them ended it";
    assert!(waited.stderr.contains(why), "{waited}");

    // What ended long ago is forgotten when another run ends.
    postgres.sql(
        DATABASE,
        "UPDATE glee.fleet SET keep = '1 h'; UPDATE glee.submission SET ended = now() - interval '2 h' WHERE exit = 4",
    );
    let last = id(&sue.glee(&SUBMIT));
    assert_eq!(sue.glee(&["runs", "stop", &last]).code, 0);
    assert_eq!(
        postgres.sql(DATABASE, ends),
        "143|it was stopped\n143|it was stopped"
    );
    let messages =
        "SELECT count(*) FROM (SELECT 1 FROM pgmq.q_work UNION ALL SELECT 1 FROM pgmq.q_urgent
        UNION ALL SELECT 1 FROM pgmq.a_work UNION ALL SELECT 1 FROM pgmq.a_urgent) m";
    assert_eq!(postgres.sql(DATABASE, messages), "0");
}

#[test]
fn a_run_waits_for_a_worker_that_has_all_its_labels() {
    let Some(postgres) = database() else {
        return;
    };
    let sue = submitter(postgres.address("sue", DATABASE));
    let wrong = sue.glee(&[&SUBMIT[..], &["--labels", "gpu,big one"]].concat());
    assert_eq!(wrong.code, 2, "{wrong}");
    let labelled = |labels: &str| id(&sue.glee(&[&SUBMIT[..], &["--labels", labels]].concat()));
    let both = labelled("gpu,linux");
    let one = labelled("linux");
    let none = id(&sue.glee(&SUBMIT));
    let listed = sue.glee(&["runs", "--all"]).stdout;
    for (id, words) in [
        (&both, "waits for a worker with gpu, linux"),
        (&one, "waits for a worker with linux"),
        (&none, "waits for a worker "),
    ] {
        let mut lines = listed.lines();
        let line = lines.find(|line| line.contains(id));
        assert!(line.expect("a line").contains(words), "{words}: {listed}");
    }
    let claim = |labels: &str| {
        let sql = format!("SELECT run, fence FROM glee.claim('w', '{labels}')");
        let claimed = postgres.sql_as("wim", DATABASE, &sql);
        claimed.expect("an answer")
    };
    let is_of = |claimed: &str, id: &str, fence: i32| {
        assert!(
            claimed.contains(id) && claimed.ends_with(&format!("|{fence}")),
            "{claimed}"
        );
    };
    is_of(&claim("{gpu}"), &none, 1);
    assert_eq!(claim("{gpu,windows}"), "|");
    is_of(&claim("{linux,windows}"), &one, 1);
    is_of(&claim("{linux,gpu,sandbox}"), &both, 1);
    // After the lease, too.
    postgres.sql(DATABASE, "UPDATE pgmq.q_work SET vt = now()");
    is_of(&claim("{}"), &none, 2);
    assert_eq!(claim("{}"), "|");

    // The command names its labels to the queue.
    let worker = machine(&postgres, "wim");
    postgres.sql(
        DATABASE,
        "UPDATE pgmq.q_work SET vt = now() WHERE message ->> 'labels' LIKE '%gpu%'",
    );
    let ends = "SELECT count(*) FROM glee.submission WHERE ended IS NOT NULL";
    assert_eq!(
        worker.glee(&["worker", "--once", "--labels", "gpu"]).code,
        0
    );
    assert_eq!(postgres.sql(DATABASE, ends), "0");
    assert_eq!(
        worker
            .glee(&["worker", "--once", "--labels", "gpu,linux"])
            .code,
        0
    );
    assert_eq!(postgres.sql(DATABASE, ends), "1");
}
