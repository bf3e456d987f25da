import hashlib


def store(user, password):
    user.hash = hashlib.md5(password.encode()).hexdigest()  # expect
    return hashlib.sha1((user.salt + password).encode())  # expect


def check_password(user, text):
    if hashlib.md5(text.encode()).hexdigest() == user.hash:  # expect
        return True
    return hashlib.sha256(text.encode())  # ok: another rule's business


def safe(data, password):
    hashlib.md5(data)  # ok: no password
    hashlib.scrypt(password, salt=SALT, n=2, r=8, p=1)  # ok: slow
    md5(password)  # ok: some other function
