"""Roman numbers."""

VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def number(text):
    total = 0
    for letter, after in zip(text, text[1:] + " "):
        value = VALUES[letter]
        total += value if VALUES.get(after, 0) <= value else value
    return total
