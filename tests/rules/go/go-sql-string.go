package shop

func byName(db *sql.DB, name, order string) {
	db.Query(fmt.Sprintf("SELECT id FROM users WHERE name = '%s'", name)) // expect
	db.Exec("DELETE FROM users WHERE name = '" + name + "'") // expect
	query := "SELECT id FROM users WHERE name = '" + name + "'" // expect
	query += " ORDER BY " + order // expect
	db.Raw("name = '" + name + "' LIMIT 1") // expect
	db.Query(query)
}

func safe(db *sql.DB, name string, id int) {
	db.Query("SELECT id FROM users WHERE name = ?", name) // ok: a parameter
	db.Query(fmt.Sprintf("SELECT id FROM users LIMIT %d", id)) // ok: a number
	db.Query("SELECT id " + "FROM users") // ok: two constants
	db.Query("SELECT id FROM " + TABLE_NAME) // ok: a constant
	log.Printf("select from the menu: %s", name) // ok: a message
	return fmt.Errorf("delete from basket: %s", name) // ok: a message
}
