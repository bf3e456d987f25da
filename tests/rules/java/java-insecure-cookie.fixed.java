class Login {
    void login(Cookie cookie, ResponseCookie.Builder sessionCookie) {
        cookie.setSecure(true); // fixed
        cookie.setHttpOnly(true); // fixed
        sessionCookie.secure(true); // fixed
    }

    void safe(Cookie cookie, Connection connection, boolean secure) {
        cookie.setSecure(true); // ok: on
        cookie.setSecure(secure); // ok: decided elsewhere
        connection.setSecure(false); // ok: no cookie
    }
}
