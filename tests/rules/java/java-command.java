class Ping {
    void ping(String host, HttpServletRequest request) throws IOException {
        Runtime.getRuntime().exec("ping -c 1 " + host); // expect
        Runtime.getRuntime().exec(request.getParameter("command")); // expect
        new ProcessBuilder("sh", "-c", "ping " + host).start(); // expect
        Runtime.getRuntime().exec(new String[] {"/bin/sh", "-c", "ping " + host}); // expect
    }

    void safe(String host) throws IOException {
        new ProcessBuilder("ping", "-c", "1", host).start(); // ok: no shell
        Runtime.getRuntime().exec("uptime"); // ok: a constant
        new ProcessBuilder("sh", "-c", "uptime").start(); // ok: a constant
        executor.exec(host); // ok: something else
    }
}
