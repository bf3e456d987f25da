function byName(db, name, table) {
  db.query(`SELECT id FROM users WHERE name = '${name}'`); // expect
  db.query("SELECT id FROM users WHERE name = '" + name + "'"); // expect
  const sql = "DELETE FROM users WHERE name = '" + name + "'"; // expect
  knex.raw(`name = '${name}' order by id`); // expect
  return `update users set name = '${name}' where id = 1`; // expect
}

function safe(db, name, ids, log) {
  db.query("SELECT id FROM users WHERE name = ?", [name]); // ok: a parameter
  db.query(`SELECT id FROM ${TABLE} WHERE name = $1`, [name]); // ok: a constant
  db.query(`SELECT id FROM users WHERE id IN (${ids.map(() => "?").join(",")})`, ids); // ok: placeholders
  sql`SELECT id FROM users WHERE name = ${name}`; // ok: a tagged template
  db.query("SELECT id " + "FROM users"); // ok: two constants
  log.info(`select from the menu: ${name}`); // ok: a message
  throw new Error(`Delete from basket failed: ${name}`); // ok: a message
}
