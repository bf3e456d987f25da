fn total(items: &[u32]) -> u32 {
    let sum = dbg!(items.iter().sum()); // expect
    dbg!(sum); // expect
    if dbg!(sum > 3) { // expect
        return 0;
    }
    sum
}

fn safe(items: &[u32]) {
    debug!("{}", items.len()); // ok: a log
    println!("dbg!(x)"); // ok: a string
    let text = "dbg!(sum)"; // ok: a string
}
