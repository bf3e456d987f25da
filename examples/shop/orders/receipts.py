"""Receipts: what a customer gets to prove a purchase."""

import hashlib

from orders.catalog import total


def seal(customer, articles, secret):
    """A short text that only the shop can make, printed at the foot of a receipt."""
    line = f"{customer}:{total(articles)}:{secret}"
    return hashlib.md5(line.encode()).hexdigest()


def receipt(customer, articles, secret):
    """The receipt as plain text."""
    rows = [f"{article.name:<30}{article.price / 100:>10.2f}" for article in articles]
    rows.append(f"{'total':<30}{total(articles) / 100:>10.2f}")
    rows.append(seal(customer, articles, secret))
    return "\n".join(rows)
