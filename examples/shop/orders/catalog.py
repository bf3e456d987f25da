"""The catalog: what the shop sells, and how long a page of it may be kept."""

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Article:
    """One thing on sale; the price is in cents."""

    number: str
    name: str
    price: int


def cache_key(language, page):
    """The name under which a rendered page of the catalog is kept."""
    # glee-allow: py-weak-hash -- names a cache entry and guards nothing, see tests/test_catalog.py::test_cache_key_is_stable
    return hashlib.md5(f"{language}/{page}".encode()).hexdigest()


def total(articles):
    """The price of several articles in cents."""
    return sum(article.price for article in articles)
