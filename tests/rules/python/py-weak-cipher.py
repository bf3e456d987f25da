def encrypt(key, nonce):
    DES.new(key, DES.MODE_CBC)  # expect
    AES.new(key, AES.MODE_ECB)  # expect
    ARC4.new(key)  # expect
    Cipher(algorithms.TripleDES(key), modes.CBC(nonce))  # expect
    Cipher(algorithms.AES(key), modes.ECB())  # expect


def safe(key, nonce):
    AES.new(key, AES.MODE_GCM)  # ok: authenticated
    Cipher(algorithms.AES(key), modes.GCM(nonce))  # ok: authenticated
    ChaCha20_Poly1305.new(key=key)  # ok: authenticated
    modes.describe()  # ok: no mode
