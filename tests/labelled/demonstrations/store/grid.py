"""Grids as lists of rows."""


def turned(rows):
    """Rows become columns."""
    size = len(rows)
    return [[row[at] for row in rows] for at in range(min(size, len(rows[0])))]
