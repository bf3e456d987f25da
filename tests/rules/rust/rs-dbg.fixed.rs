fn total(items: &[u32]) -> u32 {
    let sum = items.iter().sum(); // fixed
    sum; // fixed
    if sum > 3 { // fixed
        return 0;
    }
    sum
}

fn safe(items: &[u32]) {
    debug!("{}", items.len()); // ok: a log
    println!("dbg!(x)"); // ok: a string
    let text = "dbg!(sum)"; // ok: a string
}
