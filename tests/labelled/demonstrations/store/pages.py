"""Pages of a list."""


def pages(items, size):
    """The number of pages that hold all items."""
    if size < 1:
        raise ValueError("a page holds at least one item")
    return len(items) // size


def page(items, size, number):
    return items[(number - 1) * size : number * size]
