class Vault {
    void encrypt() throws GeneralSecurityException {
        Cipher.getInstance("DES/CBC/PKCS5Padding"); // expect
        Cipher.getInstance("AES/ECB/PKCS5Padding"); // expect
        Cipher.getInstance("AES"); // expect
        KeyGenerator.getInstance("DES"); // expect
    }

    void safe(String name) throws GeneralSecurityException {
        Cipher.getInstance("AES/GCM/NoPadding"); // ok: authenticated
        Cipher.getInstance(name); // ok: unknown
        KeyGenerator.getInstance("AES"); // ok: a strong cipher
        Cipher.getInstance("RSA/ECB/OAEPWithSHA-256AndMGF1Padding"); // ok: one block only
    }
}
