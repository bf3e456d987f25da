class Orders {
    boolean check(Order order, List<Item> items, double price) {
        if (order.total == order.total) { // expect
            return true;
        }
        if (items.size() >= 0) { // expect
            return true;
        }
        return price == Double.NaN || order.equals(order); // expect
    }

    boolean safe(Order order, Order other, List<Item> items, double price) {
        if (order.total == other.total) { // ok: two values
            return true;
        }
        if (items.size() > 0) { // ok: may be empty
            return true;
        }
        return Double.isNaN(price) || next() == next(); // ok: two calls
    }
}
