def check(status, code, items):
    if status is not "paid":  # expect
        return 1
    if code is not 200:  # expect
        return 2
    if items is not ():  # expect
        return 3


def safe(status, code, items):
    if status is not None:  # ok: one object
        return 1
    if code != 200:  # ok: equality
        return 2
    if items is not MISSING:  # ok: a sentinel
        return 3
