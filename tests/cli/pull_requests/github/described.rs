//! Requests that do not fit GitHub's published descriptions fail the tests that send them.

use rstest::rstest;

use super::super::double::{HostDouble as _, Request};
use super::super::scene::Scene;
use super::GitHub;

const REVIEW: &str = r#"{"commit_id": "c", "event": "COMMENT", "body": "", "comments": [{"path": "a", "line": 1, "side": "RIGHT", "body": "b"}]}"#;

#[rstest]
#[case(
    "GET /api/v3/repos/team/shop/pulls/7/files?per_page=100&page=2",
    "",
    ""
)]
#[case(
    "GET /api/v3/repos/team/shop/pulls/7/files?limit=100",
    "",
    "unknown parameter `limit`"
)]
#[case(
    "GET /api/v3/repos/team/shop/pulls/seven",
    "",
    "the parameter `pull_number` does not fit"
)]
#[case("GET /repos/team/shop/pulls/7", "", "the path is not that of the API")]
#[case("POST /api/v3/repos/team/shop/pulls/7/reviews", REVIEW, "")]
#[case("POST /api/v3/repos/team/shop/pulls/7/reviews", &REVIEW.replace("COMMENT", "BLOCK"), "the body does not fit")]
#[case("POST /api/v3/repos/team/shop/pulls/7/reviews", &REVIEW.replace("side", "edge"), "unknown field `.comments[].edge`")]
#[case(
    "POST /api/v3/repos/team/shop/statuses/1",
    r#"{"state": "neutral"}"#,
    "the body does not fit"
)]
#[case(
    "POST /api/v3/repos/team/shop/check-runs",
    r#"{"name": "glee", "head_sha": "1", "colour": "red"}"#,
    "unknown field `.colour`"
)]
#[case(
    "POST /api/graphql",
    r#"{"query": "query { repository(owner: \"a\", name: \"b\") { id } }"}"#,
    ""
)]
#[case(
    "POST /api/graphql",
    r#"{"query": "query { repository(owner: \"a\", name: \"b\") { colour } }"}"#,
    "Error: "
)]
#[case(
    "POST /api/graphql",
    r#"{"query": "query { repository(owner: \"a\") { id } }"}"#,
    "Error: "
)]
#[case(
    "POST /api/graphql",
    r#"{"query": "query($x: ID!) { node(id: $x) { id } }"}"#,
    "the variables do not fit"
)]
#[case(
    "POST /api/graphql",
    r#"{"query": "query { relay { id } }", "variables": {"y": 1}}"#,
    "the query has no variable `y`"
)]
fn a_request_that_does_not_fit_the_description_is_refused(
    #[case] line: &str,
    #[case] body: &str,
    #[case] expected: &str,
) {
    let head = format!("{line} HTTP/1.1\r\ncontent-type: application/json\r\n");
    let request = Request::parse(&head, body.to_owned()).expect("a request");
    let found = GitHub.check(&request).err().unwrap_or_default();
    assert!(
        found.starts_with(expected) && found.is_empty() == expected.is_empty(),
        "{found}"
    );
}

#[test]
fn a_request_that_does_not_fit_fails_its_test() {
    let scene = Scene::new(&GitHub);
    let address = scene
        .double
        .address
        .trim_start_matches("http://")
        .to_owned();
    let mut stream = std::net::TcpStream::connect(address).expect("the double listens");
    std::io::Write::write_all(
        &mut stream,
        b"GET /api/v3/repos/team/shop/pulls/7?colour=red HTTP/1.1\r\n\r\n",
    )
    .expect("a request");
    std::io::Read::read_to_string(&mut stream, &mut String::new()).expect("an answer");
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(scene)));
    assert!(failed.is_err());
}
