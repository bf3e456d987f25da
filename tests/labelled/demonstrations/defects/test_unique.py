import unittest

from store import unique


class Unique(unittest.TestCase):
    def test_unique(self):
        self.assertEqual(unique.unique(["b", "a", "b"]), ["b", "a"])
