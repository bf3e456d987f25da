"""Checksums of streams."""

import hashlib


def checksum(stream, size=4096):
    digest = hashlib.sha256()
    block = stream.read(size)
    if block:
        digest.update(block)
        block = stream.read(size)
    return digest.hexdigest()
