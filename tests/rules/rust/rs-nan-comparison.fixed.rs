fn check(price: f64, total: f32) -> bool {
    if price.is_nan() { // fixed
        return true;
    }
    let odd = total.is_nan(); // fixed
    odd || price.is_nan() // fixed
}

fn safe(price: f64) -> bool {
    if price.is_nan() { // ok: the right test
        return true;
    }
    price == f64::INFINITY || price == 0.0 // ok: can be equal
}

fn other(price: f64) -> bool {
    price != f64::NAN // ok: another question
}
