"""Days on which the rent is due."""

import calendar
from datetime import date


def next_month(day):
    year, month = (day.year + 1, 1) if day.month == 12 else (day.year, day.month + 1)
    last = calendar.monthrange(year, month)[1]
    return date(year, month, min(day.day, last - 1))
