fn client() -> Client {
    Client::builder().danger_accept_invalid_certs(false).build(); // fixed
    Client::builder().danger_accept_invalid_hostnames(false).build(); // fixed
    TlsConnector::builder().danger_accept_invalid_certs(false).build() // fixed
}

fn safe(insecure: bool) -> Client {
    Client::builder().danger_accept_invalid_certs(false).build(); // ok: on
    Client::builder().danger_accept_invalid_certs(insecure).build(); // ok: decided elsewhere
    Client::builder().add_root_certificate(cert).build() // ok: a private authority
}
