import unittest

from store import roman


class Roman(unittest.TestCase):
    def test_roman(self):
        self.assertEqual(roman.number("XIV"), 14)
