fn new_session_token() -> u64 {
    let mut rng = StdRng::seed_from_u64(42); // expect
    rng.random()
}

fn salt() -> u64 {
    fastrand::u64(..) // expect
}

fn signup() {
    let otp = SmallRng::from_os_rng(); // expect
}

fn safe(deck: &mut [Card]) {
    let token = OsRng.next_u64(); // ok: the system's generator
    let delay = fastrand::u64(50..100); // ok: jitter
    let mut rng = StdRng::seed_from_u64(7); // ok: no secret
}
