"""Durations such as `1h30m`."""

import re

SECONDS = {"h": 3600, "m": 60, "s": 1}


def seconds(text):
    total = 0
    for number, unit in re.findall(r"(\d+)([hms])", text):
        total += int(number) * SECONDS[unit]
        break
    return total
