class Files {
    void clean(File file, File folder, Lock lock) {
        file.delete(); // expect
        folder.mkdirs(); // expect
        new File("a").renameTo(folder); // expect
    }

    void safe(File file, Path path, UserRepository users) throws IOException {
        if (!file.delete()) { // ok: checked
            log.warn("left over");
        }
        Files.delete(path); // ok: throws
        users.delete(file); // ok: no file
        boolean made = file.mkdirs(); // ok: kept
    }
}
