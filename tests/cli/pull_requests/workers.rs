//! A worker reviews a pull request and publishes the review. If it is killed, another one publishes the rest.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use super::double::KillAt;
use super::github::HEAD_REPOSITORY;
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

fn create(postgres: &Postgres, database: &str) {
    postgres.sql("postgres", &format!("CREATE DATABASE {database}"));
    let address = postgres.address("postgres", database);
    let made = crate::support::Sandbox::new().glee(&["server", "init", &address]);
    assert_eq!(made.code, 0, "{made}");
}

/// Lets a service receive the webhook of a merge request with the number 7. Returns the answer.
fn receive(scene: &Scene) -> String {
    let mut service = scene
        .sandbox
        .command(&["serve", "--service", "--listen", "127.0.0.1:0"])
        .env("GLEE_WEBHOOK_SECRET", "of the service")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut address = String::new();
    let mut output = BufReader::new(service.stdout.take().expect("its output"));
    output.read_line(&mut address).expect("an address");
    let host = address
        .trim()
        .strip_prefix("http://")
        .and_then(|address| address.strip_suffix("/webhooks"))
        .expect("the address of the service");
    let body = serde_json::json!({
        "project": {"git_http_url": format!("{}/team/shop.git", scene.double.address)},
        "object_attributes": {
            "iid": 7, "state": "opened", "updated_at": "2026-11-28T20:15:00Z", "last_commit": {"id": "abc"},
            "source_project_id": 3, "target_project_id": 3,
        },
    })
    .to_string();
    let mut stream = TcpStream::connect(host).expect("a connection");
    let request = format!(
        "POST /webhooks HTTP/1.1\r\nHost: glee.example.org\r\nConnection: close\r\nX-Gitlab-Event: Merge Request Hook\r\n\
         X-Gitlab-Token: of the service\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    service.kill().expect("the service is ended");
    service.wait().expect("the service has ended");
    answer
}

/// Replaces the token of the environment by one that a credential helper of git mints for this repository only.
fn mint(scene: &mut Scene) {
    let helper = format!(
        "#!/bin/sh\nasked=$(cat)\ncase \"$asked\" in *path=team/shop.git*) echo username=app; echo password={} ;; esac\n",
        scene.double.host.token()
    );
    scene.sandbox.program("git-credential-app", &helper);
    let settings = format!(
        "[credential \"{}\"]\n\tuseHttpPath = true\n\thelper = app\n",
        scene.double.address
    );
    let config = scene.sandbox.home().join("gitconfig");
    let before = fs::read_to_string(&config).expect("a file");
    fs::write(&config, before + &settings).expect("a file");
    scene.sandbox.env("GITHUB_TOKEN", "");
}

#[test]
fn a_webhook_leads_to_the_same_conversation_as_a_submitted_review() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let before = with_findings();
    let conversations = ["submitted", "told"].map(|database| {
        create(&postgres, database);
        let mut scene = before.copy();
        if database == "submitted" {
            submit(&mut scene, &postgres, database);
        } else {
            let address = postgres.address("postgres", database);
            scene.sandbox.env("GLEE_SERVER", address);
            mint(&mut scene);
            let answer = receive(&scene);
            assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
        }
        work(&scene, "one");
        let exit = postgres.sql(database, "SELECT exit FROM glee.submission");
        assert_eq!(exit, "0", "{database}");
        scene.conversation()
    });
    let [submitted, told] = conversations;
    assert_eq!(
        submitted.last().map(String::as_str),
        Some("1 summaries, 1 checks")
    );
    assert_eq!(told, submitted);
}

#[test]
fn the_agents_of_a_worker_are_held_at_a_fork_whatever_its_user_allows() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    for is_fork in [false, true] {
        let database = format!("fork_{is_fork}");
        create(&postgres, &database);
        let mut scene = with_findings();
        let config = "version: 1\nsandbox: off\nagents:\n  - {name: writer, command: writer, role: reviewer}\n";
        fs::write(scene.sandbox.user_config(), config).expect("a file");
        let written = scene.sandbox.home().join("written");
        let script = format!(
            "#!/bin/sh\ncat > /dev/null\ntouch {}\necho GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0 read=all\n",
            written.display()
        );
        scene.sandbox.program("writer", &script);
        if is_fork {
            let elsewhere =
                serde_json::json!({ "id": 2, "clone_url": "https://git.example.org/fork.git" });
            let mut state = scene.double.state();
            state.other.insert(HEAD_REPOSITORY.to_owned(), elsewhere);
        }
        submit(&mut scene, &postgres, &database);
        work(&scene, "one");
        let exit = postgres.sql(&database, "SELECT exit FROM glee.submission");
        assert_ne!(exit, "", "{database}");
        assert_eq!(written.exists(), !is_fork, "{database}");
    }
}

/// Starts a program in a process that cannot restrict itself by Landlock.
const WITHOUT_LANDLOCK: &str = r#"
import ctypes, os, struct, sys
def op(code, jt, jf, k): return struct.pack("HBBI", code, jt, jf, k)
# landlock_create_ruleset has the number 444 on all machines. It fails with ENOSYS.
code = op(0x20, 0, 0, 0) + op(0x15, 0, 1, 444) + op(0x06, 0, 0, 0x00050000 | 38) + op(0x06, 0, 0, 0x7fff0000)
filter = ctypes.create_string_buffer(code, len(code))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(filter)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0, os.strerror(ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
"#;

#[test]
fn a_worker_without_a_sandbox_leaves_a_fork_to_one_that_has_it() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    create(&postgres, "fork");
    let mut scene = with_findings();
    let elsewhere = serde_json::json!({ "id": 2, "clone_url": "https://git.example.org/fork.git" });
    let mut state = scene.double.state();
    state.other.insert(HEAD_REPOSITORY.to_owned(), elsewhere);
    drop(state);
    submit(&mut scene, &postgres, "fork");
    let without = || {
        let command = scene.sandbox.command(&["worker", "--once"]);
        let mut held = Command::new("python3");
        held.args(["-c", WITHOUT_LANDLOCK])
            .arg(command.get_program())
            .args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => held.env(name, value),
                None => held.env_remove(name),
            };
        }
        let output = held.stdin(Stdio::null()).output().expect("python starts");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    let state = "SELECT fence, labels, ended IS NULL FROM glee.submission";
    without();
    assert_eq!(postgres.sql("fork", state), "1|{sandbox}|t");
    let listed = scene.sandbox.glee(&["runs", "--all"]);
    assert!(
        listed.stdout.contains("waits for a worker with sandbox"),
        "{listed}"
    );
    // It does not take the run again.
    without();
    assert_eq!(postgres.sql("fork", state), "1|{sandbox}|t");
    work(&scene, "one");
    assert_eq!(postgres.sql("fork", state), "2|{sandbox}|f");
}

#[test]
fn a_review_of_a_worker_that_is_killed_is_published_once() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let create = |name: &str| create(&postgres, name);
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
