class Login {
    String generateToken() {
        return Long.toHexString(new Random().nextLong()); // expect
    }

    void signup(User user) {
        int otp = (int) (Math.random() * 1000000); // expect
        String password = RandomStringUtils.randomAlphanumeric(12); // expect
    }

    void safe(List<Card> deck) {
        byte[] token = new byte[16];
        new SecureRandom().nextBytes(token); // ok: secure
        int delay = new Random().nextInt(50); // ok: jitter
        Collections.shuffle(deck, new Random()); // ok: a game
    }
}
