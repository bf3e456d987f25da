package shop

func order(w http.ResponseWriter, r *http.Request) error {
	data, err := io.ReadAll(r.Body) // expect
	return place(data, err)
}

func prices(resp *http.Response, buf *bytes.Buffer) error {
	data, err := ioutil.ReadAll(resp.Body) // expect
	_, err = io.Copy(buf, resp.Body) // expect
	return use(data, err)
}

func limited(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	data, err := io.ReadAll(r.Body) // ok: limited above
	return place(data, err)
}

func safe(resp *http.Response, file *os.File) error {
	data, err := io.ReadAll(file) // ok: a file
	_, err = io.Copy(file, resp.Body) // ok: not into memory
	_, err = io.Copy(io.Discard, resp.Body) // ok: not into memory
	return use(data, err)
}
