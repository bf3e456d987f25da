class Files {
    void clean(File file, File folder, Lock lock) {
        folder.mkdirs(); // expect
        file.createNewFile(); // expect
        new File("a").renameTo(folder); // expect
    }

    void safe(File file, Path path, UserRepository users) throws IOException {
        if (!file.renameTo(backup)) { // ok: checked
            log.warn("left over");
        }
        Files.delete(path); // ok: throws
        file.delete(); // ok: cleaning up
        boolean made = file.mkdirs(); // ok: kept
    }
}
