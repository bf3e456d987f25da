def check(status, code, items):
    if status is "paid":  # expect
        return 1
    if code is 200:  # expect
        return 2
    if items is []:  # expect
        return 3


def safe(status, code, items):
    if status is None:  # ok: one object
        return 1
    if code == 200:  # ok: equality
        return 2
    if items is MISSING:  # ok: a sentinel
        return 3
    if status is not "paid":  # ok: another rule
        return 4
