//! A worker reviews a pull request and publishes the review. If it is killed, another one publishes the rest.

use std::fs;
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use super::double::KillAt;
use super::scene::Scene;
use super::{requests, with_findings};
use crate::postgres::Postgres;

/// Submits the review of the request for publication.
fn submit(scene: &mut Scene, postgres: &Postgres, database: &str) {
    let address = postgres.address("postgres", database);
    scene.sandbox.env("GLEE_SERVER", address);
    let submitted = scene
        .sandbox
        .glee(&["review", "--pr", "7", "--publish", "--full", "--submit"]);
    assert_eq!(submitted.code, 0, "{submitted}");
}

/// Lets a worker take the run. Its process that carries the run is the one that the double kills.
fn work(scene: &Scene, worker: &str) {
    let mut command = scene.sandbox.command(&["worker", "--once"]);
    let state = scene.sandbox.home().join(worker);
    let mut child = command
        .env("GLEE_STATE_DIR", state)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let id = child.id();
    while child.try_wait().expect("a child").is_none() {
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let run = children
            .ok()
            .and_then(|ids| ids.split_whitespace().next()?.parse().ok());
        scene
            .double
            .process
            .store(run.unwrap_or(0), Ordering::SeqCst);
        thread::sleep(Duration::from_millis(10));
    }
    scene.double.process.store(0, Ordering::SeqCst);
}

#[test]
fn a_review_of_a_worker_that_is_killed_is_published_once() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let create = |name: &str| {
        postgres.sql("postgres", &format!("CREATE DATABASE {name}"));
        let made = crate::support::Sandbox::new().glee(&[
            "server",
            "init",
            &postgres.address("postgres", name),
        ]);
        assert_eq!(made.code, 0, "{made}");
    };
    let before = with_findings();
    create("undisturbed");
    let mut scene = before.copy();
    submit(&mut scene, &postgres, "undisturbed");
    let first = scene.double.state().requests.len();
    work(&scene, "one");
    let expected = scene.conversation();
    assert_eq!(
        expected.last().map(String::as_str),
        Some("1 summaries, 1 checks")
    );
    let exit = "SELECT exit FROM glee.submission";
    assert_eq!(postgres.sql("undisturbed", exit), "0");

    let writes = requests(&scene, first, false);
    assert!(writes.len() > 1, "{writes:?}");
    for request in writes {
        let name = format!("killed_{request}");
        create(&name);
        let mut scene = before.copy();
        submit(&mut scene, &postgres, &name);
        let first = scene.double.state().requests.len();
        scene.double.state().kill = Some(KillAt {
            request: first + request,
            is_applied: true,
        });
        work(&scene, "one");
        assert_eq!(
            postgres.sql(&name, exit),
            "",
            "it was killed at request {request}"
        );
        scene.double.state().kill = None;
        work(&scene, "two");
        assert_eq!(scene.conversation(), expected, "request {request}");
        assert_eq!(postgres.sql(&name, exit), "0", "request {request}");
        let calls =
            "SELECT count(*) FROM glee.event WHERE body::jsonb ->> 'event' = 'call_started'";
        assert_eq!(
            postgres.sql(&name, calls),
            postgres.sql("undisturbed", calls)
        );
    }
}
