//! The service that hands the pull requests of webhooks to workers.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::postgres::Postgres;
use crate::server::server;
use crate::support::Sandbox;

pub(crate) const SECRET: &str = "of the service";

/// A database with the role of a service.
fn database() -> Option<Postgres> {
    let (postgres, _) = server()?;
    postgres.sql("glee", "CREATE ROLE service LOGIN IN ROLE glee_submitter");
    Some(postgres)
}

/// The submissions: number of the request, and how the run ended.
fn submissions(postgres: &Postgres) -> String {
    let sql = "SELECT args[2], coalesce(exit::text, 'open') FROM glee.submission ORDER BY n";
    postgres.sql("glee", sql).replace('\n', " ")
}

/// A running service.
pub(crate) struct Service {
    _machine: Sandbox,
    child: Child,
    pub(crate) port: u16,
}

impl Service {
    fn start(postgres: &Postgres) -> Self {
        Self::start_with(postgres, &[])
    }

    pub(crate) fn start_with(postgres: &Postgres, variables: &[(&str, &str)]) -> Self {
        let mut machine = Sandbox::new();
        machine.env("GLEE_SERVER", postgres.address("service", "glee"));
        machine.env("GLEE_WEBHOOK_SECRET", SECRET);
        for (name, value) in variables {
            machine.env(name, *value);
        }
        let mut child = machine
            .command(&["serve", "--service", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("glee starts");
        let mut address = String::new();
        let mut output = child.stdout.take().expect("its output");
        while !address.ends_with('\n') {
            let mut byte = [0];
            output.read_exact(&mut byte).expect("an address");
            address.push(byte[0].into());
        }
        let port = address
            .trim()
            .strip_suffix("/webhooks")
            .and_then(|address| address.rsplit(':').next()?.parse().ok());
        Self {
            _machine: machine,
            child,
            port: port.unwrap_or_else(|| panic!("no port: {address}")),
        }
    }

    /// The status and the body of the answer.
    fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, String) {
        let (status, _, body) = self.ask(method, path, headers, body);
        (status, body)
    }

    /// The status, the head and the body of the answer.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: glee.example.org\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        // A server that refuses a large body may close the connection before it has read all.
        drop(stream.write_all(format!("{head}\r\n{body}").as_bytes()));
        let mut answer = String::new();
        drop(stream.read_to_string(&mut answer));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        (status.unwrap_or_default(), head.to_owned(), body.to_owned())
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.send("GET", path, &[], "")
    }

    pub(crate) fn tell(&self, notice: &Notice<'_>) -> (u16, String) {
        let body = notice.body().to_string();
        let mut own = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("a key");
        own.update(body.as_bytes());
        let signature = hex::encode(own.finalize().into_bytes());
        let hub = format!("sha256={signature}");
        let headers: &[(&str, &str)] = match notice.host {
            "github" => &[
                ("X-GitHub-Event", "pull_request"),
                ("X-Hub-Signature-256", &hub),
            ],
            "gitea" => &[
                ("X-Gitea-Event", "pull_request"),
                ("X-Gitea-Signature", &signature),
            ],
            _ => &[
                ("X-Gitlab-Event", "Merge Request Hook"),
                ("X-Gitlab-Token", SECRET),
            ],
        };
        self.send("POST", "/webhooks", headers, &body)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Notice<'a> {
    pub(crate) host: &'a str,
    pub(crate) number: u64,
    pub(crate) head: &'a str,
    pub(crate) is_open: bool,
    /// The second of its time.
    pub(crate) second: u8,
}

impl Notice<'_> {
    fn body(&self) -> Value {
        let updated = format!("2026-11-28T20:15:{:02}Z", self.second);
        let remote = "https://host.example/team/app.git";
        match self.host {
            "gitlab" => json!({
                "project": {"git_http_url": remote},
                "object_attributes": {
                    "iid": self.number, "state": if self.is_open { "opened" } else { "merged" },
                    "updated_at": updated, "last_commit": {"id": self.head},
                    "source_project_id": 1, "target_project_id": 1,
                },
            }),
            _ => json!({
                "number": self.number,
                "pull_request": {
                    "state": if self.is_open { "open" } else { "closed" }, "draft": false,
                    "updated_at": updated, "head": {"sha": self.head, "repo": {"id": self.number}},
                    // The request 8 is that of a fork.
                    "base": {"sha": "base", "repo": {"id": 7}},
                },
                "repository": {"clone_url": remote},
            }),
        }
    }
}

#[test]
fn a_head_is_submitted_once_and_a_newer_one_supersedes_it() {
    let Some(postgres) = database() else {
        return;
    };
    let service = Service::start(&postgres);
    for host in ["github", "gitlab", "gitea"] {
        postgres.sql("glee", "TRUNCATE glee.request, glee.submission");
        let first = Notice {
            host,
            number: 7,
            head: "aaa",
            is_open: true,
            second: 10,
        };
        let newer = Notice {
            head: "bbb",
            second: 20,
            ..first
        };
        let closed = Notice {
            is_open: false,
            second: 30,
            ..newer
        };
        let reopened = Notice {
            second: 40,
            ..newer
        };
        let rows = [
            (first, 202, "--pr=7|open"),
            // Sent twice.
            (first, 200, "--pr=7|open"),
            (newer, 202, "--pr=7|143 --pr=7|open"),
            // Late, and recorded by somebody and sent again.
            (first, 200, "--pr=7|143 --pr=7|open"),
            (closed, 200, "--pr=7|143 --pr=7|143"),
            (newer, 200, "--pr=7|143 --pr=7|143"),
            (reopened, 202, "--pr=7|143 --pr=7|143 --pr=7|open"),
            (closed, 200, "--pr=7|143 --pr=7|143 --pr=7|open"),
        ];
        for (notice, status, expected) in rows {
            let (answered, body) = service.tell(&notice);
            assert_eq!(answered, status, "{host}: {body}");
            assert_eq!(submissions(&postgres), expected, "{host}");
        }
    }
    let sql = "SELECT DISTINCT remote, commit, folder, args, queue, by FROM glee.submission";
    assert_eq!(
        postgres.sql("glee", sql),
        "https://host.example/team/app.git|||{--publish,--pr=7}|work|service"
    );

    // The head of the request 8 is in another repository.
    let of_fork = Notice {
        host: "github",
        number: 8,
        head: "aaa",
        is_open: true,
        second: 10,
    };
    service.tell(&of_fork);
    let sql = "SELECT labels FROM glee.submission WHERE args[2] = '--pr=8'";
    assert_eq!(postgres.sql("glee", sql), "{sandbox}");
    let sql = "SELECT DISTINCT labels FROM glee.submission WHERE args[2] = '--pr=7'";
    assert_eq!(postgres.sql("glee", sql), "{}");

    // What waits of a removed repository goes with it.
    postgres.sql("glee", "DELETE FROM glee.repository");
    assert_eq!(
        postgres.sql("glee", "SELECT run FROM glee.claim('worker', '{sandbox}')"),
        ""
    );
    assert_eq!(
        postgres.sql("glee", "SELECT count(*) FROM pgmq.q_work"),
        "0"
    );
}

#[test]
fn of_each_request_one_review_is_open_however_many_services_are_told_at_once() {
    let Some(postgres) = database() else {
        return;
    };
    let services = [0; 4].map(|_| Service::start(&postgres));
    thread::scope(|scope| {
        for (sender, service) in services.iter().enumerate() {
            scope.spawn(move || {
                for turn in 0..60 {
                    let notice = Notice {
                        host: "github",
                        number: 1 + (turn + sender) as u64 % 5,
                        head: &format!("{sender} {turn}"),
                        is_open: true,
                        second: turn as u8,
                    };
                    let (status, body) = service.tell(&notice);
                    assert!(matches!(status, 200 | 202), "{status} {body}");
                }
            });
        }
    });
    let sql = "SELECT count(*), count(DISTINCT args[2]) FROM glee.submission WHERE ended IS NULL";
    assert_eq!(postgres.sql("glee", sql), "5|5");
}

#[test]
fn who_does_not_know_the_secret_submits_nothing() {
    let Some(postgres) = database() else {
        return;
    };
    let service = Service::start(&postgres);
    let event = ("X-GitHub-Event", "pull_request");
    let body = Notice {
        host: "github",
        number: 7,
        head: "aaa",
        is_open: true,
        second: 10,
    };
    let body = body.body().to_string();
    let forged = format!("sha256={}", "0".repeat(64));
    let large = " ".repeat(9 << 20);
    type Headers<'a> = &'a [(&'a str, &'a str)];
    let rows: &[(&str, &str, Headers<'_>, &str, u16)] = &[
        ("POST", "/webhooks", &[], &body, 400),
        ("POST", "/webhooks", &[event], &body, 401),
        (
            "POST",
            "/webhooks",
            &[event, ("X-Hub-Signature-256", &forged)],
            &body,
            401,
        ),
        (
            "POST",
            "/webhooks",
            &[event, ("X-Gitlab-Token", SECRET)],
            &body,
            401,
        ),
        ("GET", "/webhooks", &[], "", 405),
        ("POST", "/webhooks", &[event], &large, 413),
        ("GET", "/runs", &[], "", 404),
        ("GET", "/", &[], "", 404),
    ];
    for (method, path, headers, body, status) in rows {
        let (answered, text) = service.send(method, path, headers, body);
        assert_eq!(answered, *status, "{method} {path} {headers:?}: {text}");
        assert!(!text.contains(SECRET), "{text}");
    }
    assert_eq!(submissions(&postgres), "");

    // A signed address that no worker can clone.
    let mut own = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("a key");
    let body = body.replace("https://host.example/team/app.git", "/etc");
    own.update(body.as_bytes());
    let hub = format!("sha256={}", hex::encode(own.finalize().into_bytes()));
    let (status, text) = service.send(
        "POST",
        "/webhooks",
        &[event, ("X-Hub-Signature-256", &hub)],
        &body,
    );
    assert_eq!(status, 422, "{text}");
    assert_eq!(submissions(&postgres), "");
}

#[test]
fn a_service_without_a_secret_or_a_role_that_submits_says_so() {
    let Some((postgres, _)) = server() else {
        return;
    };
    postgres.sql("glee", "CREATE ROLE reader LOGIN IN ROLE glee_reader");
    let mut machine = Sandbox::new();
    let serve = ["serve", "--service", "--listen", "127.0.0.1:0"];
    let refused = machine.glee(&serve);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(refused.stderr.contains("GLEE_WEBHOOK_SECRET"), "{refused}");
    machine.env("GLEE_WEBHOOK_SECRET", SECRET);
    let refused = machine.glee(&serve);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused.stderr.contains("no server is configured"),
        "{refused}"
    );
    machine.env("GLEE_SERVER", postgres.address("reader", "glee"));
    let refused = machine.glee(&serve);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(refused.stderr.contains("glee_submitter"), "{refused}");
}

#[test]
fn the_state_of_the_service_is_told_while_the_database_is_away() {
    let Some(postgres) = database() else {
        return;
    };
    let service = Service::start(&postgres);
    for number in [1, 2] {
        let notice = Notice {
            host: "gitlab",
            number,
            head: "aaa",
            is_open: true,
            second: 10,
        };
        assert_eq!(service.tell(&notice).0, 202);
    }
    assert_eq!(service.get("/ready").0, 200);
    let (status, text) = service.get("/metrics");
    assert_eq!(status, 200);
    for line in [
        "# TYPE glee_runs gauge",
        "glee_runs{state=\"waiting\"} 0",
        "glee_runs{state=\"queued\"} 2",
        "glee_runs{state=\"carried\"} 0",
    ] {
        assert!(text.lines().any(|told| told == line), "{line}: {text}");
    }
    postgres.crash();
    assert_eq!(service.get("/health").0, 200);
    assert_eq!(service.get("/ready").0, 503);
    let notice = Notice {
        host: "gitlab",
        number: 3,
        head: "aaa",
        is_open: true,
        second: 10,
    };
    assert_eq!(service.tell(&notice).0, 503);
    postgres.up();
    let until = Instant::now() + Duration::from_secs(20);
    while service.get("/ready").0 != 200 {
        assert!(Instant::now() < until, "it does not come back");
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(service.tell(&notice).0, 202, "the host sends it again");
    assert_eq!(
        submissions(&postgres),
        "--pr=1|open --pr=2|open --pr=3|open"
    );
}
