package shop

func fingerprint(data []byte) {
	md5.Sum(data) // expect
	h := sha1.New() // expect
	other := md5.New() // expect
}

func uuidOf(name []byte) []byte {
	h := sha1.New() // ok: UUIDs of version 5 ask for it
	return h.Sum(name)
}

func safe(data []byte) {
	sha256.Sum256(data) // ok: a strong hash
	h := sha512.New() // ok: a strong hash
	log.Print("md5") // ok: only a word
	hmac.New(sha1.New, key) // ok: not a plain hash
	hmac.New(sha256.New, key) // ok: a strong hash
}
