class Fingerprint {
    byte[] of(byte[] data) throws NoSuchAlgorithmException {
        MessageDigest.getInstance("MD5").digest(data); // expect
        MessageDigest.getInstance("SHA-1"); // expect
        return MessageDigest.getInstance("SHA1").digest(data); // expect
    }

    byte[] safe(byte[] data, String name) throws NoSuchAlgorithmException {
        MessageDigest.getInstance("SHA-256").digest(data); // ok: a strong hash
        MessageDigest.getInstance(name); // ok: unknown
        return find("MD5"); // ok: only a word
    }
}
