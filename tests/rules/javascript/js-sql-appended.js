async function search(db, name, order) {
  let sql = "SELECT id FROM users";
  sql += ` WHERE name = '${name}'`; // expect
  sql += " ORDER BY " + order; // expect
  return db.query(sql);
}

function count(db, name) {
  const where = " WHERE name = '" + name + "'"; // expect
  return db.query(where);
}

function safe(db, name, log) {
  let sql = "SELECT id FROM users";
  sql += " WHERE name = $1"; // ok: a parameter
  const text = `searching for ${name} in users`; // ok: never executed
  log.info(text);
  return db.query(sql, [name]);
}

function rendered(name) {
  const sql = ` where ${name}`; // ok: not executed here
  return sql;
}
