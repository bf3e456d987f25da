//! Sends one request to a server over the only connection that its process ever has, and reads the answer as it comes.

use std::io::{self, BufRead, BufReader, Read as _};

use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use ureq::http::header::{LOCATION, RETRY_AFTER};
use ureq::http::{HeaderMap, Request, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{
    ConnectProxyConnector, ConnectionDetails, Connector, RustlsConnector, TcpConnector, Transport,
};
use ureq::{Agent, Body, Error, Proxy};

use super::message::{ServerEvent, ServerQuestion};
use super::wire::{self, RequestExtent, WireRequest};
use crate::failure::shorten;
use crate::process::sandbox;
use glee_model::domain::FailureKind;
use glee_protocol::text::printable;
use glee_store::config::schema::address::WireForm;
use glee_system::{certificates, uri};

/// The most bytes of an answer, and of the body of a refusal.
const LARGEST: u64 = 16 << 20;
const LARGEST_REFUSAL: u64 = 64 << 10;

/// The most characters of a server's text in an error.
const SHOWN: usize = 300;

/// The statuses of a server that does not know a part of the request.
const NOT_UNDERSTOOD: [u16; 2] = [400, 422];

type Say<'a> = &'a mut dyn FnMut(&ServerEvent) -> io::Result<()>;

/// How the request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerEnd {
    /// The answer or the failure is said.
    Said,
    /// Nothing is said, and a plainer request can succeed.
    NotUnderstood,
}

/// Asks the server, and says what it answers. Fails only if `say` fails.
pub(super) fn ask(
    question: &ServerQuestion,
    prompt: &str,
    extent: RequestExtent,
    say: Say<'_>,
) -> io::Result<ServerEnd> {
    let key = question.key.as_ref();
    let key = key.and_then(|name| std::env::var(name).ok().filter(|key| !key.is_empty()));
    let request = WireRequest::new(question, prompt, key.as_deref(), extent);
    let name = server_name(&question.url);
    let end = match send(&request) {
        Err(why) => ServerEvent::failed(FailureKind::Unavailable, format!("{name}: {why}")),
        Ok((status, _, _)) if extent == RequestExtent::Full && NOT_UNDERSTOOD.contains(&status) => {
            return Ok(ServerEnd::NotUnderstood);
        }
        Ok((200, _, body)) => match answer(question.form, body, say)? {
            Ok(end) => end,
            Err((kind, why)) => ServerEvent::failed(kind, format!("{name} {why}")),
        },
        Ok((status, headers, body)) => refusal(&name, status, &headers, body),
    };
    say(&without_key(end, key.as_deref()))?;
    Ok(ServerEnd::Said)
}

fn server_name(url: &str) -> String {
    let uri: Option<Uri> = url.parse().ok();
    let authority = uri.as_ref().and_then(Uri::authority);
    authority.map_or_else(|| url.to_owned(), ToString::to_string)
}

fn send(request: &WireRequest) -> Result<(u16, HeaderMap, Body), String> {
    let is_local = uri::host(&request.url).is_some_and(uri::is_loopback);
    let trusted = certificates::trusted(&["SSL_CERT_FILE"], &|name| std::env::var(name).ok())?;
    let roots = trusted.map_or(RootCerts::WebPki, |trusted| {
        let owned = trusted
            .iter()
            .map(|one| Certificate::from_der(one).to_owned());
        RootCerts::new_with_certs(&owned.collect::<Vec<_>>())
    });
    // There are no timeouts: Glee ends a process that prints nothing, and a timeout makes ureq start a thread, after
    // which the process cannot enter a namespace.
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(if is_local {
            None
        } else {
            Proxy::try_from_env()
        })
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .user_agent(concat!("glee/", env!("CARGO_PKG_VERSION")))
        .build();
    let connector =
        ().chain(ConnectProxyConnector::default())
            .chain(OnlyConnection::default())
            .chain(RustlsConnector::default());
    let agent = Agent::with_parts(config, connector, DefaultResolver::default());
    let mut sent = Request::post(&request.url).header("content-type", "application/json");
    for (name, value) in &request.headers {
        sent = sent.header(*name, value);
    }
    let sent = sent
        .body(request.body.to_string())
        .map_err(|error| error.to_string())?;
    let (head, body) = agent
        .run(sent)
        .map_err(|error| unreached(&error))?
        .into_parts();
    Ok((head.status.as_u16(), head.headers, body))
}

fn unreached(error: &Error) -> String {
    let why = error.to_string();
    if why.contains("peer certificate") {
        return format!("{why} (`SSL_CERT_FILE` can name a PEM file with trusted certificates)");
    }
    format!("no connection: {why}")
}

/// Opens a connection, and gives up the network.
#[derive(Debug, Default)]
struct OnlyConnection(TcpConnector);

impl<In: Transport> Connector<In> for OnlyConnection {
    type Out = <TcpConnector as Connector<In>>::Out;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        let connected = self.0.connect(details, chained)?;
        sandbox::give_up_network();
        Ok(connected)
    }
}

/// Says the parts of an answer, and returns its end.
fn answer(
    form: WireForm,
    body: Body,
    say: Say<'_>,
) -> io::Result<Result<ServerEvent, (FailureKind, String)>> {
    let mut lines = BufReader::new(body.into_reader().take(LARGEST));
    let mut end = None;
    let mut seen = false;
    let mut read = 0;
    // The lines that are no events. They are one answer in JSON, if the server does not stream.
    let mut others = Vec::new();
    let mut line = Vec::new();
    let broken = loop {
        line.clear();
        match lines.read_until(b'\n', &mut line) {
            Ok(0) => break None,
            Ok(length) => read += length as u64,
            Err(error) => break Some(error.to_string()),
        }
        if read >= LARGEST {
            let why = format!("sent more than {} MiB", LARGEST >> 20);
            return Ok(Err((FailureKind::Protocol, why)));
        }
        let text = line.trim_ascii();
        let Some(data) = text.strip_prefix(b"data:").map(<[u8]>::trim_ascii) else {
            let is_field = [b"event:".as_slice(), b"id:", b"retry:", b":"]
                .iter()
                .any(|field| text.starts_with(field));
            if !is_field {
                others.extend_from_slice(&line);
            }
            continue;
        };
        if data == b"[DONE]" {
            end = end.or(Some(ServerEvent::Done));
            break None;
        }
        let Ok(event) = serde_json::from_slice::<Value>(data) else {
            return Ok(Err(garbage(data)));
        };
        seen = true;
        take(form, &event, &mut end, say)?;
        if event["type"] == "message_stop" {
            break None;
        }
    };
    if !seen && broken.is_none() && end.is_none() {
        let Ok(whole) = serde_json::from_slice::<Value>(&others) else {
            return Ok(Err(garbage(&others)));
        };
        take(form, &whole, &mut end, say)?;
        if end.is_none() {
            return Ok(Err(garbage(&others)));
        }
    }
    Ok(end.ok_or_else(|| {
        let why = broken.map(|why| format!(": {why}")).unwrap_or_default();
        let why = format!("ended the connection in the middle of the answer{why}");
        (FailureKind::Unavailable, why)
    }))
}

fn take(
    form: WireForm,
    event: &Value,
    end: &mut Option<ServerEvent>,
    say: Say<'_>,
) -> io::Result<()> {
    for said in wire::read(form, event) {
        match said {
            // The usage follows the end, so the end is said last.
            ServerEvent::Done => *end = end.take().or(Some(said)),
            ServerEvent::Failed { .. } => *end = Some(said),
            said => say(&said)?,
        }
    }
    Ok(())
}

fn garbage(text: &[u8]) -> (FailureKind, String) {
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * SHOWN)]);
    let shown = shorten(&printable::line(text.trim()), SHOWN);
    let why = if shown.is_empty() {
        "sent an empty answer".to_owned()
    } else {
        format!("sent what is no answer of a model: {shown}")
    };
    (FailureKind::Protocol, why)
}

fn refusal(name: &str, status: u16, headers: &HeaderMap, body: Body) -> ServerEvent {
    let header = |name| headers.get(name)?.to_str().ok();
    if (300..400).contains(&status) {
        let to = header(LOCATION).map_or_else(|| "another address".to_owned(), printable::line);
        let text = format!("{name} redirects to {to}, and Glee follows no redirect");
        return ServerEvent::failed(FailureKind::BadFlags, shorten(&text, SHOWN));
    }
    let mut bytes = Vec::new();
    // A refusal whose text breaks off is still a refusal.
    drop(
        body.into_reader()
            .take(LARGEST_REFUSAL)
            .read_to_end(&mut bytes),
    );
    let words = serde_json::from_slice(&bytes).ok();
    let words = words.as_ref().and_then(wire::message);
    let words = words.unwrap_or_else(|| String::from_utf8_lossy(&bytes).into_owned());
    let words = shorten(&printable::line(words.trim()), SHOWN);
    let reset = header(RETRY_AFTER).and_then(|text| reset(text, Timestamp::now()));
    ServerEvent::Failed {
        // An address that is not there, or a model that the server does not have.
        kind: (status == 404).then_some(FailureKind::BadFlags),
        status: Some(status),
        text: format!("{name} answers {status}: {words}")
            .trim_end_matches(": ")
            .to_owned(),
        reset,
    }
}

/// Reads a `Retry-After`: seconds, or a date.
fn reset(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return now.checked_add(SignedDuration::from_secs(seconds)).ok();
    }
    DateTimeParser::new().parse_timestamp(text).ok()
}

/// Some servers repeat the key that they refuse.
fn without_key(event: ServerEvent, key: Option<&str>) -> ServerEvent {
    match (event, key) {
        (
            ServerEvent::Failed {
                kind,
                status,
                text,
                reset,
            },
            Some(key),
        ) => ServerEvent::Failed {
            kind,
            status,
            text: text.replace(key, "***"),
            reset,
        },
        (event, _) => event,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_names_the_time_in_seconds_or_as_a_date() {
        let now: Timestamp = "2026-11-27T10:00:00Z".parse().expect("a time");
        for (text, expected) in [
            ("20", Some("2026-11-27T10:00:20Z")),
            (" 0 ", Some("2026-11-27T10:00:00Z")),
            (
                "Fri, 27 Nov 2026 16:20:00 GMT",
                Some("2026-11-27T16:20:00Z"),
            ),
            ("soon", None),
            ("99999999999999999", None),
        ] {
            let expected = expected.map(|time| time.parse().expect("a time"));
            assert_eq!(reset(text, now), expected, "{text}");
        }
    }
}
