class Scratch {
    void scratch() throws IOException {
        new File("/tmp/report.txt"); // expect
        new FileWriter("/tmp/shop.log"); // expect
        Paths.get("/tmp/shop", "report.txt"); // expect
        File folder = File.createTempFile("shop", ""); // expect
        folder.delete();
        folder.mkdir();
    }

    void safe() throws IOException {
        Path file = Files.createTempFile("report", ".txt"); // ok: made at once
        File other = File.createTempFile("report", ".txt"); // ok: made at once
        new File("/srv/reports/report.txt"); // ok: its own folder
    }
}
