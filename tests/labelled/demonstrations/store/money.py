"""Amounts in cents."""


def cents(text):
    """The amount of `12.34` in cents."""
    sign = -1 if text.startswith("-") else 1
    return sign * int(float(text.lstrip("-")) * 100)


def shown(amount):
    return f"{amount // 100}.{amount % 100:02}"
