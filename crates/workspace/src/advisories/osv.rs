//! Fetches advisories from a server with version 1 of OSV's HTTP API, either by their ids or by package.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use ureq::Agent;
use ureq::http::StatusCode;

use glee_model::rules::advisories::{Advisory, Locked};

/// The timeout of one request.
const ANSWER: Duration = Duration::from_secs(10);

/// The maximum total duration of all HTTP requests.
const ALL: Duration = Duration::from_secs(30);

/// The maximum size of an HTTP response, in bytes.
const LARGEST: u64 = 64 << 20;

/// Fetches the advisories with the given ids and the advisories under their alias ids. Then fetches all advisories
/// about the given packages. Unknown ids are ignored. The message of an error consists of one line.
pub fn ask(
    root: &str,
    ids: &BTreeSet<&str>,
    packages: &BTreeSet<&Locked>,
) -> Result<Vec<Advisory>, String> {
    let config = Agent::config_builder()
        .timeout_global(Some(ANSWER))
        .http_status_as_error(false)
        .user_agent(concat!("glee/", env!("CARGO_PKG_VERSION")));
    let root = root.trim_end_matches('/');
    let until = Instant::now() + ALL;
    let api = Api {
        root,
        agent: config.build().into(),
        until,
    };
    let mut found = Vec::new();
    let mut asked: BTreeSet<String> = BTreeSet::new();
    let mut left: Vec<String> = ids.iter().map(|id| canonical(id)).collect();
    while let Some(id) = left.pop() {
        if !asked.insert(id.clone()) {
            continue;
        }
        let Some(advisory) = api.advisory(&id)? else {
            continue;
        };
        // An advisory with a CVE id often lists no packages, so Glee also fetches the advisories under the alias
        // ids.
        if ids.iter().any(|named| advisory.is_called(named)) {
            left.extend(advisory.aliases.iter().map(|alias| canonical(alias)));
        }
        found.push(advisory);
    }
    let names: BTreeSet<_> = packages
        .iter()
        .map(|package| (package.ecosystem, package.name.as_str()))
        .collect();
    for (ecosystem, name) in names {
        found.extend(api.package(ecosystem.as_str(), name)?);
    }
    Ok(found)
}

/// Converts the letters of an advisory id to upper or lower case, as in the OSV database. Ids are in upper case,
/// but the part after `GHSA-` is in lower case.
fn canonical(id: &str) -> String {
    let upper = id.to_ascii_uppercase();
    match upper.strip_prefix("GHSA-") {
        Some(rest) => format!("GHSA-{}", rest.to_ascii_lowercase()),
        None => upper,
    }
}

struct Api<'a> {
    root: &'a str,
    agent: Agent,
    until: Instant,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    vulns: Vec<Advisory>,
    next_page_token: Option<String>,
}

impl Api<'_> {
    fn advisory(&self, id: &str) -> Result<Option<Advisory>, String> {
        self.in_time()?;
        let response = self
            .agent
            .get(format!("{}/v1/vulns/{id}", self.root))
            .call();
        let response = response.map_err(|error| error.to_string())?;
        if response.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        body(response).map(Some)
    }

    fn package(&self, ecosystem: &str, name: &str) -> Result<Vec<Advisory>, String> {
        let mut found = Vec::new();
        let mut token = None;
        loop {
            self.in_time()?;
            let mut query = json!({"package": {"ecosystem": ecosystem, "name": name}});
            if let Some(token) = token {
                query["page_token"] = json!(token);
            }
            let request = self
                .agent
                .post(format!("{}/v1/query", self.root))
                .header("content-type", "application/json");
            let response = request
                .send(query.to_string())
                .map_err(|error| error.to_string())?;
            let page: Page = body(response)?;
            found.extend(page.vulns);
            match page.next_page_token.filter(|token| !token.is_empty()) {
                Some(next) => token = Some(next),
                None => return Ok(found),
            }
        }
    }

    fn in_time(&self) -> Result<(), String> {
        if Instant::now() < self.until {
            Ok(())
        } else {
            Err(format!("no answer within {} s", ALL.as_secs()))
        }
    }
}

fn body<T: DeserializeOwned>(response: ureq::http::Response<ureq::Body>) -> Result<T, String> {
    let status = response.status();
    if !status.is_success() {
        return Err(format!("the server answered {status}"));
    }
    let mut text = Vec::new();
    let read = response
        .into_body()
        .into_reader()
        .take(LARGEST)
        .read_to_end(&mut text);
    read.map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).map_err(|error| format!("the answer is not an advisory: {error}"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    use super::*;
    use glee_model::rules::advisories::Ecosystem;

    /// Answers `requests` HTTP requests; the thread returns the text of each request.
    fn serve(
        requests: usize,
        answer: fn(&str, &str) -> (u16, String),
    ) -> (String, thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let root = format!("http://{}/", listener.local_addr().unwrap());
        let served = thread::spawn(move || {
            (0..requests)
                .map(|_| one(listener.accept().unwrap().0, answer))
                .collect()
        });
        (root, served)
    }

    fn one(mut stream: TcpStream, answer: fn(&str, &str) -> (u16, String)) -> String {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            head.push(line.trim().to_lowercase());
        }
        let length = head
            .iter()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())
            .unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let body = String::from_utf8(body).unwrap();
        let path = head[0].split(' ').nth(1).unwrap().to_owned();
        let (status, text) = answer(&path, &body);
        let length = text.len();
        write!(
            stream,
            "HTTP/1.1 {status} x\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
        )
        .unwrap();
        format!("{path} {body}").trim().to_owned()
    }

    fn locked(name: &str) -> Locked {
        Locked {
            ecosystem: Ecosystem::Crates,
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
        }
    }

    #[test]
    fn an_id_leads_to_its_aliases_and_a_package_to_all_its_pages() {
        let (root, served) = serve(5, |path, body| match (path, body.contains("page_token")) {
            ("/v1/vulns/cve-2020-1", _) => (
                200,
                r#"{"id": "CVE-2020-1", "aliases": ["GHSA-AAAA-bbbb-cccc"]}"#.into(),
            ),
            ("/v1/vulns/ghsa-aaaa-bbbb-cccc", _) => (
                200,
                r#"{"id": "GHSA-aaaa-bbbb-cccc", "aliases": ["CVE-2020-1"]}"#.into(),
            ),
            ("/v1/query", false) => (
                200,
                r#"{"vulns": [{"id": "RUSTSEC-1"}], "next_page_token": "two"}"#.into(),
            ),
            ("/v1/query", true) => (200, r#"{"vulns": [{"id": "RUSTSEC-2"}]}"#.into()),
            _ => (404, r#"{"code": 5}"#.into()),
        });
        let time = locked("time");
        let other = Locked {
            version: "2.0.0".into(),
            ..locked("time")
        };
        let found = ask(
            &root,
            &BTreeSet::from(["cve-2020-1", "CVE-2099-9"]),
            &BTreeSet::from([&time, &other]),
        )
        .unwrap();
        let ids: Vec<&str> = found.iter().map(|advisory| advisory.id.as_str()).collect();
        assert_eq!(
            ids,
            [
                "CVE-2020-1",
                "GHSA-aaaa-bbbb-cccc",
                "RUSTSEC-1",
                "RUSTSEC-2"
            ]
        );
        let asked = served.join().unwrap();
        assert_eq!(asked.len(), 5, "each once: {asked:?}");
        assert!(
            asked[3].ends_with(r#"{"package":{"ecosystem":"crates.io","name":"time"}}"#),
            "{}",
            asked[3]
        );
        assert!(asked[4].ends_with(r#""page_token":"two"}"#), "{}", asked[4]);
    }

    #[test]
    fn another_answer_is_an_error_in_one_line() {
        let asked =
            |root: &str| ask(root, &BTreeSet::from(["CVE-2020-1"]), &BTreeSet::new()).unwrap_err();
        let (root, _) = serve(1, |_, _| (500, String::new()));
        assert_eq!(
            asked(&root),
            "the server answered 500 Internal Server Error"
        );
        let (root, _) = serve(1, |_, _| (200, "<html>".to_owned()));
        assert_eq!(
            asked(&root),
            "the answer is not an advisory: expected value at line 1 column 1"
        );
        let closed = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let refused = asked(&format!("http://{closed}"));
        assert!(!refused.is_empty() && !refused.contains('\n'), "{refused}");
    }
}
