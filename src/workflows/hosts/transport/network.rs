//! The configuration of ureq, and the classification of its errors.

use std::io::Read as _;
use std::time::Duration;

use ureq::http::{Response, Uri};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, Error, Proxy, Timeout};

use super::reply::{Lost, Reply};
use crate::workflows::hosts::origin::{is_loopback, origin};

/// The timeout of a connection attempt, with name resolution and TLS.
const CONNECT: Duration = Duration::from_secs(15);

/// The timeout of one request with its answer.
const REQUEST: Duration = Duration::from_secs(60);

/// The maximum size of an answer, in bytes.
const LARGEST: u64 = 32 << 20;

/// Creates the client for an address.
pub(crate) fn agent(base: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Agent, String> {
    origin(base)?;
    let uri: Uri = base.parse().map_err(|error| format!("the address is invalid: {error}"))?;
    let is_local = uri.host().is_some_and(is_loopback);
    let config = Agent::config_builder()
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(REQUEST))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(if is_local { None } else { Proxy::try_from_env() })
        .tls_config(TlsConfig::builder().root_certs(roots(env)?).build())
        .user_agent(concat!("glee/", env!("CARGO_PKG_VERSION")));
    Ok(config.build().into())
}

/// Returns the trusted certificates.
fn roots(env: &dyn Fn(&str) -> Option<String>) -> Result<RootCerts, String> {
    let named = ["GIT_SSL_CAINFO", "SSL_CERT_FILE"]
        .into_iter()
        .find_map(|name| env(name).filter(|path| !path.is_empty()).map(|path| (name, path)));
    let Some((name, path)) = named else { return Ok(RootCerts::WebPki) };
    let text = std::fs::read(&path).map_err(|error| format!("the file of {name} cannot be read: {error}"))?;
    let certificates: Vec<Certificate<'static>> = parse_pem(&text)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err(format!("the file of {name} contains no certificate"));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

/// Reads the whole answer.
pub(crate) fn reply(result: Result<Response<Body>, Error>) -> Result<Reply, Lost> {
    let (head, body) = result.map_err(|error| lost(&error))?.into_parts();
    let mut bytes = Vec::new();
    let read = body.into_reader().take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Lost { why: error.to_string(), is_temporary: true, is_sent: true })?;
    if bytes.len() as u64 > LARGEST {
        let why = format!("the answer has more than {} MiB", LARGEST >> 20);
        return Err(Lost { why, is_temporary: false, is_sent: true });
    }
    Ok(Reply { status: head.status, headers: head.headers, body: bytes })
}

/// The text with which rustls refuses a certificate. ureq wraps this error as an input/output error.
const REFUSED_CERTIFICATE: &str = "invalid peer certificate";

fn lost(error: &Error) -> Lost {
    if let Error::Io(inner) = error
        && inner.kind() == std::io::ErrorKind::InvalidData
        && inner.to_string().starts_with(REFUSED_CERTIFICATE)
    {
        let advice = "the variable `SSL_CERT_FILE` can name a file with the certificate of another authority";
        return Lost { why: format!("{inner}; {advice}"), is_temporary: false, is_sent: false };
    }
    let (is_temporary, is_sent) = match error {
        Error::HostNotFound | Error::ConnectionFailed | Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
            (true, false)
        }
        Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => (true, false),
        Error::ConnectProxyFailed(_) => (true, false),
        Error::Io(_) | Error::Timeout(_) | Error::Protocol(_) => (true, true),
        Error::Tls(_) | Error::Rustls(_) | Error::BadUri(_) | Error::InvalidProxyUrl | Error::TlsRequired => {
            (false, false)
        }
        _ => (false, true),
    };
    Lost { why: error.to_string(), is_temporary, is_sent }
}
