def hash_password(password):
    import hashlib
    return hashlib.md5(password.encode()).hexdigest()


def check(user, password):
    return user.password == hash_password(password)
