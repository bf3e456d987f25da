fn price(items: &[Item], text: &str) -> u32 {
    let item = items.first().unwrap(); // expect
    let price: u32 = text.parse().unwrap(); // expect
    std::fs::read_to_string(text).unwrap(); // expect
    item.price
}

fn safe(items: &[Item], text: &str, total: &Mutex<u32>) -> Option<u32> {
    let item = items.first()?; // ok: handed on
    let price = text.parse().unwrap_or(0); // ok: a default
    let name = Regex::new("^[a-z]+$").unwrap(); // ok: written in the code
    *total.lock().unwrap() += price; // ok: a poisoned lock has panicked already
    items.get(1).expect("a basket has two items") // ok: states the invariant
}

#[cfg(test)]
mod tests {
    #[test]
    fn first() {
        items().first().unwrap(); // ok: a test
    }
}
