import unittest

from store import lru


class Lru(unittest.TestCase):
    def test_lru(self):
        cache = lru.Cache(2)
        for key in "abc":
            cache.put(key, key.upper())
        self.assertEqual(list(cache.entries), ["b", "c"])
