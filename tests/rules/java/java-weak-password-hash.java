class Accounts {
    byte[] store(String password) throws NoSuchAlgorithmException {
        byte[] first = MessageDigest.getInstance("MD5").digest(password.getBytes()); // expect
        return MessageDigest.getInstance("SHA-1").digest(password.getBytes()); // expect
    }

    byte[] hashPassword(byte[] text) throws NoSuchAlgorithmException {
        return MessageDigest.getInstance("SHA1").digest(text); // expect
    }

    byte[] safe(byte[] data, String password, String name) throws NoSuchAlgorithmException {
        MessageDigest.getInstance("MD5").digest(data); // ok: no password
        MessageDigest.getInstance(name).digest(password.getBytes()); // ok: unknown
        return argon2.hash("MD5", password); // ok: slow
    }
}
