async fn poll(url: &str) {
    std::thread::sleep(SECOND); // expect
    reqwest::blocking::get(url); // expect
    tokio::spawn(async move {
        thread::sleep(SECOND); // expect
    });
}

async fn safe(url: &str) {
    tokio::time::sleep(SECOND).await; // ok: asynchronous
    tokio::task::spawn_blocking(|| {
        thread::sleep(SECOND); // ok: its own thread
    });
}

fn plain() {
    thread::sleep(SECOND); // ok: no executor
}
