process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0"; // expect
process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = 0; // expect
const options = { checkServerIdentity: () => undefined }; // expect
const browser = launch({ ignoreHTTPSErrors: true }); // expect

process.env.NODE_TLS_REJECT_UNAUTHORIZED = "1"; // ok: on
const checked = { checkServerIdentity: (host, cert) => pin(cert) }; // ok: a check of its own
const silent = { ignoreErrors: true }; // ok: no TLS
