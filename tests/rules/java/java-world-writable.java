class Files {
    void openUp(File file, Path path) throws IOException {
        file.setWritable(true, false); // expect
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxrwxrwx")); // expect
        permissions.add(PosixFilePermission.OTHERS_WRITE); // expect
    }

    void safe(File file, Path path) throws IOException {
        file.setWritable(true); // ok: the owner
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x")); // ok: others only read
        permissions.add(PosixFilePermission.OWNER_WRITE); // ok: the owner
    }
}
