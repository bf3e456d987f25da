fn connector(builder: &mut Builder, config: &mut Config) {
    builder.set_verify(SslVerifyMode::NONE); // expect
    config.dangerous().set_certificate_verifier(Arc::new(NoVerifier)); // expect
    easy.ssl_verify_peer(false); // expect
}

fn safe(builder: &mut Builder, config: &mut Config) {
    builder.set_verify(SslVerifyMode::PEER); // ok: on
    config.dangerous().set_certificate_verifier(Arc::new(PinnedKey::new(pin))); // ok: a check of its own
    easy.ssl_verify_peer(true); // ok: on
}
