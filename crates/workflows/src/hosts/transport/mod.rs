//! Sends JSON requests to the API of one host. Repeats requests after temporary failures, and waits at rate
//! limits.
//!
//! # What is repeated
//!
//! If a GET, PATCH, PUT or DELETE request or a GraphQL query is sent twice, the effect is the same as after one
//! request. Glee repeats these requests after a timeout, a broken connection, or a status of 500 or more. A
//! request that creates something ([`Transport::create`]) is repeated only if it is certain that the host did not
//! process the request. The host certainly did not process a request if the connection attempt failed, or if the
//! host's answer reports a rate limit. If the answer to a request that creates something is lost, the method
//! `create` fails with [`HostError::Unreachable`]. The caller then has to read the conversation to find out
//! whether the host processed the request.
//!
//! # Proxies and certificates
//!
//! The variables `ALL_PROXY`, `HTTPS_PROXY` and `HTTP_PROXY` (also in lower case) name a proxy for HTTP, and
//! `NO_PROXY` lists exceptions. Loopback addresses never use a proxy. SOCKS proxies and git's setting
//! `http.proxy` are not supported. Glee trusts the certificates in the file that `GIT_SSL_CAINFO` or
//! `SSL_CERT_FILE` names. If neither variable is set, Glee trusts the certificates of the operating system.

mod limits;
mod links;
mod network;
mod refusal;
mod reply;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::Agent;
use ureq::http::{Method, Request, StatusCode};

use super::credentials::Credential;
use super::model::{HostError, OwnComment};
use glee_protocol::secrets;
use glee_protocol::text::printable;
use glee_system::lease;

use reply::{Lost, Reply};

/// The maximum total time that one transport waits at rate limits and before repetitions.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// The number of repetitions of a request after failures that are not rate limits.
const REPETITIONS: u32 = 4;

/// The maximum number of redirects of one request.
const REDIRECTS: u32 = 5;

/// The maximum number of characters of a host's message in an error.
const LONGEST_MESSAGE: usize = 300;

/// The clock of a transport, which tests replace to avoid waiting.
pub(crate) trait HostClock {
    fn now(&self) -> Timestamp;

    fn sleep(&self, duration: Duration);
}

/// The clock of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SystemClock;

impl HostClock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

/// The API of one host.
#[derive(Debug)]
pub(crate) struct HostApi {
    /// The name of the host in errors, such as `github.com`.
    pub host: String,
    /// The address before each path, without `/` at the end. Uses `https`, or `http` on a loopback address.
    pub base: String,
    /// The headers of each request, without the token.
    pub headers: Vec<(&'static str, &'static str)>,
    /// `None` sends requests without a token, which can read public repositories.
    pub credential: Option<Credential>,
    /// The minimum time between two HTTP requests that create content.
    pub spacing: Duration,
}

pub(crate) struct Transport {
    api: HostApi,
    agent: Agent,
    clock: Box<dyn HostClock>,
    /// The id of the token's user, once it is read.
    user: Cell<Option<Option<i64>>>,
    waited: Cell<Duration>,
    last_creation: Cell<Option<Timestamp>>,
}

/// Whether a request can be sent again after its answer was lost.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Repeatable,
    Creates,
}

struct Call<'a> {
    method: Method,
    path: &'a str,
    body: Option<&'a Value>,
    effect: Effect,
    /// The purpose of the request, for errors, such as `read the pull request`.
    what: &'a str,
}

impl<'a> Call<'a> {
    /// A request that reads.
    fn read(path: &'a str, what: &'a str) -> Self {
        Self {
            method: Method::GET,
            path,
            body: None,
            effect: Effect::Repeatable,
            what,
        }
    }
}

impl Transport {
    /// Fails if the address is invalid, uses `http` outside of a loopback address, or if the certificates of
    /// `GIT_SSL_CAINFO` or `SSL_CERT_FILE` cannot be read.
    pub(crate) fn new(api: HostApi, clock: Box<dyn HostClock>) -> Result<Self, HostError> {
        let agent = network::agent(&api.base, &|name| std::env::var(name).ok()).map_err(|why| {
            HostError::Unreachable {
                host: api.host.clone(),
                why,
            }
        })?;
        Ok(Self {
            api,
            agent,
            clock,
            user: Cell::default(),
            waited: Cell::default(),
            last_creation: Cell::default(),
        })
    }

    /// The name of the host in errors.
    pub(crate) fn host(&self) -> &str {
        &self.api.host
    }

    /// Whether the token is of a kind that can never publish comments.
    pub(crate) fn is_read_only(&self) -> bool {
        self.api
            .credential
            .as_ref()
            .is_some_and(Credential::is_read_only)
    }

    /// The id of the token's user, or `None` without a token and for the token of a CI job. GitHub is not asked.
    pub(crate) fn user(&self) -> Result<Option<i64>, HostError> {
        #[derive(Deserialize)]
        struct UserAnswer {
            id: i64,
        }
        if let Some(known) = self.user.get() {
            return Ok(known);
        }
        let user = if self.api.credential.is_some() && !self.is_read_only() {
            let answer: UserAnswer = self.get("/user", "read the user of the token")?;
            Some(answer.id)
        } else {
            None
        };
        self.user.set(Some(user));
        Ok(user)
    }

    /// Creates an error for an action that the host does not allow.
    pub(crate) fn forbidden(&self, why: &str) -> HostError {
        HostError::Forbidden {
            host: self.api.host.clone(),
            why: self.clean(why),
        }
    }

    /// Reads one answer. `path` begins with `/` and follows [`HostApi::base`], or is an address of the same origin.
    /// `what` completes "refuses the request to", such as `read the pull request`.
    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str, what: &str) -> Result<T, HostError> {
        self.parsed(&Call::read(path, what))
    }

    /// Reads a list and follows the links to its next pages, until the list has at least `most` items.
    pub(crate) fn get_all<T: DeserializeOwned>(
        &self,
        path: &str,
        most: usize,
        what: &str,
    ) -> Result<Vec<T>, HostError> {
        let mut found: Vec<T> = Vec::new();
        let mut next = Some(path.to_owned());
        while let Some(path) = next.take() {
            let reply = self.page(&path, what, &mut found)?;
            if let Some(link) = reply
                .filter(|_| found.len() < most)
                .as_ref()
                .and_then(links::next)
            {
                next = Some(self.follow(&self.address(&path, what)?, &link, what)?);
            }
        }
        Ok(found)
    }

    /// Adds the items of a page to a list. Returns the reply, or `None` if the page is empty.
    fn page<T: DeserializeOwned>(
        &self,
        path: &str,
        what: &str,
        found: &mut Vec<T>,
    ) -> Result<Option<Reply>, HostError> {
        let reply = self.send(&Call::read(path, what))?;
        let page: Vec<T> = self.parse(&reply, what)?;
        let is_empty = page.is_empty();
        found.extend(page);
        Ok((!is_empty).then_some(reply))
    }

    /// Reads a list whose pages have the numbers 1, 2 and so on in the parameter `page`, until the list is
    /// complete by the header `X-Total-Count`, a page is empty, or the list has at least `most` items. A page
    /// can contain fewer items than `path` asks for. `path` has to contain a query parameter.
    pub(crate) fn get_numbered<T: DeserializeOwned>(
        &self,
        path: &str,
        most: usize,
        what: &str,
    ) -> Result<Vec<T>, HostError> {
        let mut found: Vec<T> = Vec::new();
        for number in 1_u32.. {
            let path = format!("{path}&page={number}");
            let Some(reply) = self.page(&path, what, &mut found)? else {
                break;
            };
            let total = reply
                .header("x-total-count")
                .and_then(|total| total.trim().parse::<usize>().ok());
            if found.len() >= most || total.is_some_and(|total| found.len() >= total) {
                break;
            }
        }
        Ok(found)
    }

    /// Reads an answer that is not JSON. Bytes that are not UTF-8 are replaced.
    pub(crate) fn get_text(&self, path: &str, what: &str) -> Result<String, HostError> {
        let reply = self.send(&Call::read(path, what))?;
        Ok(String::from_utf8_lossy(&reply.body).into_owned())
    }

    /// Sends a POST request without a body. The request has the same effect when it is sent twice.
    pub(crate) fn set(&self, path: &str, what: &str) -> Result<(), HostError> {
        self.send(&Call {
            method: Method::POST,
            ..Call::read(path, what)
        })
        .map(drop)
    }

    /// Deletes an object. An object that no longer exists is no error.
    pub(crate) fn delete(&self, path: &str, what: &str) -> Result<(), HostError> {
        let call = Call {
            method: Method::DELETE,
            ..Call::read(path, what)
        };
        match self.send(&call) {
            Ok(_) | Err(HostError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Deletes the comments at the paths. Returns the number of those that the token is not able to delete.
    pub(crate) fn delete_each(
        &self,
        comments: &[OwnComment],
        path: impl Fn(&OwnComment) -> String,
    ) -> Result<usize, HostError> {
        let mut left = 0;
        for comment in comments {
            match self.delete(&path(comment), "delete a comment") {
                Err(HostError::Forbidden { .. }) => left += 1,
                done => done?,
            }
        }
        Ok(left)
    }

    /// Sends a POST request that creates something. See the module for lost answers.
    pub(crate) fn create<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        what: &str,
    ) -> Result<T, HostError> {
        self.parsed(&Call {
            method: Method::POST,
            body: Some(body),
            effect: Effect::Creates,
            ..Call::read(path, what)
        })
    }

    /// Sends a POST request that has the same effect when it is sent twice, such as a query of GraphQL.
    pub(crate) fn query<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        what: &str,
    ) -> Result<T, HostError> {
        self.parsed(&Call {
            method: Method::POST,
            body: Some(body),
            ..Call::read(path, what)
        })
    }

    pub(crate) fn patch<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        what: &str,
    ) -> Result<T, HostError> {
        self.parsed(&Call {
            method: Method::PATCH,
            body: Some(body),
            ..Call::read(path, what)
        })
    }

    pub(crate) fn put<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        what: &str,
    ) -> Result<T, HostError> {
        self.parsed(&Call {
            method: Method::PUT,
            body: Some(body),
            ..Call::read(path, what)
        })
    }

    fn parsed<T: DeserializeOwned>(&self, call: &Call<'_>) -> Result<T, HostError> {
        let reply = self.send(call)?;
        self.parse(&reply, call.what)
    }

    /// Parses a body. An empty body is parsed as `null`.
    fn parse<T: DeserializeOwned>(&self, reply: &Reply, what: &str) -> Result<T, HostError> {
        let body: &[u8] = if reply.body.is_empty() {
            b"null"
        } else {
            &reply.body
        };
        serde_json::from_slice(body).map_err(|error| self.unexpected(what, &error.to_string()))
    }

    fn send(&self, call: &Call<'_>) -> Result<Reply, HostError> {
        let mut url = self.address(call.path, call.what)?;
        let mut failures = 0;
        let mut limits = 0;
        let mut redirects = 0;
        loop {
            if call.effect == Effect::Creates {
                self.space();
            }
            // A worker that was suspended learns first whether another one publishes instead.
            while call.method != Method::GET && !lease::holds() {
                if !self.wait(Duration::from_secs(1)) {
                    return Err(self.unreachable("the lease of this worker ended"));
                }
            }
            let (why, wait) = match self.exchange(call, &url) {
                Ok(reply) => {
                    if let Some(until) = limits::end(&reply, self.clock.now(), limits) {
                        limits += 1;
                        self.wait_for_limit(until)?;
                        continue;
                    }
                    if reply.status.is_redirection() && redirects < REDIRECTS {
                        redirects += 1;
                        url = self.redirect(&url, &reply, call.what)?;
                        continue;
                    }
                    if !reply.status.is_server_error() {
                        return if reply.status.is_success() {
                            Ok(reply)
                        } else {
                            Err(self.refusal(&reply, call))
                        };
                    }
                    let why = refusal::reason(&reply);
                    if call.effect == Effect::Creates {
                        return Err(
                            self.unreachable(&format!("{why}; the request was possibly processed"))
                        );
                    }
                    (why, limits::retry_after(&reply, self.clock.now()))
                }
                Err(lost) if call.effect == Effect::Creates && lost.is_sent => {
                    return Err(self.unreachable(&format!(
                        "{}; the request was possibly processed",
                        lost.why
                    )));
                }
                Err(lost) if !lost.is_temporary => return Err(self.unreachable(&lost.why)),
                Err(lost) => (lost.why, None),
            };
            let wait = wait.unwrap_or(Duration::from_secs(1 << failures));
            failures += 1;
            if failures > REPETITIONS || !self.wait(wait) {
                return Err(self.unreachable(&why));
            }
        }
    }

    fn exchange(&self, call: &Call<'_>, url: &str) -> Result<Reply, Lost> {
        let mut request = Request::builder().method(call.method.clone()).uri(url);
        for (name, value) in &self.api.headers {
            request = request.header(*name, *value);
        }
        if let Some(credential) = &self.api.credential {
            request = request.header(credential.header(), credential.header_value());
        }
        let result = match call.body {
            Some(body) => request
                .header("content-type", "application/json")
                .body(body.to_string())
                .map(|request| self.agent.run(request)),
            None => request.body(()).map(|request| self.agent.run(request)),
        };
        network::reply(result.map_err(|error| Lost {
            why: error.to_string(),
            is_temporary: false,
            is_sent: false,
        })?)
    }

    /// Waits until the minimum time since the last creation has passed. This time does not count as waiting at
    /// limits.
    fn space(&self) {
        let now = self.clock.now();
        if let Some(last) = self.last_creation.get() {
            let passed = Duration::try_from(now.duration_since(last)).unwrap_or_default();
            if let Some(rest) = self
                .api
                .spacing
                .checked_sub(passed)
                .filter(|rest| !rest.is_zero())
            {
                self.clock.sleep(rest);
            }
        }
        self.last_creation.set(Some(self.clock.now()));
    }

    fn wait_for_limit(&self, until: Timestamp) -> Result<(), HostError> {
        let wait = Duration::try_from(until.duration_since(self.clock.now())).unwrap_or_default();
        if self.wait(wait) {
            Ok(())
        } else {
            Err(HostError::RateLimited {
                host: self.api.host.clone(),
                until,
            })
        }
    }

    /// Returns false without waiting if the total time of waiting would exceed the maximum.
    pub(crate) fn wait(&self, duration: Duration) -> bool {
        let total = self.waited.get().saturating_add(duration);
        if total > LONGEST_WAIT {
            return false;
        }
        self.waited.set(total);
        self.clock.sleep(duration);
        true
    }

    /// Returns the address that a redirect names. The method and the body of the redirected request stay the same.
    fn redirect(&self, from: &str, reply: &Reply, what: &str) -> Result<String, HostError> {
        let Some(location) = reply
            .header("location")
            .filter(|_| reply.status != StatusCode::SEE_OTHER)
        else {
            return Err(self.unexpected(what, &refusal::reason(reply)));
        };
        self.follow(from, location, what)
    }

    fn address(&self, path: &str, what: &str) -> Result<String, HostError> {
        links::address(&self.api.base, path).map_err(|why| self.unexpected(what, &why))
    }

    fn follow(&self, from: &str, target: &str, what: &str) -> Result<String, HostError> {
        links::follow(from, target).map_err(|why| self.unexpected(what, &why))
    }

    fn refusal(&self, reply: &Reply, call: &Call<'_>) -> HostError {
        let host = self.api.host.clone();
        let what = call.what.to_owned();
        let why = self.clean(&refusal::reason(reply));
        match reply.status.as_u16() {
            401 => HostError::Unauthorised { host, why },
            // Gitea answers with 423 if the repository is archived.
            403 | 423 => HostError::Forbidden { host, why },
            // An older server answers with 405 if the path only exists with other methods.
            404 | 405 | 410 => HostError::NotFound {
                host,
                what: refusal::object(&what).to_owned(),
            },
            400 | 406 | 409 | 412 | 413 | 415 | 422 => HostError::Refused { host, what, why },
            _ => HostError::Unexpected { host, what, why },
        }
    }

    /// An error about an answer. Texts of the host are escaped and shortened.
    pub(crate) fn unexpected(&self, what: &str, why: &str) -> HostError {
        HostError::Unexpected {
            host: self.api.host.clone(),
            what: what.to_owned(),
            why: self.clean(why),
        }
    }

    /// Creates the error for a request that the host refuses, with the host's message.
    pub(crate) fn refused(&self, what: &str, why: &str) -> HostError {
        HostError::Refused {
            host: self.api.host.clone(),
            what: what.to_owned(),
            why: self.clean(why),
        }
    }

    fn unreachable(&self, why: &str) -> HostError {
        HostError::Unreachable {
            host: self.api.host.clone(),
            why: self.clean(why),
        }
    }

    /// Converts a message of a host to one line without secrets.
    pub(crate) fn clean(&self, message: &str) -> String {
        let redacted = match &self.api.credential {
            Some(credential) => credential.remove_from(message),
            None => message.to_owned(),
        };
        let line = printable::line(secrets::redact(&redacted).trim());
        match line.char_indices().nth(LONGEST_MESSAGE) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }
}
