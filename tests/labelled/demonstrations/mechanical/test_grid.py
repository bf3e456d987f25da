import unittest

from store import basket, grid


class Grid(unittest.TestCase):
    def test_grid(self):
        self.assertEqual(basket.Basket("a").items, [1])
