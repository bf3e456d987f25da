//! Machines that record their runs in one PostgreSQL database. A machine is a sandbox with a clone of the same repository.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::postgres::Postgres;
use crate::support::repository::CONFIG;
use crate::support::{Output, Sandbox};

pub(crate) const EVIL: &str =
    "import hashlib\n\n\ndef key(text):\n    return hashlib.md5(text).hexdigest()\n";

const AGENTS: &str = "  - {name: fixer, command: builtin:fixer, role: coder}\n";

/// A machine with the repository that all machines have.
pub(crate) fn machine(address: &str) -> Sandbox {
    let mut machine = Sandbox::new();
    machine.env("GLEE_SERVER", address);
    machine.git_init();
    machine.write(".glee/config.yml", format!("{CONFIG}{AGENTS}"));
    machine.write("app.py", "");
    machine.git(&["add", "-A"]);
    machine.git(&["commit", "-q", "-m", "Begin"]);
    machine
}

/// A server with a database that is set up.
pub(crate) fn server() -> Option<(Postgres, String)> {
    let postgres = Postgres::start()?;
    postgres.sql("postgres", "CREATE DATABASE glee");
    let address = postgres.address("postgres", "glee");
    let machine = Sandbox::new();
    let made = machine.glee(&["server", "init", &address]);
    assert_eq!(made.code, 0, "{made}");
    Some((postgres, address))
}

pub(crate) fn json(output: &Output) -> serde_json::Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {output}"))
}

/// The hash of the last record, after the check of all.
pub(crate) fn head(machine: &Sandbox) -> String {
    let verified = machine.glee(&["disputes", "verify", "--json"]);
    assert_eq!(verified.code, 0, "{verified}");
    json(&verified)["head"].as_str().expect("a hash").to_owned()
}

#[test]
fn what_one_machine_records_binds_on_another() {
    let Some((_postgres, address)) = server() else {
        return;
    };
    let (one, other) = (machine(&address), machine(&address));
    for machine in [&one, &other] {
        machine.write("app.py", EVIL);
    }
    let reviewed = one.glee(&["review", "--no-input"]);
    assert_eq!(reviewed.code, 1, "{reviewed}");

    let listed = other.glee(&["findings"]);
    assert!(listed.stdout.contains("F1"), "{listed}");
    let dismissed = other.glee(&[
        "dismiss",
        "F1",
        "--by",
        "bob",
        "--reason",
        "only a cache key",
    ]);
    assert_eq!(dismissed.code, 0, "{dismissed}");
    let again = one.glee(&["review", "--no-input"]);
    assert_eq!(again.code, 0, "{again}");
    assert!(again.stdout.contains("already ruled"), "{again}");

    assert_eq!(head(&one), head(&other));
    let runs = json(&other.glee(&["runs", "--all", "--json"]));
    assert_eq!(runs.as_array().map(Vec::len), Some(2), "{runs}");
    let shown = other.glee(&["runs", "show"]);
    assert!(shown.stdout.contains("app.py"), "{shown}");
    for command in [
        &["runs", "resume"][..],
        &["runs", "undo"],
        &["runs", "show", "--calls"],
    ] {
        let refused = other.glee(command);
        assert_eq!(refused.code, 2, "{refused}");
        assert!(
            refused.stderr.contains("was made on another machine"),
            "{refused}"
        );
    }
}

#[test]
fn machines_that_record_at_once_share_their_numbers() {
    let Some((postgres, address)) = server() else {
        return;
    };
    let defects = [
        "import hashlib\nkey = hashlib.md5(b'')\n",
        "import yaml\nsettings = yaml.load(open('a'))\n",
        "import requests\nrequests.get('https://a', verify=False)\n",
        "def run(text):\n    return eval(text)\n",
    ];
    let machines = defects.map(|_| machine(&address));
    let reviews: Vec<Child> = machines
        .iter()
        .zip(defects)
        .map(|(machine, defect)| {
            machine.write("app.py", defect);
            started(machine, &["review", "--no-input"])
        })
        .collect();
    for review in reviews {
        assert_eq!(ended(review), 1);
    }
    let numbers = "SELECT count(*) >= 4, count(*) = count(DISTINCT f ->> 'id') FROM glee.event, jsonb_array_elements(body::jsonb -> 'findings') f
        WHERE body::jsonb ->> 'event' = 'findings_merged'";
    assert_eq!(postgres.sql("glee", numbers), "t|t");
    let heads: Vec<String> = machines.iter().map(head).collect();
    assert!(heads.iter().all(|head| *head == heads[0]), "{heads:?}");
}

/// A process has the copy of its machine while it appends, and another one may have the log while it waits for the copy.
#[test]
fn processes_of_a_machine_record_at_once() {
    let Some((_postgres, address)) = server() else {
        return;
    };
    let (one, other) = (machine(&address), machine(&address));
    for machine in [&one, &other] {
        machine.write("app.py", EVIL);
    }
    let reviews = [&one, &one, &one, &other, &one, &other]
        .map(|machine| started(machine, &["review", "--no-input", "--full"]));
    for review in reviews {
        assert_eq!(ended(review), 1);
    }
    assert_eq!(head(&one), head(&other));
    let runs = json(&other.glee(&["runs", "--all", "--json"]));
    assert_eq!(runs.as_array().map(Vec::len), Some(6), "{runs}");
}

pub(crate) fn started(machine: &Sandbox, args: &[&str]) -> Child {
    machine
        .command(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts")
}

fn ended(mut child: Child) -> i32 {
    child.wait().expect("the child ends").code().unwrap_or(-1)
}

/// The number of calls that began.
fn calls(postgres: &Postgres) -> String {
    let sql = "SELECT count(*) FROM glee.event WHERE body::jsonb ->> 'event' = 'call_started'";
    postgres.sql("glee", sql)
}

pub(crate) fn wait_for_call(postgres: &Postgres) {
    let begun = Instant::now();
    while calls(postgres) == "0" {
        assert!(begun.elapsed() < Duration::from_secs(60), "no call begins");
        thread::sleep(Duration::from_millis(50));
    }
}

/// A reviewer that answers when the file `go` is beside it.
const SLOW: &str = r#"#!/bin/sh
cat > /dev/null
until [ -e "$(dirname "$0")/go" ]; do sleep 0.05; done
echo "[MUST] app.py:5 MD5 is broken"
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1"
"#;

pub(crate) fn slow_machine(address: &str) -> Sandbox {
    let machine = machine(address);
    machine.connect("slow", "reviewer", SLOW, &["--user"]);
    machine.write("app.py", EVIL);
    machine
}

/// A machine whose run has its answer while the server is away.
pub(crate) fn answered_without_server(postgres: &Postgres, address: &str) -> (Sandbox, Child) {
    let machine = slow_machine(address);
    let review = started(&machine, &REVIEW);
    wait_for_call(postgres);
    postgres.crash();
    go(&machine);
    (machine, review)
}

pub(crate) fn go(machine: &Sandbox) {
    fs::write(machine.root().with_file_name("bin").join("go"), "").expect("a file");
}

pub(crate) const REVIEW: [&str; 4] = ["review", "--no-input", "--reviewer", "slow"];

#[test]
fn an_answer_survives_a_server_that_stays_away() {
    let Some((postgres, address)) = server() else {
        return;
    };
    let (machine, review) = answered_without_server(&postgres, &address);
    assert_eq!(ended(review), 7);

    let away = machine.glee(&["runs"]);
    assert_eq!(away.code, 7, "{away}");
    assert!(away.stderr.contains("cannot reach the server"), "{away}");

    postgres.up();
    let resumed = machine.glee(&["runs", "resume", "--no-input"]);
    assert_eq!(resumed.code, 1, "{resumed}");
    assert!(resumed.stdout.contains("MD5 is broken"), "{resumed}");
    assert_eq!(calls(&postgres), "1", "the answer was paid for twice");
    head(&machine);
}

#[test]
fn a_run_goes_on_after_the_server_restarts() {
    let Some((postgres, address)) = server() else {
        return;
    };
    let machine = slow_machine(&address);
    let review = started(&machine, &REVIEW);
    wait_for_call(&postgres);
    let run = "SELECT count(*) FROM glee.run r WHERE glee.is_held(r.repository, r.id)";
    assert_eq!(postgres.sql("glee", run), "1");
    postgres.crash();
    go(&machine);
    thread::sleep(Duration::from_secs(1));
    postgres.up();
    assert_eq!(ended(review), 1);
    assert_eq!(calls(&postgres), "1");
    assert_eq!(postgres.sql("glee", run), "0");
    head(&machine);
}

#[test]
fn a_role_sees_and_does_what_is_its_own() {
    let Some((postgres, address)) = server() else {
        return;
    };
    let setup = Sandbox::new();
    let made = setup.glee(&["server", "init", &address, "--tenants", "acme,beta"]);
    assert_eq!(made.code, 0, "{made}");
    postgres.sql(
        "glee",
        "CREATE ROLE ann LOGIN; GRANT glee_writer, acme TO ann; CREATE ROLE ben LOGIN; GRANT glee_writer, beta TO ben;
         CREATE ROLE eve LOGIN; GRANT glee_reader, acme TO eve; CREATE ROLE nix LOGIN",
    );
    let machine_of = |role: &str| machine(&postgres.address(role, "glee"));
    let ann = machine_of("ann");
    ann.write("app.py", EVIL);
    assert_eq!(ann.glee(&["review", "--no-input"]).code, 1);
    // The same repository in another tenant is another one.
    let ben = machine_of("ben");
    assert_eq!(
        ben.glee(&["findings"]).stdout,
        "No findings yet: nothing was reviewed.\n"
    );
    assert_eq!(
        json(&ben.glee(&["runs", "--all", "--json"])),
        serde_json::json!([])
    );
    // A reader reads, and records nothing.
    let eve = machine_of("eve");
    eve.write("app.py", EVIL);
    assert!(eve.glee(&["findings"]).stdout.contains("F1"));
    let refused = eve.glee(&["dismiss", "F1", "--by", "eve", "--reason", "no"]);
    assert_eq!(refused.code, 7, "{refused}");
    let stranger = machine_of("nix").glee(&["runs"]);
    assert_eq!(stranger.code, 7, "{stranger}");
}

#[test]
fn an_altered_record_is_not_believed() {
    let Some((postgres, address)) = server() else {
        return;
    };
    let (one, other) = (machine(&address), machine(&address));
    assert_eq!(one.glee(&["review", "--no-input", "."]).code, 0);
    let original = postgres.sql("glee", "SELECT body FROM glee.event WHERE id = 1");
    postgres.sql(
        "glee",
        "UPDATE glee.event SET body = replace(body, 'app', 'apt') WHERE id = 1",
    );
    let refused = other.glee(&["runs"]);
    assert_eq!(refused.code, 7, "{refused}");
    assert!(
        refused
            .stderr
            .contains("record 1 of the server's log was altered"),
        "{refused}"
    );
    // A database that was restored from a backup lost its newest records. The copies follow it.
    postgres.sql(
        "glee",
        &format!("UPDATE glee.event SET body = $x${original}$x$ WHERE id = 1"),
    );
    assert_eq!(other.glee(&["runs"]).code, 0);
    postgres.sql(
        "glee",
        "DELETE FROM glee.event WHERE id = (SELECT max(id) FROM glee.event);
         UPDATE glee.repository r SET (events, hash) = (SELECT id, hash FROM glee.event ORDER BY id DESC LIMIT 1);
         UPDATE glee.run SET ended = NULL, exit = NULL",
    );
    assert!(other.glee(&["runs"]).stdout.contains("interrupted"));
    assert_eq!(head(&one), head(&other));
}
