const agent = new https.Agent({ rejectUnauthorized: true }); // fixed
request({ url, strictSSL: true }); // fixed
const pool = new Pool({ ssl: { rejectUnauthorized: true } }); // fixed

const strict = new https.Agent({ rejectUnauthorized: true }); // ok: on
const custom = new https.Agent({ ca: readAuthority() }); // ok: a private authority
const mode = { strict: false }; // ok: no TLS
