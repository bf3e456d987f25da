//! The pages of a service: all repositories of its tenant, for the people whom a proxy signs in.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::postgres::Postgres;
use crate::server::{EVIL, json, machine, server};
use crate::service::{self, Notice, Service};
use crate::support::Sandbox;

const SECRET: &str = "of the proxy in front";
const PROXY: (&str, &str) = ("GLEE_PROXY_SECRET", SECRET);

/// The service's own origin, as browsers see it.
const ORIGIN: (&str, &str) = ("Origin", "https://glee.example.org");

/// A database with two tenants. The role of the service is a member of `acme`.
fn database() -> Option<Postgres> {
    let (postgres, address) = server()?;
    let setup = Sandbox::new();
    let made = setup.glee(&["server", "init", &address, "--tenants", "acme,beta"]);
    assert_eq!(made.code, 0, "{made}");
    postgres.sql(
        "glee",
        "CREATE ROLE service LOGIN; GRANT glee_submitter, glee_writer, acme TO service;
         CREATE ROLE ann LOGIN; GRANT glee_writer, acme TO ann; CREATE ROLE ben LOGIN; GRANT glee_writer, beta TO ben",
    );
    Some(postgres)
}

/// A machine of a role whose repository has one run, and an open dispute if the finding was dismissed before.
fn reviewed(postgres: &Postgres, role: &str, name: &str) -> Sandbox {
    let machine = machine(&postgres.address(role, "glee"));
    let remote = format!("https://git.example.org/{name}.git");
    machine.git(&["remote", "add", "origin", &remote]);
    machine.write("app.py", EVIL);
    let run = machine.glee(&["review", "--no-input"]);
    assert_eq!(run.code, 1, "{run}");
    for args in [
        &["dismiss", "F1", "--by", "cid", "--reason", "it is old"][..],
        &["disputes", "reopen", "1", "--reason", "look again"],
    ] {
        let done = machine.glee(args);
        assert_eq!(done.code, 0, "{done}");
    }
    machine
}

/// The path of the pages of a repository.
fn base(postgres: &Postgres, name: &str) -> String {
    let sql = format!("SELECT id FROM glee.repository WHERE title LIKE '%{name}'");
    format!("/repositories/{}", postgres.sql("glee", &sql))
}

/// The header of the proxy for a person.
fn signed_in(person: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{person}:{SECRET}")))
}

/// A browser of a person, behind the proxy.
struct Browser<'a> {
    service: &'a Service,
    authorization: String,
}

impl<'a> Browser<'a> {
    fn of(service: &'a Service, person: &str) -> Self {
        Self {
            service,
            authorization: signed_in(person),
        }
    }

    fn get(&self, path: &str) -> (u16, String) {
        let headers = [("Authorization", self.authorization.as_str())];
        let (status, _, body) = self.service.ask("GET", path, &headers, "");
        (status, body.replace("&#x2f;", "/"))
    }

    fn page(&self, path: &str) -> String {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    /// Where the service redirects to.
    fn moved(&self, path: &str) -> String {
        let headers = [("Authorization", self.authorization.as_str())];
        let (status, head, _) = self.service.ask("GET", path, &headers, "");
        assert_eq!(status, 303, "{path}: {head}");
        let lines = head.lines();
        let mut found = lines.filter_map(|line| line.strip_prefix("location: "));
        found.next().expect("a location").to_owned()
    }

    /// The token in the form of a dispute.
    fn token(&self, path: &str) -> String {
        let page = self.page(path);
        let (_, rest) = page.split_once("name=\"token\" value=\"").expect("a form");
        rest.split('"').next().expect("a token").to_owned()
    }

    fn post(&self, path: &str, headers: &[(&str, &str)], form: &str) -> (u16, String) {
        let own = [
            ("Authorization", self.authorization.as_str()),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ];
        let headers = [&own, headers].concat();
        let (status, _, body) = self.service.ask("POST", path, &headers, form);
        (status, body)
    }
}

#[test]
fn the_pages_of_each_repository_of_the_tenant_are_shown() {
    let Some(postgres) = database() else {
        return;
    };
    let service = Service::start_with(&postgres, &[PROXY]);
    let browser = Browser::of(&service, "ann");
    assert!(browser.page("/repositories").contains("No repository yet"));

    let machine = reviewed(&postgres, "ann", "shop");
    reviewed(&postgres, "ben", "elsewhere");
    let shop = base(&postgres, "shop");
    assert_eq!(browser.moved("/"), "/repositories");
    assert_eq!(browser.moved(&shop), format!("{shop}/runs"));
    let list = browser.page("/repositories");
    assert!(list.contains("git.example.org/shop"), "{list}");
    assert!(
        list.contains(&format!("href=\"{shop}/disputes\">1<")),
        "{list}"
    );
    assert!(!list.contains("elsewhere"), "{list}");
    assert!(
        browser
            .page("/repositories?name=SHOP")
            .contains("example.org/shop")
    );
    assert!(
        !browser
            .page("/repositories?name=other")
            .contains("example.org/shop")
    );

    let runs = json(&machine.glee(&["runs", "--json"]));
    let run = runs[0]["run"].as_str().expect("an id");
    for (page, parts) in [
        ("runs", &[run][..]),
        (
            &format!("runs/{run}"),
            &["is broken as a hash", "app.py", "disputed"],
        ),
        (&format!("runs/{run}/live"), &["Ended after"]),
        ("findings", &["is broken as a hash", "app.py", "dispute 1"]),
        ("disputes", &["Waiting for a person", "is broken as a hash"]),
        ("disputes/1", &["look again", "as ann"]),
        ("statistics", &["Reviewers"]),
    ] {
        let text = browser.page(&format!("{shop}/{page}"));
        for part in parts {
            assert!(text.contains(part), "{page}: {part}: {text}");
        }
        // Each link stays with the repository.
        assert!(!text.contains("href=\"/runs"), "{page}: {text}");
        assert!(text.contains("href=\"/repositories\""), "{page}: {text}");
    }

    // What a machine records later is on the next page.
    let fixed = machine.glee(&["disputes", "resolve", "1", "enforce", "--by", "cid"]);
    assert_eq!(fixed.code, 0, "{fixed}");
    let page = browser.page(&format!("{shop}/disputes/1"));
    assert!(page.contains("by cid"), "{page}");
    for missing in ["disputes/7", "runs/none", "other"] {
        assert_eq!(browser.get(&format!("{shop}/{missing}")).0, 404);
    }
    assert_eq!(browser.get("/other").0, 404);
}

#[test]
fn a_ruling_of_a_page_has_the_name_of_the_person_and_binds_on_machines() {
    let Some(postgres) = database() else {
        return;
    };
    let machine = reviewed(&postgres, "ann", "shop");
    let dispute = format!("{}/disputes/1", base(&postgres, "shop"));
    let services = [0; 2].map(|_| Service::start_with(&postgres, &[PROXY]));
    let browser = Browser::of(&services[0], "zoe@example.org");
    let token = browser.token(&dispute);

    let (status, page) = browser.post(&dispute, &[ORIGIN], &format!("token={token}"));
    assert_eq!(status, 422, "{page}");
    assert!(page.contains("a decision is required"), "{page}");
    // Any of the services takes the form.
    let form = format!("token={token}&word=dismiss&as=accepted-risk&reason=A+cache+key.");
    let other = Browser::of(&services[1], "zoe@example.org");
    let (status, page) = other.post(&dispute, &[ORIGIN], &form);
    assert_eq!(status, 303, "{page}");
    let (status, page) = browser.post(&dispute, &[ORIGIN], &form);
    assert_eq!(status, 409, "{page}");

    let shown = machine.glee(&["disputes", "show", "1"]);
    assert!(shown.stdout.contains("zoe@example.org"), "{shown}");
    let again = machine.glee(&["review", "--no-input"]);
    assert_eq!(again.code, 0, "{again}");
    assert_eq!(machine.glee(&["disputes", "verify"]).code, 0);
    let by = "SELECT DISTINCT by FROM glee.event WHERE body LIKE '%A cache key.%'";
    assert_eq!(postgres.sql("glee", by), "service");
}

#[test]
fn who_does_not_come_through_the_proxy_sees_nothing() {
    let Some(postgres) = database() else {
        return;
    };
    reviewed(&postgres, "ann", "shop");
    reviewed(&postgres, "ben", "elsewhere");
    let (shop, elsewhere) = (base(&postgres, "shop"), base(&postgres, "elsewhere"));
    let dispute = format!("{shop}/disputes/1");
    let service = Service::start_with(&postgres, &[PROXY]);
    let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
    let (wrong, bare) = (basic("ann:of another proxy"), basic("ann"));
    let bearer = format!("Bearer {SECRET}");
    let forged = ("X-Forwarded-User", "ann");
    for headers in [
        &[][..],
        &[forged],
        &[("X-Forwarded-Email", "ann@example.org"), forged],
        &[("Authorization", wrong.as_str()), forged],
        &[("Authorization", bare.as_str())],
        &[("Authorization", bearer.as_str())],
        &[("Proxy-Authorization", signed_in("ann").as_str())],
    ] {
        for path in ["/", "/repositories", &dispute, "/runs"] {
            let (status, head, body) = service.ask("GET", path, headers, "");
            assert_eq!(status, 401, "{path} {headers:?}: {body}");
            assert!(body.contains("Authorization: Basic"), "{body}");
            assert!(!body.contains("shop") && !body.contains(SECRET), "{body}");
            assert!(head.contains("content-security-policy"), "{head}");
        }
        let (status, _, body) = service.ask("POST", &dispute, headers, "word=enforce");
        assert_eq!(status, 401, "{headers:?}: {body}");
    }

    // A repository of another tenant is as unknown as one that does not exist.
    let ann = Browser::of(&service, "ann");
    let unknown = ann.get("/repositories/999/runs");
    assert_eq!(unknown.0, 404);
    assert_eq!(ann.get(&format!("{elsewhere}/runs")), unknown);
    assert_eq!(ann.get("/repositories/x/runs"), unknown);

    // The forms of other sites, and of other people.
    let form = format!("token={}&word=enforce", ann.token(&dispute));
    let evil = ("Origin", "https://evil.example");
    for headers in [
        &[][..],
        &[evil],
        &[("Origin", "null")],
        &[ORIGIN, evil],
        &[("Sec-Fetch-Site", "cross-site")],
        &[
            ORIGIN,
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Mode", "cors"),
        ],
    ] {
        let (status, body) = ann.post(&dispute, headers, &form);
        assert_eq!(status, 403, "{headers:?}: {body}");
    }
    for form in ["word=enforce", "token=0&word=enforce"] {
        assert_eq!(ann.post(&dispute, &[ORIGIN], form).0, 403);
    }
    let eve = Browser::of(&service, "eve");
    assert_eq!(eve.post(&dispute, &[ORIGIN], &form).0, 403);
    assert!(
        ann.page(&dispute).contains("id=\"ruling-form\""),
        "it is open"
    );
    assert_eq!(ann.post(&dispute, &[ORIGIN], &form).0, 303);

    // Hosts and probes come without the proxy.
    for path in ["/health", "/ready", "/metrics"] {
        assert_eq!(service.ask("GET", path, &[], "").0, 200, "{path}");
    }
    let notice = Notice {
        host: "github",
        number: 7,
        head: "aaa",
        is_open: true,
        second: 10,
    };
    assert_eq!(service.tell(&notice).0, 202);
}

#[test]
fn a_service_whose_role_reads_shows_no_form() {
    let Some(postgres) = database() else {
        return;
    };
    reviewed(&postgres, "ann", "shop");
    postgres.sql("glee", "REVOKE glee_writer FROM service");
    let dispute = format!("{}/disputes/1", base(&postgres, "shop"));
    let service = Service::start_with(&postgres, &[PROXY]);
    let ann = Browser::of(&service, "ann");
    let page = ann.page(&dispute);
    assert!(page.contains("Nobody can rule here"), "{page}");
    assert!(!page.contains("<form class=\"ruling-form\""), "{page}");
    assert_eq!(ann.post(&dispute, &[ORIGIN], "word=enforce").0, 403);
}

#[test]
fn a_live_view_follows_a_run_of_another_machine() {
    let Some(postgres) = database() else {
        return;
    };
    let machine = reviewed(&postgres, "ann", "shop");
    let service = Service::start_with(&postgres, &[PROXY]);
    let path = format!("{}/runs/last/events?after=0", base(&postgres, "shop"));
    let mut stream = TcpStream::connect(("127.0.0.1", service.port)).expect("a connection");
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("a timeout");
    let authorization = signed_in("ann");
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: glee.example.org\r\nAuthorization: {authorization}\r\n\r\n"
    )
    .expect("a request");
    let mut lines = BufReader::new(stream).lines();
    let mut next = |part: &str| {
        let mut lines = lines.by_ref().map(|line| line.expect("a line in time"));
        lines.any(|line| line.starts_with("data: ") && line.contains(part))
    };
    assert!(next("\"ended\":"), "what is recorded");
    let ruled = machine.glee(&[
        "disputes",
        "resolve",
        "1",
        "enforce",
        "--by",
        "cid",
        "--reason",
        "it is new",
    ]);
    assert_eq!(ruled.code, 0, "{ruled}");
    assert!(next("it is new"), "what another machine records");
}

#[test]
fn pages_come_back_with_the_database() {
    let Some(postgres) = database() else {
        return;
    };
    reviewed(&postgres, "ann", "shop");
    let runs = format!("{}/runs", base(&postgres, "shop"));
    let service = Service::start_with(&postgres, &[PROXY]);
    let ann = Browser::of(&service, "ann");
    postgres.crash();
    for path in ["/repositories", &runs] {
        let (status, body) = ann.get(path);
        assert_eq!(status, 503, "{body}");
        assert!(body.contains("cannot reach the server"), "{body}");
    }
    postgres.up();
    let until = Instant::now() + Duration::from_secs(20);
    while ann.get(&runs).0 != 200 {
        assert!(Instant::now() < until, "it does not come back");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_service_without_the_secret_of_a_proxy_shows_no_pages_and_says_so() {
    let Some(postgres) = database() else {
        return;
    };
    let service = Service::start_with(&postgres, &[]);
    for path in ["/", "/repositories", "/assets/style.css"] {
        let headers = [("Authorization", signed_in("ann"))];
        let headers = headers
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        assert_eq!(service.ask("GET", path, &headers, "").0, 404, "{path}");
    }

    // A port in use ends the command after it has said what it does.
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let serve = ["serve", "--service", "--listen", &address];
    let mut machine = Sandbox::new();
    machine.env("GLEE_SERVER", postgres.address("service", "glee"));
    machine.env("GLEE_WEBHOOK_SECRET", service::SECRET);
    let told = machine.glee(&serve);
    assert!(
        told.stderr.contains("GLEE_PROXY_SECRET is not set"),
        "{told}"
    );
    machine.env("GLEE_PROXY_SECRET", "short");
    let refused = machine.glee(&serve);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(refused.stderr.contains("is shorter than 16"), "{refused}");
}

#[test]
fn a_list_has_pages_in_the_order_of_the_last_runs() {
    let Some(postgres) = database() else {
        return;
    };
    fill(&postgres, 250, 2);
    let service = Service::start_with(&postgres, &[PROXY]);
    let ann = Browser::of(&service, "ann");
    let titles = regex::Regex::new(r">git\.example\.org/(\d+)<").expect("a pattern");
    let listed = |path: &str| {
        let page = ann.page(path);
        let found = titles.captures_iter(&page);
        found
            .map(|found| found[1].parse::<u32>().expect("a number"))
            .collect::<Vec<_>>()
    };
    assert_eq!(listed("/repositories"), Vec::from_iter(1..=100));
    assert_eq!(
        listed("/repositories?name=&from=200"),
        Vec::from_iter(201..=250)
    );
    assert_eq!(listed("/repositories?from=4294967295"), [0; 0]);
    assert!(ann.page("/repositories").contains("from=100\">Next"));
    assert!(
        ann.page("/repositories?from=150")
            .contains("from=50\">Previous")
    );
}

/// Repositories of `acme` with runs and disputes, the first one with the newest run.
fn fill(postgres: &Postgres, repositories: u32, runs: u32) {
    postgres.sql(
        "glee",
        &format!(
            "INSERT INTO glee.repository (tenant, title)
                 SELECT 'acme', 'git.example.org/' || n FROM generate_series(1, {repositories}) n;
             INSERT INTO glee.run (repository, id, started, ended, exit, target)
                 SELECT r.id, md5(r.id || '-' || n), timestamptz '2026-01-01' - r.id * interval '1 minute' - n * interval '1 day',
                     timestamptz '2026-01-01', '\"clean\"', 'x' FROM glee.repository r, generate_series(1, {runs}) n;
             INSERT INTO glee.dispute (repository, tenant, number, opened, open, raisers, body)
                 SELECT r.id, r.tenant, n, timestamptz '2026-01-01', n % 20 = 0, '{{ada}}', repeat('x', 600)
                 FROM glee.repository r, generate_series(1, {runs} / 2) n;
             ANALYZE"
        ),
    );
}

#[test]
#[ignore = "it loads a million runs"]
fn five_thousand_repositories_list_at_once() {
    let Some(postgres) = database() else {
        return;
    };
    fill(&postgres, 5000, 200);
    let service = Service::start_with(&postgres, &[PROXY]);
    let ann = Browser::of(&service, "ann");
    for path in [
        "/repositories",
        "/repositories?from=4900",
        "/repositories?name=42",
    ] {
        // The second answer, because a server that is used has read its indexes before.
        ann.page(path);
        let asked = Instant::now();
        ann.page(path);
        let millis = asked.elapsed().as_millis();
        drop(writeln!(std::io::stderr(), "{path}: {millis} ms"));
        assert!(millis < 300, "{path}: {millis} ms");
    }
}
