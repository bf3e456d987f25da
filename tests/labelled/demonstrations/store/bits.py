"""Bits of numbers of 32 bits."""


def ones(number):
    count = 0
    while number > 0:
        count += number & 1
        number >>= 1
    return count


def parity(number):
    return ones(number) % 2
