import os
import stat


def open_up(path):
    os.chmod(path, 0o777)  # expect
    os.chmod(path, stat.S_IRWXU | stat.S_IWOTH)  # expect
    path.chmod(0o666)  # expect
    os.umask(0)  # expect
    os.makedirs(path, mode=0o777)  # expect


def safe(path):
    os.chmod(path, 0o600)  # ok: the owner
    os.chmod(path, 0o755)  # ok: others only read
    os.umask(0o077)  # ok: strict
    os.makedirs(path)  # ok: by umask
