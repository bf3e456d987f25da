class Login {
    void login(HttpServletResponse response, String token) {
        Cookie session = new Cookie("session", token); // expect
        response.addCookie(session);
        Cookie other = new Cookie("theme", "dark"); // expect
        other.setHttpOnly(true);
        response.addCookie(other);
    }

    void remember(HttpServletResponse response, String token) {
        Cookie cookie = new Cookie("remember", token); // expect
        cookie.setMaxAge(3600);
        response.addCookie(cookie);
    }

    void safe(HttpServletResponse response, String token) {
        Cookie session = new Cookie("session", token); // ok: protected
        session.setSecure(true);
        session.setHttpOnly(true);
        response.addCookie(session);
        Cookie gone = new Cookie("session", ""); // ok: removal
        gone.setMaxAge(0);
        response.addCookie(gone);
        Cookie unused = new Cookie("unused", ""); // ok: never added
    }
}
