class Orders {
    boolean check(Order order, String state) {
        if ("paid".equals(state)) { // fixed
            return true;
        }
        boolean sent = "sent".equals(order.state()); // fixed
        return sent || "tea".equals(order.name); // fixed
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
