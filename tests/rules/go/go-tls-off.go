package shop

func client(config *tls.Config) {
	config.InsecureSkipVerify = true // expect
	a := &ssh.ClientConfig{HostKeyCallback: ssh.InsecureIgnoreHostKey()} // expect
	b := &tls.Config{MinVersion: tls.VersionTLS10} // expect
	use(a, b)
}

func safe(config *tls.Config) {
	config.InsecureSkipVerify = false // ok: on
	a := &ssh.ClientConfig{HostKeyCallback: ssh.FixedHostKey(key)} // ok: a known key
	b := &tls.Config{MinVersion: tls.VersionTLS12} // ok: current
	use(a, b)
}
