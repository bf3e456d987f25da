//! Decides which requests the server answers. Other users of the computer and pages of other origins can also
//! send requests to the server.
//!
//! - A token in the printed address proves that the user can read the terminal. The server exchanges the token for a
//!   cookie and removes the token from the address.
//! - All pages are below a random path, and the cookie is valid only for this path. A browser sends a cookie to
//!   every port of a host, and therefore also to servers of other users on this computer. A server of another
//!   user does not receive the cookie, because the browser does not request the random path from that server.
//! - The header `Host` must contain a name of this computer. In an attack by DNS rebinding, the header contains
//!   the attacker's host name.
//! - Only pages of this server can cause writes. The header `Origin` of the request must name this server. The
//!   form must also contain a second token that only pages of this server contain.

use std::sync::Mutex;

use axum::http::{HeaderMap, Uri, header};
use blake3::Hash;

use crate::cli::ui::terminal::held;

const COOKIE: &str = "glee";

#[derive(Debug)]
pub(crate) struct Access {
    /// The values of the header `Host` that name this server.
    hosts: Vec<String>,
    /// The server compares hashes, because a comparison of hashes takes the same time for all inputs.
    token: Hash,
    /// The hash of the single-use token. `None` after a browser has used this token.
    single_use: Mutex<Option<Hash>>,
    session: Hash,
    cookie: String,
    base: String,
}

/// The tokens with which a browser signs in.
pub(crate) struct SignIn {
    pub(crate) token: String,
    /// A token that is valid once. The browser receives the token from a file.
    pub(crate) single_use: String,
}

impl Access {
    pub(crate) fn new(port: u16) -> (Self, SignIn) {
        let sign_in = SignIn {
            token: random(),
            single_use: random(),
        };
        let session = random();
        let base = format!("/{}", &random()[..32]);
        let mut hosts: Vec<String> = ["127.0.0.1", "localhost"]
            .map(|name| format!("{name}:{port}"))
            .into();
        if port == 80 {
            hosts.extend(["127.0.0.1".to_owned(), "localhost".to_owned()]);
        }
        let access = Self {
            hosts,
            token: hash(&sign_in.token),
            single_use: Mutex::new(Some(hash(&sign_in.single_use))),
            session: hash(&session),
            cookie: format!("{COOKIE}={session}; Path={base}; HttpOnly; SameSite=Strict"),
            base,
        };
        (access, sign_in)
    }

    /// The common path prefix of all pages.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// To sign a browser in, the server sends this value in the header `Set-Cookie`.
    pub(crate) fn cookie(&self) -> &str {
        &self.cookie
    }

    pub(crate) fn is_own_host(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let authority = uri.authority().map(|authority| authority.as_str());
        let host = single(headers, header::HOST.as_str());
        host.is_some()
            && authority.into_iter().chain(host).all(|given| {
                self.hosts
                    .iter()
                    .any(|host| host.eq_ignore_ascii_case(given))
            })
    }

    pub(crate) fn is_valid_token(&self, given: &str) -> bool {
        let given = hash(given);
        let mut single_use = held(&self.single_use);
        let is_single_use = single_use.take_if(|token| *token == given).is_some();
        self.token == given || is_single_use
    }

    pub(crate) fn is_signed_in(&self, headers: &HeaderMap) -> bool {
        let cookies = headers
            .get_all(header::COOKIE)
            .into_iter()
            .filter_map(|value| value.to_str().ok());
        let mut pairs = cookies
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == COOKIE && hash(value) == self.session)
    }
}

/// The forms of the pages, with which a browser requests writes.
#[derive(Debug)]
pub(crate) struct Forms {
    /// The token that every form contains, and that the browser sends with the form.
    pub(crate) token: String,
    /// How an origin of the pages begins.
    schemes: &'static [&'static str],
}

impl Forms {
    pub(crate) fn here() -> Self {
        Self {
            token: random(),
            schemes: &["http://"],
        }
    }

    /// The forms of a signed-in person behind a proxy, which may encrypt.
    #[cfg(feature = "server")]
    pub(crate) fn proxied(token: String) -> Self {
        Self {
            token,
            schemes: &["https://", "http://"],
        }
    }

    /// Whether a page of this server sent the write request. `token` is the token that the browser sent with the form.
    pub(crate) fn is_own_write(&self, headers: &HeaderMap, token: &str) -> bool {
        let is_own_origin = match single(headers, header::ORIGIN.as_str()) {
            Some(origin) => {
                let mut schemes = self.schemes.iter();
                let host = schemes.find_map(|scheme| origin.strip_prefix(scheme));
                host.is_some() && host == single(headers, header::HOST.as_str())
            }
            None => !headers.contains_key(header::ORIGIN) && site(headers) == Some("same-origin"),
        };
        is_own_origin && hash(token) == hash(&self.token)
    }
}

/// Whether a page of another origin sent the request. Returns false if the user only followed a link on such a
/// page. A followed link changes nothing, and the other page cannot read the response.
pub(crate) fn is_foreign(headers: &HeaderMap) -> bool {
    let is = |name, value| single(headers, name) == Some(value);
    match site(headers) {
        None => headers.contains_key("sec-fetch-site"),
        Some("same-origin" | "none") => false,
        Some(_) => !(is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document")),
    }
}

/// Whether the user followed a link on a page of another site. For a link from another site, the browser does
/// not send a cookie with `SameSite=Strict`.
pub(crate) fn is_link_from_elsewhere(headers: &HeaderMap) -> bool {
    site(headers).is_some_and(|site| site != "same-origin" && site != "none")
}

fn site(headers: &HeaderMap) -> Option<&str> {
    single(headers, "sec-fetch-site")
}

/// Returns the value of a header. Returns `None` if the header is missing or occurs several times.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).into_iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

fn hash(secret: &str) -> Hash {
    blake3::hash(secret.as_bytes())
}

/// Returns 64 hexadecimal digits: two random UUIDs, in which 244 of the 256 bits are random.
fn random() -> String {
    let half = || uuid::Uuid::new_v4().simple().to_string();
    half() + &half()
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().expect("a header value"));
        }
        headers
    }

    #[test]
    fn only_names_of_this_computer_are_own_hosts() {
        let (access, _) = Access::new(4711);
        let is_own = |uri: &str, hosts: &[&str]| {
            let pairs: Vec<_> = hosts.iter().map(|host| ("host", *host)).collect();
            access.is_own_host(&uri.parse().expect("a uri"), &headers(&pairs))
        };
        assert!(is_own("/", &["127.0.0.1:4711"]) && is_own("/", &["LOCALHOST:4711"]));
        assert!(is_own("http://localhost:4711/", &["localhost:4711"]));
        for wrong in [
            "127.0.0.1",
            "127.0.0.1:4712",
            "evil.example:4711",
            "localhost.evil.example:4711",
            "",
            "[::1]:4711",
        ] {
            assert!(!is_own("/", &[wrong]), "{wrong}");
        }
        assert!(!is_own("/", &[]) && !is_own("/", &["localhost:4711", "evil.example"]));
        assert!(!is_own("http://evil.example/", &["localhost:4711"]));
    }

    #[test]
    fn a_token_signs_in_and_the_second_token_does_so_once() {
        let (access, sign_in) = Access::new(1);
        assert!(access.is_valid_token(&sign_in.token) && access.is_valid_token(&sign_in.token));
        assert!(
            access.is_valid_token(&sign_in.single_use)
                && !access.is_valid_token(&sign_in.single_use)
        );
        assert!(!access.is_valid_token("") && !access.is_valid_token(&sign_in.token[1..]));
        let cookie = access
            .cookie()
            .split(';')
            .next()
            .expect("a pair")
            .to_owned();
        assert!(access.is_signed_in(&headers(&[("cookie", &format!("a=b; {cookie}"))])));
        assert!(!access.is_signed_in(&headers(&[("cookie", "glee="), ("cookie", "glee=x")])));
        assert!(!access.is_signed_in(&headers(&[])));
    }

    #[test]
    fn a_write_needs_the_own_origin_and_the_token_of_the_form() {
        let forms = Forms::here();
        let token = &forms.token;
        let host = ("host", "localhost:1");
        let own = [host, ("origin", "http://localhost:1")];
        assert!(forms.is_own_write(&headers(&own), token));
        assert!(forms.is_own_write(&headers(&[host, ("sec-fetch-site", "same-origin")]), token));
        assert!(!forms.is_own_write(&headers(&own), ""));
        for wrong in [
            "http://localhost:2",
            "https://localhost:1",
            "http://evil.example",
            "null",
            "",
        ] {
            let pairs = [host, ("origin", wrong), ("sec-fetch-site", "same-origin")];
            assert!(!forms.is_own_write(&headers(&pairs), token), "{wrong}");
        }
        assert!(!forms.is_own_write(&headers(&[host]), token));
        assert!(!forms.is_own_write(
            &headers(&[own[0], own[1], ("origin", "http://evil.example")]),
            token
        ));
    }

    #[test]
    fn a_page_of_another_origin_may_only_link_here() {
        let from = |site, mode, dest| {
            is_foreign(&headers(&[
                ("sec-fetch-site", site),
                ("sec-fetch-mode", mode),
                ("sec-fetch-dest", dest),
            ]))
        };
        assert!(!from("none", "navigate", "document") && !from("same-origin", "cors", "empty"));
        assert!(!from("cross-site", "navigate", "document"));
        assert!(from("cross-site", "no-cors", "image") && from("same-site", "cors", "empty"));
        assert!(from("cross-site", "navigate", "iframe"));
        assert!(!is_foreign(&headers(&[])));
    }
}
