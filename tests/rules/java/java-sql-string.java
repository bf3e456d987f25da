class Users {
    void byName(Statement statement, EntityManager manager, String name, String order) throws SQLException {
        statement.executeQuery("SELECT id FROM users WHERE name = '" + name + "'"); // expect
        String sql = "DELETE FROM users WHERE name = '" + name + "'"; // expect
        manager.createQuery("from User u where u.name = '" + name + "'"); // expect
        String query = String.format("UPDATE users SET name = '%s' WHERE id = 1", name); // expect
        query += " ORDER BY " + order; // expect
    }

    void safe(Connection connection, String name, int id) throws SQLException {
        connection.prepareStatement("SELECT id FROM users WHERE name = ?"); // ok: a parameter
        connection.prepareStatement("SELECT id FROM " + TABLE + " WHERE name = ?"); // ok: a constant
        String sql = String.format("SELECT id FROM users LIMIT %d", 10); // ok: a number
        String list = "SELECT id " + "FROM users"; // ok: two constants
        log.info("select from the menu: " + name); // ok: a message
        throw new IllegalStateException("delete from basket: " + name); // ok: a message
    }
}
