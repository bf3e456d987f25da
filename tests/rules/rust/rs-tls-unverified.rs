fn client() -> Client {
    Client::builder().danger_accept_invalid_certs(true).build(); // expect
    Client::builder().danger_accept_invalid_hostnames(true).build(); // expect
    TlsConnector::builder().danger_accept_invalid_certs(true).build() // expect
}

fn safe(insecure: bool) -> Client {
    Client::builder().danger_accept_invalid_certs(false).build(); // ok: on
    Client::builder().danger_accept_invalid_certs(insecure).build(); // ok: decided elsewhere
    Client::builder().add_root_certificate(cert).build() // ok: a private authority
}
