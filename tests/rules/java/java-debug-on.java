@EnableWebSecurity(debug = true) // expect
class Security {
    void fail(Exception e, HttpServletResponse response, Engine engine) throws IOException {
        e.printStackTrace(response.getWriter()); // expect
        engine.setDebug(true); // expect
    }
}

@EnableWebSecurity // ok: off
class SafeSecurity {
    void safe(Exception e, Engine engine) {
        log.error("failed", e); // ok: logged
        engine.setDebug(false); // ok: off
    }
}
