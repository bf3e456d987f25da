fn by_name(db: &Db, name: &str, order: &str) -> Result<()> {
    db.execute(&format!("DELETE FROM users WHERE name = '{}'", name))?; // expect
    let sql = format!("SELECT id FROM users WHERE name = '{name}'"); // expect
    db.query_row(&format!("name = '{name}' ORDER BY id LIMIT 1"))?; // expect
    let mut query = "SELECT id FROM users WHERE name = ".to_string() + name; // expect
    query.push_str(&format!(" ORDER BY {order}")); // expect
    Ok(())
}

fn safe(db: &Db, name: &str, placeholders: &str) -> Result<()> {
    db.execute("DELETE FROM users WHERE name = ?1", [name])?; // ok: a parameter
    let sql = format!("SELECT id FROM {TABLE} WHERE name = ?1"); // ok: a constant
    let list = format!("SELECT id FROM users WHERE id IN ({})", placeholders); // ok: placeholders
    let note = format!("deleted {name} from users"); // ok: no SQL
    Ok(())
}
