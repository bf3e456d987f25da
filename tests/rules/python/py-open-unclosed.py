import json


def read(path):
    text = open(path).read()  # expect
    data = json.load(open(path))  # expect
    for line in open(path):  # expect
        print(line)
    file = open(path)  # expect
    return file.read(), text, data


def write(path, text):
    file = open(path, "w")  # expect
    file.write(text)
    file.close()


def safe(path, stack):
    with open(path) as file:  # ok: closed on every way out
        text = file.read()
    handle = open(path)  # ok: closed on every way out
    try:
        text += handle.read()
    finally:
        handle.close()
    kept = stack.enter_context(open(path))  # ok: closed by the stack
    return text, kept


def hand_over(path):
    file = open(path)  # ok: the caller closes it
    return file
