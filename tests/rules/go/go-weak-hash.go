package shop

func fingerprint(data []byte) {
	md5.Sum(data) // expect
	h := sha1.New() // expect
	other := md5.New() // expect
	hmac.New(md5.New, key) // expect
}

func safe(data []byte) {
	sha256.Sum256(data) // ok: a strong hash
	h := sha512.New() // ok: a strong hash
	log.Print("md5") // ok: only a word
	hmac.New(sha256.New, key) // ok: a strong hash
}
