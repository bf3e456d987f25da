class Login {
    void login(Cookie cookie, ResponseCookie.Builder sessionCookie) {
        cookie.setSecure(false); // expect
        cookie.setHttpOnly(false); // expect
        sessionCookie.secure(false); // expect
    }

    void safe(Cookie cookie, Connection connection, boolean secure) {
        cookie.setSecure(true); // ok: on
        cookie.setSecure(secure); // ok: decided elsewhere
        connection.setSecure(false); // ok: no cookie
    }
}
