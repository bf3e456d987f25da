fn login(session: Session) {
    Cookie::build(("session", token)).secure(false); // expect
    Cookie::build(("session", token)).http_only(false); // expect
    CookieSession::signed(&key).cookie_secure(false); // expect
}

fn safe(session: Session, connection: Connection) {
    Cookie::build(("session", token)).secure(true); // ok: on
    connection.secure(false); // ok: no cookie
    Cookie::build(("session", token)).http_only(true); // ok: on
}
