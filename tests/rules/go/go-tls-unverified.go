package shop

func client(insecure bool) {
	a := &tls.Config{InsecureSkipVerify: true} // expect
	b := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // expect
	c := tls.Config{
		InsecureSkipVerify: true, // expect
	}
	use(a, b, c)
}

func safe(insecure bool) {
	a := &tls.Config{InsecureSkipVerify: false} // ok: on
	b := &tls.Config{InsecureSkipVerify: insecure} // ok: decided elsewhere
	c := &tls.Config{RootCAs: pool} // ok: a private authority
	use(a, b, c)
}
