import unittest

from store import limiter


class Limiter(unittest.TestCase):
    def test_limiter(self):
        limit = limiter.Limiter(1)
        limit.allows(0)
        self.assertTrue(limit.allows(59))
