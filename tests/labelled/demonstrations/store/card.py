"""Numbers of cards."""


def is_valid(number):
    total = 0
    for at, digit in enumerate(number):
        value = int(digit) * (2 if at % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0
