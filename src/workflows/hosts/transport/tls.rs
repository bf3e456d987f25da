//! Tests of TLS, with a server on a loopback socket whose certificate no public authority signed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, Stream};

use super::network;
use super::reply::{Lost, Reply};

/// Starts a server with a certificate for `name`. Returns its port and the certificate as PEM.
fn serve(name: &str) -> (u16, String) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut tls = Stream::new(&mut connection, &mut stream);
            // A client that refuses the certificate closes the connection before it sends a request.
            if tls.read(&mut [0; 4096]).is_ok_and(|length| length > 0) {
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
                tls.write_all(answer).unwrap();
                tls.conn.send_close_notify();
                drop(tls.flush());
            }
        }
    });
    (port, made.cert.pem())
}

fn get(port: u16, file: Option<&str>) -> Result<Reply, Lost> {
    let base = format!("https://localhost:{port}");
    let env = |name: &str| file.filter(|_| name == "GIT_SSL_CAINFO").map(str::to_owned);
    network::reply(network::agent(&base, &env).unwrap().get(&base).call())
}

#[test]
fn a_server_is_trusted_by_its_certificate_and_its_name() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let (port, certificate) = serve("localhost");
    std::fs::write(file.path(), &certificate).unwrap();
    assert_eq!(get(port, Some(path)).map_err(|lost| lost.why).unwrap().body, b"{}");
    let (other, of_other) = serve("git.example.org");
    std::fs::write(file.path(), certificate + &of_other).unwrap();
    // Neither a certificate of an unknown authority nor one for another name receives a request, and a repetition
    // would not help.
    for (port, file) in [(port, None), (other, None), (other, Some(path))] {
        let lost = get(port, file).err().unwrap();
        assert!(!lost.is_temporary && !lost.is_sent, "{}", lost.why);
        assert!(
            lost.why.starts_with("invalid peer certificate") && lost.why.contains("SSL_CERT_FILE"),
            "{}",
            lost.why
        );
    }
}
