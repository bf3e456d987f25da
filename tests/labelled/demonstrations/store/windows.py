"""Averages over windows of a series."""


def windows(series, size):
    return [series[at : at + size] for at in range(len(series) - size)]


def averages(series, size):
    return [sum(part) / size for part in windows(series, size)]
