class Vault {
    void encrypt() {
        Cipher cipher = new NullCipher(); // expect
        IvParameterSpec iv = new IvParameterSpec(new byte[16]); // expect
        IvParameterSpec other = new IvParameterSpec("0123456789abcdef".getBytes()); // expect
    }

    void safe(byte[] random) {
        IvParameterSpec iv = new IvParameterSpec(random); // ok: from outside
        byte[] buffer = new byte[16]; // ok: no start
        GCMParameterSpec gcm = new GCMParameterSpec(128, random); // ok: from outside
    }
}
