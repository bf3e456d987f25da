async function rows(pool) {
  const client = await pool.connect(); // expect
  const result = await client.query("SELECT 1");
  client.release();
  return result.rows;
}

async function lines(path) {
  const file = await fs.promises.open(path); // expect
  return (await file.readFile()).toString();
}

async function count(db) {
  const connection = await db.getConnection(); // expect
  const rows = await connection.query("SELECT 1");
  connection.release();
  return rows.length;
}

async function safe(pool) {
  const client = await pool.connect(); // ok: released on every way out
  try {
    return await client.query("SELECT 1");
  } finally {
    client.release();
  }
}

async function handedOver(pool) {
  const client = await pool.connect(); // ok: the caller releases it
  return client;
}

async function direct(pool) {
  const result = await pool.query("SELECT 1"); // ok: the pool releases it
  return result;
}
