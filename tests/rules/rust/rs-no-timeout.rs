async fn fetch(url: &str, stream: &TcpStream) {
    reqwest::get(url).await; // expect
    stream.set_read_timeout(None); // expect
    Client::builder().timeout(None).build(); // expect
}

async fn safe(url: &str, client: &Client, stream: &TcpStream) {
    client.get(url).await; // ok: the client has one
    stream.set_read_timeout(Some(SECOND)); // ok: bounded
    Client::builder().timeout(Duration::from_secs(5)).build(); // ok: bounded
}
