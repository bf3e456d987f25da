"""One line of a table with commas."""


def field(value):
    text = str(value)
    if any(mark in text for mark in ',"\n'):
        return '"' + text + '"'
    return text


def line(values):
    return ",".join(field(value) for value in values)
