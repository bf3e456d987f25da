//! The configuration of ureq, and the classification of its errors.

use std::io::Read as _;
use std::time::Duration;

use ureq::http::{Response, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body, Error, Proxy, Timeout};

use super::reply::{Lost, Reply};
use crate::hosts::origin::origin;
use glee_system::certificates;
use glee_system::uri::is_loopback;

/// The timeout of a connection attempt, including name resolution and TLS.
const CONNECT: Duration = Duration::from_secs(15);

/// The maximum duration of a request, including the transfer of the answer.
const REQUEST: Duration = Duration::from_secs(60);

/// The maximum size of an answer, in bytes.
const LARGEST: u64 = 32 << 20;

/// Creates the client for an address.
pub(super) fn agent(base: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Agent, String> {
    origin(base)?;
    let uri: Uri = base
        .parse()
        .map_err(|error| format!("the address is invalid: {error}"))?;
    let is_local = uri.host().is_some_and(is_loopback);
    let config = Agent::config_builder()
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(REQUEST))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(if is_local {
            None
        } else {
            Proxy::try_from_env()
        })
        .tls_config(TlsConfig::builder().root_certs(roots(env)?).build())
        .user_agent(concat!("glee/", env!("CARGO_PKG_VERSION")));
    Ok(config.build().into())
}

/// Returns the certificates that Glee trusts.
fn roots(env: &dyn Fn(&str) -> Option<String>) -> Result<RootCerts, String> {
    let named = ["GIT_SSL_CAINFO", "SSL_CERT_FILE"];
    let trusted = certificates::trusted(&named, env)?;
    // A small container has no certificates.
    Ok(trusted.map_or(RootCerts::WebPki, |trusted| {
        let owned = trusted
            .iter()
            .map(|one| Certificate::from_der(one).to_owned());
        RootCerts::new_with_certs(&owned.collect::<Vec<_>>())
    }))
}

/// Reads an answer completely. Fails if the answer is larger than `LARGEST`.
pub(super) fn reply(result: Result<Response<Body>, Error>) -> Result<Reply, Lost> {
    let (head, body) = result.map_err(|error| lost(&error))?.into_parts();
    let mut bytes = Vec::new();
    let read = body.into_reader().take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Lost {
        why: error.to_string(),
        is_temporary: true,
        is_sent: true,
    })?;
    if bytes.len() as u64 > LARGEST {
        let why = format!("the answer has more than {} MiB", LARGEST >> 20);
        return Err(Lost {
            why,
            is_temporary: false,
            is_sent: true,
        });
    }
    Ok(Reply {
        status: head.status,
        headers: head.headers,
        body: bytes,
    })
}

fn lost(error: &Error) -> Lost {
    let (is_temporary, is_sent) = match error {
        Error::HostNotFound
        | Error::ConnectionFailed
        | Error::Timeout(Timeout::Resolve | Timeout::Connect) => (true, false),
        Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => (true, false),
        Error::ConnectProxyFailed(_) => (true, false),
        // The client rejected the server's certificate, or the server does not use TLS.
        Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => (false, true),
        Error::Io(_) | Error::Timeout(_) | Error::Protocol(_) => (true, true),
        Error::Tls(_)
        | Error::Rustls(_)
        | Error::BadUri(_)
        | Error::InvalidProxyUrl
        | Error::TlsRequired => (false, false),
        _ => (false, true),
    };
    let mut why = error.to_string();
    if why.contains("peer certificate") {
        why.push_str(
            " (`GIT_SSL_CAINFO` can name a PEM file with the certificates of trusted authorities)",
        );
    }
    Lost {
        why,
        is_temporary,
        is_sent,
    }
}
