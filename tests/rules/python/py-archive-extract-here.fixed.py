import tarfile
import zipfile


def unpack(path):
    with tarfile.open(path) as archive:
        archive.extractall(filter="data")  # fixed
    tar = tarfile.open(path)
    tar.extractall(filter="data")  # fixed
    tarfile.open(path).extractall(filter="data")  # fixed


def safe(path, target):
    with tarfile.open(path) as archive:
        archive.extractall(filter="data")  # ok: filtered
    with zipfile.ZipFile(path) as archive:
        archive.extractall()  # ok: zipfile cleans the names
    target.extractall()  # ok: no archive
