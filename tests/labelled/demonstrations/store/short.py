"""Short names of numbers."""

LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"


def short(number):
    text = ""
    while number:
        number, at = divmod(number, len(LETTERS))
        text = LETTERS[at] + text
    return text
