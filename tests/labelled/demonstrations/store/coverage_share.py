"""The share of covered lines."""


def share(covered, lines):
    """In percent; a file without lines is covered."""
    if not lines:
        return 0
    return 100 * len(covered & lines) / len(lines)
