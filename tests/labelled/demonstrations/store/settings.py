"""Settings over defaults."""


def merged(defaults, given):
    """The settings with the defaults where nothing is given. Neither argument changes."""
    result = dict(defaults)
    for key, value in given.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key].update(value)
        else:
            result[key] = value
    return result
