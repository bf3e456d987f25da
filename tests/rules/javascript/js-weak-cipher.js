const crypto = require("crypto");

function encrypt(key, iv) {
  crypto.createCipheriv("des-cbc", key, iv); // expect
  crypto.createCipheriv("aes-256-ecb", key, null); // expect
  crypto.createCipher("aes-256-cbc", key); // expect
  CryptoJS.DES.encrypt("text", key); // expect
}

function safe(key, iv, name) {
  crypto.createCipheriv("aes-256-gcm", key, iv); // ok: authenticated
  crypto.createCipheriv(name, key, iv); // ok: unknown
  CryptoJS.AES.encrypt("text", key); // ok: a strong cipher
}
