//! Tests `glee serve` with real requests: who is refused, what the pages show, rulings, and events of running reviews.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use glee_model::domain::event::{EventKind, RunEvent};
use glee_model::domain::{ExitReason, RunId};
use glee_store::history::Journal;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::disputes::{self, RUN};
use crate::support::Sandbox;

/// A running server, killed when dropped.
struct Server {
    child: Child,
    port: u16,
    token: String,
    /// The path of the pages, after a browser has signed in.
    base: String,
    cookie: String,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &str| {
            line.split_once(": ")
                .filter(|(found, _)| found.eq_ignore_ascii_case(name))
                .is_some()
        };
        self.head
            .lines()
            .find(|line| named(line))
            .and_then(|line| line.split_once(": "))
            .map(|(_, value)| value)
    }

    /// The text of the page, without markup.
    fn text(&self) -> String {
        let markup = regex::Regex::new(r"<[^>]*>").expect("the pattern is well-formed");
        let body = self
            .body
            .split_once("<main ")
            .map_or(self.body.as_str(), |(_, main)| main);
        let body = body.split_once('>').map_or(body, |(_, inside)| inside);
        let text = markup.replace_all(body, " ").into_owned();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl Server {
    fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let mut command = sandbox.command(&[&["serve"], args].concat());
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("glee starts");
        let mut address = String::new();
        BufReader::new(child.stdout.take().expect("a pipe"))
            .read_line(&mut address)
            .expect("an address");
        let rest = address
            .trim()
            .strip_prefix("http://127.0.0.1:")
            .expect("an address of this computer");
        let (port, token) = rest.split_once("/?token=").expect("a token");
        let port = port.parse().expect("a port");
        let mut server = Self {
            child,
            port,
            token: token.to_owned(),
            base: String::new(),
            cookie: String::new(),
        };
        let entered = server.get(&format!("/?token={}", server.token), &[]);
        assert_eq!(entered.status, 303, "{}", entered.head);
        let cookie = entered.header("set-cookie").expect("a cookie").to_owned();
        server.cookie = cookie.split(';').next().expect("a pair").to_owned();
        let location = entered.header("location").expect("a location");
        server.base = location
            .strip_suffix("/runs")
            .expect("the list of runs")
            .to_owned();
        server
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Sends a request and returns the connection. A header with an empty name is left out.
    fn send(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .expect("a timeout");
        let mut text = format!("{method} {target} HTTP/1.1\r\n");
        if !headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("host"))
        {
            text.push_str(&format!("Host: {}\r\n", self.host()));
        }
        for (name, value) in headers.iter().filter(|(_, value)| *value != "-") {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            text.push_str(&format!(
                "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
                body.len()
            ));
        }
        text.push_str("Connection: close\r\n\r\n");
        text.push_str(body);
        // A server can refuse a request before it has read all of it.
        drop(stream.write_all(text.as_bytes()));
        stream
    }

    fn request(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut bytes = Vec::new();
        let mut stream = self.send(method, target, headers, body);
        drop(stream.read_to_end(&mut bytes));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").expect("an answer");
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .expect("a status");
        Answer {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    fn get(&self, target: &str, headers: &[(&str, &str)]) -> Answer {
        self.request("GET", target, headers, "")
    }

    /// Requests a page as a browser that is signed in.
    fn page(&self, path: &str) -> Answer {
        self.get(&format!("{}{path}", self.base), &[("Cookie", &self.cookie)])
    }

    /// The token in the form of an open dispute.
    fn form_token(&self, number: u64) -> String {
        let page = self.page(&format!("/disputes/{number}"));
        let (_, rest) = page
            .body
            .split_once("name=\"token\" value=\"")
            .expect("a form");
        rest.split('"').next().expect("a token").to_owned()
    }

    /// Sends the form of a dispute as a browser does.
    fn settle(&self, number: u64, fields: &str) -> Answer {
        let body = format!("token={}&{fields}", self.form_token(number));
        let origin = format!("http://{}", self.host());
        let headers = [("Cookie", self.cookie.as_str()), ("Origin", &origin)];
        self.request(
            "POST",
            &format!("{}/disputes/{number}", self.base),
            &headers,
            &body,
        )
    }

    fn follow(&self, run: &str, headers: &[(&str, &str)]) -> Events {
        let headers = [&[("Cookie", self.cookie.as_str())], headers].concat();
        let stream = self.send(
            "GET",
            &format!("{}/runs/{run}/events", self.base),
            &headers,
            "",
        );
        Events(BufReader::new(stream))
    }

    /// Ends the server as Ctrl-C does, and returns its exit code.
    fn interrupt(&mut self) -> Option<i32> {
        let process =
            nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"));
        nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGINT).expect("a signal");
        self.child.wait().expect("the server ends").code()
    }

    /// The memory of the server in MiB.
    fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))
            .expect("a running process");
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .expect("a size");
        line.trim()
            .trim_end_matches(" kB")
            .parse::<u64>()
            .expect("a number")
            >> 10
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The events that a server sends, as pairs of an id and a JSON object.
struct Events(BufReader<TcpStream>);

impl Events {
    /// Reads to the end of the run, and returns the ids.
    fn ids(&mut self) -> Vec<u64> {
        let (mut ids, mut line) = (Vec::new(), String::new());
        loop {
            line.clear();
            self.0
                .read_line(&mut line)
                .expect("an event within the time limit");
            ids.extend(
                line.strip_prefix("id: ")
                    .and_then(|number| number.trim().parse::<u64>().ok()),
            );
            if line.is_empty() || line.contains("\"ended\":") {
                return ids;
            }
        }
    }
}

impl Iterator for Events {
    type Item = (u64, serde_json::Value);

    fn next(&mut self) -> Option<Self::Item> {
        let mut id = None;
        loop {
            let mut line = String::new();
            if self
                .0
                .read_line(&mut line)
                .expect("an event within the time limit")
                == 0
            {
                return None;
            }
            if let Some(number) = line.strip_prefix("id: ") {
                id = number.trim().parse().ok();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((
                    id.expect("an event has an id"),
                    serde_json::from_str(data).expect("JSON"),
                ));
            }
        }
    }
}

fn notices(journal: &mut Journal, texts: impl Iterator<Item = String>) {
    journal
        .append_all(&RunId(RUN.to_owned()), texts.map(EventKind::notice))
        .expect("recorded events");
}

#[test]
fn the_token_in_the_address_becomes_a_cookie() {
    let sandbox = disputes::sandbox();
    let server = Server::start(&sandbox, &[]);
    let entered = server.get(&format!("/?token={}", server.token), &[]);
    assert!(
        !entered
            .header("location")
            .expect("a redirect")
            .contains(&server.token)
    );
    let cookie = entered.header("set-cookie").expect("a cookie");
    assert!(
        cookie.ends_with(&format!(
            "; Path={}; HttpOnly; SameSite=Strict",
            server.base
        )),
        "{cookie}"
    );
    assert!(!cookie.contains(&server.token) && server.base.len() == 33);
    // A browser that follows a link of another site would not send the cookie after a redirect.
    let from_file = [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "document"),
    ];
    let linked = server.get(&format!("/?token={}", server.token), &from_file);
    assert_eq!(
        (linked.status, linked.header("set-cookie")),
        (200, Some(cookie))
    );
    assert!(linked.body.contains("http-equiv=\"refresh\"") && !linked.body.contains(&server.token));
    // Other users can read the arguments of the process.
    let arguments =
        fs::read(format!("/proc/{}/cmdline", server.child.id())).expect("a running process");
    assert!(!String::from_utf8_lossy(&arguments).contains(&server.token));
}

#[test]
fn requests_of_others_are_refused() {
    let sandbox = disputes::sandbox();
    let server = Server::start(&sandbox, &[]);
    let (runs, dispute) = (
        format!("{}/runs", server.base),
        format!("{}/disputes/3", server.base),
    );
    let (cookie, origin) = (
        ("Cookie", server.cookie.as_str()),
        format!("http://{}", server.host()),
    );
    let token = server.form_token(3);
    let form = format!("token={token}&word=enforce");
    let get = |headers: &[(&str, &str)]| server.get(&runs, headers).status;
    let post = |headers: &[(&str, &str)], body: &str| {
        server.request("POST", &dispute, headers, body).status
    };
    let other_session = format!("glee={}", "0".repeat(64));
    let localhost = format!("localhost:{}", server.port);
    let fetch = |site, mode, dest| {
        [
            cookie,
            ("Sec-Fetch-Site", site),
            ("Sec-Fetch-Mode", mode),
            ("Sec-Fetch-Dest", dest),
        ]
    };
    let statuses = [
        ("no cookie", get(&[])),
        (
            "the cookie of an earlier start",
            get(&[("Cookie", &other_session)]),
        ),
        ("an empty cookie", get(&[("Cookie", "glee=")])),
        ("no token", server.get("/", &[]).status),
        (
            "a wrong token",
            server
                .get(&format!("/?token={}", "0".repeat(64)), &[])
                .status,
        ),
        (
            "a part of the token",
            server
                .get(&format!("/?token={}", &server.token[..32]), &[])
                .status,
        ),
        ("signed in", get(&[cookie])),
        (
            "another name of this computer",
            get(&[cookie, ("Host", &localhost)]),
        ),
        (
            "a rebound name",
            get(&[cookie, ("Host", &format!("evil.example:{}", server.port))]),
        ),
        ("another port", get(&[cookie, ("Host", "127.0.0.1:1")])),
        ("no host", get(&[cookie, ("Host", "-")])),
        (
            "two hosts",
            get(&[cookie, ("Host", &localhost), ("Host", "evil.example")]),
        ),
        (
            "a whole address",
            server
                .get(&format!("http://evil.example{runs}"), &[cookie])
                .status,
        ),
        (
            "a script of another site",
            get(&fetch("cross-site", "cors", "empty")),
        ),
        (
            "a script of another port",
            get(&fetch("same-site", "cors", "empty")),
        ),
        (
            "a frame of another site",
            get(&fetch("cross-site", "navigate", "iframe")),
        ),
        (
            "a link of another site",
            get(&fetch("cross-site", "navigate", "document")),
        ),
        (
            "events without a cookie",
            server.get(&format!("{runs}/last/events"), &[]).status,
        ),
        ("an unknown run", server.page("/runs/nothing").status),
        ("an unknown dispute", server.page("/disputes/99").status),
        ("an unknown page", server.page("/other").status),
        (
            "a path outside",
            server.get("/assets/..%2f..%2fetc%2fpasswd", &[]).status,
        ),
        ("a form without an origin", post(&[cookie], &form)),
        (
            "a form of another origin",
            post(&[cookie, ("Origin", "http://evil.example")], &form),
        ),
        (
            "a form of another port",
            post(&[cookie, ("Origin", "http://127.0.0.1:1")], &form),
        ),
        (
            "a form of no origin",
            post(
                &[
                    cookie,
                    ("Origin", "null"),
                    ("Sec-Fetch-Site", "same-origin"),
                ],
                &form,
            ),
        ),
        (
            "a form with a wrong token",
            post(&[cookie, ("Origin", &origin)], "token=0&word=enforce"),
        ),
        (
            "a form without a token",
            post(&[cookie, ("Origin", &origin)], "word=enforce"),
        ),
        (
            "a form without a cookie",
            post(&[("Origin", &origin)], &form),
        ),
        (
            "a form that is too large",
            post(
                &[cookie, ("Origin", &origin)],
                &format!("{form}&reason={}", "x".repeat(70_000)),
            ),
        ),
        (
            "another method",
            server.request("DELETE", &dispute, &[cookie], "").status,
        ),
    ];
    let listed: String = statuses
        .iter()
        .map(|(what, status)| format!("{status} {what}\n"))
        .collect();
    insta::assert_snapshot!(listed);
    let rows = sandbox.glee(&["disputes", "--open", "--json"]);
    assert!(
        rows.stdout.contains("\"number\": 3"),
        "a refused ruling is not recorded: {rows}"
    );
    for page in [
        server.page("/runs"),
        server.get("/", &[]),
        server.get("/", &[("Host", "evil.example")]),
    ] {
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(
            policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        assert_eq!(page.header("cache-control"), Some("no-store"));
        assert_eq!(page.header("access-control-allow-origin"), None);
    }
}

#[test]
fn the_pages_show_runs_and_disputes() {
    let sandbox = disputes::sandbox();
    let server = Server::start(&sandbox, &[]);
    let shown: BTreeMap<&str, String> = [
        "/runs",
        "/disputes",
        "/disputes/1",
        "/disputes/3",
        "/runs/last/live",
    ]
    .into_iter()
    .map(|path| {
        let page = server.page(path);
        assert_eq!(page.status, 200, "{path}: {}", page.text());
        assert!(!page.body.contains('\x1b'), "{path}");
        (path, sandbox.placeholders(&page.text()))
    })
    .collect();
    let listed: String = shown
        .iter()
        .map(|(path, text)| format!("{path}: {text}\n"))
        .collect();
    let time = regex::Regex::new(r"\d\d:\d\d:\d\d|last event .{1,24} ago")
        .expect("the pattern is well-formed");
    insta::assert_snapshot!(time.replace_all(&listed, "[TIME]"));
}

/// The numbers of the disputes to which a page links, in their order.
fn linked(page: &Answer) -> Vec<u64> {
    let link = regex::Regex::new(r#"<th[^>]*><a href="[^"]*/disputes/(\d+)""#)
        .expect("the pattern is well-formed");
    link.captures_iter(&page.body)
        .filter_map(|found| found[1].parse().ok())
        .collect()
}

#[test]
fn the_parts_of_a_long_list_have_every_dispute() {
    let sandbox = disputes::sandbox();
    let mut journal = Journal::open(&disputes::database(&sandbox)).expect("a history");
    let run = RunId(RUN.to_owned());
    for id in 4..=63 {
        let objection = glee_model::domain::Response {
            finding: glee_model::domain::FindingId::new(id),
            answer: glee_model::domain::Answer::Disagree,
            text: "no".into(),
            evidence: vec!["src/a.rs:1".into()],
            demonstration: None,
        };
        let finding = disputes::finding(id, glee_model::domain::Tag::Must, "codex");
        journal
            .open_dispute(&run, finding, objection)
            .expect("a dispute");
    }
    let server = Server::start(&sandbox, &[]);
    // Dispute 1 is settled, and older than all open ones.
    let first = server.page("/disputes");
    assert_eq!(
        linked(&first),
        (14..=63).rev().chain([1]).collect::<Vec<u64>>(),
        "{}",
        first.text()
    );
    assert!(
        first.body.contains("/disputes?open_before=14#open"),
        "{}",
        first.body
    );
    let rest = server.page("/disputes?open_before=14");
    assert_eq!(
        linked(&rest),
        (2..=13).rev().chain([1]).collect::<Vec<u64>>(),
        "{}",
        rest.text()
    );
    assert!(
        rest.text().contains("Newest open disputes") && !rest.text().contains("Older"),
        "{}",
        rest.text()
    );
}

#[test]
fn findings_are_listed_and_filtered_as_in_the_terminal() {
    let sandbox = crate::review::project();
    let reviewed = sandbox.glee(&["review", "app.py", "--arbitrate", "--format", "json"]);
    assert_eq!(reviewed.code, 3, "{reviewed}");
    let run = crate::review::outcome_run(&reviewed.stdout);
    let server = Server::start(&sandbox, &[]);
    let listed = |query: &str| {
        let page = server.page(&format!("/findings{query}"));
        assert_eq!(page.status, 200, "{query}: {}", page.text());
        let row = regex::Regex::new(r##"/runs/[^"#]+#(f\d+)" aria-label"##)
            .expect("the pattern is well-formed");
        row.captures_iter(&page.body)
            .map(|found| found[1].to_uppercase())
            .collect::<Vec<String>>()
    };
    let terminal = |args: &[&str]| {
        let listing = crate::review::json(
            &sandbox
                .glee(&[&["findings", "--json"], args].concat())
                .stdout,
        );
        let found = listing["findings"].as_array().expect("a list").clone();
        found
            .iter()
            .filter_map(|it| it["id"].as_str().map(str::to_owned))
            .collect::<Vec<String>>()
    };
    assert!(!terminal(&[]).is_empty() && terminal(&["--all"]).len() == 5);
    assert_eq!(listed(""), terminal(&[]));
    assert_eq!(listed("?state=all"), terminal(&["--all"]));
    assert_eq!(
        listed("?state=all&severity=must"),
        terminal(&["--all", "--severity", "must"])
    );
    assert_eq!(listed("?state=all&path=app.*"), terminal(&["--all"]));
    assert_eq!(listed("?state=all&path=lib"), Vec::<String>::new());
    assert_eq!(
        listed("?state=closed").len() + listed("?state=open").len(),
        5
    );
    let page = server.page("/findings?state=all");
    assert!(
        page.body.contains(&format!("/runs/{run}#f")),
        "{}",
        page.body
    );
    assert!(page.body.contains("/disputes/"), "{}", page.body);
    assert!(
        server
            .page("/findings?state=all&severity=low")
            .text()
            .contains("the filters hide")
    );
    let dispute = regex::Regex::new(r"/disputes/(\d+)").expect("the pattern is well-formed");
    let number = &dispute.captures(&page.body).expect("a link")[1];
    assert_eq!(server.page(&format!("/disputes/{number}")).status, 200);
    for wrong in ["?severity=huge", "?path=%5B"] {
        let refused = server.page(&format!("/findings{wrong}"));
        assert!(
            refused.status == 422 && refused.text().contains("the filter is not valid"),
            "{}",
            refused.text()
        );
    }
    assert_eq!(
        server.get(&format!("{}/findings", server.base), &[]).status,
        401,
        "only after signing in"
    );
}

#[test]
fn the_parts_of_a_long_list_of_findings_have_every_finding() {
    let sandbox = crate::review::project();
    let functions: String = (1..=450)
        .map(|n| format!("def f{n}(a{n}):\n    return a{n} / {n}\n\n"))
        .collect();
    sandbox.write("many.py", functions);
    sandbox.script(
        "lens.sh",
        "#!/bin/sh\nfor n in $(seq 450); do echo \"[MUST] many.py:$((3 * n - 1)) Problem number $n of <b>many</b>: f$n divides a$n\"; done\n\
         echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=450\"\n",
    );
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    let reviewed = sandbox.glee(&["review", "many.py"]);
    assert_eq!(reviewed.code, 1, "{reviewed}");
    let server = Server::start(&sandbox, &[]);
    let link = regex::Regex::new(r#"href="[^"]*/findings(\?[^"]*)">Next"#)
        .expect("the pattern is well-formed");
    let row = regex::Regex::new(r"Problem number (\d+) ").expect("the pattern is well-formed");
    let (mut seen, mut query, mut pages) = (
        std::collections::BTreeSet::new(),
        "?path=*.py".to_owned(),
        0,
    );
    loop {
        let page = server.page(&format!("/findings{query}"));
        assert!(
            page.status == 200 && !page.body.contains("<b>"),
            "{}",
            page.text()
        );
        seen.extend(
            row.captures_iter(&page.body)
                .map(|found| found[1].to_owned()),
        );
        pages += 1;
        let Some(next) = link.captures(&page.body) else {
            break;
        };
        query = next[1].replace("&amp;", "&").replace("&#x2f;", "/");
    }
    assert_eq!((seen.len(), pages), (450, 3));
}

#[test]
fn a_dispute_says_why_its_code_is_missing() {
    let sandbox = disputes::sandbox();
    let database = disputes::database(&sandbox);
    let mut journal = Journal::open(&database).expect("a history");
    notices(&mut journal, std::iter::once("a notice".to_owned()));
    drop(journal);
    let server = Server::start(&sandbox, &[]);
    assert!(
        !server
            .page("/disputes/3")
            .text()
            .contains("cannot be shown")
    );
    let database = rusqlite::Connection::open(&database).expect("a history");
    let changed = database.execute(
        "UPDATE event SET body = '{\"event\":\"notice\"}' WHERE kind = 'notice'",
        [],
    );
    assert_eq!(changed.expect("a damaged event"), 1);
    let page = server.page("/disputes/3");
    assert_eq!(page.status, 200);
    let text = page.text();
    assert!(
        text.contains("The code cannot be shown: ") && text.contains("Record the ruling"),
        "{text}"
    );
}

#[test]
fn without_a_history_the_pages_say_so() {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    let server = Server::start(&sandbox, &[]);
    assert!(server.page("/runs").text().contains("No runs yet"));
    assert!(
        server
            .page("/disputes")
            .text()
            .contains("No dispute is open")
    );
    assert_eq!(server.page("/runs/last/events").status, 404);
}

#[test]
fn a_person_settles_a_dispute_under_the_rules_of_the_terminal() {
    let sandbox = disputes::sandbox();
    let server = Server::start(&sandbox, &[]);
    for (fields, arguments) in [
        (
            "word=dismiss&as=deferred",
            &["dismiss", "--as", "deferred"][..],
        ),
        (
            "word=dismiss&as=duplicate&ref=++",
            &["dismiss", "--as", "duplicate"],
        ),
        ("word=enforce&as=refuted", &["enforce", "--as", "refuted"]),
        ("word=dismiss&ref=x", &["dismiss", "--ref", "x"]),
        ("word=enforce&until=90d", &["enforce", "--until", "90d"]),
    ] {
        let refused = server.settle(3, fields);
        assert_eq!(refused.status, 422, "{fields}");
        let terminal =
            sandbox.glee(&[&["disputes", "resolve", "3", "--by", "Test"], arguments].concat());
        let message = terminal
            .stderr
            .lines()
            .next()
            .expect("an error")
            .replace(['`'], "");
        let message = message.trim_start_matches("error: ");
        assert!(
            refused.text().contains(message),
            "{fields}: {message} in {}",
            refused.text()
        );
    }
    for (fields, message) in [
        ("reason=x", "a decision is required"),
        (
            "word=judge",
            "this page cannot send the dispute to the judge",
        ),
        ("word=nothing", "invalid variant: nothing"),
        (
            "word=dismiss&until=yesterday",
            "yesterday cannot be the last day of a dismissal",
        ),
        (
            "word=dismiss&until=2020-01-01",
            "2020-01-01 cannot be the last day of a dismissal",
        ),
    ] {
        let refused = server.settle(3, fields);
        let text = refused.text().replace("  ", " ");
        assert!(
            refused.status == 422 && text.contains(message),
            "{fields}: {} {text}",
            refused.status
        );
    }
    // The form still contains what the person wrote.
    let kept = server.settle(
        3,
        "word=dismiss&as=deferred&reason=%3Cb%3Ewhy%3C%2Fb%3E%0D%0Atwo",
    );
    assert!(
        kept.body.contains("&lt;b&gt;why&lt;&#x2f;b&gt;"),
        "{}",
        kept.body
    );

    let settled = server.settle(
        3,
        "word=dismiss&as=accepted-risk&until=2099-01-01&reason=known%0D%0Aand+small",
    );
    let target = format!("{}/disputes/3", server.base);
    assert_eq!(
        (settled.status, settled.header("location")),
        (303, Some(target.as_str()))
    );
    let shown = sandbox.glee(&["disputes", "show", "3", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!(shown["settlement"]["disposition"]["as"], "accepted_risk");
    assert_eq!(shown["settlement"]["by"]["kind"], "human");
    assert_eq!(shown["settlement"]["reason"], "known\nand small");
    assert_eq!(shown["settlement"]["until"], "2099-01-01");
    assert!(server.page("/disputes/3").text().contains("accepted risk"));
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);

    let origin = format!("http://{}", server.host());
    let again = format!("token={}&word=enforce", server.form_token(2));
    let headers = [
        ("Cookie", server.cookie.as_str()),
        ("Origin", origin.as_str()),
    ];
    let again = server.request("POST", &target, &headers, &again);
    assert!(
        again.status == 409 && again.text().contains("already settled"),
        "{}",
        again.text()
    );
    let enforced = server.settle(2, "word=enforce");
    assert_eq!(enforced.status, 303);
    assert!(sandbox.glee(&["disputes"]).stdout.contains("ENFORCE"));
}

#[test]
fn what_agents_wrote_is_text_on_every_page() {
    const MARKUP: &str =
        "<img src=x onerror=alert(1)>\"'><script>alert(2)</script>{{ 7 * 7 }}\u{202e}";
    let sandbox = disputes::sandbox();
    let run = RunId(RUN.to_owned());
    let mut hostile = disputes::finding(4, glee_model::domain::Tag::Must, MARKUP);
    hostile.raw.title = MARKUP.into();
    hostile.raw.body = format!("`{MARKUP}`\n```\n{MARKUP}\n```\n").into();
    hostile.raw.suggestion = Some(MARKUP.into());
    hostile.raw.evidence = vec![MARKUP.into()];
    hostile.raw.file = Some(format!("src/{MARKUP}.rs"));
    let objection = glee_model::domain::Response {
        finding: hostile.id,
        answer: glee_model::domain::Answer::Disagree,
        text: MARKUP.into(),
        evidence: vec![MARKUP.into()],
        demonstration: None,
    };
    let mut journal = Journal::open(&disputes::database(&sandbox)).expect("a history");
    journal
        .open_dispute(&run, hostile, objection)
        .expect("a dispute");
    notices(&mut journal, std::iter::once(MARKUP.to_owned()));
    let server = Server::start(&sandbox, &[]);
    for path in [
        "/runs",
        "/runs/last",
        "/runs/last/live",
        "/disputes",
        "/disputes/4",
        "/findings?state=all",
        "/statistics",
    ] {
        let page = server.page(path);
        assert_eq!(page.status, 200, "{path}");
        assert!(
            !page.body.contains("<img") && !page.body.contains("<script>alert"),
            "{path}: {}",
            page.body
        );
        assert!(!page.body.contains('\u{202e}'), "{path}");
    }
    let refused = server.settle(
        4,
        &format!(
            "word=dismiss&as=deferred&until=x&reason={}",
            "%3Cimg+src%3Dx%3E%22"
        ),
    );
    assert!(
        refused.status == 422 && !refused.body.contains("<img"),
        "{}",
        refused.body
    );
    let page = server.page("/disputes/4");
    assert!(
        page.body.contains("&lt;img src=x onerror=alert(1)&gt;"),
        "{}",
        page.body
    );
    assert!(
        page.body.contains("{{ 7 * 7 }}"),
        "a text is not a template"
    );
}

#[test]
fn a_running_review_is_shown_live() {
    const REVIEWER: &str = r#"#!/bin/sh
cat >/dev/null
while [ ! -e "${0%/*}/go" ]; do sleep 0.02; done
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0"
"#;
    let sandbox = Sandbox::new();
    sandbox.program("reviewer", REVIEWER).git_init();
    sandbox.write("a.py", "x = 1\n");
    let config = sandbox.user_config();
    fs::create_dir_all(config.parent().expect("a folder")).expect("a folder");
    fs::write(
        &config,
        "agents:\n  - {name: slow, role: reviewer, adapter: text, command: [reviewer]}\n",
    )
    .expect("a written file");
    let mut review = sandbox.command(&["review", "--no-input"]);
    let mut review = review
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("glee starts");
    let mut server = Server::start(&sandbox, &[]);
    let begun = Instant::now();
    while !server.page("/runs").body.contains("live view") {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "the run does not begin"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut events = server.follow("last", &[]);
    let started = events
        .find(|(_, event)| event["started"]["agent"] == "slow")
        .expect("the start of a call");
    assert_eq!(started.1["started"]["activity"], "reviewing");
    assert!(
        server
            .page("/runs/last/live")
            .text()
            .contains("slow reviewer reviewing")
    );
    let bin = sandbox.root().with_file_name("bin");
    fs::write(bin.join("go"), "").expect("a written file");
    let finished = events
        .find(|(_, event)| event["finished"].is_string())
        .expect("the end of a call");
    assert_eq!(finished.1["finished"], started.1["started"]["call"]);
    let (last, ended) = events
        .find(|(_, event)| event["ended"].is_string())
        .expect("the end of the run");
    assert!(
        ended["ended"]
            .as_str()
            .is_some_and(|text| text.starts_with("Ended after ")),
        "{ended}"
    );
    review.wait().expect("the review ends");

    // A browser that was disconnected resumes after the last event that it received.
    let mut resumed = server.follow("last", &[("Last-Event-ID", &(last - 1).to_string())]);
    assert_eq!(resumed.next().map(|(id, _)| id), Some(last));
    assert_eq!(server.interrupt(), Some(0));
    assert!(
        resumed.next().is_none() && events.next().is_none(),
        "the end of the server ends the events"
    );
}

/// The tests of a process hold more connections together than many systems let it open unless it asks.
fn allow_open_files() {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    let wanted = soft.max(4_096).min(hard);
    setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).expect("more open files");
}

/// Has `readers` browsers follow a run while another process records `events` events in parts, and `idle` browsers that
/// read nothing. Returns how many MiB the server grew at most.
fn crowd(readers: usize, idle: usize, events: usize) -> u64 {
    allow_open_files();
    let sandbox = disputes::sandbox();
    let mut journal = Journal::open(&disputes::database(&sandbox)).expect("a history");
    notices(
        &mut journal,
        (0..1_000).map(|number| format!("earlier {number}")),
    );
    let server = Server::start(&sandbox, &[]);
    let before = server.memory();
    let _idle: Vec<Events> = (0..idle).map(|_| server.follow(RUN, &[])).collect();
    let reading: Vec<_> = (0..readers)
        .map(|_| {
            let mut events = server.follow(RUN, &[("Last-Event-ID", "1000")]);
            std::thread::spawn(move || events.ids())
        })
        .collect();
    let mut most = 0;
    for part in 0..events / 50 {
        notices(
            &mut journal,
            (0..50).map(|number| format!("later {part} {number} {}", "x".repeat(200))),
        );
        most = most.max(server.memory());
    }
    let end = RunEvent::RunEnded {
        exit: ExitReason::Clean,
        millis: 1,
    };
    let last = journal
        .append(&RunId(RUN.to_owned()), end)
        .expect("a recorded event")
        .seq;
    while !reading.iter().all(std::thread::JoinHandle::is_finished) {
        most = most.max(server.memory());
        std::thread::sleep(Duration::from_millis(20));
    }
    for reader in reading {
        let ids = reader.join().expect("a reader");
        assert!(
            ids.iter().copied().eq(1_001..=last),
            "each event arrives once and in order"
        );
    }
    most.saturating_sub(before)
}

#[test]
fn many_readers_and_readers_that_stop_cost_little() {
    let grown = crowd(40, 20, 500);
    assert!(grown < 64, "the server grew by {grown} MiB");
}

#[test]
#[ignore = "takes a minute; run it with `--run-ignored only`"]
fn two_hundred_readers_follow_ten_thousand_events_in_bounded_memory() {
    let grown = crowd(200, 20, 10_000);
    assert!(grown < 128, "the server grew by {grown} MiB");
}

#[test]
fn more_readers_than_allowed_are_refused() {
    allow_open_files();
    let sandbox = disputes::sandbox();
    let server = Server::start(&sandbox, &[]);
    let readers: Vec<Events> = (0..256)
        .map(|_| {
            let mut events = server.follow(RUN, &[]);
            events.next().expect("an event");
            events
        })
        .collect();
    assert_eq!(server.page(&format!("/runs/{RUN}/events")).status, 503);
    assert_eq!(server.page("/runs").status, 200);
    drop(readers);
    let begun = Instant::now();
    let next = || server.follow(RUN, &[]).next();
    while next().is_none() {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "the places of closed connections are not free"
        );
    }
}

#[test]
fn connections_of_others_do_not_keep_the_owner_out() {
    allow_open_files();
    let sandbox = disputes::sandbox();
    let server = Server::start(&sandbox, &[]);
    let mut reader = server.follow(RUN, &[]);
    reader.next().expect("an event");
    for head in [
        "",
        "GET / HTTP/1.1\r\nX: ",
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    ] {
        // More connections than the server holds, half of them with the beginning of a request.
        let held: Vec<TcpStream> = (0..700)
            .map(|_| {
                let mut stream =
                    TcpStream::connect(("127.0.0.1", server.port)).expect("a connection");
                drop(stream.write_all(head.as_bytes()));
                stream
            })
            .collect();
        let begun = Instant::now();
        for _ in 0..5 {
            assert_eq!(server.page("/runs").status, 200);
        }
        assert!(begun.elapsed() < Duration::from_secs(5), "{head:?}");
        drop(held);
    }
    let mut journal = Journal::open(&disputes::database(&sandbox)).expect("a history");
    notices(&mut journal, std::iter::once("still here".to_owned()));
    assert!(
        reader.next().is_some(),
        "a signed-in reader keeps its place"
    );
}

#[test]
fn the_browser_receives_the_address_in_a_private_file() {
    const BROWSER: &str = "#!/bin/sh\necho \"$@\" >\"$HOME/arguments\"\ncp -p \"$1\" \"$HOME/opened.tmp\"\n\
                           mv \"$HOME/opened.tmp\" \"$HOME/opened\"\n";
    let mut sandbox = disputes::sandbox();
    sandbox.env("DISPLAY", ":0");
    for name in ["xdg-open", "gio", "gnome-open", "kde-open", "wslview"] {
        sandbox.program(name, BROWSER);
    }
    let mut server = Server::start(&sandbox, &["--open"]);
    let opened = sandbox.home().join("opened");
    let begun = Instant::now();
    while !opened.exists() {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "no browser was started"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    let mode = fs::metadata(&opened).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    let page = fs::read_to_string(&opened).expect("a page");
    let token = page
        .split("?token=")
        .nth(1)
        .and_then(|rest| rest.get(..64))
        .expect("a token");
    let arguments = fs::read_to_string(sandbox.home().join("arguments")).expect("arguments");
    assert!(
        !arguments.contains(token) && token != server.token,
        "{arguments}"
    );
    assert_eq!(server.get(&format!("/?token={token}"), &[]).status, 303);
    assert_eq!(
        server.get(&format!("/?token={token}"), &[]).status,
        401,
        "the token is valid once"
    );
    let file = arguments.trim().to_owned();
    assert_eq!(server.interrupt(), Some(0));
    assert!(
        !std::path::Path::new(&file).exists(),
        "{file} is deleted at the end"
    );
}

#[test]
fn a_port_in_use_is_an_error() {
    let sandbox = disputes::sandbox();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let output = sandbox
        .glee(&["serve", "--port", &port])
        .to_string()
        .replace(&port, "[PORT]");
    insta::assert_snapshot!(output, @r"
    exit: 2
    --- stderr
    error: port [PORT] is in use
    hint: give another port with `--port`, or omit `--port` to use a free port
    ");
}
