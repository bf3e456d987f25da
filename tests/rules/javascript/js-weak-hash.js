const crypto = require("crypto");

function fingerprint(data) {
  crypto.createHash("md5").update(data).digest("hex"); // expect
  crypto.createHash('sha1').update(data); // expect
  createHash("MD5"); // expect
}

function safe(data, name) {
  crypto.createHash("sha256").update(data); // ok: a strong hash
  crypto.createHash(name); // ok: unknown
  log("md5"); // ok: only a word
}
