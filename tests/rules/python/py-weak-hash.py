import hashlib


def fingerprint(data):
    hashlib.md5(data).hexdigest()  # expect
    hashlib.sha1(data + b"")  # expect
    hashlib.sha1(data).digest()  # expect
    hashlib.md5()  # expect


def safe(data):
    hashlib.sha256(data)  # ok: a strong hash
    hashlib.md5(data, usedforsecurity=False)  # ok: a checksum
    md5(data)  # ok: some other function
    hmac.new(KEY, data, hashlib.sha1)  # ok: not a plain hash
