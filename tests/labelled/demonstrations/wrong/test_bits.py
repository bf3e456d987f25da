import unittest

from store import bits


class Bits(unittest.TestCase):
    def test_bits(self):
        self.assertEqual(bits.ones(7), 4)
