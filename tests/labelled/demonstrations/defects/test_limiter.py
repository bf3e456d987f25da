import unittest

from store import limiter


class Limiter(unittest.TestCase):
    def test_limiter(self):
        limit = limiter.Limiter(1)
        limit.allows(1000)
        self.assertTrue(limit.allows(1061))
