fn login(session: &Session, seconds: u32) -> Vec<String> {
    let plain = format!("{}={}; Path=/", NAME, session.key); // expect
    let readable = format!("sid={}; Max-Age={}; Secure", session.key, seconds); // expect
    let clear = format!("{}={}; Path=/; HttpOnly", NAME, session.key); // expect
    vec![plain, readable, clear]
}

fn safe(session: &Session) -> Vec<String> {
    let both = format!("sid={}; Path=/; Secure; HttpOnly", session.key); // ok: both set
    let text = format!("{}; see /help", session.name); // ok: no cookie
    let path = format!("{}={}", NAME, session.key); // ok: no attributes
    vec![both, text, path]
}
