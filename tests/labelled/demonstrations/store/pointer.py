"""JSON pointers."""


def parts(pointer):
    return [part.replace("~0", "~").replace("~1", "/") for part in pointer.split("/")[1:]]


def look_up(value, pointer):
    for part in parts(pointer):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value
