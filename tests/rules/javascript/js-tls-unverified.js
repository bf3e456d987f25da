const agent = new https.Agent({ rejectUnauthorized: false }); // expect
request({ url, strictSSL: false }); // expect
const pool = new Pool({ ssl: { rejectUnauthorized: false } }); // expect

const strict = new https.Agent({ rejectUnauthorized: true }); // ok: on
const custom = new https.Agent({ ca: readAuthority() }); // ok: a private authority
const mode = { strict: false }; // ok: no TLS
