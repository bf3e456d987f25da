class Users {
    void search(StringBuilder sql, String name, String city) {
        sql.append(" WHERE name = '").append(name); // expect
        sql.append("' AND city = '").append(city); // expect
        StringBuilder query = new StringBuilder("SELECT id FROM users");
        query.append(" WHERE name LIKE '").append(name).append("'"); // expect
    }

    void safe(StringBuilder sql, StringBuilder text, String name) {
        sql.append(" WHERE name = ").append("?"); // ok: a parameter
        text.append("hello '").append(name); // ok: no SQL
        sql.append(" ORDER BY id").append(DIRECTION); // ok: a constant
    }
}
