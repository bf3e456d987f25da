fn login(session: Session) {
    Cookie::build(("session", token)).secure(true); // fixed
    Cookie::build(("session", token)).http_only(true); // fixed
    CookieSession::signed(&key).cookie_secure(true); // fixed
}

fn safe(session: Session, connection: Connection) {
    Cookie::build(("session", token)).secure(true); // ok: on
    connection.secure(false); // ok: no cookie
    Cookie::build(("session", token)).http_only(true); // ok: on
}
