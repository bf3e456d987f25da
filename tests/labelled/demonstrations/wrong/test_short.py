import unittest

from store import short


class Short(unittest.TestCase):
    def test_short(self):
        self.assertEqual(short.short(35), "Z")
