class Config {
    private static final String DB_PASSWORD = "hunter2-prod"; // expect
    private String apiKey = "9f86d081884c7d65"; // expect

    void connect(Properties properties, DataSource source, String password) throws SQLException {
        DriverManager.getConnection(URL, "app", "S3cr3t!"); // expect
        source.setPassword("letmein99"); // expect
        properties.put("db.password", "letmein99"); // expect
        if (password.equals("shop-admin-1")) { // expect
            return;
        }
        new SecretKeySpec("0123456789abcdef".getBytes(), "AES"); // expect
    }

    static final String PASSWORD_FIELD = "password_confirmation"; // ok: a field's name
    static final String SECRET_KEY = "changeme"; // ok: a placeholder
    static final String API_TOKEN = "API_TOKEN"; // ok: a variable's name

    void safe(DataSource source, byte[] key) {
        source.setPassword(System.getenv("PASSWORD")); // ok: from the environment
        source.setPassword(""); // ok: empty
        new SecretKeySpec(key, "AES"); // ok: from outside
    }
}
