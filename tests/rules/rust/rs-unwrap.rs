fn price(path: &Path, text: &str) -> u32 {
    let price: u32 = text.parse().unwrap(); // expect
    let menu = std::fs::read_to_string(path).unwrap(); // expect
    let home = std::env::var("SHOP_HOME").unwrap(); // expect
    let row: Row = serde_json::from_str(&menu).unwrap(); // expect
    println!("{}", text.trim().parse().unwrap()); // expect
    price
}

async fn fetch(client: &Client, stream: &mut TcpStream) -> Order {
    stream.write(b"order").unwrap(); // expect
    client.get(URL).send().await.unwrap().json::<Order>().await.unwrap() // expect
}

fn safe(items: &[Item], text: &str, total: &Mutex<u32>) -> Option<u32> {
    let item = items.first()?; // ok: handed on
    let price = text.parse().unwrap_or(0); // ok: a default
    let name = Regex::new("^[a-z]+$").unwrap(); // ok: written in the code
    *total.lock().unwrap() += price; // ok: a poisoned lock has panicked already
    let shelf = SHELF.read().unwrap(); // ok: a lock
    let colours: Vec<Spec> = vec!["path:fg:green".parse().unwrap()]; // ok: written in the code
    let port: u16 = "80".parse().unwrap(); // ok: written in the code
    // The cell was filtered for digits above, so this cannot fail.
    let cell: u32 = text.parse().unwrap(); // ok: says why
    text.parse().expect("the menu has a price") // ok: states the invariant
}

#[cfg(test)]
mod tests {
    #[test]
    fn first() {
        "12x".parse::<u32>().unwrap(); // ok: a test
    }
}
