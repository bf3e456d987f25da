"""Letters from templates."""

import re


def letter(template, values):
    """Fills `{name}` in; fails with KeyError if a value is missing."""
    return re.sub(r"{(\w+)}", lambda found: str(values.get(found[1])), template)
