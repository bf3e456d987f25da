const crypto = require("crypto");

function store(user, password) {
  user.hash = crypto.createHash("md5").update(password).digest("hex"); // expect
  return createHash('sha1').update(user.salt + password); // expect
}

function hashPassword(text) {
  return createHash("sha1").update(text); // expect
}

function safe(data, password) {
  crypto.createHash("md5").update(data); // ok: no password
  crypto.createHash("sha256").update(password); // ok: another rule's business
  crypto.scryptSync(password, "md5", 64); // ok: slow
}
