const crypto = require("crypto");

function fingerprint(data) {
  crypto.createHash("sha256").update(data).digest("hex"); // fixed
  crypto.createHash('sha256').update(data); // fixed
  createHash("sha256"); // fixed
}

function safe(data, name) {
  crypto.createHash("sha256").update(data); // ok: a strong hash
  crypto.createHash(name); // ok: unknown
  log("md5"); // ok: only a word
}
