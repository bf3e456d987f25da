//! Tests of certificates, with a TLS server on a loopback socket.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::super::network::agent;
use super::*;

/// An authority, and a server with a certificate of the authority for `name` that is valid until `year`.
fn serve_tls(name: &str, year: i32) -> (String, String) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap();
    let issuer = Issuer::from_params(&params, &key);
    let server_key = KeyPair::generate().unwrap();
    let mut server = CertificateParams::new(vec![name.to_owned()]).unwrap();
    server.not_before = date_time_ymd(2000, 1, 1);
    server.not_after = date_time_ymd(year, 1, 1);
    let certificate = CertificateDer::from(server.signed_by(&server_key, &issuer).unwrap());
    let config =
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate],
                PrivateKeyDer::try_from(server_key.serialize_der()).unwrap(),
            )
            .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut tls = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream);
            // A client that refuses the certificate ends the connection.
            if tls.read(&mut [0; 4096]).is_ok() {
                tls.write_all(answer(200, "", OK).as_bytes()).unwrap();
                tls.flush().unwrap();
            }
        }
    });
    (base, authority.pem())
}

/// Sends a request, with one of the variables that name certificates.
fn request(base: &str, variable: &str, path: &str) -> Result<u16, String> {
    let env: HashMap<&str, &str> = [(variable, path)].into();
    let agent = agent(base, &|name| env.get(name).map(|&path| path.to_owned()))?;
    agent
        .get(base)
        .call()
        .map(|answer| answer.status().as_u16())
        .map_err(|error| error.to_string())
}

#[rstest]
fn a_file_names_the_authorities(#[values("GIT_SSL_CAINFO", "SSL_CERT_FILE")] variable: &str) {
    let (base, authority) = serve_tls("127.0.0.1", 4000);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (_, other) = serve_tls("127.0.0.1", 4000);
    assert_eq!(
        request(
            &base,
            variable,
            &path("both.pem", &format!("{other}{authority}"))
        ),
        Ok(200)
    );
    let error = request(&base, variable, &path("other.pem", &other)).unwrap_err();
    assert!(error.contains("certificate"), "{error}");
    let error = request(&base, variable, &path("empty.pem", "")).unwrap_err();
    assert_eq!(
        error,
        format!("the file of {variable} contains no certificate")
    );
    let error = request(&base, variable, "/missing.pem").unwrap_err();
    assert!(
        error.starts_with(&format!("the file of {variable} cannot be read: ")),
        "{error}"
    );
}

#[rstest]
#[case::of_another_name("example.org", 4000)]
#[case::that_has_expired("127.0.0.1", 2001)]
fn a_certificate_is_refused(#[case] name: &str, #[case] year: i32) {
    let (base, authority) = serve_tls(name, year);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), authority).unwrap();
    let error = request(&base, "GIT_SSL_CAINFO", &file.path().display().to_string()).unwrap_err();
    assert!(error.contains("certificate"), "{error}");
}

#[test]
fn an_unknown_authority_is_not_tried_again() {
    let (base, _) = serve_tls("127.0.0.1", 4000);
    let (transport, clock) = transport(&base, 0);
    let error = transport.get::<Value>("/x", "read the x").unwrap_err();
    assert!(
        matches!(&error, HostError::Unreachable { why, .. } if why.contains("`GIT_SSL_CAINFO`")),
        "{error}"
    );
    assert_eq!(*clock.0.borrow(), Vec::<u64>::new());
}
