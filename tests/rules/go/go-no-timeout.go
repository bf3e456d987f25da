package shop

func serve(handler http.Handler) {
	http.ListenAndServe(":80", handler) // expect
	http.Get("https://example.com") // expect
	client := &http.Client{} // expect
	server := &http.Server{Addr: ":80", Handler: handler} // expect
	net.Dial("tcp", "localhost:80") // expect
}

func safe(handler http.Handler) {
	client := &http.Client{Timeout: 5 * time.Second} // ok: bounded
	server := &http.Server{Addr: ":80", ReadHeaderTimeout: time.Second} // ok: bounded
	net.DialTimeout("tcp", "localhost:80", time.Second) // ok: bounded
	client.Get("https://example.com") // ok: the client has one
}
