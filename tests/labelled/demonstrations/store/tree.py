"""Binary trees as (left, right), or None."""


def depth(node):
    if node is None:
        return 0
    left, _ = node
    return 1 + depth(left)


def size(node):
    return 0 if node is None else 1 + sum(size(child) for child in node)
