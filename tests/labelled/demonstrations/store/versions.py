"""Versions of packages."""


def key(version):
    return version.split(".")


def newest(versions):
    return max(versions, key=key)
