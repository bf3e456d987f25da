import tarfile
import zipfile


def unpack(path, target):
    with tarfile.open(path) as archive:
        archive.extractall(target, filter="data")  # fixed
    tar = tarfile.open(path)
    tar.extractall(path=target, filter="data")  # fixed
    tarfile.open(path).extractall(target, filter="data")  # fixed


def safe(path, target):
    with tarfile.open(path) as archive:
        archive.extractall(target, filter="data")  # ok: filtered
    with tarfile.open(path) as archive:
        archive.extractall(target, members=checked(archive))  # ok: chosen members
    with zipfile.ZipFile(path) as archive:
        archive.extractall(target)  # ok: zipfile cleans the names
