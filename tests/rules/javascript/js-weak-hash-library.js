import md5 from "md5";
import CryptoJS from "crypto-js";

export function fingerprint(data) {
  md5(data); // expect
  CryptoJS.MD5(data).toString(); // expect
  CryptoJS.SHA1(data); // expect
  crypto.subtle.digest("SHA-1", data); // expect
}

export function safe(data) {
  CryptoJS.SHA256(data); // ok: a strong hash
  tools.md5(data); // ok: some other function
  sha1sum(data); // ok: some other function
}
