class Fingerprint {
    byte[] of(byte[] data) throws NoSuchAlgorithmException {
        MessageDigest.getInstance("SHA-256").digest(data); // fixed
        MessageDigest.getInstance("SHA-256"); // fixed
        return MessageDigest.getInstance("SHA-256").digest(data); // fixed
    }

    byte[] safe(byte[] data, String name) throws NoSuchAlgorithmException {
        MessageDigest.getInstance("SHA-256").digest(data); // ok: a strong hash
        MessageDigest.getInstance(name); // ok: unknown
        return find("MD5"); // ok: only a word
    }
}
