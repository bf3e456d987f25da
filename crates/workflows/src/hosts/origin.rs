//! The scheme, host and port of an address.

use glee_system::uri::is_loopback;
use ureq::http::Uri;

/// Returns the scheme, host and port of an address. These schemes are permitted: `https`, or `http` on a loopback
/// address. The port is omitted if it is the scheme's default.
pub(super) fn origin(url: &str) -> Result<String, String> {
    let uri: Uri = url
        .parse()
        .map_err(|error| format!("the address is invalid: {error}"))?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err("the address has no scheme or no host".to_owned());
    };
    if authority.as_str().contains('@') {
        return Err("the address contains a user name".to_owned());
    }
    let host = authority.host().to_ascii_lowercase();
    let default = match scheme {
        "https" => 443,
        "http" if is_loopback(&host) => 80,
        _ => return Err(format!("the address of {host} does not use https")),
    };
    Ok(match authority.port_u16().filter(|port| *port != default) {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    })
}
