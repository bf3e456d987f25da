//! Tests of requests, repetitions, rate limits, redirects and pages, with a server on a loopback socket.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod tls;

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::rc::Rc;
use std::thread::{self, JoinHandle};

use rstest::rstest;
use serde_json::json;

use super::*;

/// A clock that passes only while a transport waits.
#[derive(Clone, Default)]
struct Waits(Rc<RefCell<Vec<u64>>>);

const START: i64 = 1_800_000_000;

impl HostClock for Waits {
    fn now(&self) -> Timestamp {
        let passed: u64 = self.0.borrow().iter().sum();
        Timestamp::from_millisecond(START * 1000 + i64::try_from(passed).unwrap()).unwrap()
    }

    fn sleep(&self, duration: Duration) {
        self.0
            .borrow_mut()
            .push(u64::try_from(duration.as_millis()).unwrap());
    }
}

/// Sends one answer on each connection. An empty answer closes the connection. Returns the requests.
fn serve(answers: Vec<String>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/api", listener.local_addr().unwrap());
    let origin = base.trim_end_matches("/api").to_owned();
    let served = thread::spawn(move || {
        let mut requests = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            let mut line = String::new();
            while reader.read_line(&mut line).unwrap() > 2 {
                head.push_str(&line);
                line.clear();
            }
            let length = head
                .to_lowercase()
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            reader.read_exact(&mut body).unwrap();
            requests.push(format!("{head}{}", String::from_utf8(body).unwrap()));
            stream
                .write_all(answer.replace("ORIGIN", &origin).as_bytes())
                .unwrap();
        }
        requests
    });
    (base, served)
}

fn answer(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

fn transport(base: &str, spacing: u64) -> (Transport, Waits) {
    let clock = Waits::default();
    let api = HostApi {
        host: "host".to_owned(),
        base: base.to_owned(),
        headers: vec![("accept", "application/json")],
        credential: Some(Credential::for_tests("s3cret")),
        spacing: Duration::from_millis(spacing),
    };
    (Transport::new(api, Box::new(clock.clone())).unwrap(), clock)
}

const OK: &str = r#"{"x": 1}"#;

#[rstest]
#[case::retry_after(429, "retry-after: 7\r\n", "", &[7_000])]
#[case::date(403, "retry-after: Fri, 15 Jan 2027 08:01:00 GMT\r\n", "", &[60_000])]
#[case::primary(403, "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 1800000100\r\n", "", &[101_000])]
#[case::primary_of_gitlab(429, "ratelimit-remaining: 0\r\nratelimit-reset: 1800000100\r\n", "", &[101_000])]
#[case::secondary(403, "", r#"{"message": "You have exceeded a secondary rate limit."}"#, &[60_000])]
#[case::graphql(200, "retry-after: 3\r\n", r#"{"errors": [{"type": "RATE_LIMITED"}]}"#, &[3_000])]
fn a_rate_limit_is_waited_for_also_before_a_creation_is_repeated(
    #[case] status: u16,
    #[case] headers: &str,
    #[case] body: &str,
    #[case] waits: &[u64],
) {
    let (base, served) = serve(vec![answer(status, headers, body), answer(201, "", OK)]);
    let (transport, clock) = transport(&base, 0);
    let created: Value = transport
        .create("/x", &json!({"a": 1}), "create the x")
        .unwrap();
    assert_eq!(created, json!({"x": 1}));
    assert_eq!(*clock.0.borrow(), waits);
    let requests = served.join().unwrap();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0], requests[1]);
    assert!(
        requests[0]
            .to_lowercase()
            .contains("authorization: bearer s3cret"),
        "{}",
        requests[0]
    );
}

#[test]
fn a_limit_that_ends_too_late_is_an_error_with_its_end() {
    let limited = "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 1800000400\r\n";
    let (base, _) = serve(vec![
        answer(429, "retry-after: 200\r\n", ""),
        answer(403, limited, ""),
    ]);
    let (transport, clock) = transport(&base, 0);
    let error = transport.get::<Value>("/x", "read the x").unwrap_err();
    let until = Timestamp::from_second(START + 401).unwrap();
    assert_eq!(
        error,
        HostError::RateLimited {
            host: "host".to_owned(),
            until
        }
    );
    assert_eq!(*clock.0.borrow(), [200_000], "the time of all waits counts");
}

#[test]
fn a_temporary_failure_is_repeated_if_this_changes_nothing() {
    let truncated = answer(200, "", OK).replace("content-length: 8", "content-length: 80");
    let failures = vec![
        answer(502, "", ""),
        String::new(),
        truncated,
        answer(503, "retry-after: 9\r\n", ""),
    ];
    for is_get in [true, false] {
        let (base, served) = serve([failures.clone(), vec![answer(200, "", OK)]].concat());
        let (transport, clock) = transport(&base, 0);
        let found: Result<Value, _> = if is_get {
            transport.get("/x", "")
        } else {
            transport.query("/x", &json!({}), "")
        };
        assert_eq!(found.unwrap(), json!({"x": 1}));
        assert_eq!(*clock.0.borrow(), [1_000, 2_000, 4_000, 9_000]);
        assert_eq!(served.join().unwrap().len(), 5);
    }
    let (base, served) = serve(vec![answer(500, "", r#"{"message": "broken"}"#); 5]);
    let error = transport(&base, 0)
        .0
        .patch::<Value>("/x", &json!({}), "")
        .unwrap_err();
    assert_eq!(error.to_string(), "host cannot be reached: broken");
    assert_eq!(served.join().unwrap().len(), 5);
}

#[test]
fn a_creation_whose_answer_is_lost_is_not_repeated() {
    let truncated = answer(201, "", OK).replace("content-length: 8", "content-length: 80");
    for lost in [answer(502, "", ""), String::new(), truncated] {
        let (base, served) = serve(vec![lost]);
        let (transport, clock) = transport(&base, 0);
        let error = transport
            .create::<Value>("/x", &json!({}), "create the x")
            .unwrap_err();
        assert!(matches!(&error, HostError::Unreachable { .. }), "{error:?}");
        assert!(
            error
                .to_string()
                .ends_with("the request was possibly processed"),
            "{error}"
        );
        assert_eq!(served.join().unwrap().len(), 1);
        assert!(clock.0.borrow().is_empty());
    }
}

#[test]
fn a_failed_connection_attempt_is_repeated_also_for_a_creation() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let (transport, clock) = transport(&format!("http://127.0.0.1:{port}"), 0);
    let error = transport
        .create::<Value>("/x", &json!({}), "create the x")
        .unwrap_err();
    assert!(matches!(error, HostError::Unreachable { .. }), "{error:?}");
    assert_eq!(*clock.0.borrow(), [1_000, 2_000, 4_000, 8_000]);
}

#[test]
fn a_list_is_read_to_its_last_page_on_the_same_origin() {
    let next =
        |link: &str| format!("link: <ORIGIN/first>; rel=\"first\", <{link}>; rel=\"next\"\r\n");
    let pages = vec![
        answer(200, &next("ORIGIN/api/x?page=2"), "[1, 2]"),
        answer(200, &next("/api/x?page=3"), "[3]"),
        answer(200, "link: <ORIGIN/api/x>; rel=\"prev\"\r\n", "[4]"),
    ];
    let (base, served) = serve(pages.clone());
    let all: Vec<u32> = transport(&base, 0)
        .0
        .get_all("/x?page=1", 100, "read the x")
        .unwrap();
    assert_eq!(all, [1, 2, 3, 4]);
    let paths: Vec<String> = served
        .join()
        .unwrap()
        .iter()
        .map(|request| request[..20].to_owned())
        .collect();
    assert_eq!(
        paths,
        [
            "GET /api/x?page=1 HT",
            "GET /api/x?page=2 HT",
            "GET /api/x?page=3 HT"
        ]
    );
    let (base, _) = serve(pages);
    assert_eq!(
        transport(&base, 0)
            .0
            .get_all::<u32>("/x", 3, "read the x")
            .unwrap(),
        [1, 2, 3]
    );
    for evil in [
        "http://127.0.0.1:1/x",
        "https://evil.example/x",
        "//evil.example/x",
        "http://a@evil.example/",
    ] {
        let (base, served) = serve(vec![answer(200, &next(evil), "[1]")]);
        let error = transport(&base, 0)
            .0
            .get_all::<u32>("/x", 100, "read the x")
            .unwrap_err();
        assert!(matches!(error, HostError::Unexpected { .. }), "{error:?}");
        assert_eq!(served.join().unwrap().len(), 1);
    }
}

#[test]
fn a_redirect_keeps_the_method_and_the_body() {
    let (base, served) = serve(vec![
        answer(301, "location: /api/y\r\n", ""),
        answer(201, "", OK),
    ]);
    transport(&base, 0)
        .0
        .create::<Value>("/x", &json!({"a": 1}), "create the x")
        .unwrap();
    let requests = served.join().unwrap();
    assert!(
        requests[1].starts_with("POST /api/y ") && requests[1].ends_with(r#"{"a":1}"#),
        "{requests:?}"
    );
    let (base, served) = serve(vec![answer(302, "location: https://evil.example/\r\n", "")]);
    let error = transport(&base, 0)
        .0
        .get::<Value>("/x", "read the x")
        .unwrap_err();
    assert!(
        error.to_string().ends_with("to https://evil.example"),
        "{error}"
    );
    assert_eq!(served.join().unwrap().len(), 1);
}

#[test]
fn creations_have_a_minimum_distance() {
    let (base, _) = serve(vec![answer(201, "", OK); 3]);
    let (transport, clock) = transport(&base, 800);
    for _ in 0..3 {
        transport
            .create::<Value>("/x", &json!({}), "create the x")
            .unwrap();
    }
    assert_eq!(*clock.0.borrow(), [800, 800]);
}

#[rstest]
#[case(
    401,
    r#"{"message": "Bad credentials"}"#,
    "host refuses the token: Bad credentials"
)]
#[case(
    403,
    r#"{"message": "no\u001b[2J\nway"}"#,
    "host does not allow this: no\\u{1b}[2J way"
)]
#[case(404, "<html>", "host has no x")]
#[case(405, "", "host has no x")]
#[case(
    423,
    r#"{"message": "archived"}"#,
    "host does not allow this: archived"
)]
#[case(
    422,
    r#"{"message": "Invalid", "errors": ["a", {"resource": "R", "field": "line", "code": "bad"}]}"#,
    "host refuses the request to create the x: Invalid: a: R line bad"
)]
#[case(
    400,
    r#"{"message": {"base": ["taken"]}, "error": "s3cret"}"#,
    "host refuses the request to create the x: {\"base\":[\"taken\"]}: ***"
)]
#[case(
    418,
    "",
    "host sent an unexpected answer to create the x: status 418 I'm a teapot"
)]
#[case(
    200,
    "<html>",
    "host sent an unexpected answer to create the x: expected value at line 1 column 1"
)]
fn a_refusal_is_an_error_in_one_line(
    #[case] status: u16,
    #[case] body: &str,
    #[case] expected: &str,
) {
    let (base, _) = serve(vec![answer(status, "", body)]);
    let error = transport(&base, 0)
        .0
        .create::<Value>("/x", &json!({}), "create the x")
        .unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_long_message_is_shortened() {
    let (base, _) = serve(vec![answer(
        403,
        "",
        &json!({"message": "é".repeat(5_000)}).to_string(),
    )]);
    let error = transport(&base, 0)
        .0
        .get::<Value>("/x", "read the x")
        .unwrap_err();
    assert!(error.to_string().chars().count() < 350, "{error}");
}

#[test]
fn an_address_without_tls_or_a_file_without_certificates_is_refused() {
    let agent = |base: &str, env: Option<(&str, &str)>| {
        network::agent(base, &|name| {
            env.filter(|(named, _)| *named == name)
                .map(|(_, value)| value.to_owned())
        })
        .err()
    };
    assert_eq!(agent("https://host/api", None), None);
    assert_eq!(agent("http://[::1]:80/api", None), None);
    assert!(
        agent("http://host/api", None)
            .unwrap()
            .contains("does not use https")
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let error = agent("https://host/api", Some(("SSL_CERT_FILE", path))).unwrap();
    assert_eq!(error, "the file of SSL_CERT_FILE contains no certificate");
    let error = agent("https://host/api", Some(("GIT_SSL_CAINFO", "/missing"))).unwrap();
    assert!(
        error.starts_with("the file of GIT_SSL_CAINFO cannot be read"),
        "{error}"
    );
}

/// A host hides some items of a page, such as the drafts of others, and counts them.
#[test]
fn numbered_pages_are_read_until_the_list_is_complete_or_a_page_is_empty() {
    let total = "x-total-count: 4\r\n";
    let complete = vec![answer(200, total, "[1, 2]"), answer(200, total, "[3, 4]")];
    let hidden = vec![
        answer(200, total, "[1]"),
        answer(200, total, "[3, 4]"),
        answer(200, total, "[]"),
    ];
    let without = vec![
        answer(200, "", "[1, 2]"),
        answer(200, "", "[3]"),
        answer(200, "", "[]"),
    ];
    for (answers, expected) in [
        (complete, vec![1, 2, 3, 4]),
        (hidden, vec![1, 3, 4]),
        (without, vec![1, 2, 3]),
    ] {
        let (base, served) = serve(answers);
        let found: Vec<u32> = transport(&base, 0)
            .0
            .get_numbered("/x?limit=2", 100, "read the x")
            .unwrap();
        assert_eq!(found, expected);
        let requests = served.join().unwrap();
        let lines: Vec<&str> = requests
            .iter()
            .map(|request| request.lines().next().unwrap())
            .collect();
        assert!(
            lines[0].contains("/x?limit=2&page=1 ") && lines[1].contains("&page=2 "),
            "{lines:?}"
        );
    }
    let (base, _) = serve(vec![
        answer(200, "x-total-count: 9\r\n", "[1, 2]"),
        answer(200, "", "[3, 4]"),
    ]);
    let most: Vec<u32> = transport(&base, 0)
        .0
        .get_numbered("/x?limit=2", 3, "read the x")
        .unwrap();
    assert_eq!(most, [1, 2, 3, 4]);
}

#[test]
fn what_does_not_exist_is_deleted() {
    let (base, served) = serve(vec![
        answer(204, "", ""),
        answer(404, "", ""),
        answer(403, "", ""),
    ]);
    let (transport, _) = transport(&base, 0);
    assert_eq!(
        (
            transport.delete("/x", "delete the x"),
            transport.delete("/x", "delete the x")
        ),
        (Ok(()), Ok(()))
    );
    assert!(matches!(
        transport.delete("/x", "delete the x"),
        Err(HostError::Forbidden { .. })
    ));
    assert!(
        served
            .join()
            .unwrap()
            .iter()
            .all(|request| request.starts_with("DELETE /api/x "))
    );
}
