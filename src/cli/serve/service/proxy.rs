//! The proxy in front of the service, which signs people in. It sends the name of the person and a secret as HTTP Basic
//! authentication. Whoever reaches the service past the proxy can send any header, but does not know the secret.

use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blake3::Hash;

use crate::cli::context::CommandError;
use glee_model::domain::Person;

pub(super) const SECRET: &str = "GLEE_PROXY_SECRET";

/// The minimum length of the secret, in bytes. Everybody who is signed in can try out secrets on the token of a form.
const SHORTEST: usize = 16;

pub(super) struct Proxy {
    secret: String,
    /// The key of the tokens in forms.
    key: [u8; 32],
}

impl Proxy {
    /// Returns `None` if the secret is not set.
    pub(super) fn of_environment() -> Result<Option<Self>, CommandError> {
        let secret = std::env::var(SECRET).unwrap_or_default();
        match secret.len() {
            0 => Ok(None),
            1..SHORTEST => Err(CommandError::usage(format!(
                "{SECRET} is shorter than {SHORTEST} characters"
            ))
            .hint("set it to a random secret, for example of `openssl rand -hex 32`")),
            _ => Ok(Some(Self::new(secret))),
        }
    }

    fn new(secret: String) -> Self {
        let key = blake3::derive_key(
            "glee 2026-11-29 forms of signed-in people",
            secret.as_bytes(),
        );
        Self { secret, key }
    }

    /// The person whom the proxy signed in. `None` if the request is not of the proxy.
    pub(super) fn person(&self, headers: &HeaderMap) -> Option<Person> {
        let mut values = headers.get_all(header::AUTHORIZATION).into_iter();
        let value = values.next()?.to_str().ok()?;
        let (scheme, credentials) = value.split_once(' ')?;
        if values.next().is_some() || !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let credentials = String::from_utf8(STANDARD.decode(credentials.trim()).ok()?).ok()?;
        let (name, secret) = credentials.split_once(':')?;
        let name = name.trim();
        let is_name = !name.is_empty() && !name.chars().any(char::is_control);
        (is_name && hash(secret) == hash(&self.secret)).then(|| Person {
            name: name.to_owned(),
            email: String::new(),
        })
    }

    /// The token in the forms of a person. All services with one secret have the same, so each takes the forms of the
    /// others.
    pub(super) fn form_token(&self, person: &Person) -> String {
        let token = blake3::keyed_hash(&self.key, person.name.as_bytes());
        token.to_hex().to_string()
    }
}

/// A comparison of hashes takes the same time for all inputs.
fn hash(secret: &str) -> Hash {
    blake3::hash(secret.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "a secret: with a colon";

    fn person(authorizations: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in authorizations {
            headers.append(
                header::AUTHORIZATION,
                value.parse().expect("a header value"),
            );
        }
        let person = Proxy::new(SECRET.to_owned()).person(&headers);
        person.map(|person| person.name)
    }

    #[test]
    fn only_the_whole_secret_of_the_proxy_names_a_person() {
        let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
        let ann = basic(&format!("ann@example.org:{SECRET}"));
        assert_eq!(person(&[&ann]).as_deref(), Some("ann@example.org"));
        assert_eq!(
            person(&[&ann.replace("Basic", "basic")]).as_deref(),
            Some("ann@example.org")
        );
        assert_eq!(
            person(&[&basic(&format!(" Zoë :{SECRET}"))]).as_deref(),
            Some("Zoë")
        );
        for wrong in [
            String::new(),
            "Basic".to_owned(),
            "Basic ?".to_owned(),
            ann.replace("Basic", "Bearer"),
            ann.replace("Basic ", ""),
            basic("ann"),
            basic("ann:"),
            basic(&format!("ann:{SECRET}.")),
            basic(&format!("ann:{}", &SECRET[1..])),
            basic(&format!("ann:{}", SECRET.to_uppercase())),
            basic(&format!(":{SECRET}")),
            basic(&format!("an\nn:{SECRET}")),
            basic(SECRET),
            // A name with a colon is none of HTTP Basic authentication.
            basic(&format!("ann:{SECRET}:{SECRET}")),
        ] {
            assert_eq!(person(&[&wrong]), None, "{wrong}");
        }
        assert_eq!(person(&[]), None);
        assert_eq!(person(&[&ann, &ann]), None);
    }

    #[test]
    fn each_person_has_a_token_of_its_own_under_each_secret() {
        let token = |secret: &str, name: &str| {
            Proxy::new(secret.to_owned()).form_token(&Person {
                name: name.to_owned(),
                email: String::new(),
            })
        };
        let ann = token(SECRET, "ann");
        assert_eq!(ann, token(SECRET, "ann"));
        assert_ne!(ann, token(SECRET, "ben"));
        assert_ne!(ann, token("another secret", "ann"));
    }
}
