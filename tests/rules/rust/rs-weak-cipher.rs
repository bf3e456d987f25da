fn encrypt(key: &[u8]) {
    let cipher = Cipher::des_cbc(); // expect
    let other = Cipher::aes_256_ecb(); // expect
    let third = Des::new_from_slice(key); // expect
    let fourth = ecb::Encryptor::<Aes128>::new(key.into()); // expect
}

fn safe(key: &[u8]) {
    let cipher = Cipher::aes_256_gcm(); // ok: authenticated
    let other = Aes256Gcm::new(key.into()); // ok: authenticated
    let third = ChaCha20Poly1305::new(key.into()); // ok: authenticated
}
