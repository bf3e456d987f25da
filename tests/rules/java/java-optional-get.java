class Users {
    User find(Optional<User> user, UserRepository users, List<User> all) {
        users.findById(1L).get(); // expect
        all.stream().findFirst().get(); // expect
        return user.get(); // expect
    }

    User safe(Optional<User> user, UserRepository users, Map<String, User> names, Supplier<User> supplier) {
        if (user.isPresent()) {
            return user.get(); // ok: checked
        }
        users.findById(1L).orElseThrow(); // ok: says what is missing
        names.get("tea"); // ok: a map
        return supplier.get(); // ok: no optional
    }
}
