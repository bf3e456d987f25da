fn fingerprint(data: &[u8]) {
    let digest = md5::compute(data); // expect
    let mut hasher = Sha1::new(); // expect
    let other = Md5::digest(data); // expect
    let third = hash(MessageDigest::sha1(), data); // expect
}

fn safe(data: &[u8]) {
    let mut hasher = Sha256::new(); // ok: a strong hash
    let digest = blake3::hash(data); // ok: a strong hash
    let name = Hash::new("md5"); // ok: only a word
}
