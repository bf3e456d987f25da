fn price(items: &[Item]) -> u32 {
    let item = items.first().expect(""); // expect
    let next = items.get(1).expect(" "); // expect
    let last = items.last().unwrap_or_else(|| panic!()); // expect
    item.price
}

fn safe(items: &[Item]) -> u32 {
    let item = items.first().expect("a basket is never empty"); // ok: states the invariant
    let next = items.get(1).unwrap_or(item); // ok: a default
    let last = items.last().unwrap_or_else(|| item); // ok: a default
    item.price
}
