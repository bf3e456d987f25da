package shop

func read(r *http.Request, db *sql.DB) {
	data, _ := os.ReadFile("menu.txt") // expect
	count, _ := strconv.Atoi(r.FormValue("count")) // expect
	json.Unmarshal(data, &order) // expect
	_ = os.Rename("a", "b") // expect
	rows, _ := db.Query("SELECT 1") // expect
}

// Int returns the number. It returns 0 if the text is no number.
func Int(text string) int {
	number, _ := strconv.Atoi(text) // ok: the description says what is returned
	return number
}

func commented(r *http.Request, buf *bytes.Buffer) {
	io.Copy(buf, r.Body) // ok: can't handle the error here, so ignore it
	host, port, _ := net.SplitHostPort(r.Host) // ok: both are empty without a port
	_, _ = io.Copy(io.Discard, r.Body) // ok: drained
	page, _ := strconv.Atoi(r.FormValue("page")) // ok: the next statement asks for a value
	if page > 0 {
		show(page)
	}
}

func safe(r *http.Request, prices map[string]int) error {
	data, err := os.ReadFile("menu.txt") // ok: kept
	price, _ := prices["tea"] // ok: no error
	_ = r.Body.Close() // ok: nothing was written
	if err := json.Unmarshal(data, &order); err != nil { // ok: checked
		return err
	}
	return err
}
