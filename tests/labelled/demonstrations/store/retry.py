"""Repeats what may fail."""


def retry(call, attempts):
    """Calls up to `attempts` times, and raises the last error."""
    error = None
    for _ in range(1, attempts):
        try:
            return call()
        except OSError as raised:
            error = raised
    raise error or OSError("no attempt was made")
