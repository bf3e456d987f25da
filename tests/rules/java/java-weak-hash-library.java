class Fingerprint {
    String of(String data) throws NoSuchAlgorithmException {
        DigestUtils.md5Hex(data); // expect
        Hashing.sha1().hashString(data, UTF_8); // expect
        return DigestUtils.sha1Hex(data); // expect
    }

    String safe(String data) throws NoSuchAlgorithmException {
        DigestUtils.sha256Hex(data); // ok: a strong hash
        Hashing.sha256().hashString(data, UTF_8); // ok: a strong hash
        return Mac.getInstance("HmacSHA256").getAlgorithm(); // ok: a strong hash
    }
}
