//! Percent-encodes texts for addresses, and reads the host of an address.

use std::net::IpAddr;
use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode, utf8_percent_encode};

/// All characters except those that an address may contain anywhere. `~` is encoded, because it strikes text through in
/// Markdown.
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');
const PATH: &AsciiSet = &PART.remove(b'/');

/// Encodes a text as one segment of a path, so `/` is encoded too.
pub fn segment(text: &str) -> String {
    utf8_percent_encode(text, PART).to_string()
}

/// Encodes the bytes of a path except `/`.
pub fn path(path: impl AsRef<Path>) -> String {
    percent_encode(path.as_ref().as_os_str().as_encoded_bytes(), PATH).to_string()
}

/// The host of an address such as `http://[::1]:80/v1`, without its port; `None` if the port is not a number.
pub fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse::<u16>().ok().map(Some)?),
        _ => (authority, None),
    };
    (!host.is_empty() && port != Some(0)).then_some(host)
}

/// Whether the host is this machine. In `host`, an IPv6 address is enclosed in brackets.
pub fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_an_address_may_contain_is_not_encoded() {
        assert_eq!(segment("group/sub.x/p-1_~"), "group%2Fsub.x%2Fp-1_%7E");
        assert_eq!(segment("é?#%"), "%C3%A9%3F%23%25");
        assert_eq!(path("a b/ä\u{1b}\\;.rs"), "a%20b/%C3%A4%1B%5C%3B.rs");
    }
}
