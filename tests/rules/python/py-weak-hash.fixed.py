import hashlib


def fingerprint(data):
    hashlib.sha256(data).hexdigest()  # fixed
    hashlib.sha256(data + b"")  # fixed
    hashlib.sha256(data).digest()  # fixed
    hashlib.sha256()  # fixed


def safe(data):
    hashlib.sha256(data)  # ok: a strong hash
    hashlib.md5(data, usedforsecurity=False)  # ok: a checksum
    md5(data)  # ok: some other function
    hmac.new(KEY, data, hashlib.sha1)  # ok: not a plain hash
