fn check(order: &Order, items: &[Item]) -> bool {
    if order.total == order.total { // expect
        return true;
    }
    if items.len() >= 0 { // expect
        return true;
    }
    order.paid && order.paid // expect
}

fn safe(order: &Order, other: &Order, items: &[Item]) -> bool {
    if order.total == other.total { // ok: two values
        return true;
    }
    if items.len() > 0 { // ok: may be empty
        return true;
    }
    next() == next() // ok: two calls
}

fn is_nan(value: f64) -> bool {
    value != value // ok: meant so
}
