package shop

func encrypt(key []byte) {
	des.NewCipher(key) // expect
	rc4.NewCipher(key) // expect
	des.NewTripleDESCipher(key) // expect
	ecb.NewECBEncrypter(block) // expect
}

func safe(key []byte) {
	aes.NewCipher(key) // ok: a strong cipher
	chacha20poly1305.New(key) // ok: authenticated
	cipher.NewGCM(block) // ok: authenticated
}
