package shop

func read(path string, db *sql.DB) {
	file, err := os.Open(path) // expect
	data := scan(file, err)
	rows, err := db.Query("SELECT id FROM users") // expect
	for rows.Next() {
		show(data)
	}
}

func dial() {
	conn, err := net.Dial("tcp", "localhost:80") // expect
	fmt.Fprint(conn, err)
}

func safe(path string) error {
	file, err := os.Open(path) // ok: closed
	if err != nil {
		return err
	}
	defer file.Close()
	return nil
}

func open(path string) (*os.File, error) {
	file, err := os.Open(path) // ok: the caller closes it
	return file, err
}

func (s *Store) open(path string) {
	file, _ := os.Open(path) // ok: the store closes it
	s.file = file
}
