package shop

func read(r *http.Request, db *sql.DB) {
	data, _ := os.ReadFile("menu.txt") // expect
	count, _ := strconv.Atoi(r.FormValue("count")) // expect
	json.Unmarshal(data, &order) // expect
	_ = os.Rename("a", "b") // expect
	rows, _ := db.Query("SELECT 1") // expect
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
