def add(item, basket=[]):  # expect
    basket.append(item)


def tag(item, tags: dict = {}):  # expect
    return tags


def group(items, seen=set()):  # expect
    return seen


def safe(item, basket=None):  # ok: made in the body
    basket = basket or []


def fixed(item, sizes=(1, 2)):  # ok: cannot change
    return sizes


def named(item, title="", limit=10):  # ok: cannot change
    return title


make = dict(items=[])  # ok: a call
