"""No test."""

from store import lru

lru.Cache(1).put(1, 1)
