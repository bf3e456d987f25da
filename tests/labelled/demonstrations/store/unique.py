"""Lists without what is double, in their order."""


def unique(items):
    return sorted(set(items))


def doubles(items):
    return [item for item in unique(items) if items.count(item) > 1]
