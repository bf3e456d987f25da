import tarfile
import zipfile


def unpack(path):
    with tarfile.open(path) as archive:
        archive.extractall()  # expect
    tar = tarfile.open(path)
    tar.extractall()  # expect
    tarfile.open(path).extractall()  # expect


def safe(path, target):
    with tarfile.open(path) as archive:
        archive.extractall(filter="data")  # ok: filtered
    with zipfile.ZipFile(path) as archive:
        archive.extractall()  # ok: zipfile cleans the names
    target.extractall()  # ok: no archive
