from hashlib import md5, sha1, sha256


def fingerprint(data):
    md5(data).hexdigest()  # expect
    sha1(data)  # expect
    return sha1()  # expect


def safe(data, tools):
    sha256(data)  # ok: a strong hash
    md5(data, usedforsecurity=False)  # ok: a checksum
    tools.md5(data)  # ok: some other function
