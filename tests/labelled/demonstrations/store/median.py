"""Statistics of a sample."""


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return ordered[middle]


def spread(values):
    return max(values) - min(values)
