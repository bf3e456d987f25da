fn keep(order: Order, name: String) {
    std::mem::forget(order); // expect
    let text: &'static str = Box::leak(name.into_boxed_str()); // expect
    mem::forget(guard); // expect
}

fn safe(order: Order, list: &mut Vec<Order>) {
    drop(order); // ok: dropped
    list.forget(1); // ok: a method
    let raw = Box::into_raw(Box::new(1)); // ok: handed on
}
