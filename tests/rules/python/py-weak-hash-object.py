import hashlib


def fingerprint(data):
    hashlib.new("md5", data)  # expect
    hashlib.new("sha1")  # expect
    MD5.new(data)  # expect
    hashes.Hash(hashes.SHA1())  # expect


def safe(data, name):
    hashlib.new("sha256", data)  # ok: a strong hash
    hashlib.new("md5", data, usedforsecurity=False)  # ok: a checksum
    hashlib.new(name, data)  # ok: unknown
    SHA256.new(data)  # ok: a strong hash
