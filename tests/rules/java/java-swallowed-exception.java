class Reader {
    void read(Path path) {
        try {
            load(path);
        } catch (RuntimeException e) {} // expect
        try {
            load(path);
        } catch (Exception ignored) {} // expect
        try {
            load(path);
        } catch (Throwable t) { /* ignore */ } // expect
    }

    void safe(Path path) {
        try {
            load(path);
        } catch (IOException e) { // ok: logged
            log.warn("load failed", e);
        }
        try {
            Integer.parseInt("12");
        } catch (NumberFormatException e) {} // ok: one that is expected
        try {
            load(path);
        } catch (Exception e) { // ok: says why
            // A missing file is an empty basket.
        }
    }
}
