axios.get(url, { timeout: 0 }); // expect
const client = axios.create({ baseURL, timeout: 0 }); // expect
server.setTimeout(0); // expect
const pool = mysql.createPool({ connectTimeout: 0 }); // expect

axios.get(url, { timeout: 5000 }); // ok: bounded
server.setTimeout(30000); // ok: bounded
animate({ timeout: 0 }); // ok: no network
setTimeout(tick, 0); // ok: a timer
