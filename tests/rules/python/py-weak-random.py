import random
import secrets
import string


def generate_token():
    return "".join(random.choice(string.ascii_letters) for _ in range(32))  # expect


def signup(user):
    user.reset_token = random.getrandbits(128)  # expect
    otp = random.randint(100000, 999999)  # expect
    salt = "".join(random.sample(string.printable, 8))  # expect
    register(user, password=str(random.random()))  # expect


def safe(deck, items):
    token = secrets.token_hex(16)  # ok: secrets
    delay = random.uniform(0.5, 1.5)  # ok: jitter
    random.shuffle(deck)  # ok: a game
    sample = random.choice(items)  # ok: no secret
    salt = random.SystemRandom().choice(items)  # ok: the system's generator
