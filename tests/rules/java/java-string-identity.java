class Orders {
    boolean check(Order order, String state) {
        if (state == "paid") { // expect
            return true;
        }
        boolean sent = order.state() == "sent"; // expect
        return sent || order.name == "tea"; // expect
    }

    boolean safe(Order order, String state, char c) {
        if (state == null) { // ok: no string
            return false;
        }
        if (c == 'a') { // ok: a character
            return false;
        }
        return state.equals("paid") || order.state() == State.SENT; // ok: an enum
    }
}
